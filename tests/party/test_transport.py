"""Sessions over gRPC: bad peers by name, silence, late starts, farewells that name the culprit."""

import queue
import resource
import socket
import threading

import grpc
import numpy as np
import pytest

from coterie.errors import (
    CancelledError,
    DataError,
    EnvironmentFaultError,
    PeerFaultError,
    PeerLostError,
)
from party.frames import HEARTBEAT, closing, cut, opening
from party.transport import ACCEPTED, FAREWELL, METHOD, Heartbeat
from protocols.channel import Channel, Message
from protocols.wire import encode
from protos.party_pb2 import Farewell, Frame
from tests.party.links import HASTY, GrpcNetwork

SESSION = "0123456789abcdef" * 2


@pytest.fixture
def network(tmp_path):
    made = GrpcNetwork(tmp_path)
    yield made
    made.close()


@pytest.fixture
def hasty(network):
    """The network with a short deadline."""
    for node in network.nodes.values():
        node.heartbeat = HASTY
    return network


class RawPeer:
    """A peer that writes its stream by hand."""

    def __init__(self, network, name, target):
        self.frames = queue.SimpleQueue()
        self.channel = network.connect(name, target)
        self.call = self.channel.stream_unary(METHOD).future(iter(self.frames.get, None))

    def send(self, *frames):
        for frame in frames:
            self.frames.put(frame)
        return self

    @property
    def accepted(self):
        return ACCEPTED in dict(self.call.initial_metadata())

    def status(self):
        """How the receiver ended the stream: code and details."""
        return self.call.code(), self.call.details()

    def farewell(self):
        return Farewell.FromString(dict(self.call.trailing_metadata())[FAREWELL])

    def end(self):
        self.frames.put(None)
        self.channel.close()


@pytest.fixture
def raw(network):
    peers = []

    def make(name="a", target="b"):
        peers.append(RawPeer(network, name, target))
        return peers[-1]

    yield make
    for peer in peers:
        peer.end()


def frame(**fields):
    return Frame(**fields).SerializeToString()


def message(number=0, size=10, **fields):
    values = {"session": SESSION, "step": "one", "sequence": number} | fields
    return cut(Message(**values, body=encode([np.zeros(size, np.uint8)])))


def ends_with(session, error_type, peer, text):
    """The error that whoever waits in the session gets."""
    with pytest.raises(error_type, match=text) as caught:
        session.receive(session.peers[0] if session.peers[0] != peer else session.peers[-1])
    assert caught.value.peer == peer


def test_an_honest_stream_is_read(network, raw):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    peer = raw().send(opening(SESSION))
    assert peer.accepted
    peer.send(HEARTBEAT, *message(0), HEARTBEAT, *message(1, 3_000_000), closing(Farewell()))
    channel = Channel(session, SESSION)
    with channel.step("one"):
        assert [channel.recv("a").shape for _ in range(2)] == [(10,), (3_000_000,)]
        with pytest.raises(PeerLostError, match="has finished"):
            channel.recv("a")
    assert peer.status()[0] == grpc.StatusCode.OK


REFUSED_AT_ONCE = {
    "a stream for an unknown session": (opening("f" * 32), grpc.StatusCode.NOT_FOUND, "no such"),
    "a stream that does not open with a heartbeat": (
        frame(session=SESSION, size=1),
        grpc.StatusCode.INVALID_ARGUMENT,
        "a did not open",
    ),
    "a stream that names no session": (HEARTBEAT, grpc.StatusCode.INVALID_ARGUMENT, "a did not"),
    "a stream that opens with rubbish": (b"\xff", grpc.StatusCode.INVALID_ARGUMENT, "a sent bytes"),
}


@pytest.mark.parametrize("name", REFUSED_AT_ONCE)
def test_a_stream_that_opens_wrongly_is_refused(network, raw, name):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    first, code, details = REFUSED_AT_ONCE[name]
    peer = raw().send(first)
    assert not peer.accepted
    assert peer.status()[0] == code
    assert details in peer.status()[1]
    assert session.error is None  # a stranger's stream does not end the session


def test_a_peer_outside_of_the_session_is_refused(network, raw):
    network.nodes["b"].session(SESSION, ("a",))
    peer = raw("c").send(opening(SESSION))
    assert not peer.accepted
    assert peer.status() == (grpc.StatusCode.PERMISSION_DENIED, "c is no party of this session")


def test_a_second_stream_of_the_same_peer_is_refused_and_the_first_goes_on(network, raw):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    first = raw().send(opening(SESSION))
    assert first.accepted
    second = raw().send(opening(SESSION))
    assert not second.accepted
    assert "second stream" in second.status()[1]
    first.send(*message())
    assert session.receive("a").sequence == 0


FAULTS = {
    "a message of another session": ([*message(session="f" * 32)], "another session"),
    "more bytes than announced": (
        [frame(session=SESSION, size=5), frame(chunk=b"123456")],
        "6 bytes where 5",
    ),
    "a message begun before the last is whole": (
        [frame(session=SESSION, size=5), frame(session=SESSION, size=5)],
        "began a message",
    ),
    "a size beyond the memory budget": (
        [frame(session=SESSION, size=1 << 60)],
        "more than the memory budget",
    ),
    "an empty frame": ([b""], "empty frame"),
    "rubbish": ([b"\xff\xff"], "not a frame"),
    "a farewell in the middle of a message": (
        [frame(session=SESSION, size=5), closing(Farewell())],
        "in the middle",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_frame_ends_the_session_and_names_its_sender(network, raw, name):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    peer = raw().send(opening(SESSION))
    assert peer.accepted
    peer.send(*FAULTS[name][0])
    ends_with(session, PeerFaultError, "a", FAULTS[name][1])
    assert peer.status()[0] == grpc.StatusCode.FAILED_PRECONDITION
    assert peer.farewell().culprit == "a"


def test_a_stream_that_ends_without_a_farewell_is_the_loss_of_its_sender(network, raw):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    peer = raw().send(opening(SESSION))
    assert peer.accepted
    peer.send(*message(), None)
    ends_with(session, PeerLostError, "a", "without a farewell")


def test_a_broken_connection_is_the_loss_of_the_peer(network, raw):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    peer = raw().send(opening(SESSION))
    assert peer.accepted
    peer.channel.close()
    ends_with(session, PeerLostError, "a", "the connection")


def test_a_peer_that_falls_silent_is_lost_after_the_deadline(hasty, raw):
    session = hasty.nodes["b"].session(SESSION, ("a",))
    session.start(lambda peer: hasty.connect("b", peer))
    other = hasty.nodes["a"].session(SESSION, ("b",))  # takes what b sends, and says nothing
    peer = raw().send(opening(SESSION), *message())
    assert peer.accepted
    channel = Channel(session, SESSION)
    with channel.step("one"):
        channel.recv("a")
        with pytest.raises(PeerLostError, match="sent no sign of life for 2 s"):
            channel.recv("a")
    session.close()
    assert other.error.peer == "a"  # told by b, even to the silent one


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def wait_until(condition, seconds=20):
    """Polls what has no event to wait for."""
    waiting = threading.Event()
    for _ in range(int(seconds / 0.01)):
        if condition():
            return
        waiting.wait(0.01)
    raise AssertionError("it did not happen")


def test_heartbeats_keep_a_session_alive_that_has_nothing_to_say(tmp_path):
    network = GrpcNetwork(tmp_path, ("a", "b"))
    clock = Clock()
    ends = network.sessions(SESSION, clock=clock)
    heard = [ends["a"]._incoming["b"], ends["b"]._incoming["a"]]
    wait_until(lambda: all(link.opened for link in heard))
    for _ in range(5):
        clock.now += 0.9 * network.nodes["a"].heartbeat.deadline
        wait_until(lambda: all(link.heard == clock.now for link in heard))
    assert [end.error for end in ends.values()] == [None, None]
    ends["a"].transmit("b", Message(SESSION, "", 0, encode([5])))
    assert Channel(ends["b"], SESSION).recv("a") == 5
    for end in ends.values():
        end.close(0)
    network.close()


def test_a_peer_may_deliver_before_the_session_is_started_here(network):
    early = network.nodes["a"].session(SESSION, ("b", "c"))
    late = network.nodes["b"].session(SESSION, ("c", "a"))
    early.start(lambda peer: network.connect("a", peer))
    Channel(early, SESSION).send("b", "early")
    assert Channel(late, SESSION).recv("a") == "early"
    early.close(0)


def test_a_sender_tries_again_until_the_peer_knows_the_session(network):
    early = network.nodes["a"].session(SESSION, ("b",))
    early.start(lambda peer: network.connect("a", peer))
    Channel(early, SESSION).send("b", "early")
    late = network.nodes["b"].session(SESSION, ("a",))
    late.start(lambda peer: network.connect("b", peer))
    assert Channel(late, SESSION).recv("a") == "early"
    early.close(0)
    late.close(0)


def test_a_peer_that_never_knows_the_session_is_named_at_the_deadline(hasty):
    lonely = hasty.nodes["a"].session(SESSION, ("b",))
    lonely.start(lambda peer: hasty.connect("a", peer))
    with pytest.raises(PeerLostError, match=r"b: .*cannot be reached: b knows no such session"):
        lonely.receive("b")
    lonely.close(0)


def test_sending_without_end_to_a_peer_that_does_not_listen_ends_at_the_deadline(hasty):
    lonely = hasty.nodes["a"].session(SESSION, ("b",))
    lonely.start(lambda peer: hasty.connect("a", peer))
    channel = Channel(lonely, SESSION)

    def flood():
        while True:
            channel.send("b", bytes(1 << 20))

    with pytest.raises(PeerLostError, match=r"^b: "):
        flood()
    lonely.close(0)


def test_an_address_where_nobody_listens_is_named_with_the_cause(hasty):
    lonely = hasty.nodes["a"].session(SESSION, ("b",))
    identity = hasty.nodes["a"].identity
    lonely.start(lambda peer: identity.connect(peer, "127.0.0.1:1"))
    with pytest.raises(PeerLostError, match=r"b: .*cannot be reached: connection refused"):
        lonely.receive("b")
    lonely.close(0)


@pytest.mark.parametrize("interval", [0.1, 600], ids=["the monitor looks", "it does not"])
def test_a_peer_that_takes_the_connection_and_says_nothing_is_named_alike(network, interval):
    node = network.nodes["a"]
    node.heartbeat = Heartbeat(interval, 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        lonely = node.session(SESSION, ("b",))
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        lonely.start(lambda peer: node.identity.connect(peer, address))
        with pytest.raises(PeerLostError, match=r"^b: was not heard of for 1 s"):
            lonely.receive("b")
        lonely.close(0)


ERRORS = {
    "a fault of c": (
        PeerFaultError("c", "two", "sent nonsense"),
        {"b": "c: sent nonsense, says a (step 'two')", "c": "c: sent nonsense, says a"},
        PeerFaultError,
    ),
    "the loss of c": (
        PeerLostError("c", "two", "went silent"),
        {"b": "c: went silent, says a (step 'two')"},
        PeerLostError,
    ),
    "a full disk": (
        EnvironmentFaultError("spool: no space left"),
        {"b": "a: stopped: spool: no space left (step 'one')"},
        PeerLostError,
    ),
    "a defect": (
        ZeroDivisionError("secret value 17"),
        {"b": "a: stopped: internal error (ZeroDivisionError)"},
        PeerLostError,
    ),
    "its own data": (
        DataError("table.csv: row 3: 'Jane Doe' is not a number"),
        {"b": "a: stopped: its data cannot be used (step 'one')"},
        PeerLostError,
    ),
    "a cancellation": (
        CancelledError("cancelled by analyst"),
        {"b": "a: cancelled by analyst"},
        CancelledError,
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_all_parties_end_with_the_error_that_names_the_culprit(network, name):
    error, texts, kind = ERRORS[name]
    ends = network.sessions(SESSION)
    for end in ends.values():
        end.step = "one"
    assert ends["a"].fail(error)
    for peer in "bc":
        with pytest.raises(kind) as caught:
            ends[peer].receive("a")
        told = str(caught.value).replace(f", says {'c' if peer == 'b' else 'b'}", "")  # passed on
        assert told.startswith(texts.get(peer, texts["b"]))
        assert "secret" not in str(caught.value)
        assert "Jane" not in str(caught.value)
    for end in ends.values():
        end.close(0)


def test_a_session_ends_once(network):
    ends = network.sessions(SESSION)
    assert ends["a"].fail(PeerLostError("c", "", "first"))
    assert not ends["a"].fail(PeerLostError("b", "", "second"))
    assert ends["a"].error.reason == "first"
    for end in ends.values():
        end.close(0)


def test_a_text_of_a_peer_is_made_one_printable_line(network, raw):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    peer = raw().send(opening(SESSION))
    assert peer.accepted
    wild = "two\nlines \x1b[31mred\x07 " + "x" * 5000
    peer.send(closing(Farewell(failed=True, error=wild, culprit="nobody", exit_code=6)))
    with pytest.raises(PeerLostError) as caught:
        session.receive("c")
    text = str(caught.value)
    assert text.startswith("a: two lines [31mred x")  # and an unknown culprit is not repeated
    assert text.isprintable()
    assert len(text) < 600


def test_a_spool_that_cannot_grow_ends_the_session_at_both_ends(tmp_path):
    network = GrpcNetwork(tmp_path, ("a", "b"))
    ends = network.sessions(SESSION, memory=1 << 24)  # 4 MB of it for the spool
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        channel = Channel(ends["a"], SESSION)

        def flood():
            while True:
                channel.send("b", bytes(1 << 20))

        with pytest.raises(PeerLostError, match=r"b: stopped: spool of a: File too large"):
            flood()
        with pytest.raises(EnvironmentFaultError, match="spool of a: File too large"):
            ends["b"].receive("a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    for end in ends.values():
        end.close(0)
    network.close()


def test_what_is_not_read_waits_on_disk_and_is_read_later(tmp_path):
    network = GrpcNetwork(tmp_path, ("a", "b"))
    ends = network.sessions(SESSION, memory=1 << 24)
    a, b = Channel(ends["a"], SESSION), Channel(ends["b"], SESSION)
    for number in range(24):
        a.send("b", np.full(1 << 20, number, np.uint8))
    for number in range(24):
        array = b.recv("a")
        assert array.shape == (1 << 20,)
        assert array[0] == array[-1] == number
    for end in ends.values():
        end.close(0)
    network.close()


def test_two_sessions_between_the_same_parties_do_not_mix(network):
    first, second = network.sessions(SESSION), network.sessions("f" * 32)
    for ends, word in ((first, "one"), (second, "two")):
        Channel(ends["a"], ends["a"].session).send("b", word)
    assert Channel(second["b"], second["b"].session).recv("a") == "two"
    assert Channel(first["b"], first["b"].session).recv("a") == "one"
    assert first["a"].fail(PeerLostError("c", "", "lost"))
    with pytest.raises(PeerLostError):
        first["b"].receive("a")
    Channel(second["c"], second["c"].session).send("b", "still here")
    assert Channel(second["b"], second["b"].session).recv("c") == "still here"
    for end in (*first.values(), *second.values()):
        end.close(0)
