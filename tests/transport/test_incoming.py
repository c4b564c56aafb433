"""A stream that two threads read by turns: in order, one at a time, and never left unread."""

import queue
import random
import threading
import time

import grpc
import pytest

from coterie.protocols.messaging.channel import Message
from coterie.protos.peers_pb2 import Farewell
from coterie.transport.frames import HEARTBEAT, FrameCheck, FrameError, closing, cut, split
from coterie.transport.incoming import AWAY, Incoming
from coterie.transport.spool import Spool

SESSION = "s" * 32
CANCELLED = object()


class Call:
    """A gRPC call as `Incoming` uses it, which notes who reads it and refuses two at once."""

    def __init__(self):
        self.frames = queue.SimpleQueue()
        self.readers = []
        self.busy = threading.Lock()

    def send(self, *frames):
        for frame in frames:
            self.frames.put(frame)

    def __next__(self):
        assert self.busy.acquire(blocking=False), "two threads read the stream"
        try:
            frame = self.frames.get(timeout=60)
        finally:
            self.busy.release()
        if frame is CANCELLED:
            raise grpc.RpcError("cancelled")
        if isinstance(frame, Exception):
            raise frame
        self.readers.append(threading.current_thread().name)
        return frame

    def cancel(self):
        self.frames.put(CANCELLED)


class Link:
    """A stream with its keeper, which runs until the stream ends."""

    def __init__(self, folder, memory=1 << 20, away=AWAY):
        self.call = Call()
        spool = Spool(folder, split, memory)
        self.incoming = Incoming(FrameCheck(SESSION, 1 << 30), spool, time.monotonic, away)
        self.outcome = queue.SimpleQueue()
        self.call.send(HEARTBEAT)
        self.incoming.begin(self.call)
        threading.Thread(target=self._keep, name="keeper", daemon=True).start()

    def _keep(self):
        try:
            farewell = self.incoming.follow()
            self.incoming.finish()
            self.outcome.put(farewell)
        except (grpc.RpcError, StopIteration, FrameError) as error:
            self.incoming.stop()
            self.outcome.put(error)

    def end(self):
        return self.outcome.get(timeout=60)

    def close(self):
        """Lets the keeper go."""
        self.incoming.give_back()
        self.call.cancel()


@pytest.fixture
def link(tmp_path):
    """A stream whose keeper has all the patience that a busy machine needs."""
    made = Link(tmp_path, away=600)
    yield made
    made.close()


def frames(number, size=8):
    return cut(Message(SESSION, "", number, [bytes([number % 256]) * size]))


def number_of(piece):
    return piece[1].sequence


def lend(link):
    """Makes the keeper lend the stream to this thread, by waiting for a frame. Gives the number of
    the next one."""
    for number in range(100):
        threading.Timer(0.05, link.call.send, frames(number)).start()
        assert number_of(link.incoming.read()) == number
        time.sleep(0.01)  # the keeper may have come too late to find this thread waiting
        if link.incoming._lent:
            return number + 1
    raise AssertionError("the stream is never lent")


def test_whoever_waits_reads_the_stream_itself(link):
    first, before = lend(link), len(link.call.readers)
    me = threading.current_thread().name
    for number in range(first, first + 50):
        link.call.send(HEARTBEAT, *frames(number))
        assert number_of(link.incoming.read()) == number
    assert link.call.readers[before:] == [me] * 100


def test_a_reader_that_waits_is_not_lent_the_stream_without_a_frame_that_wakes_it(link):
    for number in range(20):
        link.incoming.give_back()
        sending = (HEARTBEAT, HEARTBEAT, *frames(number))
        threading.Timer(0.02, link.call.send, sending).start()
        assert number_of(link.incoming.read()) == number


def test_a_reader_that_stays_away_loses_the_stream(tmp_path):
    link = Link(tmp_path, away=0.5)
    first, before = lend(link), len(link.call.readers)
    for number in range(first, first + 20):
        link.call.send(*frames(number))
    deadline = time.monotonic() + 60
    while len(link.call.readers) < before + 20:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert link.call.readers[before:] == ["keeper"] * 20
    assert [number_of(link.incoming.read()) for _ in range(20)] == list(range(first, first + 20))
    link.close()


def test_a_reader_gives_the_stream_back_at_once(link):
    first, before = lend(link), len(link.call.readers)
    link.incoming.give_back()
    link.call.send(*frames(first))
    assert number_of(link.incoming.read()) == first
    assert link.call.readers[before:] == ["keeper"]


@pytest.mark.parametrize("lent", [True, False], ids=["the reader", "the keeper"])
def test_a_farewell_ends_the_stream_whoever_finds_it(link, lent):
    if lent:
        lend(link)
    threading.Timer(0.1, link.call.send, [closing(Farewell(error="done"))]).start()
    assert link.incoming.read() is None
    assert link.end().error == "done"
    assert link.incoming.read() is None  # and ever after
    assert link.call.readers[-1] == ("keeper" if not lent else threading.current_thread().name)


ENDS = {
    "a broken connection": grpc.RpcError("gone"),
    "an end without a farewell": StopIteration(),
    "a frame that does not fit": b"\xff",
}


@pytest.mark.parametrize("lent", [True, False], ids=["the reader", "the keeper"])
@pytest.mark.parametrize("name", ENDS)
def test_a_bad_end_reaches_the_keeper_whoever_finds_it(link, name, lent):
    if lent:
        lend(link)
    threading.Timer(0.1, link.call.send, [ENDS[name]]).start()
    assert link.incoming.read() is None
    found = link.end()
    assert isinstance(found, FrameError) if ENDS[name] == b"\xff" else found is ENDS[name]


def test_a_reader_that_waits_in_the_stream_is_freed_when_the_session_ends(link):
    lend(link)
    threading.Timer(0.1, link.incoming.stop).start()
    assert link.incoming.read() is None
    assert isinstance(link.end(), grpc.RpcError)  # the call was cancelled


def test_a_keeper_that_reads_goes_on_after_the_session_has_ended_and_keeps_nothing(link):
    link.incoming.stop()
    link.call.send(*frames(0), closing(Farewell(error="too")))
    assert link.end().error == "too"
    assert link.incoming.read() is None


def test_a_stream_that_opens_with_a_farewell_has_ended(tmp_path):
    call = Call()
    incoming = Incoming(FrameCheck(SESSION, 1), Spool(tmp_path, split), time.monotonic)
    call.send(closing(Farewell(error="early")))
    incoming.begin(call)
    assert incoming.follow().error == "early"


def test_a_stream_that_opens_after_the_end_is_cancelled(tmp_path):
    incoming = Incoming(FrameCheck(SESSION, 1), Spool(tmp_path, split), time.monotonic)
    incoming.stop()
    with pytest.raises(grpc.RpcError):
        incoming.begin(Call())


@pytest.mark.parametrize("seed", range(20))
def test_every_frame_is_read_once_and_in_order_whatever_the_pace(tmp_path, seed):
    """Frames come and are read in bursts, with pauses on both sides around the keeper's patience,
    and more of them at times than the spool has memory for."""
    rng = random.Random(seed)
    link = Link(tmp_path, memory=3000)
    count = 400

    def pause():
        if rng.random() < 0.02:
            time.sleep(rng.choice([0.001, 0.04, 0.06, 0.12]))

    def send():
        for number in range(count):
            link.call.send(*frames(number, rng.choice([1, 100, 1000])))
            if rng.random() < 0.1:
                link.call.send(HEARTBEAT)
            pause()
        link.call.send(closing(Farewell()))

    threading.Thread(target=send, daemon=True).start()
    for number in range(count):
        assert number_of(link.incoming.read()) == number
        if rng.random() < 0.05:
            link.incoming.give_back()
        pause()
    assert link.incoming.read() is None
    assert not link.end().failed
    assert len(link.call.readers) >= count
