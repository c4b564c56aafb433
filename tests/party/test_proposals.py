"""Proposals at a server in this process."""

import json
import secrets
import time

import pytest

from coterie.protos import jobs_pb2 as pb


@pytest.mark.parametrize(
    ("off", "noted"), [(0, None), (864_000, "10 days ahead of"), (-1200, "0.3 hours behind")]
)
def test_a_coordinator_whose_clock_is_far_off_is_noted_and_told_the_partys(houses, off, noted):
    houses.serve("lender")
    proposal = pb.Proposal(
        job_id=secrets.token_hex(16), job_yaml=houses.job(), unix_time=time.time() + off
    )
    decision = houses.stub("analyst", "lender").Propose(proposal, timeout=60)
    assert abs(decision.unix_time - time.time()) < 60
    lines = [json.loads(line) for line in (houses.state("lender") / "audit.log").open()]
    [proposed] = [line for line in lines if line.get("event") == "proposed"]
    assert ("clock" in proposed) == (noted is not None)
    assert noted is None or noted in proposed["clock"]
