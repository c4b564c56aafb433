"""The class of each record by a tree that several parties hold, at whoever is to have it."""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import Axis
from coterie.protocols.statistics.tree import Node, TreePlan
from coterie.protocols.statistics.tree_predictions import predict

NAMES = ("ann", "bob", "cat")
AXES = (Axis("x", "ann", 2), Axis("y", "bob", 3))
# By x; then, where x is 1, by y.
TREE = Node(0, 0, [Node(2), Node(0, 1, [Node(0), Node(1), Node(2)])])
RECORDS = 40
CODES = {"x": np.arange(RECORDS) % 2, "y": np.arange(RECORDS) // 2 % 3}


def predicted(tree, receivers, classes=3):
    plan = TreePlan(NAMES, NAMES[:2], AXES, classes, RECORDS, 2, 1)

    def party(channel):
        rng = Random(channel.me)
        own = {axis.name: CODES[axis.name] for axis in AXES if axis.owner == channel.me}
        return predict(Transfers(channel, rng), plan, tree, own, RECORDS, receivers, rng)

    return run_same(NAMES, party)


def test_every_receiver_gets_the_class_of_the_leaf_and_nobody_else_gets_anything():
    found = predicted(TREE, ["bob", "cat"])
    expected = np.where(CODES["x"] == 0, 2, CODES["y"]).tolist()
    assert found["ann"] is None
    assert found["bob"].tolist() == found["cat"].tolist() == expected


def test_a_tree_of_one_leaf_gives_every_record_its_class():
    assert predicted(Node(1), ["cat"])["cat"].tolist() == [1] * RECORDS


def test_shares_that_add_up_to_no_class_are_refused():
    with pytest.raises(PeerFaultError, match="shares of no class"):
        predicted(TREE, ["cat"], classes=2)
