"""A server that shares false counts of the groups at which bounds on generalization begin.

Nobody else sees these counts, so that a party compares what follows from them with its own column.
"""

import json

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.integration import bounds, rounds
from coterie.protocols.integration.bounds import Demand, records_within_bounds
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_tables import Axis
from tests.jobs.kinds.integrate.test_bounds import BOUNDED
from tests.jobs.loans import loan_folder

LIAR = "bank"
AXES = [Axis("Job", LIAR, 2), Axis("Sick", "clinic", 3)]
JOB = np.repeat([0, 1], 20)
SICK = np.array([2] + [0] * 9 + [1] * 10 + [0] * 10 + [1] * 10)  # one person alone has a 2


def lying(monkeypatch, liar, by):
    """The liar's shares of the counts are others than it was given."""
    true = bounds.table_shares

    def false(transfers, table, rng):
        share = true(transfers, table, rng)
        mine = share is not None and transfers.channel.me == liar
        return share + np.array(by).astype(np.uint32) if mine else share

    monkeypatch.setattr(bounds, "table_shares", false)


def judged(names, most, sick=SICK):
    def party(name):
        own = {LIAR: {"Job": JOB}, "clinic": {"Sick": sick}}.get(name, {})
        return lambda channel: records_within_bounds(
            channel, names, AXES, own, [Demand((0, 1), 5)], 40, most, Random(name)
        )

    return run_parties({name: party(name) for name in names})


@pytest.mark.parametrize("names", [(LIAR, "clinic"), (LIAR, "clinic", "shop")])
@pytest.mark.parametrize(
    ("by", "most"),
    [
        ([0, 0, 4, 0, 0, 0], 0),  # a group of one seems to have five
        ([-9, 0, 0, 0, 0, 9], 2),  # a large group is left out, another seems to stand in for it
        ([-9, 0, 0, -9, 40, 0], 2),  # nobody with a value stays
    ],
)
def test_groups_that_a_party_s_own_column_excludes_end_the_job(names, by, most, monkeypatch):
    assert judged(names, 1)["clinic"].tolist() == [False] + [True] * 39
    lying(monkeypatch, LIAR, by)
    with pytest.raises(PeerFaultError, match=f"^{LIAR}.*: shared false counts"):
        judged(names, most)


def test_nobody_with_a_value_that_would_have_to_stay_is_looked_up(monkeypatch):
    """What the clinic's own column excludes is noticed before the bits of records are opened."""
    lying(monkeypatch, LIAR, [-9, 0, 0, -9, 40, 0])
    look = bounds._looked_up

    def noted(channel, *rest):
        assert channel.me == LIAR, "records were looked up"
        return look(channel, *rest)

    monkeypatch.setattr(bounds, "_looked_up", noted)
    with pytest.raises(PeerFaultError, match="shared false counts"):
        judged((LIAR, "clinic"), 2, np.minimum(SICK, 1))


def test_a_step_that_makes_a_small_group_is_not_told(tmp_path, monkeypatch):
    """Each column alone looks right; its holder sees the small group first, and tells nobody."""
    job = BOUNDED.replace("k: 4", "k: 9") + "max_suppression: 0.45\n"
    path = loan_folder(tmp_path, job=job)
    for name in ("honest", "lied"):
        (tmp_path / name).mkdir()
    honest = simulate(load_job(path), tmp_path, tmp_path / "honest", seed="1")
    assert json.loads(json.dumps(honest))["bounds_cost"] > 0
    lying(monkeypatch, "lender", 20)
    given = []
    give = rounds.Exchange.give

    def noted(self, instruction, peers):
        given.append(instruction.attribute)
        give(self, instruction, peers)

    monkeypatch.setattr(rounds.Exchange, "give", noted)
    with pytest.raises(
        PeerFaultError, match=r"^lender.*shared false counts: a group that the bounds"
    ):
        simulate(load_job(path), tmp_path, tmp_path / "lied", seed="1")
    assert given == [0]  # the lender's own step; the bank's is not told
