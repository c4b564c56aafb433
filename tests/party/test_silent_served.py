"""A policy that forbids silent transfers, at real servers: no party of the job makes them."""

import pytest

from coterie.jobs.run import party_run
from coterie.protos import jobs_pb2 as pb


@pytest.mark.parametrize("forbids", [True, False])
def test_one_party_that_forbids_silent_transfers_forbids_them_to_all(houses, monkeypatch, forbids):
    known = {}
    honest = party_run.agree

    def agree(channel, *rest):
        found = honest(channel, *rest)
        known[channel.me] = channel.silent
        return found

    monkeypatch.setattr(party_run, "agree", agree)
    houses.write("card", policy={"silent": not forbids})
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(houses.job())
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}
    assert known == dict.fromkeys(houses.names, not forbids)
