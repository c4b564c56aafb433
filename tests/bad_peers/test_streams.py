"""What a session does about peers that break the rules, each by name."""

import threading
import time

import grpc
import numpy as np
import pytest

from coterie.base.errors import CancelledError, PeerFaultError, PeerLostError
from coterie.protocols.messaging.channel import Channel, Message
from coterie.protocols.messaging.wire import encode
from coterie.protos.peers_pb2 import Farewell, Parting
from coterie.transport.frames import HEARTBEAT, closing
from tests.coordinator.support import wait_for
from tests.transport.raw import SESSION, RawReceiver, RawSender, frame, message


@pytest.fixture
def sender(network):
    """The party a, and what it sends."""
    made = RawSender(network, "a")
    yield made
    made.end()


def started(network, sender, peers):
    made = network.nodes["b"].session(SESSION, peers)
    identity = network.nodes["b"].identity
    ports = {"a": sender.port, "c": network.nodes["c"].port}
    made.start(lambda peer: identity.connect(peer, f"127.0.0.1:{ports[peer]}"))
    return made


@pytest.fixture
def session(network, sender):
    """The party b in a session with a and with c, which does not know of it."""
    made = started(network, sender, ("c", "a"))
    yield made
    made.close(0)


@pytest.fixture
def session_of_two(network, sender):
    """The party b in a session with a alone."""
    made = started(network, sender, ("a",))
    yield made
    made.close(0)


@pytest.fixture
def receiver(network):
    made = []

    def make(name="a", target="b", **options):
        made.append(RawReceiver(network, name, target, **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


def ends_with(session, error_type, text):
    """The error that whoever waits in the session gets names a."""
    with pytest.raises(error_type, match=text) as caught:
        session.receive("c")
    assert caught.value.peer == "a"


def test_an_honest_stream_is_read(session, sender):
    sender.opened().send(HEARTBEAT, *message(0), HEARTBEAT, *message(1, 3_000_000), HEARTBEAT)
    channel = Channel(session, SESSION)
    with channel.step("one"):
        assert [channel.recv("a").shape for _ in range(2)] == [(10,), (3_000_000,)]
        sender.send(closing(Farewell()))
        with pytest.raises(PeerLostError, match="has finished"):
            channel.recv("a")
    assert not sender.last_words().failed  # everything was taken


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
    "a frame of 5 MB": ([bytes(5 << 20)], "larger than any"),
    "a farewell in the middle of a message": (
        [frame(session=SESSION, size=5), closing(Farewell())],
        "in the middle",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_frame_ends_the_session_and_names_its_sender(session, sender, name):
    sender.opened().send(*FAULTS[name][0])
    ends_with(session, PeerFaultError, FAULTS[name][1])
    farewell = sender.last_words()  # it does not collect from b, and is called
    assert (farewell.failed, farewell.culprit) == (True, "a")


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_frame_is_found_where_the_reader_has_the_stream(session, sender, name):
    sender.opened().send(*message(0), *message(1), *message(2), *message(3))
    for number in range(4):
        assert session.receive("a").sequence == number
    threading.Timer(0.1, sender.send, FAULTS[name][0]).start()
    with pytest.raises(PeerFaultError, match=FAULTS[name][1]):
        session.receive("a")
    assert sender.last_words().culprit == "a"


def test_a_stream_that_begins_with_rubbish_is_a_fault_of_its_sender(session, sender):
    sender.send(b"\xff\xff")
    ends_with(session, PeerFaultError, "not a frame")


@pytest.mark.parametrize("opened", [True, False])
def test_a_stream_that_ends_without_a_farewell_is_the_loss_of_its_sender(session, sender, opened):
    if opened:
        sender.opened().send(*message())
    sender.send(None)
    ends_with(session, PeerLostError, "without a farewell")


def test_a_broken_connection_is_the_loss_of_the_peer(session, sender):
    sender.opened().send(*message())
    session.receive("a")
    sender.server.stop(0)
    ends_with(session, PeerLostError, "broke the connection")


def test_a_stream_that_opens_with_a_farewell_ends_the_session(session, sender):
    sender.send(closing(Farewell(failed=True, error="no room", culprit="a", exit_code=5)))
    ends_with(session, PeerLostError, "a: stopped: no room")


def test_a_peer_that_falls_silent_is_lost_after_the_deadline(clock, session_of_two, sender):
    sender.opened().send(*message())
    channel = Channel(session_of_two, SESSION)
    with channel.step("one"):
        channel.recv("a")
        clock.now += 61
        with pytest.raises(PeerLostError, match=r"a: sent no sign of life for 60 s"):
            channel.recv("a")
    assert sender.last_words().culprit == "a"  # even the silent one is told


def test_a_text_of_a_peer_is_made_one_printable_line(session, sender):
    wild = "two\nlines \x1b[31mred\x07 " + "x" * 5000
    sender.opened().send(closing(Farewell(failed=True, error=wild, culprit="nobody", exit_code=6)))
    with pytest.raises(PeerLostError) as caught:
        session.receive("c")
    text = str(caught.value)
    assert text.startswith("a: two lines ?[31mred? x")  # and an unknown culprit is not repeated
    assert text.isprintable()
    assert len(text) < 600


REFUSED = {
    "for an unknown session": (
        Parting(session="f" * 32).SerializeToString(),
        grpc.StatusCode.NOT_FOUND,
        "b knows no such session",
    ),
    "that names no session": (b"", grpc.StatusCode.NOT_FOUND, "b knows no such session"),
    "of rubbish": (b"\xff", grpc.StatusCode.INVALID_ARGUMENT, "a sent bytes that are no request"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused(session, receiver, name):
    request, code, details = REFUSED[name]
    assert receiver(request=request).status() == (code, details)
    assert session.error is None  # a stranger's call does not end the session


def test_a_peer_outside_of_the_session_is_refused(network, receiver):
    session = network.nodes["b"].session(SESSION, ("a",))
    stranger = receiver("c")
    refusal = (grpc.StatusCode.PERMISSION_DENIED, "c is no party of this session")
    assert stranger.status() == refusal
    with pytest.raises(grpc.RpcError) as caught:
        stranger.part(Farewell(failed=True, error="lies", culprit="a"))
    assert (caught.value.code(), caught.value.details()) == refusal
    session.fail(PeerLostError("a", "", "private reason"))
    assert receiver("c").status() == refusal  # nor does it hear how the session ended


def test_a_second_stream_of_the_same_peer_is_refused_and_the_first_goes_on(session, receiver):
    first = receiver()
    assert first.next().heartbeat
    code, details = receiver().status()
    assert (code, "second stream" in details) == (grpc.StatusCode.PERMISSION_DENIED, True)
    session.transmit("a", Message(SESSION, "one", 0, encode([5])))
    while not (got := first.next()).chunk:
        assert got.heartbeat
    assert got.step == "one"


def test_nothing_is_heard_before_the_session_is_started(network, receiver):
    session = network.nodes["b"].session(SESSION, ("a",))
    peer = receiver()
    heard = []
    reading = threading.Thread(target=lambda: heard.append(peer.next()), daemon=True)
    reading.start()
    reading.join(0.5)
    assert not heard
    session.start(lambda name: network.connect("b", name))
    reading.join(60)
    assert heard[0].heartbeat
    session.close(0)


def test_a_farewell_is_taken_only_after_it_was_said(session, receiver):
    peer = receiver()
    assert peer.next().heartbeat
    peer.part()
    ends_with(session, PeerFaultError, "has taken a farewell that was not said")


def test_a_peer_that_has_ended_tells_a_party_that_has_not_started(network, receiver):
    session = network.nodes["b"].session(SESSION, ("c", "a"))
    receiver().part(Farewell(failed=True, error="cancelled by analyst", exit_code=10))
    with pytest.raises(CancelledError, match="a: cancelled by analyst"):
        session.receive("c")


def test_whoever_calls_a_session_that_has_failed_hears_why(session, receiver):
    session.fail(PeerLostError("c", "two", "went silent"))
    peer = receiver()
    assert peer.status() == (grpc.StatusCode.FAILED_PRECONDITION, "went silent")
    assert (peer.farewell().culprit, peer.farewell().step) == ("c", "two")


def let_end(clock, session, sender):
    """Time passes, and a gives signs of life all the while, until the session ends."""

    def ended():
        clock.let_pass([session], 5, sender.opened)
        return session.error

    wait_for(ended, "the end of the session")


def test_a_peer_that_hangs_up_is_lost(clock, session_of_two, receiver, sender):
    sender.opened()
    peer = receiver()
    assert peer.next().heartbeat
    peer.call.cancel()
    let_end(clock, session_of_two, sender)
    with pytest.raises(PeerLostError, match="a: broke the connection"):
        session_of_two.receive("a")


def test_a_peer_that_hangs_up_after_its_farewell_has_finished(
    clock, session_of_two, receiver, sender
):
    peer = receiver()
    assert peer.next().heartbeat
    sender.opened().send(closing(Farewell()))
    assert not sender.last_words().failed
    peer.call.cancel()
    wait_for(session_of_two._outgoing["a"].taken.is_set, "the end of the call")
    clock.now += 1000
    time.sleep(0.3)  # the monitor looks several times
    assert session_of_two.error is None
    session_of_two.transmit("a", Message(SESSION, "", 0, encode([5])))  # to nobody


def flooding(session):
    """A thread that sends to a without end, and the errors it ends with."""
    outcome = []

    def flood():
        channel = Channel(session, SESSION)
        try:
            while True:
                channel.send("a", np.zeros(1 << 20, np.uint8))
        except PeerLostError as error:
            outcome.append(error)

    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    return thread, outcome


def test_whoever_sends_to_a_peer_that_takes_nothing_is_freed_when_the_session_ends(
    session, receiver
):
    peer = receiver()
    assert peer.next().heartbeat
    thread, outcome = flooding(session)
    thread.join(1)
    assert thread.is_alive()  # it waits for gRPC
    session.fail(PeerLostError("c", "", "went silent"))
    thread.join(30)
    assert [error.peer for error in outcome] == ["c"]


def test_a_peer_that_lives_but_takes_nothing_is_lost_after_the_deadline(
    clock, session_of_two, receiver, sender
):
    peer = receiver()
    assert peer.next().heartbeat
    sender.opened()
    thread, outcome = flooding(session_of_two)
    let_end(clock, session_of_two, sender)
    thread.join(60)
    assert [str(error) for error in outcome] == ["a: took nothing for 60 s"]
