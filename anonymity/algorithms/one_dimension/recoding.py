"""`method: quantiles`: columns of numbers, each made k-anonymous by itself.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 4. Every quasi-identifier is one column
of numbers, dates or times. `clusters` says how its records are grouped:

| `clusters` | groups | module |
|---|---|---|
| `even` | floor(n/k) of even size: the least difference in ranks | `groups` |
| `median`, `centre`, `cellular` | of least cost, by dynamic programme | `clusters` |
| `sampled` | even by a sample, in two passes over the column | `sampled` |
| `given` | between given cuts, such as joint quantiles of several houses | |

`by: value` (the default) shows every value in one way; `by: rank` may divide equal values, so that no
group is larger than it has to be. Groups that violate a model on a sensitive column are merged with
a neighbour until all hold; the clusters are then no longer those of least cost.

Guarantee: every group has k records and satisfies every model, whatever the sample was. Cost:
O(n log n), the sorting.

Not promised: anything about several columns together. A release with two columns, each k-anonymous
alone, may have records that are alone on both, so every `qid` has one column here. A group that is
shown tells its least and its largest number.

Errata: those of `clusters`, `groups` and `sampled`. The paper shows a representative for each group;
a release shows the interval, and the result the representatives, so that a release of this method
is read, measured and attacked as any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.local_recoding import Parts, recode
from coterie.anonymity.algorithms.one_dimension.clusters import COSTS, optimal_clusters
from coterie.anonymity.algorithms.one_dimension.groups import (
    even_ends,
    groups_by_rank,
    merged,
    rank_difference,
    starts_by_value,
)
from coterie.anonymity.algorithms.one_dimension.sampled import sampled_cuts
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Table
from coterie.anonymity.utility.entropy import frequencies
from coterie.base.arrays import Array
from coterie.base.errors import UsageError

CLUSTERS = ("even", *COSTS, "sampled", "given")
_PIECE = 1 << 16  # numbers that a pass over a column looks at together
_SEED = 20070812  # one table has one release; the sample only says where the cuts lie


@dataclass(frozen=True)
class Options:
    clusters: str = "even"
    by: str = "value"
    epsilon: float = 0.01
    delta: float = 0.01
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # of `given`, per column


def quantiles(
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    options: Options | None = None,
) -> Anonymized:
    """Every quasi-identifier, a single column of numbers, in groups that satisfy its requirements."""
    chosen = options or Options()
    for requirement in requirements:
        check_qid(requirement.qid)
        if not isinstance(table.column(requirement.qid[0]), ContinuousColumn):
            raise UsageError(
                f"column '{requirement.qid[0]}': quantiles are of numbers, dates and times; take "
                "mondrian for categories"
            )

    def partition(part: Table, condition: Condition) -> Parts:
        column = part.column(condition.attributes[0])
        assert isinstance(column, ContinuousColumn)  # noqa: S101
        groups = _groups(column, condition.k, chosen)
        return Parts(merged(groups, condition, part.labels))

    made = recode("quantiles", table, requirements, most_suppressed, partition)
    told = {name: _told(made, name, chosen) for name in made.columns}
    return replace(made, details={**made.details, "quantiles": told})


def check_qid(qid: Sequence[str]) -> None:
    """Raises for a quasi-identifier of several columns."""
    if len(qid) != 1:
        raise UsageError(
            f"the qid {', '.join(qid)} has {len(qid)} columns, and 'method: quantiles' makes one "
            "column anonymous by itself; take mondrian, or give each column a requirement of its own"
        )


def _groups(column: ContinuousColumn, k: int, options: Options) -> Array:
    """Per record its group, in the order of the values."""
    counts = frequencies(column)
    codes = np.asarray(column.codes, np.int64)
    by_rank = options.by == "rank"
    if options.clusters == "given":
        between = np.searchsorted(np.sort(options.cuts[column.name]), column.values, "right")
        beside = np.append(between, between.max(initial=-1) + 1)  # records without a value
        return np.asarray(np.unique(beside[codes], return_inverse=True)[1])
    if options.clusters == "sampled":
        places = column.places

        def stream() -> Iterator[Array]:
            for start in range(0, len(codes), _PIECE):
                yield places[codes[start : start + _PIECE]]

        rng = np.random.default_rng(_SEED)
        cuts, _ = sampled_cuts(stream, k, options.epsilon, options.delta, rng)
        return np.searchsorted(cuts, places[codes], "right")
    if options.clusters == "even":
        ends = even_ends(len(codes), k)
        if by_rank:
            return groups_by_rank(codes, ends)
        starts = starts_by_value(counts, ends)
    else:
        present = np.flatnonzero(counts)
        values, times = column.places[present], counts[present]
        if by_rank:
            values, times = np.repeat(values, times), np.ones(len(codes), np.int64)
        found = optimal_clusters(values, times, k, options.clusters)
        if by_rank:
            return groups_by_rank(codes, np.append(found.starts[1:], len(codes)))
        starts = present[found.starts]
    of_code = np.searchsorted(starts, np.arange(column.size), "right") - 1
    return np.asarray(of_code[codes])


def _told(made: Anonymized, name: str, options: Options) -> dict[str, Any]:
    """What became of a column: the groups that the release shows, and what they cost."""
    column, shown = made.table.column(name), made.columns[name]
    assert isinstance(column, ContinuousColumn)  # noqa: S101
    own = column.places[column.codes[made.kept]]
    sizes = np.bincount(shown.codes, minlength=len(shown.labels))
    order = np.lexsort((own, shown.codes))
    ends = np.cumsum(sizes)
    begins = ends - sizes
    values = own[order]
    lowest, highest = values[begins], values[ends - 1]
    middle = values[begins + (sizes - 1) // 2]
    centre = (lowest + highest) / 2
    place = centre if options.clusters in ("centre", "cellular") else middle
    apart = own - place[shown.codes]
    whole = float(((own - own.mean()) ** 2).sum()) if len(own) else 0.0
    costs = {
        "median": float(np.abs(own - middle[shown.codes]).sum()),
        "centre": float(((highest - lowest) / 2).max(initial=0.0)),
        "cellular": float(((highest - lowest) / 2 * sizes).sum()),
    }
    return {
        "clusters": options.clusters,
        "by": options.by,
        "groups": len(sizes),
        "smallest": int(sizes.min()) if len(sizes) else 0,
        "rank_difference": rank_difference(sizes),
        "costs": costs,
        "error": float((apart**2).sum()) / whole if whole else 0.0,
        "representatives": dict(zip(shown.labels, place.tolist(), strict=True)),
    }
