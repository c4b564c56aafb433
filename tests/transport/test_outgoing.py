"""A stream to one peer: what goes out, in which order, and who is freed when nothing does."""

import threading
import time

import pytest

from coterie.protocols.messaging.channel import Message
from coterie.protos.peers_pb2 import Farewell
from coterie.transport.frames import HEARTBEAT, closing, split
from coterie.transport.outgoing import Outgoing

FAREWELL = closing(Farewell())
LAST_WORDS = closing(Farewell(failed=True, error="lost"))


class Call:
    """The server's side of a call: notes what is sent; blocks from the n-th frame on, if told to."""

    def __init__(self, room=None):
        self.sent = []
        self.room = room
        self.cancelled = threading.Event()
        self.changed = threading.Condition()

    def send(self, frame):
        if self.room is not None and len(self.sent) >= self.room:
            assert self.cancelled.wait(60)
        if not self.cancelled.is_set():
            with self.changed:
                self.sent.append(frame)
                self.changed.notify_all()

    def wait_for(self, condition):
        with self.changed:
            assert self.changed.wait_for(lambda: condition(self.sent), 60)

    @property
    def numbers(self):
        """Of the messages among what was sent."""
        return [split(frame)[1].sequence for frame in self.sent if frame and len(frame) > 20]


@pytest.fixture
def out():
    return Outgoing(0.01, time.monotonic)


def message(number):
    return Message("s" * 32, "step", number, [b"0123456789"])


def kept(out, call):
    thread = threading.Thread(target=out.keep, args=(call.send, call.cancelled.set), daemon=True)
    thread.start()
    return thread


def test_what_was_put_early_goes_out_first_and_nothing_before_the_start(out):
    call = Call()
    for number in range(3):
        out.put(message(number))
    keeper = kept(out, call)
    time.sleep(0.05)
    assert not call.sent
    out.begin()
    call.wait_for(lambda sent: len(sent) >= 4)
    out.put(message(3))
    assert call.sent[0] == HEARTBEAT
    assert call.numbers == [0, 1, 2, 3]
    out.end(FAREWELL)
    out.confirm()
    keeper.join(60)
    assert call.sent[-1] is None
    assert [frame for frame in call.sent[:-1] if frame != HEARTBEAT][-1] == FAREWELL
    assert out.ended.is_set()


def test_a_long_message_waits_until_the_stream_is_open(out):
    call = Call()
    putting = threading.Thread(
        target=out.put, args=(Message("s" * 32, "", 0, [bytes(3 << 20)]),), daemon=True
    )
    putting.start()
    putting.join(0.1)
    assert putting.is_alive()
    out.begin()
    kept(out, call)
    putting.join(60)
    frames = [frame for frame in call.sent if frame != HEARTBEAT]
    assert sum(len(split(frame)[0]) for frame in frames) == 3 << 20
    out.give_up()


def test_there_is_a_heartbeat_at_every_interval(out):
    call = Call()
    out.begin()
    kept(out, call)
    call.wait_for(lambda sent: sent.count(HEARTBEAT) >= 5)
    out.give_up()


def test_last_words_go_out_instead_of_what_follows(out):
    call = Call()
    out.begin()
    keeper = kept(out, call)
    call.wait_for(lambda sent: sent)
    out.end_now(LAST_WORDS)
    out.put(message(0))
    keeper.join(60)
    assert call.sent[-2:] == [LAST_WORDS, None]
    assert not call.numbers


def test_last_words_also_go_to_a_peer_that_opens_the_stream_later(out):
    call = Call()
    out.put(message(0))
    out.end_now(LAST_WORDS)
    kept(out, call).join(60)
    assert call.sent == [LAST_WORDS, None]


def test_whoever_waits_for_a_stream_that_is_never_opened_is_freed(out):
    putting = threading.Thread(
        target=out.put, args=(Message("s" * 32, "", 0, [bytes(3 << 20)]),), daemon=True
    )
    putting.start()
    out.end_now(LAST_WORDS)
    putting.join(60)
    assert not putting.is_alive()


@pytest.mark.parametrize("room", [0, 1, 3], ids=["the first", "a heartbeat", "any"])
def test_a_frame_that_is_not_taken_is_timed_and_whoever_waits_is_freed(out, room):
    call = Call(room)
    out.begin()
    keeper = kept(out, call)
    deadline = time.monotonic() + 60
    while out.sending_since is None or len(call.sent) < room:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    enough = threading.Event()

    def put():
        while not enough.is_set():
            out.put(message(0))

    putting = threading.Thread(target=put, daemon=True)
    putting.start()
    out.end_now(LAST_WORDS)
    out.give_up()
    enough.set()
    putting.join(60)
    keeper.join(60)
    assert not putting.is_alive()
    assert not keeper.is_alive()
    assert out.sending_since is None
