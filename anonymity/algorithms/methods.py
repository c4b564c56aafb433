"""The single-table algorithms by the name that a table file gives them.

| method | recoding | optimal | best for |
|---|---|---|---|
| `mondrian` | local: boxes | no | most tables; any model; numbers need no taxonomy |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table


@dataclass(frozen=True)
class Settings:
    """What a table file may say about a method besides the requirement."""

    cost: str = "entropy"
    score: str = "gain-ratio"
    class_name: str | None = None
    mondrian: Options = field(default_factory=Options)


Method = Callable[[Table, Sequence[Requirement], int, Settings], Anonymized]


def _mondrian(
    table: Table, requirements: Sequence[Requirement], most: int, settings: Settings
) -> Anonymized:
    return mondrian(table, requirements, most, settings.mondrian)


METHODS: dict[str, Method] = {"mondrian": _mondrian}


def anonymise(
    method: str,
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    settings: Settings | None = None,
) -> Anonymized:
    """One table made anonymous; up to `most_suppressed` records may be left out."""
    return METHODS[method](table, requirements, most_suppressed, settings or Settings())
