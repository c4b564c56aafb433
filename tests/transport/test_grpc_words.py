"""What Coterie takes from gRPC besides its interface: these tests fail when a new gRPC changes it."""

import socket
from concurrent import futures

import grpc
import pytest

from coterie.transport.call_errors import _CAUSES, HOPELESS, failure_reason
from coterie.trust.identity import CHANNEL_OPTIONS, SERVER_OPTIONS
from tests.party.authority import Authority

SHORTEST = "grpc.min_reconnect_backoff_ms"
CLOSED = _CAUSES["last error: UNAVAILABLE"]


class Letters(grpc.GenericRpcHandler):
    """Answers any call by letters, without end."""

    def service(self, details):
        def answer(request, context):
            while context.is_active():
                yield b"a"

        return grpc.unary_stream_rpc_method_handler(answer)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Certificates of each kind that a peer may show, and `bank`, which calls."""
    made = Authority(tmp_path_factory.mktemp("ca"))
    for name in ("lender", "bank"):
        made.issue(name)
    made.issue("lender", file="expired", days=-1)
    made.issue("lender", file="early", start=1)
    made.issue("bank", file="bank-expired", days=-1)
    return made


@pytest.fixture
def served(authority):
    """Serves with the certificate in a file; the address."""
    servers = []

    def serve(file, trusted=authority):
        server = grpc.server(
            futures.ThreadPoolExecutor(2), handlers=[Letters()], options=SERVER_OPTIONS
        )
        certificate = authority.folder / f"{file}.crt"
        pair = (certificate.with_suffix(".key").read_bytes(), certificate.read_bytes())
        credentials = grpc.ssl_server_credentials([pair], trusted.path.read_bytes(), True)
        port = server.add_secure_port("127.0.0.1:0", credentials)
        server.start()
        servers.append(server)
        return f"127.0.0.1:{port}"

    yield serve
    for server in servers:
        server.stop(0).wait()


def call(authority, address, name="lender", root=None, file="bank", handshake=5000):
    """The channel and a call on it, as `Identity.connect` and a session make them."""
    certificate = authority.folder / f"{file}.crt"
    credentials = grpc.ssl_channel_credentials(
        (root or authority).path.read_bytes(),
        certificate.with_suffix(".key").read_bytes(),
        certificate.read_bytes(),
    )
    patience = [(key, handshake) for key, _ in CHANNEL_OPTIONS if key == SHORTEST]
    options = (*CHANNEL_OPTIONS, *patience, ("grpc.ssl_target_name_override", name))
    channel = grpc.secure_channel(address, credentials, options=options)
    return channel, channel.unary_stream("/any/method")(b"", timeout=10)


def reason(*arguments, **options):
    channel, letters = call(*arguments, **options)
    with channel, pytest.raises(grpc.RpcError) as raised:
        next(letters)
    return failure_reason(raised.value)


def closed_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def test_what_grpc_says_about_a_servers_certificate_is_understood(authority, served, tmp_path):
    other = Authority(tmp_path)
    assert reason(authority, served("expired")) == HOPELESS[0]
    assert reason(authority, served("lender"), root=other) == HOPELESS[1]
    assert reason(authority, served("bank")) == HOPELESS[2]
    assert reason(authority, served("early")) == _CAUSES["certificate is not yet valid"]


def test_what_grpc_says_about_ones_own_certificate_is_understood(authority, served, tmp_path):
    stranger = Authority(tmp_path)
    assert reason(authority, served("lender", trusted=stranger)) == CLOSED
    assert reason(authority, served("lender"), file="bank-expired") == CLOSED


def test_what_grpc_says_about_the_network_is_understood(authority):
    assert reason(authority, closed_port()) == "connection refused"
    unknown = reason(authority, "nobody.invalid:7000")
    assert unknown == "its address has no entry in the name service"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert reason(authority, address, handshake=500) == "no answer"


def test_a_cancelled_call_has_what_reading_to_its_end_uses(authority, served):
    channel, letters = call(authority, served("lender"))
    with channel:
        assert next(letters) == b"a"
        letters.cancel()
        while letters._state.due:
            letters._consume_next_event()
        assert letters.code() == grpc.StatusCode.CANCELLED
