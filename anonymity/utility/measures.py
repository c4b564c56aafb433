"""All utility measures of a release, as results report them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from coterie.anonymity.classifier.class_error import ClassError, class_error
from coterie.anonymity.table.table import Generalized, Labels, Table
from coterie.anonymity.utility.discernibility import discernibility
from coterie.anonymity.utility.entropy import entropy_loss
from coterie.anonymity.utility.precision import precision
from coterie.anonymity.utility.queries import QueryError, query_error
from coterie.anonymity.utility.width import normalised_width
from coterie.base.arrays import Array


@dataclass(frozen=True)
class Utility:
    """The utility of a release; every figure charges for suppressed records."""

    discernibility: int
    normalised_width: float
    precision: float
    entropy_loss: float
    query_error: QueryError | None = None
    class_error: ClassError | None = None  # where the table has a class

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @staticmethod
    def from_dict(measures: Mapping[str, Any]) -> Utility:
        """The utility whose `as_dict` these measures are."""
        query, error = measures.get("query_error"), measures.get("class_error")
        parts = {
            "query_error": None if query is None else QueryError(**query),
            "class_error": None if error is None else ClassError(**error),
        }
        return Utility(**(dict(measures) | parts))


def utility_lines(measures: Mapping[str, Any]) -> list[str]:
    """Lines for a person, from the measures of a result; measures that it lacks are left out."""
    named = {
        "entropy_loss": "entropy loss {:.3f}",
        "normalised_width": "normalised width {:.3f}",
        "precision": "precision {:.3f}",
        "discernibility": "discernibility {:,}",
    }
    found = [
        ", ".join(text.format(measures[key]) for key, text in named.items() if key in measures)
    ]
    if (query := measures.get("query_error")) is not None:
        found.append(
            f"random counts are off by {query['mean']:.1%} on average, half of them by at most "
            f"{query['median']:.1%}"
        )
    if (error := measures.get("class_error")) is not None:
        found.append(
            f"class error of a tree {error['release']:.1%} (raw {error['raw']:.1%}, without "
            f"attributes {error['none']:.1%})"
        )
    return found


def measured(table: Table, columns: Mapping[str, Generalized], kept: Array) -> Utility:
    """The measures that are cheap to compute."""
    suppressed = table.records - len(kept)
    return Utility(
        discernibility(list(columns.values()), table.records, suppressed),
        normalised_width(table, columns, suppressed),
        precision(table, columns, suppressed),
        entropy_loss(table, columns, kept),
    )


def measured_by_use(
    table: Table, columns: Mapping[str, Generalized], kept: Array, classes: Labels | None
) -> Utility:
    """All measures, with the errors of random counts and, if there are classes, of a classifier."""
    return replace(
        measured(table, columns, kept),
        query_error=query_error(table, columns, kept),
        class_error=None if classes is None else class_error(table, columns, kept, classes),
    )
