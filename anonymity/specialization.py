"""Top-down specialization of one table (Fung, Wang, Yu; paper 1 §4), and a party's part of a joint one.

All values of the QIDs' attributes start at the topmost. Each step specializes the candidate with
the highest score among those that are valid (every requirement holds afterwards) and beneficial
(more than one class among its records). Ties go to the attribute listed first, then to the candidate
created first.

`specialize` does this to a table in one house. `Specializer` is what it is made of: the generalized
table that all parties share, and the candidates of the columns that are at hand. In a joint run
(`protocols.integrate`) each party has one, with its own columns only; `propose` gives its best
candidate, and `apply` carries out an instruction, its own or another's. That both run this code on
the same counts is why their results are equal.

A candidate's validity is counted when its turn comes, not kept up to date for all: a requirement
that a specialization would violate stays violated after any other, so a candidate found invalid is
dropped for good, and in a single table each candidate is counted once. Scores come from the counts
of codes by class, made once; only validity and refinement look at records again.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from anonymity import kernels
from anonymity.columns import Column, ContinuousColumn, IntervalTree, Tree
from anonymity.partitions import Partitions
from anonymity.privacy import Model
from anonymity.scores import RULES, Effect, Rule, best_split
from coterie.errors import DataError

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True)
class Requirement:
    """Every group of records that share a value on `qid` has k records, and satisfies `model`."""

    qid: tuple[str, ...]
    k: int
    sensitive: str | None = None
    model: Model | None = None


@dataclass(frozen=True)
class Labels:
    """A column that is counted by, not generalized: the class, or a sensitive attribute."""

    codes: Array
    values: tuple[str, ...]

    def take(self, rows: Array) -> Labels:
        return Labels(self.codes[rows], self.values)


@dataclass(frozen=True)
class Instruction:
    """One specialization: what all parties must know to carry it out."""

    attribute: int  # among the attributes of the QIDs, in job order
    node: int
    split: float | None  # of an interval
    score: int
    children: Array = field(repr=False)  # one code per record concerned, leaf by leaf


@dataclass(frozen=True)
class Winner:
    """A specialization that was carried out, as results report it."""

    attribute: str
    value: str
    children: tuple[str, ...]
    score: int


@dataclass
class Candidate:
    """A value of the cut, of a column at hand, that may be specialized."""

    attribute: int
    node: int
    created: int
    low: int  # codes from here on have their child in `table`
    table: Array
    width: int  # children
    split: float | None
    by_class: list[list[int]]
    score: int
    valid_at: int = -1  # the sum of the versions of the QIDs concerned when last found valid
    counts_at: int = -1  # the version of the partitions that `counts` belongs to
    leaves: Array = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Array = field(default_factory=lambda: np.empty((0, 0), np.int32))


class InvalidError(ValueError):
    """An instruction that no honest party gives."""


class Specializer:
    """One party's state. `trees` has the attributes of all QIDs in job order, whoever holds them.

    `columns` are those at hand. `labels` holds the class, if there is one, under `class_name`, and
    the sensitive columns at hand.
    """

    def __init__(
        self,
        trees: Mapping[str, Tree],
        columns: Mapping[str, Column],
        labels: Mapping[str, Labels],
        requirements: Sequence[Requirement],
        records: int,
        class_name: str | None = None,
        rule: str = "gain-ratio",
    ) -> None:
        self.names = list(trees)
        self.trees = [trees[name] for name in self.names]
        self.columns = [columns.get(name) for name in self.names]
        self.requirements = list(requirements)
        self.records = records
        self.rule: Rule = RULES[rule]
        self.winners: list[Winner] = []
        self._specialized: list[set[int]] = [set() for _ in self.names]
        number = {name: i for i, name in enumerate(self.names)}
        self.partitions = Partitions(
            records, len(self.names), [[number[name] for name in r.qid] for r in requirements]
        )
        self._concerning = [
            [j for j, groups in enumerate(self.partitions.groups) if i in groups.attributes]
            for i in range(len(self.names))
        ]
        if class_name is None:
            self._classes: Array = np.zeros(records, np.uint8)
            self._class_count = 1
        else:
            self._classes = labels[class_name].codes
            self._class_count = len(labels[class_name].values)
        self._models: dict[int, tuple[Model, Labels, Array]] = {}
        for j, requirement in enumerate(self.requirements):
            self._check_topmost(j, requirement, labels)
        self._created = 0
        self._heap: list[tuple[int, int, int, Candidate]] = []
        self._tables = [
            None if column is None else self._class_counts(column) for column in self.columns
        ]
        for attribute in range(len(self.names)):
            self._add(attribute, [0])

    def _check_topmost(
        self, j: int, requirement: Requirement, labels: Mapping[str, Labels]
    ) -> None:
        """The topmost table is one group per QID: what it violates can never hold."""
        name = f"requirement {j + 1} ({', '.join(requirement.qid)})"
        if requirement.k > self.records:
            raise DataError(
                f"{name}: k = {requirement.k} is more than the {self.records} common records"
            )
        column = labels.get(requirement.sensitive or "")
        if requirement.model is None or column is None:
            return
        try:
            model = requirement.model.for_values(column.values)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None
        overall = np.bincount(column.codes, minlength=len(column.values)).astype(np.int64)
        if not model.holds(overall[None, :], overall).all():
            raise DataError(f"{name}: not even the whole table satisfies {model.name}")
        self._models[j] = model, column, overall

    def _class_counts(self, column: Column) -> Array:
        counts = np.zeros((column.size, self._class_count), np.int32)
        kernels.count_pairs(column.codes, self._classes, counts)
        return counts

    # Candidates of the columns at hand

    def _add(self, attribute: int, nodes: Sequence[int]) -> None:
        """Makes candidates of new values of the cut, where they can be specialized."""
        column = self.columns[attribute]
        for node in nodes:
            self._created += 1
            if column is None:
                continue
            candidate = self._candidate(attribute, node, column)
            if candidate is not None:
                entry = (-candidate.score, attribute, candidate.created, candidate)
                heapq.heappush(self._heap, entry)

    def _candidate(self, attribute: int, node: int, column: Column) -> Candidate | None:
        counts = self._tables[attribute]
        assert counts is not None  # noqa: S101
        low, high = column.span(node)
        whole = counts[low:high].sum(axis=0)
        if np.count_nonzero(whole) < (2 if self.rule.needs_class else 1):
            return None  # not beneficial
        split = None
        if isinstance(column, ContinuousColumn):
            row = best_split(counts[low:high], by_size=not self.rule.needs_class)
            if row is None:
                return None
            split = float(column.values[low + row])
            bounds = [low, low + row, high]
        else:
            children = column.tree.children(node)
            if not children:
                return None
            bounds = [low] + [column.span(child)[1] for child in children]
        width = len(bounds) - 1
        table = np.repeat(
            np.arange(width, dtype=np.uint8 if width <= 256 else np.uint16), np.diff(bounds)
        )
        by_class = [counts[a:b].sum(axis=0).tolist() for a, b in itertools.pairwise(bounds)]
        score = 0
        if self.rule.lasting:
            score = self.rule.score(Effect(by_class, np.empty((0, 0)), (), self.records))
        return Candidate(attribute, node, self._created, low, table, width, split, by_class, score)

    def propose(self) -> Candidate | None:
        """The best valid candidate of the columns at hand."""
        if not self.rule.lasting:
            self._rescore()
        while self._heap:
            candidate = self._heap[0][3]
            if self._is_valid(candidate):
                return candidate
            heapq.heappop(self._heap)
        return None

    def drop(self, candidate: Candidate) -> None:
        """Another party's requirement forbids this candidate, now and ever after."""
        self._heap = [entry for entry in self._heap if entry[3] is not candidate]
        heapq.heapify(self._heap)

    def _count(self, candidate: Candidate) -> None:
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
        concerning = self._concerning[candidate.attribute]
        version = sum(self.partitions.groups[j].version for j in concerning)
        if candidate.valid_at == version:
            return True
        self._count(candidate)
        for j in concerning:
            _, counts, _ = self.partitions.groups[j].counts(candidate.leaves, candidate.counts)
            if kernels.smallest_positive(counts) < self.requirements[j].k:
                return False
        if any(j in self._models for j in concerning) and not self.permits(
            self.instruction(candidate)
        ):
            return False
        candidate.valid_at = version
        return True

    def _rescore(self) -> None:
        """Scores that depend on the groups are computed anew; invalid candidates go."""
        heap = []
        for _, attribute, created, candidate in self._heap:
            if self._is_valid(candidate):
                self._count(candidate)
                effect = self._effect(attribute, candidate.leaves, candidate.counts)
                candidate.score = self.rule.score(effect(candidate.by_class))
                heap.append((-candidate.score, attribute, created, candidate))
        heapq.heapify(heap)
        self._heap = heap

    def _effect(self, attribute: int, leaves: Array, counts: Array) -> Any:
        smallest = []
        if not self.rule.lasting:
            for j in self._concerning[attribute]:
                groups = self.partitions.groups[j]
                found, after, _ = groups.counts(leaves, counts)
                others = groups.size[: groups.used].copy()
                others[found] = 0
                rest = kernels.smallest_positive(others[:, None])
                new = kernels.smallest_positive(after)
                smallest.append((groups.smallest, min(rest, new) if rest else new))
        return lambda by_class: Effect(by_class, counts, smallest, self.records)

    # Specializations, one's own or another's

    def instruction(self, candidate: Candidate) -> Instruction:
        """What to do to specialize a candidate."""
        column = self.columns[candidate.attribute]
        assert column is not None  # noqa: S101
        leaves = self.partitions.link(candidate.attribute, candidate.node)
        children = self.partitions.children(leaves, column.codes, candidate.low, candidate.table)
        return Instruction(
            candidate.attribute, candidate.node, candidate.split, candidate.score, children
        )

    def width(self, attribute: int, node: int, split: float | None) -> int:
        """How many children a specialization gives; raises `InvalidError` where it cannot be."""
        if not 0 <= attribute < len(self.names):
            raise InvalidError(f"there is no attribute {attribute}")
        if not len(self.partitions.link(attribute, node)):
            raise InvalidError(f"'{self.names[attribute]}' has no value {node} in its cut")
        tree = self.trees[attribute]
        if isinstance(tree, IntervalTree):
            if split is None or not tree.can_split(node, split):
                raise InvalidError(f"{self.names[attribute]}: no split of {tree.label(node)}")
            return 2
        if split is not None or not tree.children(node):
            raise InvalidError(f"'{self.names[attribute]}' cannot specialize {tree.label(node)}")
        return len(tree.children(node))

    def concerned(self, attribute: int, node: int) -> int:
        """How many records have this value."""
        return self.partitions.concerned(self.partitions.link(attribute, node))

    def permits(self, instruction: Instruction) -> bool:
        """Whether the models on sensitive columns at hand still hold afterwards (§8)."""
        attribute, children = instruction.attribute, instruction.children
        concerning = [j for j in self._concerning[attribute] if j in self._models]
        if not concerning:
            return True
        width = self.width(attribute, instruction.node, instruction.split)
        leaves = self.partitions.link(attribute, instruction.node)
        for j in concerning:
            model, labels, overall = self._models[j]
            counts = self.partitions.sensitive_counts(
                j, leaves, children, width, labels.codes, len(labels.values)
            )
            if not model.holds(counts, overall).all():
                return False
        return True

    def apply(self, instruction: Instruction) -> int:
        """Carries out a specialization and returns its score, computed from codes and class.

        Raises `InvalidError`, with nothing changed, when a requirement would be violated or no
        more than one class is concerned.
        """
        attribute, node, children = instruction.attribute, instruction.node, instruction.children
        width = self.width(attribute, node, instruction.split)
        leaves = self.partitions.link(attribute, node)
        counts, by_class = self.partitions.tally(
            leaves, children, width, self._classes, self._class_count
        )
        name, tree = self.names[attribute], self.trees[attribute]
        if np.count_nonzero(by_class.any(axis=0)) < (2 if self.rule.needs_class else 1):
            raise InvalidError(f"specializing '{tree.label(node)}' of '{name}' is not beneficial")
        for j in self._concerning[attribute]:
            _, after, _ = self.partitions.groups[j].counts(leaves, counts)
            if kernels.smallest_positive(after) < self.requirements[j].k:
                raise InvalidError(
                    f"specializing '{tree.label(node)}' of '{name}' violates "
                    f"requirement {j + 1} ({', '.join(self.requirements[j].qid)})"
                )
        score = self.rule.score(self._effect(attribute, leaves, counts)(by_class.tolist()))
        nodes: tuple[int, ...]
        if isinstance(tree, IntervalTree):
            assert instruction.split is not None  # noqa: S101
            nodes = tree.split(node, instruction.split)
        else:
            nodes = tree.children(node)
        self.partitions.refine(attribute, nodes, leaves, children, counts)
        if self._heap and self.columns[attribute] is not None:
            self._heap = [e for e in self._heap if e[1] != attribute or e[3].node != node]
            heapq.heapify(self._heap)
        self._specialized[attribute].add(node)
        self._add(attribute, nodes)
        self.winners.append(
            Winner(name, tree.label(node), tuple(tree.label(child) for child in nodes), score)
        )
        return score

    # Results

    @property
    def cut(self) -> dict[str, list[str]]:
        """The values of each attribute that stand in the generalized table, from left to right."""
        return {
            name: [tree.label(node) for node in self.cut_nodes(attribute)]
            for attribute, (name, tree) in enumerate(zip(self.names, self.trees, strict=True))
        }

    def cut_nodes(self, attribute: int) -> list[int]:
        tree = self.trees[attribute]
        nodes, stack = [], [0]
        while stack:
            node = stack.pop()
            if node in self._specialized[attribute]:
                stack.extend(reversed(tree.children(node)))
            else:
                nodes.append(node)
        return nodes

    @property
    def anonymity(self) -> list[dict[str, Any]]:
        return [
            {"qid": list(requirement.qid), "k": requirement.k, "smallest": groups.smallest}
            for requirement, groups in zip(self.requirements, self.partitions.groups, strict=True)
        ]

    def generalized(self, name: str) -> tuple[Array, list[str]]:
        """A code per record, in the table's order, and the value that each code stands for."""
        attribute = self.names.index(name)
        nodes = self.cut_nodes(attribute)
        number = np.zeros(max(nodes) + 1, np.uint32)
        number[nodes] = np.arange(len(nodes))
        tree = self.trees[attribute]
        return number[self.partitions.generalized(attribute)], [tree.label(n) for n in nodes]


def specialize(
    columns: Sequence[Column],
    classes: Labels | None,
    requirements: Sequence[Requirement],
    *,
    sensitive: Mapping[str, Labels] | None = None,
    rule: str = "gain-ratio",
) -> Specializer:
    """Specializes one table as far as the requirements allow.

    `columns` are the attributes of the QIDs in job order (columns in no QID are left out), built by
    `categorical_column` and `continuous_column`; their interval trees grow, so a column serves one
    run. The result has `winners`, `cut`, `anonymity` and `generalized(name)`.
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
    specializer = Specializer(
        {name: column.tree for name, column in chosen.items()},
        chosen,
        labels,
        requirements,
        len(columns[0]),
        class_name,
        rule,
    )
    while (candidate := specializer.propose()) is not None:
        specializer.apply(specializer.instruction(candidate))
    return specializer
