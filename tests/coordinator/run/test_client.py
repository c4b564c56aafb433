"""What a party that cheats can do to the coordinator: end with its name, and nothing more."""

from concurrent import futures
from dataclasses import replace
from types import SimpleNamespace

import grpc
import pytest

from coterie.base.checks import Check, line
from coterie.base.errors import (
    PeerLostError,
    RefusedError,
    UnreachableError,
    UsageError,
)
from coterie.coordinator.run.client import PROPOSAL_BYTES, PartyClient
from coterie.jobs.kinds.job_file import parse_job
from coterie.protos import jobs_pb2 as pb
from coterie.protos import jobs_pb2_grpc
from coterie.trust import certificates as certs
from coterie.trust.identity import find_identity

JOB = "kind: intersect\nname: pilot\nparties: {a: {}, b: {}}\nid: ID\n"


class Party(jobs_pb2_grpc.JobsServicer):
    """A server that hands over whatever chunks a test gives it."""

    chunks = ()
    status = None

    def Fetch(self, request, context):  # noqa: N802
        yield from self.chunks

    def Queue(self, request, context):  # noqa: N802
        context.abort(self.status, "because\nof this")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A real server over mTLS and a client that is connected to it."""
    folder = tmp_path_factory.mktemp("ca")
    certs.create_authority(folder, 30)
    for name in ("bank", "analyst"):
        certs.issue(folder, name, [], 20)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    party = Party()
    jobs_pb2_grpc.add_JobsServicer_to_server(party, server)
    read = [(folder / "bank" / f"bank.{end}").read_bytes() for end in ("key", "crt")]
    authority = (folder / "ca.crt").read_bytes()
    port = server.add_secure_port(
        "127.0.0.1:0", grpc.ssl_server_credentials([tuple(read)], authority, True)
    )
    server.start()
    client = PartyClient("bank", f"127.0.0.1:{port}", find_identity(folder / "analyst"))
    yield SimpleNamespace(party=party, client=client)
    client.close()
    server.stop(0).wait()


def chunk(path, data=b"x", last=True):
    return pb.FileChunk(path=path, data=data, last=last)


def test_files_arrive_as_they_were_sent(network, tmp_path):
    network.party.chunks = [
        chunk("a.txt", b"1", last=False),
        chunk("a.txt", b"2"),
        chunk("deep/er/b.txt", b""),
    ]
    network.client.fetch("0" * 32, tmp_path)
    assert (tmp_path / "a.txt").read_bytes() == b"12"
    assert (tmp_path / "deep" / "er" / "b.txt").read_bytes() == b""


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, RefusedError),
        (grpc.StatusCode.INVALID_ARGUMENT, UsageError),
        (grpc.StatusCode.UNAVAILABLE, PeerLostError),  # others may have begun
        (grpc.StatusCode.INTERNAL, PeerLostError),
    ],
)
def test_a_refused_call_names_party_and_reason(network, status, kind):
    network.party.status = status
    with pytest.raises(kind) as caught:
        network.client.start("0" * 32)
    assert str(caught.value).startswith("bank: ")
    assert "because of this" in str(caught.value)


def test_a_server_that_lacks_a_call_may_be_another_version(network):
    with pytest.raises(UnreachableError, match="another version of Coterie"):
        network.client.describe()


def test_a_server_without_health_service_is_still_alive(network):
    assert network.client.alive(5)


def test_a_proposal_that_no_server_takes_is_not_sent(network):
    job = replace(parse_job(JOB, {}), files={"t.csv": bytes(PROPOSAL_BYTES)})
    with pytest.raises(UsageError, match="a proposal holds at most 64,000,000"):
        network.client.propose("0" * 32, job)


def test_what_a_party_says_does_not_steer_the_terminal():
    text = line(Check("bank", "data", "failed", "\x1b[2Jgone\nok       bank"), 6)
    assert text == "failed   bank    data         ?[2Jgone ok       bank"
