"""A coordinator that varies what a column must fit does not find out which values the column has."""

import secrets

import pytest
import yaml

from coterie.party.store.database import database
from coterie.protos import jobs_pb2 as pb
from coterie.transport.error_messages import UNEXPLAINED

SALARIES = [1203, 40777, 52310, 68901, 99999, 131072, 70001, 33333]
TOP = 1 << 20


@pytest.fixture
def bank(houses):
    houses.authority.issue("analyst2")
    write(houses)
    return houses


def write(houses, salaries=SALARIES, **policy):
    rows = "".join(f"p{at},{salary},j{salary % 7}\n" for at, salary in enumerate(salaries))
    (houses.folder / "bank.csv").write_text("ID,Salary,Job\n" + rows)
    houses.write(
        "bank",
        policy={
            "coordinators": ["analyst", "analyst2"],
            "kinds": ["aggregate", "count"],
            "columns": {"id": ["ID"], "use": ["Salary", "Job"], "release": ["Salary", "Job"]},
            "exact": ["lender", "card"],
            "smallest_k": 1,
            **policy,
        },
    )


def job(salary=None, job=None, **keys):
    """A job that says of the bank's columns what they must be."""
    content = {
        "kind": "aggregate" if salary else "count",
        "name": secrets.token_hex(4),
        "parties": {name: {} for name in ("lender", "bank", "card")},
        "id": "ID",
        "attributes": {"Sex": {"party": "lender", "values": ["f", "m"]}},
        "servers": ["bank", "lender"],
        "minimum": 5,
        **keys,
    }
    if salary:
        content["attributes"]["Salary"] = {"party": "bank", **salary}
        content |= {"by": ["Sex"], "measures": [{"sum": "Salary"}]}
    else:
        content["attributes"]["Job"] = {"party": "bank", **job}
        content["tables"] = [["Sex", "Job"]]
    return yaml.safe_dump(content, sort_keys=False)


def asked(houses, text, name="analyst", by="doctor"):
    """Whether the bank's data fits the job, and in what words; None: it did not look."""
    stub = houses.stub(name, "bank")
    if by == "doctor":
        check = stub.Describe(pb.DescribeRequest(job_yaml=text), timeout=60).checks[-1]
        fits, words = check.ok, check.detail
    else:
        proposal = pb.Proposal(job_id=secrets.token_hex(16), job_yaml=text)
        decision = stub.Propose(proposal, timeout=60)
        fits, words = decision.state == pb.ACCEPTED, decision.reason
    return (None if "policy.descriptions" in words else fits), words


@pytest.mark.parametrize("by", ["doctor", "proposal"])
def test_the_highest_salary_is_not_found_by_ranges(bank, by):
    bank.serve("bank")
    possible = range(max(SALARIES) // 2, TOP)
    refusals = set()
    for _ in range(24):
        middle = possible[len(possible) // 2]
        fits, words = asked(bank, job(salary={"range": [0, middle]}), by=by)
        if fits is None:
            refusals.add(words)
            continue
        assert fits or words == UNEXPLAINED
        possible = [x for x in possible if (x <= middle) == fits]
    assert len(possible) > 900  # of a million: ten bits
    assert len(refusals) == 1


def test_after_the_limit_the_answer_is_the_same_whatever_the_data_is(houses):
    """The bank answers before it reads, so that tables with other values give the same words."""
    houses.authority.issue("analyst2")
    told = []
    for salaries in (SALARIES, [5, 6, 7]):
        write(houses, salaries, descriptions=2)
        houses.serve("bank")
        for end in (3, 2_000_000):
            asked(houses, job(salary={"range": [0, end]}))
        (houses.folder / "bank.csv").unlink()
        told.append([asked(houses, job(salary={"range": [0, end]}))[1] for end in (10, 90, 10**6)])
        houses.servers.pop("bank").stop()
        with database(houses.state("bank")).changing() as change:
            change.remove("notes", "descriptions")
    assert told[0] == told[1]
    assert len(set(told[0])) == 1


def test_values_that_do_not_occur_are_not_tried_one_by_one(bank):
    """That a value does not occur is an answer, too, and costs as much as that it does."""
    bank.serve("bank")
    all_jobs = [f"j{at}" for at in range(40)]
    learned = 0
    for left_out in all_jobs:
        tried = [value for value in all_jobs if value != left_out]
        learned += asked(bank, job(job={"values": tried}))[0] is not None
    assert learned == 10


def test_two_names_of_one_analyst_share_what_they_may_ask(houses):
    houses.authority.issue("analyst2")
    write(houses, analysts={"research": ["analyst", "analyst2"]}, descriptions=4)
    houses.serve("bank")
    looked = [
        asked(houses, job(salary={"range": [0, 1000 * at]}), ("analyst", "analyst2")[at % 2])[0]
        for at in range(1, 9)
    ]
    assert looked == [False] * 4 + [None] * 4
    again = job(salary={"range": [0, 1000]})
    assert asked(houses, again, "analyst")[0] is False  # the other name's description is no new one


def test_names_that_nothing_puts_together_ask_by_themselves(bank):
    write(bank, descriptions=2)
    bank.serve("bank")
    for name in ("analyst", "analyst2"):
        looked = [asked(bank, job(salary={"range": [0, 9 * at]}), name)[0] for at in (1, 2, 3)]
        assert looked == [False, False, None]


def test_an_honest_job_may_be_asked_and_proposed_again_and_again(bank):
    bank.serve("bank")
    for at in range(15):
        fits, words = asked(bank, job(salary={"range": [0, TOP]}, minimum=5 + at))
        assert fits, words


def test_another_name_of_the_taxonomy_or_other_layout_is_the_same_description():
    from coterie.jobs.kinds.job_file import parse_job
    from coterie.jobs.kinds.registry import KINDS
    from coterie.party.history.descriptions import described

    found = set()
    for name, text in (("a.csv", b"x;Any\n"), ("b.csv", b"x;Any\n"), ("a.csv", b"y;Any\n")):
        made = parse_job(job(job={"taxonomy": name}), {name: text})
        found.add(described(made, KINDS["count"].needs(made, "bank"))["Job"])
    assert len(found) == 2
