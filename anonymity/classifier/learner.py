"""Learns a decision tree like C4.5, to measure what a release is worth to a classifier.

Quinlan, "C4.5: Programs for Machine Learning" (1993), with which paper 1 §7 measures:

* A label attribute splits into one branch per value. A number attribute splits
  in two at the threshold with the largest information gain; both sides keep at least a tenth of the
  average class size, within 2 and 25 records; the gain is lessened by log2(thresholds tried) / n.
* Among the attributes whose gain is at least the average gain, the one with the best gain ratio
  wins; at least two branches must have two records or more.
* A subtree that makes no fewer training errors than a leaf becomes one. Then pessimistic pruning:
  the errors of a leaf are taken at the upper limit of their 25 % confidence interval, and a subtree
  becomes a leaf, or its largest branch, where that promises no more errors (0.1 for leniency).

The tree grows level by level and every step is done for all nodes of a level and all records at
once. Ties go to the attribute that comes first, then to the smallest threshold. Released values
come in as they are (`anonymity.classifier.released`): a generalized category is one more label, and
an interval is a number, its lower end, because intervals are disjoint and in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.classifier.decision_tree import DecisionTree, Feature, Labels, Node
from coterie.anonymity.classifier.pruning import collapse, prune
from coterie.base.arrays import Floats, Ints

_LEAST = 2  # the least number of records of a branch that counts
_GAIN = 1e-3  # a smaller gain counts as none


def learn(
    attributes: Sequence[Feature], target: Ints, classes: int, confidence: float | None = 0.25
) -> DecisionTree:
    """The tree for a training table; unpruned when `confidence` is None."""
    tree = grow(attributes, np.asarray(target, np.int64), classes)
    collapse(tree)
    if confidence is not None:
        prune(tree, attributes, target, confidence)
    return tree


def _entropy(counts: Any) -> Floats:
    """The entropy along the last axis, in bits times the total."""
    counts = np.asarray(counts, np.float64)
    total = counts.sum(axis=-1)
    out = _xlogx(total) - _xlogx(counts).sum(axis=-1)
    return np.asarray(out)


def _xlogx(x: Any) -> Floats:
    x = np.asarray(x, np.float64)
    return np.asarray(x * np.log2(x, out=np.zeros_like(x), where=x > 0))


@dataclass
class _Level:
    """The records and the statistics of the nodes that are being split."""

    rows: Ints
    node: Ints  # of each row, 0 … m-1
    target: Ints  # of each row
    counts: Ints  # m by classes
    size: Floats  # of each node
    entropy: Floats  # of each node, times its size


def _label_splits(level: _Level, codes: Ints, values: int) -> tuple[Floats, Floats]:
    nodes, classes = level.counts.shape
    key = (level.node * values + codes) * classes + level.target
    table = np.bincount(key, minlength=nodes * values * classes).reshape(nodes, values, classes)
    branch = table.sum(axis=2)
    gain = (level.entropy - _entropy(table).sum(axis=1)) / level.size
    gain[(branch >= _LEAST).sum(axis=1) < 2] = -np.inf
    return gain, _entropy(branch) / level.size


def _number_splits(level: _Level, values: Floats, ranks: Ints) -> tuple[Floats, Floats, Floats]:
    nodes, classes = level.counts.shape
    gain = np.full(nodes, -np.inf)
    info, threshold = np.zeros(nodes), np.zeros(nodes)
    order = np.argsort(level.node * (int(ranks.max(initial=0)) + 1) + ranks, kind="stable")
    node, rank = level.node[order], ranks[order]
    below = np.zeros((len(order) + 1, classes), np.int64)
    np.cumsum(np.eye(classes, dtype=np.int64)[level.target[order]], axis=0, out=below[1:])
    start = np.searchsorted(node, np.arange(nodes))
    least = np.clip(0.1 * level.size / classes, _LEAST, 25)
    left_size = np.arange(1, len(order)) - start[node[:-1]]
    right_size = level.size[node[:-1]] - left_size
    at = np.flatnonzero(
        (node[1:] == node[:-1])
        & (rank[1:] != rank[:-1])
        & (left_size >= least[node[:-1]])
        & (right_size >= least[node[:-1]])
    )
    if not len(at):
        return gain, info, threshold
    of = node[at]
    left = below[at + 1] - below[start[of]]
    right = level.counts[of] - left
    gains = (level.entropy[of] - _entropy(left) - _entropy(right)) / level.size[of]
    np.maximum.at(gain, of, gains)
    best = np.flatnonzero(gains == gain[of])
    has, first = np.unique(of[best], return_index=True)
    best = best[first]
    tried = np.bincount(of, minlength=nodes)[has]
    gain[has] -= np.log2(tried) / level.size[has]
    sizes = np.stack([left[best].sum(axis=1), right[best].sum(axis=1)], axis=1)
    info[has] = _entropy(sizes) / level.size[has]
    low, high = values[order[at[best]]], values[order[at[best] + 1]]
    threshold[has] = (low + high) / 2
    return gain, info, threshold


def grow(attributes: Sequence[Feature], target: Ints, classes: int) -> DecisionTree:
    """The tree before pruning."""
    ranks: list[Ints] = []
    known: list[Floats] = []
    for attribute in attributes:
        found, inverse = np.unique(attribute.values, return_inverse=True)
        ranks.append(inverse.astype(np.int64))
        known.append(found.astype(np.float64))
    counts = np.bincount(target, minlength=classes)
    nodes = [Node(counts, best=int(counts.argmax()))]
    rows = np.arange(len(target))
    ids = np.zeros(1, np.int64)  # of the level's nodes in `nodes`
    node = np.zeros(len(target), np.int64)
    wide = [isinstance(a, Labels) and a.size >= 0.3 * len(target) for a in attributes]
    while len(ids):
        table = np.array([nodes[i].counts for i in ids])
        size = table.sum(axis=1)
        open_ = (size >= 2 * _LEAST) & (table.max(axis=1) < size)
        keep = open_[node]
        renumber = np.cumsum(open_) - 1
        rows, node = rows[keep], renumber[node[keep]]
        ids, table = ids[open_], table[open_]
        if not len(ids):
            break
        level = _Level(
            rows, node, target[rows], table, table.sum(axis=1).astype(np.float64), _entropy(table)
        )
        gain = np.full((len(ids), len(attributes)), -np.inf)
        info, threshold = np.zeros_like(gain), np.zeros_like(gain)
        for j, attribute in enumerate(attributes):
            if isinstance(attribute, Labels):
                gain[:, j], info[:, j] = _label_splits(
                    level, attribute.values[rows], attribute.size
                )
            else:
                gain[:, j], info[:, j], threshold[:, j] = _number_splits(
                    level, attribute.values[rows], ranks[j][rows]
                )
        choice = _choose(gain, info, np.array(wide))
        ids, node, rows = _branch(nodes, attributes, known, ids, choice, threshold, level)
    return DecisionTree(nodes)


def _choose(gain: Floats, info: Floats, wide: Any) -> Ints:
    """The attribute that each node splits on; -1 for none."""
    counted = (gain > -_GAIN) & (~wide | wide.all())
    number = counted.sum(axis=1)
    average = np.where(
        number > 0, np.where(counted, gain, 0).sum(axis=1) / np.maximum(number, 1), np.inf
    )
    worth = np.full_like(gain, -np.inf)
    good = (gain >= average[:, None] - _GAIN) & (info > _GAIN) & (gain > -_GAIN)
    worth[good] = gain[good] / info[good]
    choice = worth.argmax(axis=1)
    choice[worth.max(axis=1) <= -_GAIN] = -1
    return np.asarray(choice, np.int64)


def _branch(
    nodes: list[Node],
    attributes: Sequence[Feature],
    known: Sequence[Floats],
    ids: Ints,
    choice: Ints,
    threshold: Floats,
    level: _Level,
) -> tuple[Ints, Ints, Ints]:
    """Makes the children of one level, and the state of the next one."""
    classes = level.counts.shape[1]
    offset = np.zeros(len(ids), np.int64)
    cut = np.zeros(len(ids))
    width = 0
    for i, j in enumerate(choice):
        if j < 0:
            continue
        attribute = attributes[j]
        offset[i] = width
        if isinstance(attribute, Labels):
            branches = attribute.size
        else:  # the largest training value that is not above the middle
            cut[i] = known[j][np.searchsorted(known[j], threshold[i, j], side="right") - 1]
            branches = 2
        width += branches
    child = np.full(len(level.rows), -1, np.int64)
    for j, attribute in enumerate(attributes):
        here = choice[level.node] == j
        of, values = level.node[here], attribute.values[level.rows[here]]
        branch = values if isinstance(attribute, Labels) else (values > cut[of]).astype(np.int64)
        child[here] = offset[of] + branch
    split = child >= 0
    rows, child = level.rows[split], child[split]
    table = np.bincount(child * classes + level.target[split], minlength=width * classes)
    table = table.reshape(width, classes)
    first = len(nodes)
    for i, j in enumerate(choice):
        if j < 0:
            continue
        attribute, parent = attributes[j], nodes[ids[i]]
        branches = attribute.size if isinstance(attribute, Labels) else 2
        parent.attribute, parent.threshold = int(j), float(cut[i])
        for branch in range(branches):
            counts = table[offset[i] + branch]
            best = int(counts.argmax()) if counts.any() else parent.best
            if counts[best] == counts[parent.best]:
                best = parent.best
            parent.children.append(len(nodes))
            nodes.append(Node(counts, best=best))
    return first + np.arange(width), child, rows
