"""Mondrian: cuts a table into boxes as small as its requirements allow.

LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006); priorities from
Xiong, Rangachari, "Towards application-oriented data anonymization" (P3DM 2008).

A part of the table, at first the whole table, is cut in two along one attribute as long as some cut
leaves on both sides k records that satisfy every model of the requirement. Categories are ordered
as the leaves of their taxonomy, and a box shows the lowest value that covers its records. This is a
local recoding: the same value may be released in several ways.

Guarantee: every group satisfies every requirement. Strict (equal values stay together), with k
alone: a group has at most m + 2d(k-1) records, where m is the largest number of equal records and d
the number of attributes, since every cut between two values is tried and not the median alone. With
`relaxed`, equal values may go to either side, and a group of different records has k to 2k-1
records.

Which cut comes first:

* `rule="entropy"` (the default) takes the cut that saves most of the non-uniform entropy loss, as a
  share of the attribute's, per bit of the cut's own entropy: a gain ratio. Of equal cuts it takes
  the one nearest the median. Where possible, each side has at least a 512th of a part of more than
  4,096 records, a 32nd of a part of more than 32,768, and an eighth of a part in which no value has
  a 64th of the records: a column of different numbers would otherwise lose only k records in each
  pass. On the Adult table this rule loses a fifth to a quarter less than the paper's rule.
* `rule="spread"` is the paper's: the attribute that is widest in the part as a share of its span is
  cut at the median, or at the nearest cut that is allowed. `median_only` tries no cut but the
  median, as the figures in the literature do.

Errata. "Until each region contains no more than k points" means: until no allowed cut is left. The
information gain of Xiong and Rangachari (equation 4.3) is a conditional entropy and not offered.
Their weights, added to the spread, nearly order the attributes outright: the favoured one is
exhausted first (`added=True`). Here a priority multiplies, which is graded.

A tight box ends at values of its records, so it reveals the least and the largest value of each
group; `boxes="regions"` shows where the table was cut instead, which reveals less.

Cost: n d operations for each level, about log2(n/k) levels. With models on sensitive attributes,
the counts of all cuts of a part are judged together.

Not promised: an attacker that knows the algorithm and its order of cuts may infer that a box could
not be cut further, so that some finer group was too small (a minimality attack); and k-anonymity
says nothing about sensitive values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from coterie.anonymity.algorithms import mondrian_kernels as kernels
from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.bounds import permitted_groups
from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.local_recoding import Parts, recode
from coterie.anonymity.models.privacy import Model, TupleModel
from coterie.anonymity.models.tuple_cuts import TupleCuts
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.hierarchy import hierarchy_of
from coterie.anonymity.table.table import Table
from coterie.anonymity.utility.entropy import frequencies, most_bits
from coterie.base.arrays import Array

_ROOM = 1 << 22  # the number of counts that are tested together


class CutSettings(NamedTuple):
    """What the compiled loops are given of the rules and of all attributes, in their order."""

    k: int
    rule: int
    relaxed: bool
    median_only: bool
    tree: Array
    start: Array
    parent: Array
    first: Array
    last: Array
    leaf_start: Array
    leaf_node: Array
    node_cost: Array
    place_start: Array
    places: Array
    weight: Array
    favour: Array
    sizes: Array  # how many codes each attribute has


@dataclass(frozen=True)
class Options:
    rule: Literal["entropy", "spread"] = "entropy"  # `rule: width` is the module `width`
    relaxed: bool = False
    boxes: Literal["tight", "regions"] = "tight"
    categories: Literal["taxonomy", "order"] = "taxonomy"  # how `spread` measures categories
    median_only: bool = False
    added: bool = False  # priorities are added to the spread, as in the paper
    weights: Mapping[str, float] = field(default_factory=dict)


def mondrian(
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    options: Options | None = None,
) -> Anonymized:
    """Partitions a table; records are suppressed only as far as bounds on generalization force it."""
    chosen = options or Options()

    def partition(part: Table, condition: Condition) -> Parts:
        return partition_table(part, condition, chosen)

    tight = chosen.boxes == "tight"
    return recode("mondrian", table, requirements, most_suppressed, partition, tight)


def partition_table(table: Table, condition: Condition, options: Options) -> Parts:
    names = condition.attributes
    groups = permitted_groups(table, names)
    order = np.argsort(groups, kind="stable").astype(np.int64)
    codes = np.stack([table.column(name).codes[order].astype(np.int32) for name in names])
    starts = np.concatenate([[0], np.cumsum(np.bincount(groups))]).astype(np.int64)
    columns = [table.column(name) for name in names]
    counts = [frequencies(column) for column in columns]
    settings = settings_of(columns, counts, table.priority, condition.k, options)
    judged = sensitive_labels(
        condition, {n: len(column.values) for n, column in table.labels.items()}
    )
    labels = np.zeros((table.records, 0), np.int64)
    if judged.names:
        labels = judged.stacked([table.labels[name].codes for name in judged.names])
    totals = np.bincount(labels.ravel(), minlength=judged.values).astype(np.int64)
    tuples = TupleCuts(condition.models, table.labels)
    ends, low, high = partition_codes(
        codes, order, starts, settings, labels, judged, totals, tuples
    )
    part = np.empty(table.records, np.int64)
    part[order] = np.repeat(np.arange(len(ends)), np.diff(np.concatenate([[0], ends])))
    return Parts(part, low, high)


def partition_codes(
    codes: Array,
    order: Array,
    starts: Array,
    settings: CutSettings,
    labels: Array,
    judged: Sensitive,
    totals: Array,
    tuples: TupleCuts | None = None,
) -> tuple[Array, Array, Array]:
    """Cuts the parts that begin at `starts`; rearranges `codes` and `order`, see `kernels.partition`.

    `totals` counts the labels of the whole table, to which t-closeness compares a group; `tuples`
    judges several sensitive columns together.
    """
    if not judged.models and not tuples:
        ends, low, high, _ = kernels.partition(codes, order, starts, *settings)
        return ends, low, high
    return _with_models(codes, order, starts, settings, labels, judged, totals, tuples)


def settings_of(
    columns: Sequence[Column],
    frequency: Sequence[Array],
    priority: Mapping[str, float],
    k: int,
    options: Options,
) -> CutSettings:
    """The rules of the cuts, the trees and costs of all attributes: arguments of the compiled loops.

    `frequency` has for every column how often each of its codes occurs in the table.
    """
    rule = kernels.ENTROPY if options.rule == "entropy" else kernels.SPREAD
    given = _arguments(columns, frequency, priority, options)
    return CutSettings(k, rule, options.relaxed, options.median_only, *given)


def _arguments(
    columns: Sequence[Column],
    frequency: Sequence[Array],
    priority: Mapping[str, float],
    options: Options,
) -> tuple[Array, ...]:
    names = [column.name for column in columns]
    tree = hierarchy_of(columns)
    by_order = options.rule == "spread" and options.categories == "order"
    weights = {name: options.weights.get(name, priority.get(name, 1.0)) for name in names}
    largest = max(weights.values()) or 1.0
    weight, favour = np.ones(len(columns)), np.zeros(len(columns))
    node_cost = np.zeros(len(tree.parent))
    place_start, places = [], [np.zeros(0)]
    for j, (column, counts) in enumerate(zip(columns, frequency, strict=True)):
        if options.added:
            favour[j] = weights[column.name] / largest
        else:
            weight[j] = weights[column.name]
        place_start.append(sum(map(len, places)))
        before = np.concatenate([[0], np.cumsum(counts)]).astype(np.float64)
        if options.rule == "entropy":
            bits = most_bits(counts) / max(int(counts.sum()), 1)
            weight[j] = weight[j] / bits if bits else 0.0
        if isinstance(column, ContinuousColumn):
            places.append(before if options.rule == "entropy" else _shares(column.places))
        elif by_order:
            # Leaves without records do not count: the span is that of the table.
            places.append(_shares(np.cumsum(counts > 0)))
        if isinstance(column, CategoricalColumn) and not by_order:
            nodes = slice(tree.start[j], tree.start[j] + len(column.taxonomy.labels))
            first, last = tree.first[nodes], tree.last[nodes]
            if options.rule == "entropy":
                cost = np.log2(np.maximum(before[last] - before[first], 1))
            else:
                cost = (last - first - 1) / max(column.size - 1, 1)
            node_cost[nodes] = weight[j] * cost
    return (
        np.zeros(len(columns), bool) if by_order else tree.tree,
        tree.start,
        tree.parent,
        tree.first,
        tree.last,
        tree.leaf_start,
        tree.leaf_node,
        node_cost,
        np.array(place_start, np.int64),
        np.concatenate(places),
        weight,
        favour,
        np.array([column.size for column in columns], np.int64),
    )


def _shares(values: Array) -> Array:
    span = float(values[-1] - values[0]) or 1.0
    return np.asarray((values - values[0]) / span, np.float64)


@dataclass(frozen=True)
class Sensitive:
    """The models of a condition on single columns, and their labels numbered one after the other."""

    models: tuple[tuple[Model, str], ...]
    names: tuple[str, ...]
    offsets: Array

    @property
    def values(self) -> int:
        """How many different labels all columns have together."""
        return int(self.offsets[-1])

    def stacked(self, columns: Sequence[Array]) -> Array:
        """A row per record with its labels of all columns."""
        if not columns:
            return np.zeros((0, 0), np.int64)
        moved = [codes + at for codes, at in zip(columns, self.offsets, strict=False)]
        return np.stack(moved, axis=1).astype(np.int64)

    def holds(self, counts: Array, totals: Array) -> Array:
        """Whether groups with these counts of labels satisfy every model."""
        flags: Array = np.ones(len(counts), bool)
        for model, name in self.models:
            at = self.names.index(name)
            span = slice(self.offsets[at], self.offsets[at + 1])
            flags &= model.holds(counts[:, span], totals[span])
        return flags


def sensitive_labels(condition: Condition, values: Mapping[str, int]) -> Sensitive:
    """What the condition judges; `values` says how many different labels each column has."""
    models = tuple(entry for entry in condition.models if not isinstance(entry[0], TupleModel))
    names = tuple(dict.fromkeys(name for _, name in models))
    offsets = np.concatenate([[0], np.cumsum([values[name] for name in names])]).astype(np.int64)
    return Sensitive(models, names, offsets)


def best_cuts(allowed: Array, part: Array, attribute: Array, score: Array, near: Array) -> Array:
    """The best of each part: highest score, first attribute, nearest the median, first cut."""
    ranked = _ranked_cuts(allowed, part, attribute, score, near)
    best: Array = ranked[np.unique(part[ranked], return_index=True)[1]]
    return best


def _ranked_cuts(allowed: Array, part: Array, attribute: Array, score: Array, near: Array) -> Array:
    """The cuts part by part, in each the best first."""
    ranked: Array = allowed[
        np.lexsort((-near[allowed], attribute[allowed], -score[allowed], part[allowed]))
    ]
    return ranked


def _with_models(
    codes: Array,
    order: Array,
    starts: Array,
    settings: CutSettings,
    labels: Array,
    judged: Sensitive,
    totals: Array,
    tuples: TupleCuts | None,
) -> tuple[Array, Array, Array]:
    """Cuts all parts of a level together, so that a model tests many groups at a time."""
    values = judged.values
    sizes: Any = settings.sizes
    low = np.zeros((len(starts) - 1, codes.shape[0]), np.int32)
    high = np.tile(sizes.astype(np.int32), (len(starts) - 1, 1))
    los, his = starts[:-1], starts[1:]
    final: list[tuple[Array, Array, Array]] = []
    while len(los):
        whole = _label_counts(order, los, his, labels, values)
        chosen = np.full(len(los), -1)
        cuts = np.zeros((len(los), 3), np.int64)  # attribute, code, taken
        at = 0
        while at < len(los):
            room = max(_ROOM // max(values, 1), 1)
            done, part, attribute, cut, taken, score, near, left = kernels.cuts_of_parts(
                codes, order, los[at:], his[at:], *settings, labels, values, room
            )
            right = whole[at + part] - left
            allowed = np.flatnonzero(judged.holds(left, totals) & judged.holds(right, totals))
            ranked = _ranked_cuts(allowed, part, attribute, score, near)
            first = np.unique(part[ranked], return_index=True)[1]
            best = ranked[first]
            if tuples:
                survive: list[int] = []
                for own in np.split(ranked, first[1:]) if len(ranked) else []:
                    place = slice(los[at + part[own[0]]], his[at + part[own[0]]])
                    found = tuples.choose(
                        codes[:, place], order[place], attribute[own], cut[own], taken[own]
                    )
                    survive += own[found : found + 1].tolist() if found >= 0 else []
                best = np.array(survive, np.int64)
            parts = part[best]
            chosen[at + parts] = 1
            cuts[at + parts] = np.stack([attribute[best], cut[best], taken[best]], axis=1)
            at += done
        ended = chosen < 0
        final.append((his[ended], low[ended], high[ended]))
        los, his, low, high, cuts = (x[~ended] for x in (los, his, low, high, cuts))
        middles = kernels.split_parts(codes, order, los, his, *cuts.T)
        left_high, right_low = high.copy(), low.copy()
        rows = np.arange(len(los))
        left_high[rows, cuts[:, 0]] = cuts[:, 1] + (cuts[:, 2] > 0)
        right_low[rows, cuts[:, 0]] = cuts[:, 1]
        los, his = np.concatenate([los, middles]), np.concatenate([middles, his])
        low, high = np.concatenate([low, right_low]), np.concatenate([left_high, high])
        by_place = np.argsort(los)
        los, his, low, high = los[by_place], his[by_place], low[by_place], high[by_place]
    ends, low, high = (np.concatenate([item[i] for item in final]) for i in range(3))
    by_place = np.argsort(ends)
    return ends[by_place], low[by_place], high[by_place]


def _label_counts(order: Array, los: Array, his: Array, labels: Array, values: int) -> Array:
    """How often each label occurs in each of the parts."""
    parts = np.repeat(np.arange(len(los)), his - los)
    inside = np.concatenate([order[lo:hi] for lo, hi in zip(los, his, strict=True)])
    counts = np.zeros(len(los) * values, np.int64)
    for column in labels[inside].T:
        counts += np.bincount(parts * values + column, minlength=len(counts))
    return counts.reshape(len(los), values)
