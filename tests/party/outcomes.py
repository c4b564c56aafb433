"""Jobs of several kinds at three houses, and every way in which a job can end."""

import yaml

from coterie.protos import jobs_pb2 as pb
from tests.party.served import change

COLUMNS = {"lender": "Sex", "bank": "Job", "card": "Late"}
KINDS = ("intersect", "integrate", "count", "tree")
FILES = {"integrate": {"ab.csv": b"a;*\nb;*\n"}}


def furnish(houses):
    """Tables and policies that permit jobs of all these kinds."""
    for name, column in COLUMNS.items():
        rows = (f"p{i},{'ab'[i % 3 == 0]},{'yn'[i % 2]}\n" for i in range(40))
        (houses.folder / f"{name}.csv").write_text(f"ID,{column},Class\n" + "".join(rows))
        used = ["ID", column, "Class"]
        columns = {"use": used, "release": used[1:], "raw": used[1:]}
        policy = {"kinds": list(KINDS), "columns": columns, "smallest_k": 2}
        houses.write(name, policy={**policy, "examinations": 100_000})


def job(houses, kind):
    text = yaml.safe_load(houses.job(kind))
    attributes = {c: {"party": name, "taxonomy": "ab.csv"} for name, c in COLUMNS.items()}
    plain = {column: {"party": name} for name, column in COLUMNS.items()}
    more = {
        "intersect": {},
        "count": {"attributes": plain, "tables": [["Sex", "Job"]], "minimum": 2},
        "tree": {"class": "Class", "attributes": plain, "minimum": 10, "open": True},
        "integrate": {
            "class": "Class",
            "attributes": attributes,
            "requirement": [{"qid": list(COLUMNS.values()), "k": 2}],
        },
    }
    return yaml.safe_dump({**text, "kind": kind, **more[kind]}, sort_keys=False)


def _ends(houses, coordinator, job_id):
    return {pb.State.Name(coordinator.end(job_id, name).state) for name in houses.names}


def _accepted(houses, coordinator, kind):
    job_id, decisions = coordinator.propose(job(houses, kind), files=FILES.get(kind))
    reasons = [decision.reason for decision in decisions.values()]
    assert {decision.state for decision in decisions.values()} == {pb.ACCEPTED}, reasons
    return job_id


def finished(houses, coordinator, kind):
    job_id = _accepted(houses, coordinator, kind)
    coordinator.start(job_id)
    ends = _ends(houses, coordinator, job_id)
    for name in houses.names:
        coordinator.fetch(job_id, name)
    return ends


def cancelled(houses, coordinator, kind):
    job_id = _accepted(houses, coordinator, kind)
    coordinator.start(job_id, ["lender", "bank"])
    coordinator.stubs["lender"].Cancel(pb.Cancellation(job_id=job_id), timeout=60)
    return _ends(houses, coordinator, job_id)


def failed(houses, coordinator, kind):
    job_id = _accepted(houses, coordinator, kind)
    (houses.state("bank") / "jobs" / job_id / "released").write_text("a file in the way")
    coordinator.start(job_id)
    return _ends(houses, coordinator, job_id)


def never_started(houses, coordinator, kind):
    job_id = _accepted(houses, coordinator, kind)
    for stub in coordinator.stubs.values():
        stub.Cancel(pb.Cancellation(job_id=job_id), timeout=60)
    return _ends(houses, coordinator, job_id)


def refused(houses, coordinator, kind):
    _, decisions = coordinator.propose(change(job(houses, kind), id="Secret"))
    return {pb.State.Name(decision.state) for decision in decisions.values()}


OUTCOMES = {
    finished: "FINISHED",
    cancelled: "CANCELLED",
    failed: "FAILED",
    never_started: "CANCELLED",
    refused: "REFUSED",
}


def play(houses, coordinator, number):
    """One job: each number has its kind and its outcome, which is checked."""
    kind = KINDS[number % len(KINDS)]  # the first ten jobs have every kind, and every outcome twice
    outcome = list(OUTCOMES)[number % len(OUTCOMES)]
    ends = outcome(houses, coordinator, kind)
    assert ends == {OUTCOMES[outcome]}, (kind, outcome.__name__, ends)
