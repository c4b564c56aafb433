"""Trees grown on shares are the trees of the joined table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import Axis
from coterie.protocols.statistics.tree import STOP, Node, TreePlan, grow, pruned
from coterie.protocols.statistics.tree_predictions import predict
from tests.protocols.statistics.plain_models import id3, x_ln_x

LABEL = "class"


class OpenDecisions:
    """An insecure stand-in: the servers tell everybody the counts."""

    def __init__(self, channel, plan):
        self.channel, self.plan = channel, plan

    def open(self, share):
        with self.channel.step("open"):
            if share is not None:
                self.channel.broadcast(share)
            parts = [
                share if name == self.channel.me else self.channel.recv(name)
                for name in self.plan.servers
            ]
        return (parts[0] + parts[1]).astype(int)

    def leaves(self, counts, nodes, classes, inherited, minimum, last=False):
        table = self.open(counts).reshape(nodes, classes)
        leaf = table.sum(1) - table.max(1) < minimum
        above = 0 if inherited is None else inherited[:, 0]
        own = np.where(table.sum(1) >= minimum, table.argmax(1), above)
        return leaf | last, np.where(leaf | last, own, 0), own.reshape(-1, 1)

    def labels(self, kept, nodes, classes):
        return kept[:, 0]

    def split(self, tables, nodes, sizes, classes):
        values, chosen, at = self.open(tables), [], 0
        for row in sizes:
            scores = []
            for size in row:
                table = values[at : at + size * classes].reshape(size, classes)
                scores.append(sum(map(x_ln_x, table.sum(1))) - sum(map(x_ln_x, table.reshape(-1))))
                at += size * classes
            chosen.append(int(np.argmin(np.round(scores, 9))))
        return chosen


def as_result(node, plan):
    if node.attribute is None:
        return {"class": node.label}
    return {
        "attribute": plan.attributes[node.attribute].name,
        "branches": {i: as_result(branch, plan) for i, branch in enumerate(node.branches)},
    }


@st.composite
def cases(draw, horizontal=False):
    names = tuple("abcd"[: draw(st.integers(2, 4))])
    attributes = tuple(
        Axis(f"x{i}", None if horizontal else draw(st.sampled_from(names)), draw(st.integers(2, 3)))
        for i in range(draw(st.integers(1, 4)))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    records = draw(st.integers(1, 60))
    plan = TreePlan(
        names,
        tuple(draw(st.permutations(names))[:2]),
        attributes,
        draw(st.integers(2, 3)),
        records,
        draw(st.integers(0, 3)),
        draw(st.integers(1, 10)),
        horizontal,
    )
    codes = {axis.name: rng.integers(0, axis.size, records) for axis in attributes}
    noise = rng.integers(0, plan.classes, records)
    classes = np.where(rng.random(records) < 0.6, codes["x0"] % plan.classes, noise)
    return plan, codes, classes


def plain_tree(plan, codes, classes):
    rows = [
        {**{name: int(column[i]) for name, column in codes.items()}, LABEL: int(classes[i])}
        for i in range(len(classes))
    ]
    domains = {axis.name: list(range(axis.size)) for axis in plan.attributes}
    domains[LABEL] = list(range(plan.classes))
    gaps = []
    tree = id3(rows, domains, LABEL, plan.max_depth, plan.minimum, gaps=gaps)
    return tree, [gap for gap, _ in gaps]


@settings(deadline=None, max_examples=15)
@given(cases())
def test_vertical_columns_give_the_plain_tree(case):
    plan, codes, classes = case

    def party(channel):
        rng = Random(channel.me)
        own = {a.name: codes[a.name] for a in plan.attributes if a.owner == channel.me}
        transfers = Transfers(channel, rng)
        tree = grow(transfers, plan, own, classes, OpenDecisions(channel, plan), rng.fork("tree"))
        labels = predict(
            transfers, plan, tree, own, plan.records, [plan.names[-1]], rng.fork("predict")
        )
        return as_result(tree, plan), tree, labels

    found = run_same(plan.names, party)
    expected, gaps = plain_tree(plan, codes, classes)
    if all(gap > 1e-6 for gap in gaps):
        assert found[plan.names[0]][0] == expected
    assert all(result[0] == found[plan.names[0]][0] for result in found.values())
    *others, (_, tree, labels) = found.values()
    assert all(other[2] is None for other in others)
    assert labels.tolist() == [walk(tree, plan, codes, i) for i in range(plan.records)]


def walk(node, plan, codes, record):
    while node.attribute is not None:
        node = node.branches[codes[plan.attributes[node.attribute].name][record]]
    return node.label


@settings(deadline=None, max_examples=8)
@given(cases(horizontal=True))
def test_horizontal_rows_give_the_plain_tree(case):
    plan, codes, classes = case
    split = np.random.default_rng(1).integers(0, len(plan.names), len(classes))

    def party(channel):
        rng = Random(channel.me)
        mine = split == plan.names.index(channel.me)
        own = {name: column[mine] for name, column in codes.items()}
        tree = grow(
            Transfers(channel, rng),
            plan,
            own,
            classes[mine],
            OpenDecisions(channel, plan),
            rng.fork("tree"),
        )
        return as_result(tree, plan)

    found = run_same(plan.names, party)
    expected, gaps = plain_tree(plan, codes, classes)
    if all(gap > 1e-6 for gap in gaps):
        assert found[plan.names[0]] == expected


def test_pruning_joins_leaves_of_one_class():
    tree = Node(0, 0, [Node(1), Node(1, 1, [Node(1), Node(1)])])
    assert pruned(tree) == Node(1)
    mixed = Node(0, 0, [Node(1), Node(0, 1, [Node(1), Node(0)])])
    assert pruned(mixed) == mixed


def test_a_stopped_node_is_a_leaf():
    plan = TreePlan(("a", "b"), ("a", "b"), (Axis("x", "a", 2),), 2, 4, 2, 1)

    class Stop(OpenDecisions):
        def split(self, tables, nodes, sizes, classes):
            return [STOP] * nodes

    def party(channel):
        rng = Random(channel.me)
        codes = {"x": np.array([0, 0, 1, 1])} if channel.me == "a" else {}
        return grow(
            Transfers(channel, rng), plan, codes, np.array([0, 1, 1, 1]), Stop(channel, plan), rng
        )

    assert run_same("ab", party)["b"] == Node(1)


@pytest.mark.parametrize("depth", [0, 1])
def test_depth_is_kept(depth):
    plan = TreePlan(("a", "b"), ("a", "b"), (Axis("x", "a", 2), Axis("y", "b", 2)), 2, 40, depth, 1)
    rng = np.random.default_rng(2)
    codes = {name: rng.integers(0, 2, 40) for name in "xy"}

    def party(channel):
        random = Random(channel.me)
        own = {a.name: codes[a.name] for a in plan.attributes if a.owner == channel.me}
        return grow(
            Transfers(channel, random),
            plan,
            own,
            codes["x"] ^ codes["y"],
            OpenDecisions(channel, plan),
            random,
        )

    def deep(node):
        return 1 + max(map(deep, node.branches)) if node.branches else 0

    assert deep(run_same("ab", party)["a"]) == depth
