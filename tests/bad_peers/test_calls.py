"""Calls that a server must refuse: who calls what with what, and what the server says.

One server, the bank's, stays up through all of them; afterwards it still does an honest job's work.
"""

import grpc
import pytest

from coterie.protos import jobs_pb2 as pb
from coterie.protos import peers_pb2 as peers
from coterie.protos.jobs_pb2_grpc import JobsStub
from tests.party.houses import Houses

JOBS, PEERS = "/coterie.v1.Jobs/", "/coterie.v1.Peers/"
KNOWN, UNKNOWN = "0" * 32, "f" * 32
NOT_FOUND, DENIED = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.PERMISSION_DENIED
INVALID, MISSING = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNIMPLEMENTED
EARLY = grpc.StatusCode.FAILED_PRECONDITION
RUBBISH = b"\xff\xff\xff"


def ref(job_id):
    return pb.JobRef(job_id=job_id).SerializeToString()


def asks(session, **fields):
    return peers.Reservation(session=session, **fields).SerializeToString()


def of_another(name, call, request):
    return {
        f"{caller} {name}": (caller, call, request, NOT_FOUND, f"'{caller}' has no job")
        for caller in ("rival", "lender")
    }


OPERATOR = "only the operator of bank may do this"
CASES = {
    **of_another("starts a job of the analyst", "Start", ref(KNOWN)),
    **of_another("queues a job of the analyst", "Queue", ref(KNOWN)),
    **of_another("watches a job of the analyst", "Watch", ref(KNOWN)),
    **of_another("cancels a job of the analyst", "Cancel", ref(KNOWN)),
    **of_another("fetches a job of the analyst", "Fetch", ref(KNOWN)),
    "the analyst starts a job that it never proposed": ("analyst", "Start", ref(UNKNOWN), NOT_FOUND, "has no job"),
    "the analyst queues a job that it never proposed": ("analyst", "Queue", ref(UNKNOWN), NOT_FOUND, "has no job"),
    "the analyst watches a job without a name": ("analyst", "Watch", b"", NOT_FOUND, "has no job ''"),
    "the analyst cancels a job with a path for a name": ("analyst", "Cancel", ref("../" * 9), NOT_FOUND, "has no job"),
    "the analyst cancels a job with a name that steers a terminal": ("analyst", "Cancel", ref("\x1b[2J"), NOT_FOUND, "has no job '?[2J'"),
    "the analyst fetches a job with a name of 100,000 letters": ("analyst", "Fetch", ref("x" * 100_000), NOT_FOUND, "has no job"),
    "the analyst fetches before the job has finished": ("analyst", "Fetch", ref(KNOWN), EARLY, "the job is ACCEPTED, not FINISHED"),
    "the analyst approves its own job": ("analyst", "Approve", pb.Approval(job_id=KNOWN, yes=True).SerializeToString(), DENIED, OPERATOR),
    "a peer approves a job": ("lender", "Approve", pb.Approval(job_id=KNOWN, yes=True).SerializeToString(), DENIED, OPERATOR),
    "a stranger approves a job": ("stranger", "Approve", b"", DENIED, OPERATOR),
    "the analyst lists all jobs": ("analyst", "List", b"", DENIED, OPERATOR),
    "a peer lists all jobs": ("lender", "List", b"", DENIED, OPERATOR),
    "a stranger lists all jobs": ("stranger", "List", b"", DENIED, OPERATOR),
    "a caller of a service that there is not": ("analyst", "Explode", b"", MISSING, ""),
    "a peer that calls what there is not": ("lender", PEERS + "Explode", b"", MISSING, ""),
    "a stranger that looks around": ("stranger", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", b"", MISSING, ""),
    **{
        f"rubbish for {call}": ("analyst", call, RUBBISH, INVALID, "")
        for call in ("Describe", "Propose", "Start", "Queue", "Watch", "Cancel", "Fetch", "Approve", "List")
    },
    "a peer collects from a session that there is not": ("lender", PEERS + "Collect", peers.SessionRef(session=UNKNOWN).SerializeToString(), NOT_FOUND, "bank knows no such session"),
    "a peer parts from a session that there is not": ("lender", PEERS + "Part", peers.Parting(session=UNKNOWN).SerializeToString(), NOT_FOUND, "bank knows no such session"),
    "a peer parts with a farewell that was never said": ("lender", PEERS + "Part", RUBBISH, INVALID, "lender sent bytes that are no request"),
    "a peer collects with rubbish": ("lender", PEERS + "Collect", RUBBISH, INVALID, "lender sent bytes that are no request"),
    "a peer reserves with rubbish": ("card", PEERS + "Reserve", RUBBISH, INVALID, "card sent bytes that are no request"),
    "a stranger collects": ("stranger", PEERS + "Collect", peers.SessionRef(session=KNOWN).SerializeToString(), DENIED, "is not in the roster of bank"),
    "a coordinator collects": ("analyst", PEERS + "Collect", peers.SessionRef(session=KNOWN).SerializeToString(), DENIED, "is not in the roster of bank"),
    "a stranger ends a session": ("stranger", PEERS + "Part", peers.Parting(session=KNOWN, farewell=peers.Farewell(failed=True)).SerializeToString(), DENIED, "is not in the roster of bank"),
    "a coordinator ends a session": ("analyst", PEERS + "Part", peers.Parting(session=KNOWN).SerializeToString(), DENIED, "is not in the roster of bank"),
    "a party outside of the job collects": ("card", PEERS + "Collect", peers.SessionRef(session=KNOWN).SerializeToString(), DENIED, "card is no party of this session"),
    "a party outside of the job ends it": ("card", PEERS + "Part", peers.Parting(session=KNOWN, farewell=peers.Farewell(failed=True)).SerializeToString(), DENIED, "card is no party of this session"),
    "a party outside of the job reserves": ("card", PEERS + "Reserve", asks(KNOWN), DENIED, "card is no party of this session"),
    "a stranger reserves": ("stranger", PEERS + "Reserve", asks(KNOWN), DENIED, "is not in the roster of bank"),
    "a party that does not lead reserves": ("lender", PEERS + "Reserve", asks(KNOWN), DENIED, "'lender' does not lead this job"),
    "a party that does not lead has the job begin": ("lender", PEERS + "Reserve", asks(KNOWN, ask=peers.BEGIN), DENIED, "'lender' does not lead this job"),
    "a party that does not lead gives a place back": ("lender", PEERS + "Reserve", asks(KNOWN, ask=peers.RELEASE), DENIED, "'lender' does not lead this job"),
    "a party asks for what there is not": ("lender", PEERS + "Reserve", asks(KNOWN, ask=99), DENIED, "'lender' does not lead this job"),
    "a place in a job that there is not": ("lender", PEERS + "Reserve", asks(UNKNOWN), NOT_FOUND, "bank knows no such session"),
}  # fmt: skip


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """The bank's server with one accepted job of the analyst among the lender and the bank."""
    houses = Houses(tmp_path_factory.mktemp("calls"))
    with houses.stack:
        for name in ("rival", "stranger"):
            houses.authority.issue(name)
        limits = {"refusals": 10_000}
        houses.write("bank", policy={"coordinators": ["analyst", "rival"]}, limits=limits)
        houses.serve("bank")
        proposal = pb.Proposal(job_id=KNOWN, job_yaml=houses.job("pair", ["lender", "bank"]))
        assert houses.stub("analyst", "bank").Propose(proposal, timeout=60).state == pb.ACCEPTED
        yield houses


@pytest.mark.parametrize("name", CASES)
def test_a_call_is_refused_and_the_server_serves_on(bank, name):
    caller, call, request, code, text = CASES[name]
    channel = bank.authority.identity(caller).connect("bank", f"127.0.0.1:{bank.ports['bank']}")
    try:
        method = call if call.startswith("/") else JOBS + call
        with pytest.raises(grpc.RpcError) as error:
            list(channel.unary_stream(method)(request, timeout=60))
        found = error.value.code()
        assert found == code
        assert text in error.value.details()
        assert len(error.value.details()) < 1000
        assert "Traceback" not in error.value.details()
        assert str(bank.folder) not in error.value.details()
    finally:
        channel.close()
    assert bank.servers["bank"]._book.get(KNOWN).state == pb.ACCEPTED


PROPOSALS = {
    "a job without an id": ("", None, 2, "32 hexadecimal digits"),
    "an id that is a path": ("../../../../etc/passwd", None, 2, "32 hexadecimal digits"),
    "an id in capitals": ("A" * 32, None, 2, "32 hexadecimal digits"),
    "an id that was used before": (KNOWN, None, 2, "was used before"),
    "a job file of nothing": ("1" * 32, "", 2, "the file is empty"),
    "a job file of 300,000 characters": ("2" * 32, "#" * 300_000, 2, "longer than"),
    "a job file 1,000 levels deep": ("3" * 32, "a: " + "[" * 1000, 2, "nested deeper"),
    "a job file with an alias": ("4" * 32, "a: &b 1\nc: *b\n", 2, "anchors and aliases"),
    "a job file with a tag": ("5" * 32, "a: !!python/object:os.system x\n", 2, "tags"),
    "a kind that there is not": ("6" * 32, "kind: explode\n", 2, "must be one of"),
}


@pytest.mark.parametrize("name", PROPOSALS)
def test_a_proposal_is_refused_in_one_line(bank, name):
    job_id, text, code, reason = PROPOSALS[name]
    text = bank.job() if text is None else text
    answer = bank.stub("analyst", "bank").Propose(
        pb.Proposal(job_id=job_id, job_yaml=text), timeout=60
    )
    assert (answer.state, answer.exit_code) == (pb.REFUSED, code)
    assert reason in answer.reason
    assert "\n" not in answer.reason
    assert len(answer.reason) < 1000


def test_after_all_of_this_the_bank_answers_an_honest_caller(bank):
    stub = JobsStub(
        bank.authority.identity("analyst").connect("bank", f"127.0.0.1:{bank.ports['bank']}")
    )
    assert stub.Describe(pb.DescribeRequest(), timeout=60).party == "bank"
