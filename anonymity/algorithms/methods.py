"""The single-table algorithms by the name that a table file gives them.

| method | recoding | optimal | best for |
|---|---|---|---|
| `mondrian` | local: boxes | no | most tables; any model; numbers need no taxonomy |
| `incognito` | whole columns | least cost | tables to compare or join: one value is shown in one way |
| `samarati` | whole columns | least height | lattices too large for incognito |
| `datafly` | whole columns | no | a quick first look |
| `specialize` | whole columns, by values | no | learning a classifier from the release |
| `cluster` | local: clusters | no | some ten thousand records, small k |
| `quantiles` | one column of numbers | by `clusters` | numbers, dates or times that are known alone |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.cluster import cluster
from coterie.anonymity.algorithms.datafly import datafly_table
from coterie.anonymity.algorithms.incognito import incognito
from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.algorithms.one_dimension import recoding
from coterie.anonymity.algorithms.samarati import samarati
from coterie.anonymity.algorithms.top_down import specialize_table
from coterie.anonymity.algorithms.width import WidthOptions, cut_by_width
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table


@dataclass(frozen=True)
class Settings:
    """The options of a method in a table file, besides the requirement."""

    cost: str = "entropy"
    score: str = "gain-ratio"
    class_name: str | None = None
    mondrian: Options = field(default_factory=Options)
    quantiles: recoding.Options = field(default_factory=recoding.Options)


Method = Callable[[Table, Sequence[Requirement], int, Settings], Anonymized]


def _mondrian(table: Table, needs: Sequence[Requirement], most: int, given: Settings) -> Anonymized:
    if given.mondrian.rule != "width":
        return mondrian(table, needs, most, given.mondrian)
    tight = given.mondrian.boxes == "tight"
    return cut_by_width(table, needs, most, WidthOptions(given.score, tight, given.class_name))


METHODS: dict[str, Method] = {
    "mondrian": lambda table, needs, most, given: _mondrian(table, needs, most, given),
    "incognito": lambda table, needs, most, given: incognito(table, needs, most, given.cost),
    "samarati": lambda table, needs, most, _: samarati(table, needs, most),
    "datafly": lambda table, needs, most, _: datafly_table(table, needs, most),
    "specialize": lambda table, needs, most, given: specialize_table(
        table, needs, most, given.class_name, given.score
    ),
    "cluster": lambda table, needs, most, _: cluster(table, needs, most),
    "quantiles": lambda table, needs, most, given: recoding.quantiles(
        table, needs, most, given.quantiles
    ),
}


def anonymise(
    method: str,
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    settings: Settings | None = None,
) -> Anonymized:
    """One table made anonymous; up to `most_suppressed` records may be left out."""
    return METHODS[method](table, requirements, most_suppressed, settings or Settings())
