"""Cuts that holders of sensitive columns see and judge."""

import pytest

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import PeerFaultError
from coterie.protocols.integration.mondrian.shown_cuts import ShownCuts
from coterie.protocols.messaging.memory import run_parties
from tests.anonymity.cuts.jobs import shown_rows
from tests.protocols.integration.mondrian.splits import JointJob, shown
from tests.protocols.integration.mondrian.test_cut_together import trees, two_columns


@pytest.mark.parametrize("seed", range(60))
def test_random_jobs_judged_by_holders_are_those_of_the_joined_table(seed):
    joint = JointJob.random(seed + 4000)
    joint.conditions = "holder"
    answer = joint.job.released()
    for outcome in joint.run(hide_scores=seed % 4 == 0).values():
        assert trees(outcome) == answer.details["tree"]
        assert shown(outcome) == shown_rows(answer)


def one_refusal():
    """x at 4 is allowed; then x at 2 leaves people who are all cold, and x at 6 is allowed."""
    joint = two_columns()
    joint.job.texts["ill"] = ["cold", "cold", "cold", "flu", "cold", "flu", "cold", "flu"]
    joint.job.requirements = (Requirement(("x",), 2, "ill", DistinctDiversity(2)),)
    joint.job.names = ["x"]
    joint.conditions = "holder"
    return joint


def test_a_refused_cut_is_the_debt_of_the_holder_that_saw_it():
    joint, booked = one_refusal(), []
    parties = {
        "ann": joint.party("ann", hide_scores=False, book=booked.append),
        "bob": joint.party("bob", hide_scores=False),
    }
    outcome = run_parties(parties)["ann"]
    assert [cut["parts"] for cut in trees(outcome)] == [
        ["[0, 4)", "[4, 10]"],
        ["[4, 6)", "[6, 10]"],
    ]
    # As a ledger counts: the last booking of a mark, unless the mark is settled by a contribution.
    settled = {one.mark for one in booked if not one.proposal}
    debts = {one.mark: one.score for one in booked if one.proposal and one.mark not in settled}
    assert [*debts.values()] == [1 << 29]  # half of the people learn one bit
    given = [one.score for one in booked if not one.proposal]
    assert sum(given) == outcome.contributions["ann"]
    assert all(one.to == ("bob",) for one in booked)


def test_a_proposer_that_does_not_hear_a_refusal_is_named(monkeypatch):
    original = ShownCuts._shown

    def deaf(self, *shown):
        original(self, *shown)
        return set()

    monkeypatch.setattr(ShownCuts, "_shown", deaf)
    with pytest.raises(PeerFaultError, match="ann: instructs what a sensitive column forbids"):
        one_refusal().run(hide_scores=False)
