"""Jobs of several kinds at three houses, and every way in which a job can end."""

from coterie.party.books.models import ModelFolder
from coterie.protos import jobs_pb2 as pb
from tests.jobs.kinds.predict.kept import part
from tests.party.served import change

COLUMNS = {"lender": "Sex", "bank": "Job", "card": "Late"}
KINDS = ("intersect", "integrate", "count", "tree")  # those of most tests
FILES = {"integrate": {"ab.csv": b"a;*\nb;*\n"}}
_PLAIN = {column: {"party": name} for name, column in COLUMNS.items()}
_TABLES = {column: {**attribute, "taxonomy": "ab.csv"} for column, attribute in _PLAIN.items()}
_POOLED = {"partition": "horizontal", "id": None, "minimum": 3}
# What a job of each kind says beside the parties and the identifier.
JOBS = {
    "intersect": {},
    "integrate": {
        "class": "Class",
        "attributes": _TABLES,
        "requirement": [{"qid": list(COLUMNS.values()), "k": 2}],
    },
    "count": {"attributes": _PLAIN, "tables": [["Sex", "Job"]], "minimum": 2},
    "tree": {"class": "Class", "attributes": _PLAIN, "minimum": 10, "open": True},
    "bayesnet": {"class": "Class", "attributes": _PLAIN, "minimum": 5},
    "aggregate": {
        "attributes": {**_PLAIN, "Amount": {"party": "bank", "range": [0, 50]}},
        "by": ["Sex"],
        "measures": [{"count": True}, {"mean": "Amount"}],
    },
    "regress": {
        **_POOLED,
        "model": "logistic",
        "outcome": "Class",
        "features": ["Amount"],
        "attributes": {"Class": {"values": ["n", "y"]}},
    },
    "cluster": {**_POOLED, "attributes": {"Amount": {}}, "clusters": 2},
    "identify": {"attributes": _PLAIN},
    "rules": {"attributes": _PLAIN, "support": 0.1, "confidence": 0.6},
    "predict": {"attributes": _PLAIN, "model": "risk", "recipients": "all"},
}


def furnish(houses):
    """Tables, policies and a kept model that permit jobs of all kinds."""
    for name, column in COLUMNS.items():
        rows = (f"p{i},{'ab'[i % 3 == 0]},{'yn'[i % 2]},{i * 7 % 40}\n" for i in range(40))
        (houses.folder / f"{name}.csv").write_text(f"ID,{column},Class,Amount\n" + "".join(rows))
        used = ["ID", column, "Class", "Amount"]
        policy = {
            "kinds": list(JOBS),
            "columns": {"use": used, "release": used[1:], "raw": used[1:]},
            "smallest_k": 2,
            "recipients": list(houses.names),
            "models": "keep",
            "examinations": 100_000,
        }
        houses.write(name, policy=policy)
        _keep_model(houses, name)


def _keep_model(houses, name):
    """The part of a model that this party would have kept of an earlier job."""
    attributes = {column: (party, ["a", "b"], []) for party, column in COLUMNS.items()}
    left = houses.folder / f"left-{name}"
    left.mkdir()
    part("bayesnet", attributes, name, name="risk", classes=("n", "y")).write(left)
    houses.state(name).mkdir(mode=0o700, parents=True, exist_ok=True)
    ModelFolder(houses.state(name)).take(left, "analyst", "a" * 32)


def job(houses, kind):
    return change(houses.job(kind), **{"kind": kind, **JOBS[kind]})


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


def play(houses, coordinator, number, kinds=KINDS):
    """One job: each number has its kind and its outcome, which is checked."""
    kind = kinds[number % len(kinds)]
    outcome = list(OUTCOMES)[number % len(OUTCOMES)]
    ends = outcome(houses, coordinator, kind)
    assert ends == {OUTCOMES[outcome]}, (kind, outcome.__name__, ends)
