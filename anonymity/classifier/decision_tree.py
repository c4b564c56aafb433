"""A decision tree over label and number attributes: its nodes, and the classes it predicts.

`anonymity.classifier.learner` grows one, `anonymity.classifier.pruning` cuts it back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Floats, Ints


@dataclass(frozen=True)
class Labels:
    """A categorical column: codes 0 … size-1."""

    name: str
    values: Ints
    size: int

    def __getitem__(self, rows: Any) -> Labels:
        return Labels(self.name, self.values[rows], self.size)


@dataclass(frozen=True)
class Numbers:
    """An ordered column."""

    name: str
    values: Floats

    def __getitem__(self, rows: Any) -> Numbers:
        return Numbers(self.name, self.values[rows])


Feature: TypeAlias = Labels | Numbers


@dataclass
class Node:
    counts: Ints
    attribute: int = -1  # -1: a leaf
    threshold: float = math.nan
    children: list[int] = field(default_factory=list)
    best: int = 0

    @property
    def errors(self) -> int:
        return int(self.counts.sum() - self.counts.max(initial=0))


@dataclass
class DecisionTree:
    """A grown tree. `nodes[0]` is the root."""

    nodes: list[Node]

    @property
    def leaves(self) -> int:
        return sum(node.attribute < 0 for node in self._reachable())

    @property
    def root_attribute(self) -> int:
        """The index of the attribute of the first test; -1 if there is none."""
        return self.nodes[0].attribute

    def _reachable(self) -> list[Node]:
        found, at = [self.nodes[0]], 0
        while at < len(found):
            found.extend(self.nodes[child] for child in found[at].children)
            at += 1
        return found

    def predict(self, attributes: Sequence[Feature]) -> Ints:
        """The class of every record."""
        out = np.empty(len(attributes[0].values), np.int64)
        for leaf, rows in self.route(0, attributes, np.arange(len(out))):
            out[rows] = self.nodes[leaf].best
        return out

    def route(
        self, start: int, attributes: Sequence[Feature], rows: Ints
    ) -> list[tuple[int, Ints]]:
        """Which leaf below `start` each of the rows falls into."""
        found: list[tuple[int, Ints]] = []
        todo = [(start, rows)]
        while todo:
            at, rows = todo.pop()
            node = self.nodes[at]
            if node.attribute < 0 or not len(rows):
                found.append((at, rows))
                continue
            attribute = attributes[node.attribute]
            values = attribute.values[rows]
            if isinstance(attribute, Numbers):
                left = values <= node.threshold
                todo += [(node.children[0], rows[left]), (node.children[1], rows[~left])]
            else:
                order = np.argsort(values, kind="stable")
                ends = np.searchsorted(values[order], np.arange(attribute.size + 1))
                todo += [
                    (child, rows[order[ends[value] : ends[value + 1]]])
                    for value, child in enumerate(node.children)
                ]
        return found


def error_rate(tree: DecisionTree, attributes: Sequence[Feature], target: Ints) -> float:
    """The share of records whose class the tree predicts wrongly."""
    return float(np.mean(tree.predict(attributes) != target))
