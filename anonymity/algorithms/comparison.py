"""What each method would keep of one table, measured beside each other: for advice and simulations.

Everything is tried on the exact table, so that only somebody who has it may compare: an organisation
its own, an analyst made-up tables or a simulation. The parties of a job cannot without revealing more
than the release.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.mondrian import mondrian
from coterie.anonymity.algorithms.top_down import SpecializeOptions, specialize_table
from coterie.anonymity.algorithms.width import WidthOptions, cut_by_width
from coterie.anonymity.models.audit import group_numbers
from coterie.anonymity.specialization.scores import GROUPS
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table
from coterie.anonymity.utility.queries import QueryError
from coterie.base.errors import DataError, UsageError

MOST_RECORDS = 50_000  # that are tried unasked
_NEAR = 0.005  # class errors that differ less are equal

Way = Callable[[Table, Sequence[Requirement], int, str | None], Anonymized]


def _specialized(refine: str | None) -> Way:
    def way(
        table: Table, needs: Sequence[Requirement], most: int, class_name: str | None
    ) -> Anonymized:
        score = "gain-ratio" if class_name else "discernibility"
        return specialize_table(table, needs, most, class_name, SpecializeOptions(score, refine))

    return way


def _by_width(tight: bool) -> Way:
    return lambda table, needs, most, _: cut_by_width(table, needs, most, WidthOptions(tight=tight))


# The keys of a job file, or of a table file, beside what they do.
OF_JOBS: Mapping[str, Way] = {
    "method: mondrian": _by_width(False),
    "method: specialize": _specialized(None),
    "method: specialize, refine: groups": _specialized(GROUPS),
}
OF_TABLES: Mapping[str, Way] = {
    "method: mondrian": lambda table, needs, most, _: mondrian(table, needs, most),
    "method: mondrian, rule: width": _by_width(False),
    "method: specialize": _specialized(None),
    "method: specialize, refine: groups": _specialized(GROUPS),
}


@dataclass(frozen=True)
class Tried:
    """What a method keeps; errors are shares, smaller is better."""

    keys: str
    detail: float
    query_error: QueryError
    class_error: float | None
    groups: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        found = {
            "keys": self.keys, "detail": self.detail, "query_error": asdict(self.query_error),
            "class_error": self.class_error, "groups": self.groups,
        }  # fmt: skip
        return {key: value for key, value in found.items() if value is not None}

    @property
    def cuts_groups(self) -> bool:
        """Whether entries that share attributes are one condition."""
        return "mondrian" in self.keys or "groups" in self.keys

    @property
    def lines(self) -> list[str]:
        """The keys as lines of a file."""
        return self.keys.split(", ")

    def sentence(self) -> str:
        error = "" if self.class_error is None else f", class error {self.class_error:.1%}"
        return (
            f"{self.keys}: {self.detail:.0%} of the detail kept in {self.groups:,} groups, half of "
            f"random counts off by at most {self.query_error.median:.0%}{error}"
        )


def compared(
    table: Table,
    needs: Sequence[Requirement],
    class_name: str | None,
    ways: Mapping[str, Way],
    most_suppressed: int = 0,
) -> list[Tried]:
    """Each way that can make the table anonymous, the one that keeps most detail first."""
    found = []
    for keys, way in ways.items():
        begun = time.perf_counter()
        try:
            made = way(table, needs, most_suppressed, class_name)
        except (DataError, UsageError):  # what this way cannot promise
            continue
        spent = time.perf_counter() - begun
        if class_name is None and "specialize" in keys:
            keys += ", score: discernibility"
        found.append(measured_way(keys, made, class_name, spent))
    return sorted(found, key=lambda one: -one.detail)


def measured_way(keys: str, made: Anonymized, class_name: str | None, seconds: float) -> Tried:
    use = made.utility_by_use(class_name)
    assert use.query_error is not None  # noqa: S101
    released = made.released()
    groups = group_numbers([released[name] for name in made.columns])
    return Tried(
        keys,
        round(1 - use.normalised_width, 6),
        use.query_error,
        None if use.class_error is None else use.class_error.release,
        int(groups.max(initial=-1)) + 1,
        seconds,
    )


def advised(tried: Sequence[Tried]) -> list[str]:
    """Which method to choose and why, in sentences; the best comes first."""
    if not tried:
        return []
    best = tried[0]
    lines = [f"keeps most: {best.sentence()}"]
    lines += [f"instead of that, {one.sentence()}" for one in tried[1:]]
    errors = {one: one.class_error for one in tried if one.class_error is not None}
    if errors and best.class_error is not None:
        least = min(errors, key=lambda one: errors[one] or 0.0)
        if (least.class_error or 0.0) < best.class_error - _NEAR:
            lines.append(
                f"for a classifier of the class, {least.keys} serves better: class error "
                f"{least.class_error:.1%} against {best.class_error:.1%}"
            )
    return lines
