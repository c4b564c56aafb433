"""Top-down specialization (Fung, Wang, Yu; paper 1 §4) of one table, or as a party of a joint one.

All values of the QIDs' attributes start at the topmost value. Each step specializes the candidate
with the highest score among those that are valid (every requirement holds afterwards) and
beneficial (more than one class among its records). Ties go to the attribute listed first, then to
the candidate created first.

`specialize` does this to the table of one organisation. It uses a `Specializer`: the generalized
table that all parties share, and the candidates of this party's columns. In a joint run
(`protocols.integration.integrate`) each party has a `Specializer` with its own columns only;
`propose` returns its best candidate, and `apply` follows an instruction, its own or another
party's. The results are equal because both run this code on the same counts.

A candidate's validity is counted when its turn comes, not kept up to date for all candidates: a
requirement that a specialization would violate stays violated after any other, so a candidate found
invalid is dropped for good, and in a single table each candidate is counted once. Scores come from
the counts of codes by class, which are made once; only validity and refinement read records again.

With suppression, a candidate is also valid if the records that would be in groups too small can be
left out within the limit; its score is that of the records that stay. When records have been left
out, all candidates are made anew from the remaining records, and candidates that were dropped
before are tried again.

With `refine`, a second phase begins when no candidate is left: every value of the cut is a candidate
again, whether or not its records are of several classes, with the score and the split of
`discernibility`.
"""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coterie.anonymity.specialization import kernels
from coterie.anonymity.specialization.generalized import (
    GeneralizedTable,
    Instruction,
    InvalidError,
    Requirement,
    Winner,
)
from coterie.anonymity.specialization.record_suppression import Outliers, outliers
from coterie.anonymity.specialization.scores import (
    REFINING,
    RULES,
    Effect,
    best_split,
    quantile_split,
)
from coterie.anonymity.specialization.universe import (
    Universe,
    check_people,
    combinations,
    rounded,
)
from coterie.anonymity.table.columns import Column, ContinuousColumn, Tree, continuous_column
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.errors import DataError


@dataclass
class Candidate:
    """A value of the cut, of one of this party's columns, that may be specialized."""

    attribute: int
    node: int
    created: int
    low: int  # the first code whose child is in `table`
    table: Array
    width: int  # the number of children
    split: float | None
    by_class: list[list[int]]
    score: int
    valid_at: int = -1  # the sum of the versions of the QIDs concerned when last found valid
    counts_at: int = -1  # the version of the partitions that `counts` belongs to
    leaves: Array = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Array = field(default_factory=lambda: np.empty((0, 0), np.int32))
    left_out: Outliers | None = None


class Specializer(GeneralizedTable):
    """One party's state: the shared table, and the candidates of its own `columns`."""

    def __init__(
        self,
        trees: Mapping[str, Tree],
        columns: Mapping[str, Column],
        labels: Mapping[str, Labels],
        requirements: Sequence[Requirement],
        records: int,
        class_name: str | None = None,
        rule: str = "gain-ratio",
        most_suppressed: int = 0,
    ) -> None:
        super().__init__(trees, labels, requirements, records, class_name, rule, most_suppressed)
        self.columns = [columns.get(name) for name in self.names]
        # Whether a score stays valid: not if it depends on the groups.
        self.scores_last = self.rule.lasting and not most_suppressed
        self._created: dict[tuple[int, int], int] = {}
        self._heap: list[tuple[int, int, int, Candidate]] = []
        self._tables = [
            None if column is None else self._class_counts(column) for column in self.columns
        ]
        for attribute in range(len(self.names)):
            self._add(attribute, [0])

    def _class_counts(self, column: Column) -> Array:
        counts = np.zeros((self.class_count, column.size), np.int32)
        kernels.count_pairs(column.codes, self.classes, counts)
        return counts

    def _add(self, attribute: int, nodes: Sequence[int]) -> None:
        """Makes candidates of new values of the cut that can be specialized."""
        column = self.columns[attribute]
        for node in nodes:
            created = self._created.setdefault((attribute, node), len(self._created))
            if column is None:
                continue
            candidate = self._candidate(attribute, node, created, column)
            if candidate is not None:
                heapq.heappush(self._heap, (-candidate.score, attribute, created, candidate))

    def _candidate(
        self, attribute: int, node: int, created: int, column: Column
    ) -> Candidate | None:
        counts = self._tables[attribute]
        assert counts is not None  # noqa: S101
        low, high = column.span(node)
        whole = counts[:, low:high].sum(axis=1)
        if np.count_nonzero(whole) < self.needed_classes:
            return None  # not beneficial
        split = None
        if isinstance(column, ContinuousColumn):
            top = min(high, len(column.values))  # above are records without a value
            if top - low < 2:
                return None
            if self.rule.by_quantile:
                row = quantile_split(counts[:, low:top].sum(axis=0), self._largest_k(attribute))
            else:
                row = best_split(counts[:, low:top], by_size=not self.rule.needs_class)
            if row is None:
                return None
            split = float(column.values[low + row])
            bounds = [low, low + row, top, high][: column.tree.width(node) + 1]
        else:
            children = column.tree.children(node)
            if not children:
                return None
            bounds = [low] + [column.span(child)[1] for child in children]
        width = len(bounds) - 1
        table = np.repeat(
            np.arange(width, dtype=np.uint8 if width <= 255 else np.uint16), np.diff(bounds)
        )
        by_class = [counts[:, a:b].sum(axis=1).tolist() for a, b in itertools.pairwise(bounds)]
        score = 0
        if self.scores_last:
            score = self.rule.score(Effect(by_class, np.empty((0, 0)), (), self.records))
        return Candidate(attribute, node, created, low, table, width, split, by_class, score)

    def candidate(self, attribute: int, node: int) -> Candidate | None:
        """The candidate of a value in the cut of one of this party's columns, valid or not."""
        column = self.columns[attribute]
        assert column is not None  # noqa: S101
        return self._candidate(attribute, node, self.creation(attribute, node), column)

    def creation(self, attribute: int, node: int) -> int:
        """The place of a value among all that have come into the cut, in order."""
        return self._created[attribute, node]

    def _largest_k(self, attribute: int) -> int:
        """The k that every group of records with one value of this attribute must have."""
        return max(r.k for r in self.requirements if self.names[attribute] in r.qid)

    def propose(self) -> Candidate | None:
        """The best valid candidate of this party's columns."""
        if not self.scores_last:
            self._rescore()
        while self._heap:
            candidate = self._heap[0][3]
            if self._is_valid(candidate):
                return candidate
            self.on_refusal(candidate)
            heapq.heappop(self._heap)
        return None

    def on_refusal(self, candidate: Candidate) -> None:
        """Called for each candidate that a requirement forbids: for those who watch the run."""

    def drop(self, candidate: Candidate) -> None:
        """Removes a candidate that another party's requirement forbids for good."""
        self._heap = [entry for entry in self._heap if entry[3] is not candidate]
        heapq.heapify(self._heap)

    def count(self, candidate: Candidate) -> None:
        """Brings the candidate's counts by leaf partition and child up to date."""
        if candidate.counts_at == self.partitions.version:
            return
        column = self.columns[candidate.attribute]
        assert column is not None  # noqa: S101
        candidate.leaves = self.partitions.link(candidate.attribute, candidate.node)
        candidate.counts = self.partitions.count(
            candidate.leaves, column.codes, candidate.low, candidate.table, candidate.width
        )
        candidate.counts_at = self.partitions.version

    def _is_valid(self, candidate: Candidate) -> bool:
        concerning = self.concerning[candidate.attribute]
        version = sum(self.partitions.groups[j].version for j in concerning)
        if self.most_suppressed:  # groups of other QIDs count too
            version = self.partitions.version
        if candidate.valid_at == version:
            return True
        self.count(candidate)
        candidate.left_out = None
        for j in self.binding[candidate.attribute]:
            _, counts, _ = self.partitions.groups[j].counts(candidate.leaves, candidate.counts)
            if kernels.smallest_positive(counts) < self.requirements[j].k:
                if not self._can_leave_out(candidate):
                    return False
                break
        if self.holds_model(candidate.attribute) and not self.permits(self.instruction(candidate)):
            return False
        candidate.valid_at = version
        return True

    def _can_leave_out(self, candidate: Candidate) -> bool:
        left = self.most_suppressed - self.suppressed
        if left <= 0:
            return False
        found = outliers(
            self.partitions,
            [requirement.k for requirement in self.requirements],
            candidate.attribute,
            candidate.leaves,
            candidate.counts,
            left,
        )
        if found is None:
            return False
        candidate.left_out = found
        return sum(map(any, zip(*self._kept_by_class(candidate), strict=True))) >= (
            self.needed_classes
        )

    def _kept_by_class(self, candidate: Candidate) -> list[list[int]]:
        """The classes of the records that stay, by child."""
        if candidate.left_out is None:
            return candidate.by_class
        children = self.instruction(candidate).children
        _, by_class = self.partitions.tally(
            candidate.leaves, children, candidate.width + 1, self.classes, self.class_count
        )
        kept: list[list[int]] = by_class[:-1].tolist()
        return kept

    def _rescore(self) -> None:
        """Computes scores that depend on the groups anew, and drops invalid candidates."""
        heap = []
        for _, attribute, created, candidate in self._heap:
            if self._is_valid(candidate):
                self.rescore(candidate)
                heap.append((-candidate.score, attribute, created, candidate))
            else:
                self.on_refusal(candidate)
        heapq.heapify(heap)
        self._heap = heap

    def rescore(self, candidate: Candidate) -> None:
        """Computes the candidate's score from the current groups."""
        self.count(candidate)
        counts = candidate.counts
        if candidate.left_out is not None:
            counts = np.where(candidate.left_out.cells, 0, counts)
        by_class = self._kept_by_class(candidate)
        effect = self.effect(candidate.attribute, candidate.leaves, counts, by_class)
        candidate.score = self.rule.score(effect)

    def instruction(self, candidate: Candidate) -> Instruction:
        """The instruction that specializes a candidate."""
        column = self.columns[candidate.attribute]
        assert column is not None  # noqa: S101
        leaves = self.partitions.link(candidate.attribute, candidate.node)
        children = self.partitions.children(leaves, column.codes, candidate.low, candidate.table)
        left_out = candidate.left_out
        leaves_out = left_out is not None and bool(left_out.cells.any())
        if left_out is not None and leaves_out:
            rows = np.repeat(np.arange(len(leaves)), self.partitions.size[leaves])
            children[left_out.cells[rows, children]] = candidate.width
        return Instruction(
            candidate.attribute,
            candidate.node,
            candidate.split,
            candidate.score,
            children,
            leaves_out,
        )

    def apply(self, instruction: Instruction) -> int:
        """As in `GeneralizedTable`; the children become candidates in place of the value."""
        before = self.suppressed
        score = super().apply(instruction)
        attribute, node = instruction.attribute, instruction.node
        if self.suppressed > before:
            self.try_all()
            return score
        if self._heap and self.columns[attribute] is not None:
            self._heap = [e for e in self._heap if e[1] != attribute or e[3].node != node]
            heapq.heapify(self._heap)
        self._add(attribute, self.trees[attribute].children(node))
        return score

    def try_all(self) -> None:
        """Makes candidates of all values of the cut anew."""
        self._heap = []
        for attribute in range(len(self.names)):
            self._add(attribute, self.cut_nodes(attribute))

    def refine(self) -> None:
        """Begins the second phase: every value of the cut is a candidate again, beneficial or not."""
        self.phase = 2
        self.rule, self.scores_last = RULES[REFINING], False
        self.try_all()

    def forget(self, records: Array) -> None:
        for column, counts in zip(self.columns, self._tables, strict=True):
            if column is not None and counts is not None:
                gone = np.zeros_like(counts)
                kernels.count_pairs(column.codes[records], self.classes[records], gone)
                counts -= gone


def specialize(
    columns: Sequence[Column],
    classes: Labels | None,
    requirements: Sequence[Requirement],
    *,
    sensitive: Mapping[str, Labels] | None = None,
    rule: str = "gain-ratio",
    max_suppression: float = 0.0,
    universe: Universe | None = None,
) -> Specializer:
    """Specializes one table as far as the requirements allow.

    `columns` are the attributes of the QIDs in job order (columns in no QID are left out), built by
    `categorical_column` and `continuous_column`; their interval trees grow, so a column serves one
    run. Up to the share `max_suppression` of the records may be left out. Entries with `k_map` need
    the `universe` that they are counted in.

    The result has `winners`, `cut`, `anonymity`, `generalized(name)`, and `suppressed` with `kept`.
    """
    labels = dict(sensitive or {})
    class_name = None
    if classes is not None:
        class_name = "\0class"
        labels[class_name] = classes
    used = {name for requirement in requirements for name in requirement.qid}
    chosen = {column.name: column for column in columns if column.name in used}
    missing = used - chosen.keys()
    if missing:
        raise DataError(f"no column '{min(missing)}', which a requirement names")
    if universe is not None:
        for name in universe.numbers:
            chosen[name] = rounded(chosen[name], universe.points(name))
    records = len(columns[0])
    specializer = Specializer(
        {name: column.tree for name, column in chosen.items()},
        chosen,
        labels,
        requirements,
        records,
        class_name,
        rule,
        suppression_limit(max_suppression, records),
    )
    while (candidate := specializer.propose()) is not None:
        step = specializer.names[candidate.attribute], candidate.node, candidate.split
        if universe is not None and not universe.permits(*step):
            specializer.drop(candidate)
            continue
        specializer.apply(specializer.instruction(candidate))
        if universe is not None:
            universe.follow(*step)
    if universe is not None:
        groups = [combinations(specializer, entry.qid) for entry in universe.requirements]
        lacking = [universe.lacking(j, found) for j, found in enumerate(groups)]
        check_people(requirements, lacking)
    return specializer


@functools.cache
def warm_up() -> None:
    """Loads the compiled loops, so that the first table in a process does not wait for them."""
    text = ["0", "1", "2", "3"]
    classes = Labels(np.array([0, 0, 1, 1], np.uint8), ("n", "y"))
    for kind in (np.uint8, np.uint16, np.uint32):
        column = continuous_column("x", text)
        column.codes = column.codes.astype(kind)
        table = specialize([column], classes, [Requirement(("x",), 2)])
        table.generalized("x")


def suppression_limit(share: float, records: int) -> int:
    """The number of records that a share of them is, rounded down; 0.01 of 300 is 3."""
    return int(share * records + 1e-9)


__all__ = [
    "Candidate",
    "Instruction",
    "InvalidError",
    "Labels",
    "Requirement",
    "Specializer",
    "Winner",
    "specialize",
    "suppression_limit",
    "warm_up",
]
