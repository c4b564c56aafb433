"""Streams that do not fit: what a peer sends, and what its receiver says of it."""

import pytest

from coterie.protos.peers_pb2 import Farewell
from coterie.transport.frames import FrameCheck, FrameError
from tests.transport.test_frames import SESSION, frame

HEAD = frame(session=SESSION, step="x", size=10)
CASES = {
    "bytes that are no frame": ([b"\xff\xff\xff"], "not a frame"),
    "a chunk outside of a message": ([frame(chunk=b"a")], "1 bytes where 0"),
    "more than was announced": ([HEAD, frame(chunk=b"a" * 11)], "11 bytes where 10"),
    "more than was announced, in parts": (
        [HEAD, frame(chunk=b"a" * 6), frame(chunk=b"a" * 5)],
        "5 bytes where 4",
    ),
    "more than was announced, in the first frame": (
        [frame(session=SESSION, size=1, chunk=b"ab")],
        "2 bytes where 1",
    ),
    "a second message before the first is whole": ([HEAD, HEAD], "10 bytes of the last one"),
    "another session": ([frame(session="other", size=1)], "another session"),
    "an empty frame": ([frame()], "empty frame"),
    "an empty frame within a message": ([HEAD, frame()], "empty frame"),
    "no session on the first frame": ([frame(step="x", size=3, chunk=b"abc")], "3 bytes where 0"),
    "a size beyond the memory budget": ([frame(session=SESSION, size=1 << 50)], "memory budget"),
    "a step label without end": ([frame(session=SESSION, step="x" * 2000)], "2000 characters"),
    "a step label that is not UTF-8": ([b"\x12\x01\xff"], "not a frame"),
    "two chunks in one frame": (
        [HEAD, frame(chunk=b"abc") + frame(session="x") + frame(chunk=b"d")],
        "two chunks",
    ),
    "a chunk longer than its frame": ([HEAD, b"\x2a\x09abc"], "not a frame"),
    "data with a heartbeat": ([HEAD, frame(chunk=b"a", heartbeat=True)], "data with a heartbeat"),
    "a clean farewell within a message": ([HEAD, frame(farewell=Farewell())], "in the middle"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_stream_that_does_not_fit_is_refused(name):
    *before, last = CASES[name][0]
    check = FrameCheck(SESSION, 1 << 30)
    for one in before:
        check.admit(one)
    with pytest.raises(FrameError, match=CASES[name][1]):
        check.admit(last)
