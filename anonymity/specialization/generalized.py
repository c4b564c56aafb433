"""The generalized table that all parties of a joint specialization share, and how it is refined.

The table needs no columns: it follows from the taxonomies, the class and the instructions. `apply`
checks an instruction before it follows it, so that a table never violates its requirement, whoever
sends the instruction.

With `most_suppressed` above zero, an instruction may leave out records that would be in groups that
are too small: they have the code after the last child. Leaving them out can make groups of other
QIDs too small, whose records are then left out too; all parties compute the same records
(`record_suppression`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.anonymity.models.closeness import unfit
from coterie.anonymity.models.privacy import Model, TupleModel
from coterie.anonymity.models.tuple_model import join_columns
from coterie.anonymity.specialization import kernels
from coterie.anonymity.specialization.partitions import Partitions
from coterie.anonymity.specialization.record_suppression import groups_too_small
from coterie.anonymity.specialization.scores import RULES, Effect, Rule
from coterie.anonymity.table.columns import IntervalTree, Tree, code_type
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.errors import DataError, UsageError


@dataclass(frozen=True)
class Requirement:
    """Every group of records that share a value on `qid` has k records, and satisfies `model`.

    `sensitive` names the column that the model bounds, or several that it bounds together. With
    `k_map`, so many people of a population share the values of each group (`universe`).
    """

    qid: tuple[str, ...]
    k: int
    sensitive: str | tuple[str, ...] | None = None
    model: Model | None = None
    k_map: int | None = None

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        if self.sensitive is None:
            return ()
        return (self.sensitive,) if isinstance(self.sensitive, str) else self.sensitive


def covered(requirements: Sequence[Requirement]) -> dict[int, int]:
    """For each entry that another one implies, the other: it has a wider QID and no smaller k.

    A group of the narrower QID is made of groups of the wider one, so that it is never smaller. Of
    two equal entries the first covers the second.
    """
    found = {}
    for i, one in enumerate(requirements):
        for j, other in enumerate(requirements):
            wider = set(one.qid) < set(other.qid) or (set(one.qid) == set(other.qid) and j < i)
            plain = one.model is None and one.k_map is None
            if i != j and wider and one.k <= other.k and plain:
                found[i] = j
                break
    return found


@dataclass(frozen=True)
class Instruction:
    """One specialization: what all parties must know to follow it."""

    attribute: int  # its place among the attributes of the QIDs, in job order
    node: int
    split: float | None  # of an interval
    score: int
    children: Array = field(repr=False)  # one code per record concerned, leaf by leaf
    leaves_out: bool = False  # whether a code after the last child marks omitted records


@dataclass(frozen=True)
class Winner:
    """A specialization that was done, as results report it."""

    attribute: str
    value: str
    children: tuple[str, ...]
    score: int
    phase: int = 1


class InvalidError(ValueError):
    """An instruction that no honest party sends."""


def check_sizes(requirements: Sequence[Requirement], records: int) -> None:
    """Raises if the table has fewer records than some k: no group can be larger than the table."""
    if not records:
        raise DataError("the parties have no common records")
    for j, requirement in enumerate(requirements):
        if requirement.k > records:
            raise DataError(
                f"{_named(j, requirement)}: k = {requirement.k} is more than the {records} common "
                "records"
            )


def models_of(
    requirements: Sequence[Requirement], labels: Mapping[str, Labels]
) -> dict[int, tuple[Model, Labels, Array]]:
    """The models on this party's sensitive columns, with the column and the counts of its values.

    A model that the topmost table violates is an error.
    """
    found: dict[int, tuple[Model, Labels, Array]] = {}
    for j, requirement in enumerate(requirements):
        columns = [labels.get(name) for name in requirement.sensitive_columns]
        if requirement.model is None or not all(columns):
            continue
        if not requirement.model.monotone:
            raise UsageError(
                f"{_named(j, requirement)}: {requirement.model.name} can come back after it was "
                "violated, which specialization does not look for"
            )
        column, model = joined_labels(
            [labels[name] for name in requirement.sensitive_columns], requirement
        )
        try:
            model = model.for_values(column.values)
        except ValueError as error:
            raise unfit(error, f"{_named(j, requirement)}: ") from None
        overall = np.bincount(column.codes, minlength=len(column.values)).astype(np.int64)
        if not model.holds(overall[None, :], overall).all():
            raise DataError(
                f"{_named(j, requirement)}: not even the whole table satisfies {model.name}"
            )
        found[j] = model, column, overall
    return found


def joined_labels(columns: Sequence[Labels], requirement: Requirement) -> tuple[Labels, Model]:
    """Several sensitive columns as one whose values are tuples, and the model for these."""
    model = requirement.model
    assert model is not None  # noqa: S101
    if not isinstance(model, TupleModel):
        return columns[0], model
    codes, tuples, texts = join_columns([(column.codes, column.values) for column in columns])
    return Labels(codes, tuple(texts)), model.for_tuples(tuples)


def _named(j: int, requirement: Requirement) -> str:
    return f"requirement {j + 1} ({', '.join(requirement.qid)})"


class GeneralizedTable:
    """`trees` has the attributes of all QIDs in job order, whoever holds them.

    `labels` has the class, if there is one, under `class_name`, and this party's sensitive columns.
    """

    def __init__(
        self,
        trees: Mapping[str, Tree],
        labels: Mapping[str, Labels],
        requirements: Sequence[Requirement],
        records: int,
        class_name: str | None = None,
        rule: str = "gain-ratio",
        most_suppressed: int = 0,
    ) -> None:
        self.names = list(trees)
        self.trees = [trees[name] for name in self.names]
        self.requirements = list(requirements)
        self.records = records
        self.rule: Rule = RULES[rule]
        self.most_suppressed = most_suppressed
        self.suppressed = 0
        self.phase = 1
        self.winners: list[Winner] = []
        self.specialized: list[set[int]] = [set() for _ in self.names]
        number = {name: i for i, name in enumerate(self.names)}
        self.partitions = Partitions(
            records, len(self.names), [[number[name] for name in r.qid] for r in requirements]
        )
        self.concerning = [
            [j for j, groups in enumerate(self.partitions.groups) if i in groups.attributes]
            for i in range(len(self.names))
        ]
        implied = covered(requirements)
        # The QIDs of an attribute whose groups a specialization could make too small.
        self.binding = [[j for j in entries if j not in implied] for entries in self.concerning]
        if class_name is None:
            self.classes: Array = np.zeros(records, np.uint8)
            self.class_count = 1
        else:
            self.classes = labels[class_name].codes
            self.class_count = len(labels[class_name].values)
        check_sizes(requirements, records)
        self._models = models_of(requirements, labels)

    @property
    def needed_classes(self) -> int:
        """The number of classes that the records must have for a specialization to be beneficial."""
        return 2 if self.rule.needs_class else 1

    @property
    def models(self) -> Mapping[int, tuple[Model, Labels, Array]]:
        """The models of entries on this party's sensitive columns, the column, and its counts."""
        return self._models

    def holds_model(self, attribute: int) -> bool:
        """Whether this party's sensitive columns may forbid a specialization of this attribute."""
        return any(j in self._models for j in self.concerning[attribute])

    # Instructions

    def width(self, attribute: int, node: int, split: float | None) -> int:
        """The number of children of a specialization; raises `InvalidError` if it is impossible."""
        if not 0 <= attribute < len(self.names):
            raise InvalidError(f"there is no attribute {attribute}")
        if not len(self.partitions.link(attribute, node)) or node < 0:
            raise InvalidError(f"'{self.names[attribute]}' has no value {node} in its cut")
        tree = self.trees[attribute]
        if isinstance(tree, IntervalTree):
            if split is None or not tree.can_split(node, split):
                raise InvalidError(f"{self.names[attribute]}: no split of {tree.label(node)}")
            return tree.width(node)
        if split is not None or not tree.children(node):
            raise InvalidError(f"'{self.names[attribute]}' cannot specialize {tree.label(node)}")
        return len(tree.children(node))

    def concerned(self, attribute: int, node: int) -> int:
        """The number of records that have this value."""
        return self.partitions.concerned(self.partitions.link(attribute, node))

    def permits(self, instruction: Instruction) -> bool:
        """Whether the models on this party's sensitive columns still hold afterwards (§8)."""
        attribute, children = instruction.attribute, instruction.children
        concerning = [j for j in self.concerning[attribute] if j in self._models]
        if not concerning:
            return True
        width = self.width(attribute, instruction.node, instruction.split)
        leaves = self.partitions.link(attribute, instruction.node)
        for j in concerning:
            model, labels, overall = self._models[j]
            if isinstance(model, TupleModel):
                cells, codes, count = self.partitions.sensitive_cells(
                    j, leaves, children, width, labels.codes
                )
                if not model.holds_for(cells, codes, count).all():
                    return False
                continue
            for counts in self.partitions.sensitive_counts(
                j, leaves, children, width, labels.codes, len(labels.values)
            ):
                if not model.holds(counts, overall).all():
                    return False
        return True

    def effect(
        self, attribute: int, leaves: Array, counts: Array, by_class: Sequence[Sequence[int]]
    ) -> Effect:
        """The effect that the rule scores. `counts` has the records that stay, by leaf and child."""
        smallest = []
        if not self.rule.lasting:
            for j in self.concerning[attribute]:
                groups = self.partitions.groups[j]
                found, after, _ = groups.counts(leaves, counts)
                others = groups.size[: groups.used].copy()
                others[found] = 0
                rest = kernels.smallest_positive(others[:, None])
                new = kernels.smallest_positive(after)
                smallest.append((groups.smallest, min(rest, new) if rest and new else rest or new))
        return Effect(by_class, counts, smallest, self.records)

    def apply(self, instruction: Instruction) -> int:
        """Applies a specialization and returns its score, computed from codes and class.

        Raises `InvalidError` if a requirement would be violated, if too many records would be left
        out, or if fewer than two classes are concerned. The table must not be used after that.
        """
        attribute, node = instruction.attribute, instruction.node
        width = self.width(attribute, node, instruction.split)
        leaves = self.partitions.link(attribute, node)
        counts, by_class = self.partitions.tally(
            leaves,
            instruction.children,
            width + instruction.leaves_out,
            self.classes,
            self.class_count,
        )
        tree = self.trees[attribute]
        what = f"specializing '{tree.label(node)}' of '{self.names[attribute]}'"
        kept, kept_by_class = np.ascontiguousarray(counts[:, :width]), by_class[:width]
        if np.count_nonzero(kept_by_class.any(axis=0)) < self.needed_classes:
            raise InvalidError(f"{what} is not beneficial")
        for j in self.binding[attribute]:
            _, after, _ = self.partitions.groups[j].counts(leaves, kept)
            if kernels.smallest_positive(after) < self.requirements[j].k:
                raise InvalidError(f"{what} violates {_named(j, self.requirements[j])}")
        score = self.rule.score(self.effect(attribute, leaves, kept, kept_by_class.tolist()))
        nodes: tuple[int, ...]
        if isinstance(tree, IntervalTree):
            assert instruction.split is not None  # noqa: S101
            nodes = tree.split(node, instruction.split)
        else:
            nodes = tree.children(node)
        out = (-1,) if instruction.leaves_out else ()
        self.partitions.refine(attribute, (*nodes, *out), leaves, instruction.children, counts)
        if instruction.leaves_out:
            self._leave_out(attribute, set(nodes), what)
        self.specialized[attribute].add(node)
        self.winners.append(
            Winner(
                self.names[attribute],
                tree.label(node),
                tuple(tree.label(child) for child in nodes),
                score,
                self.phase,
            )
        )
        return score

    def _leave_out(self, attribute: int, new: set[int], what: str) -> None:
        """Removes the records an instruction leaves out, and groups that are then too small."""
        gone = [self.partitions.remove(self.partitions.link(attribute, -1))]
        more = groups_too_small(self.partitions, [r.k for r in self.requirements])
        if new & set(self.partitions.node[attribute, more].tolist()):
            raise InvalidError(f"{what} leaves out too few records")
        gone.append(self.partitions.remove(more))
        records = np.concatenate(gone)
        self.suppressed += len(records)
        if not len(gone[0]) or self.suppressed > self.most_suppressed:
            raise InvalidError(
                f"{what} leaves out {len(records)} records, which makes {self.suppressed} where "
                f"{self.most_suppressed} are permitted"
            )
        self.forget(records)

    def forget(self, records: Array) -> None:
        """Called with the records that are left out."""

    # Results

    @property
    def cut(self) -> dict[str, list[str]]:
        """The values of each attribute in the generalized table, from left to right."""
        return {
            name: [tree.label(node) for node in self.cut_nodes(attribute)]
            for attribute, (name, tree) in enumerate(zip(self.names, self.trees, strict=True))
        }

    def cut_nodes(self, attribute: int) -> list[int]:
        tree = self.trees[attribute]
        nodes, stack = [], [0]
        while stack:
            node = stack.pop()
            if node in self.specialized[attribute]:
                stack.extend(reversed(tree.children(node)))
            else:
                nodes.append(node)
        return nodes

    @property
    def anonymity(self) -> list[dict[str, Any]]:
        return [
            {"qid": list(requirement.qid), "k": requirement.k, "smallest": groups.smallest}
            | ({} if requirement.k_map is None else {"k_map": requirement.k_map})
            for requirement, groups in zip(self.requirements, self.partitions.groups, strict=True)
        ]

    @property
    def kept(self) -> Array:
        """The records that are not left out, in the table's order."""
        return self.partitions.kept()

    def generalized(self, name: str) -> tuple[Array, list[str]]:
        """The code of every kept record, in the table's order, and the value of each code."""
        attribute = self.names.index(name)
        nodes = self.cut_nodes(attribute)
        number = np.zeros(max(nodes) + 1, code_type(len(nodes)))
        number[nodes] = np.arange(len(nodes))
        tree = self.trees[attribute]
        every = self.partitions.generalized(attribute)
        if self.suppressed:
            every = every[self.kept]
        return number[every], [tree.label(n) for n in nodes]
