"""Certificates that a server no longer accepts, pins of coordinators, and renewal without a gap."""

import shutil

import grpc
import pytest

from coterie.base.errors import CertificateError, UsageError
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.books.append_file import read_entries
from coterie.party.config import load_party
from coterie.party.operator.check import examine
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from coterie.trust import certificates as certs
from coterie.trust.requests import request, sign
from tests.coordinator.support import coterie, wait_for
from tests.party.houses import status
from tests.party.served import COMMON, common


def tls(name, revoked="certs/ca.crl"):
    files = {"certificate": f"certs/{name}.crt", "key": f"certs/{name}.key"}
    return {**files, "authority": "certs/ca.crt", "revoked": revoked}


def listing(houses, *files, names=("bank",)):
    """A list with these certificates, named by these parties' files."""
    houses.authority.revoke(*files)
    for name in names:
        houses.write(name, tls=tls(name))


def test_a_revoked_coordinator_is_turned_away_whatever_it_calls(houses):
    listing(houses, "analyst")
    houses.serve("bank")
    stub = houses.stub("analyst", "bank")
    calls = [
        lambda: stub.Describe(pb.DescribeRequest(), timeout=60),
        lambda: stub.Propose(pb.Proposal(job_id="a" * 32, job_yaml=houses.job()), timeout=60),
        lambda: list(stub.Watch(pb.JobRef(job_id="a" * 32), timeout=60)),
    ]
    for call in calls:
        with pytest.raises(grpc.RpcError) as error:
            call()
        code, text = status(error)
        assert code == grpc.StatusCode.PERMISSION_DENIED
        assert text == "the certificate was revoked that 'analyst' shows"
    [*_, last] = read_entries(houses.state("bank") / "audit.log")
    assert (last["event"], last["by"]) == ("turned away", "analyst")
    assert last["reason"] == "the certificate was revoked"


def test_a_list_is_taken_up_while_the_server_serves(houses):
    listing(houses)
    server = houses.serve("bank")
    stub = houses.stub("analyst", "bank")
    assert stub.Describe(pb.DescribeRequest(), timeout=60).party == "bank"
    houses.authority.revoke("analyst")
    assert server._live.look(at_once=True)
    with pytest.raises(grpc.RpcError, match="was revoked"):  # on the connection that stands
        stub.Describe(pb.DescribeRequest(), timeout=60)
    houses.authority.issue("analyst", file="renewed")
    identity = houses.authority.identity("analyst", "renewed")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    assert JobsStub(channel).Describe(pb.DescribeRequest(), timeout=60).party == "bank"


def test_a_job_with_a_peer_whose_certificate_was_revoked_is_refused_and_names_it(houses):
    listing(houses, "card", names=("bank", "lender"))
    houses.serve_all()
    _, decisions = houses.coordinator().propose(houses.job())
    for name in ("bank", "lender"):
        assert (decisions[name].state, decisions[name].exit_code) == (pb.REFUSED, 11)
        assert decisions[name].reason.startswith(
            "card: its certificate was revoked; with a new one"
        )
    [found] = [c for c in examine(houses.path("bank")) if c.name == "card"]
    assert (found.state, found.exit_code) == ("failed", 11)
    assert found.detail.endswith("its certificate was revoked")


def test_a_run_with_a_revoked_peer_ends_with_the_code_of_certificates(houses):
    listing(houses, "card", names=("bank", "lender"))
    houses.serve_all()
    out = houses.folder / "out"
    out.mkdir()
    board = Board(houses.names, show=False)
    with pytest.raises(CertificateError, match="card: its certificate was revoked"):
        run_job(parse_job(houses.job(), {}), out, houses.authority.identity("analyst"), board)


@pytest.mark.parametrize("wary", [("bank",), ("lender",), ("bank", "lender")])
def test_a_peer_whose_certificate_is_revoked_after_the_proposal_ends_the_job_for_good(houses, wary):
    """Bank leads: it asks card for a place, and lender does not."""
    listing(houses, names=wary)
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.authority.revoke("card")
    for name in wary:
        assert houses.servers[name]._live.look(at_once=True)
    coordinator.queue(job_id)
    for name in houses.names:
        last = coordinator.end(job_id, name)
        assert (last.state, last.culprit, last.exit_code) == (pb.FAILED, "card", 11)
        assert "card: its certificate was revoked; with a new one" in last.error
        assert not coordinator.stubs[name].Resume(pb.JobRef(job_id=job_id), timeout=60).resumable


def test_a_party_whose_own_certificate_was_revoked_does_not_serve(houses):
    listing(houses, "bank")
    with pytest.raises(CertificateError, match="the authority has revoked this certificate"):
        load_party(houses.path("bank"))


def test_a_coordinator_that_is_told_who_is_revoked_does_not_talk_to_it(own_organisations, tmp_path):
    own_organisations.start()
    authority = own_organisations.folder / "authority"
    identity = tmp_path / "me"
    shutil.copytree(own_organisations.identity, identity, dirs_exist_ok=True)
    assert coterie("certs", "revoke", "bank", "--dir", authority).code == 0
    shutil.copy(authority / "ca.crl", identity / "ca.crl")
    done = coterie(
        "run",
        own_organisations.job,
        "--out",
        tmp_path / "out",
        "--identity",
        identity / "analyst.crt",
    )
    assert done.code == 11
    assert done.error.startswith("bank: ")
    assert "ca.crl lists as revoked" in done.error


def test_a_pinned_coordinator_shows_that_certificate_or_is_turned_away(houses):
    houses.authority.issue("analyst", file="thief")
    houses.authority.issue("other")
    coordinators = {"analyst": {"certificate": "certs/analyst.crt"}, "other": {}}
    houses.write("bank", policy={"coordinators": coordinators})
    houses.serve("bank")
    for name in ("analyst", "other"):
        proposal = pb.Proposal(job_id=name[0].encode().hex() * 16, job_yaml=houses.job())
        answer = houses.stub(name, "bank").Propose(proposal, timeout=60)
        assert answer.state == pb.ACCEPTED, answer.reason
    identity = houses.authority.identity("analyst", "thief")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    with pytest.raises(grpc.RpcError, match="another certificate than the pinned one"):
        JobsStub(channel).Watch(pb.JobRef(job_id="61" * 16), timeout=60).next()


@pytest.mark.parametrize("entry", [{"certificate": []}, {"certificate": "none.crt"}, {"wrong": 1}])
def test_a_pin_that_cannot_be_read_is_an_error_of_the_party_file(houses, entry):
    houses.write("bank", policy={"coordinators": {"analyst": entry}})
    with pytest.raises(UsageError, match=r"bank.yaml:\d+: policy.coordinators.analyst"):
        load_party(houses.path("bank"))


def test_a_pinned_peer_renews_without_a_gap(houses):
    """The others pin the older and the newer certificate while it changes from one to the other."""
    houses.authority.issue("card", file="newer")
    pins = {"certificate": ["certs/card.crt", "certs/newer.crt"]}
    for name in ("bank", "lender"):
        peers = houses.party_file(name)["peers"]
        houses.write(name, peers={**peers, "card": {**peers["card"], **pins}})
    houses.serve_all()
    coordinator = houses.coordinator()
    for certificate in ("card", "newer"):
        job_id, _ = coordinator.propose(houses.job())
        coordinator.queue(job_id)
        assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}
        files = {"certificate": f"certs/{certificate}.crt", "key": f"certs/{certificate}.key"}
        houses.write("card", tls={**files, "authority": "certs/ca.crt"})
        houses.servers["card"]._live.look(at_once=True)
    job_id, _ = coordinator.propose(houses.job())
    coordinator.queue(job_id)
    assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}
    assert common(houses, "card", job_id) == COMMON


def test_a_signed_renewal_is_taken_up_by_the_running_server(houses):
    """`certs request` with the key of the server, `certs sign`, and the file put in its place."""
    authority = houses.folder / "authority"
    certs.create_authority(authority, 60)
    house = houses.folder / "house"
    for turn in range(2):
        request(house, "bank")
        issued = sign(authority, "bank", house / "bank.csr", [], 30)
        issued.certificate.replace(house / "bank.crt")
        shutil.copy(authority / "ca.crt", house / "ca.crt")
        if not turn:
            files = {key: f"house/{file}" for key, file in FILES.items()}
            houses.write("bank", tls=files)
            server = houses.serve("bank")
            before = server.config.identity.fingerprint
    wait_for(lambda: server.config.identity.fingerprint != before, "the renewal to be taken up")
    assert not server._live.problem
    done = coterie("party", "health", "--config", houses.path("bank"))
    assert done.code == 0


FILES = {"certificate": "bank.crt", "key": "bank.key", "authority": "ca.crt"}
