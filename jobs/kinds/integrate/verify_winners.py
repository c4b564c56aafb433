"""`coterie verify` for the winners of an integrate job: the specializations, replayed and scored anew.

The scores are computed here by their definition (paper 1 §4) and with 60 digits, apart from
`anonymity.specialization.scores`, whose mistakes this check would otherwise share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released, group_numbers
from coterie.anonymity.specialization.scores import COLUMNS
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, Tree
from coterie.anonymity.table.intervals import GAP, Interval, read_interval
from coterie.anonymity.table.scales import Scale
from coterie.anonymity.table.taxonomy import TOP, Taxonomy, taxonomy_of
from coterie.base.arrays import Ints
from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.job import IntegrateJob, ReleasedAttribute

# The rules whose scores a release determines; those of the others depend on earlier steps.
SCORED = ("gain-ratio", "information-gain")
_SCALE = 1 << 30


def too_high(taxonomy: Taxonomy, value: str, marks: Sequence[str]) -> bool:
    """Whether a mark is below the value, so that the value is above a bound."""
    below = [taxonomy.labels.index(value)]
    for node in below:  # the list grows while it is read
        below += taxonomy.children[node]
    return any(taxonomy.labels[node] in marks for node in below[1:])


def span_of(taxonomy: Taxonomy, value: str, where: str) -> tuple[float, float]:
    if value not in taxonomy.labels:
        raise VerificationError(f"{where}: '{value}' is not in its taxonomy")
    node = taxonomy.labels.index(value)
    return taxonomy.first[node], taxonomy.last[node]


def interval_of(value: str, where: str, scale: Scale) -> Interval:
    interval = read_interval(value, scale)
    if interval is None or interval.low > interval.high:
        raise VerificationError(f"{where}: '{value}' is not an interval")
    return interval


class _Cut:
    """The cut of one attribute while the specializations are replayed, value by value."""

    def __init__(self, attribute: ReleasedAttribute, final: Sequence[str]) -> None:
        tree = attribute.tree()
        scale, gap = attribute.scale, attribute.gap
        if attribute.flat:
            tree = TaxonomyTree(taxonomy_of([[v, TOP] if v != TOP else [TOP] for v in final]))
        elif tree is None:
            known = [value for value in final if not (gap and value == GAP)]
            ends = [interval_of(value, attribute.name, scale) for value in known]
            low, high = min(i.low for i in ends), max(i.high for i in ends)
            tree = IntervalTree(low, high, scale, gap)
        self.tree: Tree = tree
        self.nodes = {self._label(0): 0}
        taxonomy = attribute.taxonomy
        if taxonomy is None:
            return
        for value in list(taxonomy.labels):  # parents come before their children
            if too_high(taxonomy, value, attribute.at_most):
                node = self.nodes.pop(value)
                below = taxonomy.children[node]
                self.nodes |= {taxonomy.labels[child]: child for child in below}

    def _label(self, node: int) -> str:
        if isinstance(self.tree, IntervalTree) and not self.tree.is_gap(node):
            return str(self.tree.interval(node))
        return self.tree.label(node)

    def specialize(self, value: str, children: Sequence[str]) -> list[int] | None:
        """The nodes that replace a value; None if these children cannot replace it."""
        node = self.nodes.pop(value, None)
        if node is None:
            return None
        if isinstance(self.tree, IntervalTree):
            if len(children) != self.tree.width(node):
                return None
            upper = read_interval(children[1], self.tree.scale)
            if upper is None or not self.tree.can_split(node, upper.low):
                return None
            self.tree.split(node, upper.low)
        below = list(self.tree.children(node))
        if [self._label(child) for child in below] != list(children):
            return None
        self.nodes |= dict(zip(children, below, strict=True))
        return below

    def rows_below(self, node: int, column: Released) -> list[bool]:
        """Which values of a column, all in the final cut, are under a node."""
        at = [self.nodes[value] for value in column.values]
        tree = self.tree
        if isinstance(tree, IntervalTree):
            if tree.is_gap(node):
                return [tree.is_gap(i) for i in at]
            low, high, closed = tree.low[node], tree.high[node], tree.closed[node]
            return [low <= tree.low[i] and (tree.low[i] < high or closed) for i in at]
        assert isinstance(tree, TaxonomyTree)  # noqa: S101
        first, last = tree.taxonomy.first, tree.taxonomy.last
        return [first[node] <= first[i] and last[i] <= last[node] for i in at]


def check_winners(
    job: IntegrateJob,
    result: Any,
    table: Mapping[str, Released],
    suppressed: bool,
) -> None:
    """Replays the specializations from the topmost values down to the cut."""
    attributes = {attribute.name: attribute for attribute in job.attributes if attribute.in_qid}
    cuts = {name: _Cut(attributes[name], result["cut"][name]) for name in attributes}
    sums = {"contributions": dict.fromkeys(job.record_holders, 0.0)}
    if job.refine == COLUMNS:
        sums["refine_contributions"] = dict.fromkeys(job.record_holders, 0.0)
    phases = [winner.get("phase", 1) for winner in result["winners"]]
    if phases != sorted(phases) or not set(phases) <= set(range(1, len(sums) + 1)):
        raise VerificationError(f"{RESULT}: the winners are in no order of phases")
    steps = []
    for number, winner in enumerate(result["winners"]):
        where = f"{RESULT}: winner {number + 1}"
        attribute = attributes.get(winner["attribute"])
        if attribute is None or winner["party"] != attribute.party:
            raise VerificationError(f"{where} is of no attribute of {winner['party']} in a qid")
        node = cuts[attribute.name].nodes.get(winner["value"], -1)
        below = cuts[attribute.name].specialize(winner["value"], winner["children"])
        if below is None:
            children = ", ".join(winner["children"])
            raise VerificationError(f"{where} puts {children} in the place of '{winner['value']}'")
        [*sums.values()][winner.get("phase", 1) - 1][attribute.party] += winner["score"]
        steps.append((where, winner, node, below))
    for name, cut in cuts.items():
        if sorted(cut.nodes) != sorted(result["cut"][name]):
            raise VerificationError(f"{RESULT}: the winners do not lead to the cut of '{name}'")
    if job.rule in SCORED and not suppressed and job.class_name is not None:
        classes = table[job.class_name]
        counted = {name: _class_counts(table[name], classes) for name in attributes}
        for where, winner, _, below in steps:
            if winner.get("phase", 1) > 1:
                break
            name = winner["attribute"]
            counts = _counts_below(cuts[name], below, table[name], counted[name])
            score = plain_score(job.rule, counts) / _SCALE
            if score != winner["score"]:  # both are multiples of 2^-30
                raise VerificationError(
                    f"{where} has the score {winner['score']}, the release gives {score}"
                )
    if not suppressed:
        second = [step for step in steps if step[1].get("phase", 1) == 2]
        _check_second(cuts, second, {name: table[name] for name in attributes})
    for key, contributions in sums.items():
        for party, total in contributions.items():
            if result[key][party] != total:
                raise VerificationError(
                    f"{RESULT}: {party} contributed {total}, not {result[key][party]}"
                )


def _check_second(
    cuts: Mapping[str, _Cut],
    steps: Sequence[tuple[str, Any, int, Sequence[int]]],
    table: Mapping[str, Released],
) -> None:
    """The scores of a second phase: how far each step makes the squared sizes of the groups fall.

    The steps are undone one after the other, from the release back to the first phase.
    """
    if not steps:
        return
    names = list(table)
    groups = group_numbers([table[name] for name in names])
    _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    records = len(groups)
    shown = [
        np.array([cuts[name].nodes[value] for value in table[name].values])[
            table[name].codes[first]
        ]
        for name in names
    ]

    def squares() -> int:
        _, number = np.unique(np.stack(shown), axis=1, return_inverse=True)
        total = np.bincount(number.ravel(), weights=sizes)
        return sum(int(size) ** 2 for size in total.tolist())

    after = squares()
    for where, winner, node, below in reversed(steps):
        column = shown[names.index(winner["attribute"])]
        column[np.isin(column, below)] = node
        before = squares()
        score = round(Fraction(before - after, records**2) * _SCALE) / _SCALE
        if score != winner["score"]:
            raise VerificationError(
                f"{where} has the score {winner['score']}, the release gives {score}"
            )
        after = before


def _class_counts(column: Released, classes: Released) -> Ints:
    """The number of released records of each value (a row) and class (a column)."""
    width = len(classes.values)
    cells = np.bincount(column.codes * width + classes.codes, minlength=len(column.values) * width)
    counts: Ints = cells.reshape(len(column.values), width)
    return counts


def _counts_below(
    cut: _Cut, nodes: Sequence[int], column: Released, counts: Ints
) -> list[list[int]]:
    """The number of released records of each class under each node."""
    return [counts[cut.rows_below(node, column)].sum(axis=0).tolist() for node in nodes]


def plain_score(rule: str, counts: Sequence[Sequence[int]]) -> int:
    """The score times 2^30 of a specialization with so many records by child and class."""
    with localcontext() as context:
        context.prec = 60
        children = [sum(row) for row in counts]
        classes = [sum(column) for column in zip(*counts, strict=True)]
        records = sum(children)
        within = sum(
            Decimal(n) / records * _entropy(row) for n, row in zip(children, counts, strict=True)
        )
        score = _entropy(classes) - within
        split = _entropy(children)
        if rule == "gain-ratio" and split:
            score /= split
        return int((score * _SCALE).quantize(Decimal(1), ROUND_HALF_EVEN))


def _entropy(counts: Sequence[int]) -> Decimal:
    """Bits of information in a choice with these frequencies."""
    total = sum(counts)
    shares = [Decimal(n) / total for n in counts if n]
    return -sum((p * p.ln() for p in shares), Decimal(0)) / Decimal(2).ln()
