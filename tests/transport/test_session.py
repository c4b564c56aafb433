"""Sessions over gRPC: silence, late starts, full disks, farewells that name the culprit."""

import resource
import socket
import threading

import numpy as np
import pytest

from coterie.base.errors import (
    CancelledError,
    DataError,
    EnvironmentFaultError,
    PeerFaultError,
    PeerLostError,
)
from coterie.protocols.messaging.channel import Channel, Message
from coterie.protocols.messaging.wire import encode
from coterie.transport.session import Heartbeat
from tests.coordinator.support import wait_for
from tests.transport.links import GrpcNetwork

SESSION = "0123456789abcdef" * 2


def test_heartbeats_keep_a_session_alive_that_has_nothing_to_say(network, clock):
    ends = network.sessions(SESSION)
    heard = [link for end in ends.values() for link in end._incoming.values()]
    wait_for(lambda: all(link.opened for link in heard), "all streams")
    for _ in range(5):
        clock.now += 0.9 * network.nodes["a"].heartbeat.deadline
        wait_for(lambda: all(link.heard == clock.now for link in heard), "heartbeats")
    assert [end.error for end in ends.values()] == [None, None, None]
    ends["a"].transmit("b", Message(SESSION, "", 0, encode([5])))
    assert Channel(ends["b"], SESSION).recv("a") == 5
    for end in ends.values():
        end.close(0)


def test_a_short_message_waits_for_a_peer_that_does_not_know_the_session_yet(network):
    early = network.nodes["a"].session(SESSION, ("b",))
    early.start(lambda peer: network.connect("a", peer))
    for word in ("early", "bird"):
        Channel(early, SESSION).send("b", word)
    late = network.nodes["b"].session(SESSION, ("a",))
    late.start(lambda peer: network.connect("b", peer))
    assert [late.receive("a").body[0].tobytes()[-5:] for _ in "12"] == [b"early", b"\0bird"]
    early.close(0)
    late.close(0)


def test_a_peer_that_never_knows_the_session_is_named_at_the_deadline(network, clock):
    lonely = network.nodes["a"].session(SESSION, ("b",))
    lonely.start(lambda peer: network.connect("a", peer))
    wait_for(lambda: "no such session" in lonely._incoming["b"].trouble, "an answer")
    clock.now += 61
    with pytest.raises(PeerLostError, match=r"b: .*cannot be reached: b knows no such session"):
        lonely.receive("b")
    lonely.close(0)


def test_sending_without_end_to_a_peer_that_does_not_listen_ends_at_the_deadline(network, clock):
    lonely = network.nodes["a"].session(SESSION, ("b",))
    lonely.start(lambda peer: network.connect("a", peer))
    channel = Channel(lonely, SESSION)

    def flood():
        threading.Timer(0.2, lambda: setattr(clock, "now", clock.now + 61)).start()
        while True:
            channel.send("b", bytes(1 << 20))

    with pytest.raises(PeerLostError, match=r"^b: "):
        flood()
    lonely.close(0)


def test_an_address_where_nobody_listens_is_named_with_the_cause(network, clock):
    lonely = network.nodes["a"].session(SESSION, ("b",))
    identity = network.nodes["a"].identity
    lonely.start(lambda peer: identity.connect(peer, "127.0.0.1:1"))
    wait_for(lambda: "connection refused" in lonely._incoming["b"].trouble, "a refusal")
    clock.now += 61
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
