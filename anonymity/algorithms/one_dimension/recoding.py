"""`method: quantiles`: columns of numbers, each made k-anonymous by itself.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 4. Every quasi-identifier is one column
of numbers, dates or times. `clusters` says how its records are grouped:

| `clusters` | groups | module |
|---|---|---|
| `even` | floor(n/k) of even size: the least difference in ranks | `groups` |
| `median`, `centre`, `cellular` | of least cost, by dynamic programme | `clusters` |
| `sampled` | even by a sample, in two passes over the column | `sampled` |
| `given` | between given cuts, such as joint quantiles of several organisations | |

`by: value` (the default) shows every value in one way; `by: rank` may divide equal values, so that no
group is larger than it has to be. Groups that violate a model on a sensitive column are merged with
a neighbour until all hold; the clusters are then no longer those of least cost.

Guarantee: every group has k records and satisfies every model, whatever the sample was. Cost:
O(n log n), the sorting.

Not promised: anything about several columns together. A release with two columns, each k-anonymous
alone, may have records that are unique on both together, so every `qid` has one column here. A
group that is shown reveals its least and its largest number.

Errata: those of `clusters`, `groups` and `sampled`. The paper shows a representative for each group;
a release shows the interval, and the result the representatives, so that a release of this method
is read, measured and attacked as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
SEED = 20070812  # one table has one release; the sample only says where the cuts lie


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
    described = {name: _described(made, name, chosen) for name in made.columns}
    return replace(made, details={**made.details, "quantiles": described})


def check_qid(qid: Sequence[str]) -> None:
    """Raises for a quasi-identifier of several columns."""
    if len(qid) != 1:
        raise UsageError(
            f"the qid {', '.join(qid)} has {len(qid)} columns, and 'method: quantiles' makes one "
            "column anonymous by itself; take mondrian, or give each column a requirement of its own"
        )


def _groups(column: ContinuousColumn, k: int, options: Options) -> Array:
    """Per record its group, in the order of the values."""
    codes = np.asarray(column.codes, np.int64)
    counts = frequencies(column)
    if options.by == "rank":
        if options.clusters == "even":
            return groups_by_rank(codes, even_ends(len(codes), k))
        values = np.repeat(column.places[np.flatnonzero(counts)], counts[np.flatnonzero(counts)])
        found = optimal_clusters(values, np.ones(len(codes), np.int64), k, options.clusters)
        return groups_by_rank(codes, np.append(found.starts[1:], len(codes)))

    def stream() -> Iterator[Array]:
        for start in range(0, len(codes), _PIECE):
            yield column.places[codes[start : start + _PIECE]]

    return groups_of_codes(column, counts, k, options, stream)[codes]


def groups_of_codes(
    column: ContinuousColumn,
    counts: Array,
    k: int,
    options: Options,
    stream: Callable[[], Iterator[Array]],
) -> Array:
    """Per code of the column its group, in the order of the values; code c occurs `counts[c]` times.

    `stream` gives the numbers of all records in pieces, as often as it is called: twice for a sample.
    """
    present = np.flatnonzero(counts)
    if options.clusters == "given":
        between = np.searchsorted(np.sort(options.cuts[column.name]), column.values, "right")
        # Records without a value have the last code, if there are any, and a group of their own.
        beside = np.append(between, between.max(initial=-1) + 1)[: column.size]
        return np.searchsorted(np.unique(beside[present]), beside)
    if options.clusters == "sampled":
        rng = np.random.default_rng(SEED)
        cuts, _ = sampled_cuts(stream, k, options.epsilon, options.delta, rng)
        return np.searchsorted(cuts, column.places, "right")
    if options.clusters == "even":
        starts = starts_by_value(counts, even_ends(int(counts.sum()), k))
    else:
        found = optimal_clusters(column.places[present], counts[present], k, options.clusters)
        starts = present[found.starts]
    return np.searchsorted(starts, np.arange(column.size), "right") - 1


def _described(made: Anonymized, name: str, options: Options) -> dict[str, Any]:
    """The groups that the release shows of a column, and what they cost."""
    column, shown = made.table.column(name), made.columns[name]
    assert isinstance(column, ContinuousColumn)  # noqa: S101
    codes = np.asarray(column.codes, np.int64)[made.kept]
    if options.by == "rank":
        ones = np.ones(len(codes), np.int64)
        return described_groups(column.places[codes], ones, shown.codes, shown.labels, options)
    counts = np.bincount(codes, minlength=column.size)
    present = np.flatnonzero(counts)
    group = np.zeros(column.size, np.int64)
    group[codes] = shown.codes
    values = column.places[present]
    return described_groups(values, counts[present], group[present], shown.labels, options)


def described_groups(
    values: Array, times: Array, group: Array, labels: Sequence[str], options: Options
) -> dict[str, Any]:
    """The groups that a release shows, and what they cost; each value occurs `times` in its group."""
    sizes = np.bincount(group, weights=times, minlength=len(labels)).astype(np.int64)
    order = np.lexsort((values, group))
    sorted_values, until = values[order], np.cumsum(times[order])
    ends = np.cumsum(sizes)
    begins = ends - sizes

    def at(place: Array) -> Array:
        """The numbers at these places of the records, sorted by group and number."""
        return np.asarray(sorted_values[np.searchsorted(until, place, "right")])

    lowest, highest, middle = at(begins), at(ends - 1), at(begins + (sizes - 1) // 2)
    centre = (lowest + highest) / 2
    place = centre if options.clusters in ("centre", "cellular") else middle
    records = int(times.sum())
    mean = float((values * times).sum()) / records if records else 0.0
    whole = float(((values - mean) ** 2 * times).sum())
    costs = {
        "median": float((np.abs(values - middle[group]) * times).sum()),
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
        "error": float(((values - place[group]) ** 2 * times).sum()) / whole if whole else 0.0,
        "representatives": dict(zip(labels, place.tolist(), strict=True)),
    }
