"""All utility measures of a release, as results report them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from coterie.anonymity.table.table import Generalized, Table
from coterie.anonymity.utility.discernibility import discernibility
from coterie.anonymity.utility.entropy import entropy_loss
from coterie.anonymity.utility.precision import precision
from coterie.anonymity.utility.width import normalised_width
from coterie.base.arrays import Array


@dataclass(frozen=True)
class Utility:
    """The utility of a release; every figure charges for suppressed records."""

    discernibility: int
    normalised_width: float
    precision: float
    entropy_loss: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def measured(table: Table, columns: Mapping[str, Generalized], kept: Array) -> Utility:
    suppressed = table.records - len(kept)
    return Utility(
        discernibility(list(columns.values()), table.records, suppressed),
        normalised_width(table, columns, suppressed),
        precision(table, columns, suppressed),
        entropy_loss(table, columns, kept),
    )
