"""ID3 and K2 on Adult's columns, held by two parties: the plain answers."""

import csv

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.bayesnet import search
from coterie.protocols.statistics.hidden_scores import HiddenScores, settings_for
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import Axis, JointTable, table_shares
from coterie.protocols.statistics.tree import TreePlan, grow
from tests import ADULT
from tests.protocols.statistics.plain_models import id3, k2
from tests.protocols.statistics.test_tree import LABEL, as_result

TABLE = ADULT / "adult.train.csv"
pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="the Adult data is not here")
NAMES = SERVERS = ("a", "b")
OWNERS = {"relationship": "a", "sex": "a", "race": "a", "workclass": "b", "marital-status": "b"}

ERROR = settings_for(30162, precise=True).error_bound


@pytest.fixture(scope="module")
def adult():
    with TABLE.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if "?" not in row.values()]
    label = list(rows[0])[-1]
    codes, axes = {}, []
    for name, owner in OWNERS.items():
        values = sorted({row[name] for row in rows})
        codes[name] = np.array([values.index(row[name]) for row in rows])
        axes.append(Axis(name, owner, len(values)))
    return axes, codes, np.array([int(">" in row[label]) for row in rows])


def test_the_tree_of_adult_is_the_plain_one(adult):
    axes, codes, classes = adult
    records = len(classes)
    assert records == 30162
    plan = TreePlan(NAMES, SERVERS, tuple(axes), 2, records, 2, 1000)

    def party(channel):
        rng = Random(channel.me)
        own = {axis.name: codes[axis.name] for axis in axes if axis.owner == channel.me}
        scores = HiddenScores(
            channel, NAMES, SERVERS, records, rng.fork("scores"), precise=True, key_bits=1024
        )
        tree = grow(Transfers(channel, rng), plan, own, classes, scores, rng.fork("tree"))
        return as_result(tree, plan)

    found = run_same(NAMES, party)
    rows = [
        {**{name: int(column[i]) for name, column in codes.items()}, LABEL: int(classes[i])}
        for i in range(records)
    ]
    domains = {axis.name: list(range(axis.size)) for axis in axes} | {LABEL: [0, 1]}
    gaps = []
    expected = id3(rows, domains, LABEL, plan.max_depth, plan.minimum, gaps=gaps)
    assert all(gap > 4 * count * ERROR for gap, count in gaps)  # so the answer must be the same
    assert found["a"] == found["b"] == expected
    assert expected["attribute"] in ("relationship", "marital-status")


def test_the_net_of_adult_is_the_plain_one(adult):
    axes, codes, _ = adult
    few = 3000
    axes = axes[:4]
    codes = {name: column[:few] for name, column in codes.items() if name != "marital-status"}

    def party(channel):
        rng = Random(channel.me)
        own = {axis.name: codes[axis.name] for axis in axes if axis.owner == channel.me}
        transfers = Transfers(channel, rng)
        scores = HiddenScores(
            channel, NAMES, SERVERS, few + 8, rng.fork("scores"), precise=True, key_bits=1024
        )

        def count(some):
            return table_shares(transfers, JointTable(NAMES, SERVERS, some, own, few), rng)

        return search(channel, axes, 2, count, scores)

    found = run_same(NAMES, party)
    rows = [{name: int(column[i]) for name, column in codes.items()} for i in range(few)]
    domains = {axis.name: list(range(axis.size)) for axis in axes}
    gaps = []
    expected = k2(rows, [axis.name for axis in axes], domains, 2, gaps)
    assert min(gaps) > 2 * (2 * few + 2.5 * 400) * ERROR  # so the answer must be the same
    assert [list(edge) for edge in found["a"]] == expected
    assert ["relationship", "sex"] in expected
