"""What a proposal may weigh, and how much of a server's time it takes."""

import json

import pytest
import yaml

from coterie.base.errors import UsageError
from coterie.jobs.file.document import LARGEST
from coterie.jobs.kinds.integrate.requirements import MOST_REQUIREMENTS
from coterie.jobs.kinds.job_file import parse_job
from coterie.protos import jobs_pb2 as pb
from tests.party.lending import LOANS
from tests.party.outcomes import FILES, furnish, job
from tests.party.served import change


def propose(houses, number, text, files=None):
    proposal = pb.Proposal(job_id=f"{number:032x}", job_yaml=text, files=files or {})
    return houses.stub("analyst", "bank").Propose(proposal, timeout=60)


def test_a_job_file_has_a_bounded_length():
    with pytest.raises(UsageError, match=f"longer than {LARGEST:,} characters"):
        parse_job("kind: intersect\n" + "#" * LARGEST, {})


def test_a_job_has_a_bounded_number_of_requirements():
    entries = LOANS["requirement"] * MOST_REQUIREMENTS
    parties = {name: {"address": "127.0.0.1:1"} for name in ("lender", "bank")}
    content = json.dumps({**LOANS, "parties": parties, "requirement": entries})
    text = yaml.safe_dump(json.loads(content))  # without aliases
    with pytest.raises(UsageError, match=f"must have at most {MOST_REQUIREMENTS} entries, not 400"):
        parse_job(text, {"Sex.csv": b"f;Any\n", "Job.csv": b"x;Any\n"})


def test_files_of_open_jobs_are_bounded_and_an_ended_job_makes_room(houses):
    furnish(houses)
    policy = yaml.safe_load(houses.path("bank").read_text())["policy"]
    houses.write("bank", policy=policy, limits={"files": "16MB"})
    houses.serve("bank")
    more = b"".join(b"%d" % n + b"x" * 95_000 + b";*\n" for n in range(100))
    heavy = {"ab.csv": FILES["integrate"]["ab.csv"] + more}
    answers = [propose(houses, n, job(houses, "integrate"), heavy) for n in range(3)]
    assert [a.state for a in answers] == [pb.ACCEPTED, pb.REFUSED, pb.REFUSED]
    assert "limits.files: the open jobs of analyst would weigh" in answers[1].reason
    stub = houses.stub("analyst", "bank")
    stub.Cancel(pb.Cancellation(job_id=f"{0:032x}"), timeout=60)
    assert not (houses.state("bank") / "jobs" / f"{0:032x}" / "job.json").exists()
    assert propose(houses, 3, job(houses, "integrate"), heavy).state == pb.ACCEPTED


def test_jobs_that_are_refused_count_as_examined(houses):
    houses.write("bank", policy={"examinations": 2})
    houses.serve("bank")
    broken = change(houses.job(), id="Secret")
    reasons = [propose(houses, number, broken).reason for number in range(3)]
    assert "policy.columns.id" in reasons[1]
    assert "policy.examinations is 2" in reasons[2]
    assert "policy.examinations is 2" in propose(houses, 4, "no: job").reason
