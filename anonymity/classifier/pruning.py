"""Prunes a decision tree by C4.5's collapsing and pessimistic pruning (see `learner`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from coterie.anonymity.classifier.decision_tree import DecisionTree, Feature, Node, Numbers
from coterie.base.arrays import Ints

_LENIENT = 0.1  # the errors by which the smaller tree may be worse


def _make_leaf(node: Node) -> None:
    node.attribute, node.children = -1, []


def collapse(tree: DecisionTree) -> None:
    """Makes a leaf of every subtree that predicts no more of its training records correctly."""
    errors = [0] * len(tree.nodes)
    for at in reversed(range(len(tree.nodes))):
        node = tree.nodes[at]
        if node.attribute >= 0:
            errors[at] = sum(errors[child] for child in node.children)
            if errors[at] < node.errors:
                continue
            _make_leaf(node)
        errors[at] = node.errors


def extra_errors(size: int, errors: int, confidence: float) -> float:
    """The errors beyond those seen that a leaf may make: the upper limit of the binomial share.

    Exact for no errors, else the normal approximation with continuity correction.
    """
    if size == 0:
        return 0.0
    if errors == 0:
        return size * (1.0 - math.pow(confidence, 1 / size))
    if errors + 0.5 >= size:
        return float(size - errors)
    z = NormalDist().inv_cdf(1 - confidence)
    share = (errors + 0.5) / size
    spread = math.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    upper = (share + z * z / (2 * size) + z * spread) / (1 + z * z / size)
    return size * upper - errors


def _pessimistic(counts: Ints, best: int, confidence: float) -> float:
    size = int(counts.sum())
    errors = size - int(counts[best])
    return errors + extra_errors(size, errors, confidence)


def prune(
    tree: DecisionTree, attributes: Sequence[Feature], target: Ints, confidence: float
) -> None:
    """Pessimistic pruning, from the leaves up; `attributes` and `target` are the training table."""
    nodes = tree.nodes
    classes = len(nodes[0].counts)

    def branches(at: int, rows: Ints) -> list[tuple[int, Ints]]:
        """The children of a node, each with the rows that fall into it."""
        node = nodes[at]
        if node.attribute < 0:
            return []
        attribute = attributes[node.attribute]
        values = attribute.values[rows]
        side = values > node.threshold if isinstance(attribute, Numbers) else values
        return [(child, rows[side == branch]) for branch, child in enumerate(node.children)]

    def recount(at: int, rows: Ints) -> None:
        node = nodes[at]
        node.counts = np.bincount(target[rows], minlength=classes)
        if node.counts.any():
            node.best = int(node.counts.argmax())
        for child, below in branches(at, rows):
            recount(child, below)

    def visit(at: int, rows: Ints) -> float:
        """Prunes the subtree below a node and returns its expected errors."""
        node = nodes[at]
        as_leaf = _pessimistic(node.counts, node.best, confidence)
        if node.attribute < 0:
            return as_leaf
        as_subtree = sum(visit(child, below) for child, below in branches(at, rows))
        largest = max(node.children, key=lambda child: int(nodes[child].counts.sum()))
        as_branch = sum(
            _pessimistic(
                np.bincount(target[below], minlength=classes), nodes[leaf].best, confidence
            )
            for leaf, below in tree.route(largest, attributes, rows)
        )
        if as_leaf <= min(as_subtree, as_branch) + _LENIENT:
            _make_leaf(node)
            return as_leaf
        if as_branch <= as_subtree + _LENIENT:
            winner = nodes[largest]
            node.attribute, node.threshold = winner.attribute, winner.threshold
            node.children = winner.children
            recount(at, rows)
            return visit(at, rows)
        return as_subtree

    visit(0, np.arange(len(target)))
