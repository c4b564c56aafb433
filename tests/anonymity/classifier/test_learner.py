"""The decision tree against the rules it states, applied by hand to one node at a time."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from coterie.anonymity.classifier.decision_tree import (
    DecisionTree,
    Feature,
    Labels,
    Numbers,
    error_rate,
)
from coterie.anonymity.classifier.learner import grow, learn
from coterie.anonymity.classifier.pruning import extra_errors
from coterie.anonymity.classifier.released import learner_attribute

Rows = list[int]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Feature], np.ndarray, int]:
    size, classes = draw(st.integers(1, 60)), draw(st.integers(2, 3))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    target = rng.integers(0, classes, size)
    attributes: list[Feature] = []
    for number in range(draw(st.integers(1, 4))):
        values = draw(st.integers(1, 6))
        noisy = np.where(rng.random(size) < 0.5, target, rng.integers(0, values, size)) % values
        if draw(st.booleans()):
            attributes.append(Labels(f"a{number}", noisy, values))
        else:
            attributes.append(Numbers(f"a{number}", noisy * 1.5 + 1))
    return attributes, target, classes


def entropy(items: list[int]) -> float:
    return -sum(n / len(items) * math.log2(n / len(items)) for n in Counter(items).values())


def gain_and_info(parts: list[list[int]]) -> tuple[float, float]:
    whole = [item for part in parts for item in part]
    after = sum(len(part) / len(whole) * entropy(part) for part in parts if part)
    return entropy(whole) - after, entropy([i for i, part in enumerate(parts) for _ in part])


def best_test(
    attribute: Feature, rows: Rows, target: np.ndarray, classes: int
) -> tuple[float, float, set[float]] | None:
    """Gain, split information and thresholds of the attribute's best test on these rows."""
    if isinstance(attribute, Labels):
        parts: list[list[int]] = [[] for _ in range(attribute.size)]
        for row in rows:
            parts[attribute.values[row]].append(int(target[row]))
        if sum(len(part) >= 2 for part in parts) < 2:
            return None
        return *gain_and_info(parts), set()
    least = min(max(0.1 * len(rows) / classes, 2), 25)
    found = []
    values = sorted({float(attribute.values[row]) for row in rows})
    for low, high in itertools.pairwise(values):
        left = [int(target[row]) for row in rows if attribute.values[row] <= low]
        right = [int(target[row]) for row in rows if attribute.values[row] > low]
        if min(len(left), len(right)) >= least:
            found.append((*gain_and_info([left, right]), (low + high) / 2))
    if not found:
        return None
    best = max(gain for gain, _, _ in found)
    ties = [entry for entry in found if entry[0] > best - 1e-9]
    penalty = math.log2(len(found)) / len(rows)
    return best - penalty, ties[0][1], {threshold for _, _, threshold in ties}


def check_node(
    tree: DecisionTree, at: int, attributes: list[Feature], target: np.ndarray, rows: Rows,
    used: set[int], classes: int,
) -> None:  # fmt: skip
    node = tree.nodes[at]
    found = {
        j: result
        for j, attribute in enumerate(attributes)
        if j not in used and (result := best_test(attribute, rows, target, classes))
    }
    gains = [gain for gain, _, _ in found.values() if gain > -1e-3]
    average = sum(gains) / len(gains) if gains else math.inf
    worth = {
        j: gain / info
        for j, (gain, info, _) in found.items()
        if gain >= average - 1e-3 and info > 1e-3 and gain > -1e-3
    }
    pure = len({int(target[row]) for row in rows}) <= 1
    if len(rows) < 4 or pure or not worth or max(worth.values()) <= -1e-3:
        assert node.attribute == -1
        assert not rows or node.counts.sum() == len(rows)
        return
    assert worth[node.attribute] > max(worth.values()) - 1e-9
    attribute = attributes[node.attribute]
    values = attribute.values[rows]
    if isinstance(attribute, Numbers):
        everything = sorted(set(attribute.values.tolist()))
        assert node.threshold in {
            max(value for value in everything if value <= middle)
            for middle in found[node.attribute][2]
        }
        sides = [values <= node.threshold, values > node.threshold]
    else:
        sides = [values == value for value in range(attribute.size)]
        used = used | {node.attribute}
    for child, side in zip(node.children, sides, strict=True):
        below = [row for row, yes in zip(rows, side, strict=True) if yes]
        check_node(tree, child, attributes, target, below, used, classes)


@given(tables())
@settings(max_examples=200, deadline=None)
def test_every_split_is_one_that_the_rules_choose(
    table: tuple[list[Feature], np.ndarray, int],
) -> None:
    attributes, target, classes = table
    tree = grow(attributes, target, classes)
    wide = [isinstance(a, Labels) and a.size >= 0.3 * len(target) for a in attributes]
    if not any(wide):  # wide labels do not count in the average; see the next test
        check_node(tree, 0, attributes, target, list(range(len(target))), set(), classes)


def test_a_label_with_very_many_values_does_not_spoil_the_average() -> None:
    rng = np.random.default_rng(3)
    target = np.repeat([0, 1], 10)
    useful = Labels("useful", np.where(rng.random(20) < 0.9, target, 1 - target), 2)
    many = Labels("many", np.arange(20) // 2, 10)
    assert grow([many, useful], target, 2).root_attribute == 1


@given(tables())
@settings(max_examples=150, deadline=None)
def test_cutting_back_keeps_the_records_and_never_grows_the_tree(
    table: tuple[list[Feature], np.ndarray, int],
) -> None:
    attributes, target, classes = table
    full = grow(attributes, target, classes)
    collapsed = learn(attributes, target, classes, None)
    pruned = learn(attributes, target, classes)
    assert error_rate(collapsed, attributes, target) == error_rate(full, attributes, target)
    assert pruned.leaves <= collapsed.leaves <= full.leaves
    most_frequent = np.bincount(target).max() / len(target)
    assert error_rate(pruned, attributes, target) <= 1 - most_frequent + 0.1 + 1e-9
    assert pruned.nodes[0].counts.sum() == len(target)


class Plain:
    """A tree as nested objects, cut back by the rules, one node at a time."""

    def __init__(self, tree: DecisionTree, at: int, table: list[Feature], target: Any) -> None:
        node = tree.nodes[at]
        self.attribute, self.threshold, self.best = node.attribute, node.threshold, node.best
        self.children = [Plain(tree, child, table, target) for child in node.children]
        self.table, self.target = table, target

    def parts(self, rows: Rows) -> list[Rows]:
        found: list[Rows] = [[] for _ in self.children]
        for row in rows:
            value = self.table[self.attribute].values[row]
            numeric = isinstance(self.table[self.attribute], Numbers)
            found[int(value > self.threshold) if numeric else int(value)].append(row)
        return found

    def as_leaf(self, rows: Rows) -> float:
        wrong = sum(self.target[row] != self.best for row in rows)
        return float(wrong + extra_errors(len(rows), int(wrong), 0.25))

    def expected(self, rows: Rows) -> float:
        if not self.children:
            return self.as_leaf(rows)
        pairs = zip(self.children, self.parts(rows), strict=True)
        return sum(child.expected(part) for child, part in pairs)

    def recount(self, rows: Rows) -> None:
        if rows:
            counts = Counter(int(self.target[row]) for row in rows)
            self.best = min(counts, key=lambda label: (-counts[label], label))
        if self.children:
            for child, part in zip(self.children, self.parts(rows), strict=True):
                child.recount(part)

    def prune(self, rows: Rows) -> None:
        if not self.children:
            return
        parts = self.parts(rows)
        for child, part in zip(self.children, parts, strict=True):
            child.prune(part)
        largest = self.children[max(range(len(parts)), key=lambda i: len(parts[i]))]
        kept, raised = self.expected(rows), largest.expected(rows)
        if self.as_leaf(rows) <= min(kept, raised) + 0.1:
            self.children = []
        elif raised <= kept + 0.1:
            self.attribute, self.threshold = largest.attribute, largest.threshold
            self.children = largest.children
            self.recount(rows)
            self.prune(rows)

    def predict(self, row: int) -> int:
        if not self.children:
            return self.best
        [at] = [i for i, part in enumerate(self.parts([row])) if part]
        return self.children[at].predict(row)

    @property
    def leaves(self) -> int:
        return sum(child.leaves for child in self.children) or 1


def noisy(seed: int) -> tuple[list[Feature], np.ndarray, int]:
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 2, 60)
    table: list[Feature] = [
        Labels("a", np.where(rng.random(60) < 0.55, target, rng.integers(0, 2, 60)), 2),
        Labels("b", np.where(rng.random(60) < 0.65, target, rng.integers(0, 2, 60)), 2),
        Numbers("x", np.round(target * 2 + rng.normal(0, 1.5, 60))),
    ]
    return table, target, 2


@given(tables())
@example(noisy(58))
@example(noisy(182))
@settings(max_examples=150, deadline=None)
def test_pruning_is_what_the_rules_say(table: tuple[list[Feature], np.ndarray, int]) -> None:
    attributes, target, classes = table
    rows = list(range(len(target)))
    plain = Plain(learn(attributes, target, classes, None), 0, attributes, target)
    plain.prune(rows)
    tree = learn(attributes, target, classes)
    assert tree.leaves == plain.leaves
    assert tree.predict(attributes).tolist() == [plain.predict(row) for row in rows]


def test_a_branch_takes_the_place_of_its_parent_where_that_promises_fewer_errors() -> None:
    attributes, target, classes = noisy(182)
    before = learn(attributes, target, classes, None)
    after = learn(attributes, target, classes)
    assert (before.root_attribute, after.root_attribute) == (1, 2)
    assert after.nodes[0].counts.sum() == 60


def test_a_split_that_makes_no_fewer_errors_is_undone() -> None:
    """90 % and 60 % of one class: informative, but both sides predict the same."""
    side = np.repeat([0, 1], 50)
    target = np.concatenate([np.repeat([0, 1], [45, 5]), np.repeat([0, 1], [30, 20])])
    table: list[Feature] = [Labels("side", side, 2)]
    assert grow(table, target, 2).leaves == 2
    assert learn(table, target, 2, None).leaves == 1


def test_a_tree_sees_what_scikit_learn_sees_in_a_table_with_a_simple_rule() -> None:
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 50, (3000, 3)).astype(float)
    target = ((numbers[:, 0] < 20) ^ (numbers[:, 1] >= 33)).astype(np.int64)
    attributes: list[Feature] = [Numbers(f"n{i}", numbers[:, i]) for i in range(3)]
    tree = learn([a[:2000] for a in attributes], target[:2000], 2)
    peer = DecisionTreeClassifier(criterion="entropy").fit(numbers[:2000], target[:2000])
    assert error_rate(tree, [a[2000:] for a in attributes], target[2000:]) == pytest.approx(
        1 - peer.score(numbers[2000:], target[2000:]), abs=0.005
    )
    assert tree.leaves <= 12


def test_noise_is_pruned_away() -> None:
    rng = np.random.default_rng(9)
    target = (rng.random(2000) < 0.2).astype(np.int64)
    attributes: list[Feature] = [
        Numbers("n", rng.random(2000)),
        Labels("a", rng.integers(0, 5, 2000), 5),
        Labels("b", rng.integers(0, 5, 2000), 5),
    ]
    assert grow(attributes, target, 2).leaves > 20
    assert learn(attributes, target, 2).leaves <= 5


def test_a_value_that_training_never_saw_takes_the_class_of_the_node_above() -> None:
    values = np.array([0] * 10 + [1] * 10)
    tree = learn([Labels("a", values, 3)], values, 2)
    assert tree.predict([Labels("a", np.array([0, 1, 2]), 3)]).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("size", "errors", "book"),
    [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)],
)
def test_pessimistic_errors_are_those_in_the_book(size: int, errors: int, book: float) -> None:
    """Quinlan's worked example of U25%(errors, size), as shares."""
    share = (errors + extra_errors(size, errors, 0.25)) / size
    assert share == pytest.approx(book, abs=0.012)


@given(st.integers(1, 500), st.integers(0, 500))
def test_pessimistic_errors_lie_between_the_errors_seen_and_all(size: int, errors: int) -> None:
    errors = min(errors, size)
    total = errors + extra_errors(size, errors, 0.25)
    assert errors <= total <= size + 1e-9


def test_released_columns_become_numbers_where_they_are_in_order() -> None:
    column = learner_attribute("Salary", ["[37, 99]", "[1, 37)", "[1, 37)"])
    assert isinstance(column, Numbers)
    assert column.values.tolist() == [37, 1, 1]
    raw = learner_attribute("Age", ["17", "-3", "2.5"])
    assert isinstance(raw, Numbers)
    assert raw.values.tolist() == [17, -3, 2.5]
    job = learner_attribute("Job", ["Lawyer", "White-collar", "Lawyer"])
    assert isinstance(job, Labels)
    assert job.values.tolist() == [0, 1, 0]
