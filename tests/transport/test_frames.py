"""Frames are what the .proto says, and a stream that does not fit is refused by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.messaging.channel import Message
from coterie.protos.peers_pb2 import Farewell, Frame
from coterie.transport.frames import CHUNK, HEARTBEAT, FrameCheck, FrameError, closing, cut, split

SESSION = "s" * 32
sizes = st.lists(st.integers(0, 3 * CHUNK // 2), min_size=1, max_size=4)


def message(*body, step="step", sequence=0):
    return Message(SESSION, step, sequence, list(body))


@given(sizes, st.integers(0, 2**40), st.text(max_size=10))
def test_the_protobuf_library_reads_the_frames_that_are_cut(lengths, sequence, step):
    parts = [bytes([i + 1]) * length for i, length in enumerate(lengths)]
    frames = [Frame.FromString(f) for f in cut(message(*parts, step=step, sequence=sequence))]
    first = frames[0]
    assert (first.session, first.step, first.sequence) == (SESSION, step, sequence)
    assert first.size == sum(lengths)
    assert b"".join(f.chunk for f in frames) == b"".join(parts)
    assert all(len(f.chunk) <= 1.25 * CHUNK for f in frames)
    assert len(frames) <= max(1, -(-sum(lengths) // CHUNK))
    assert all(f.chunk and not f.session for f in frames[1:])


def test_a_chunk_starts_at_a_multiple_of_16_bytes():
    for size in (1, 100, 127, 128, 20_000, CHUNK, 3 * CHUNK):
        for data in cut(message(bytes(size))):
            chunk, _ = split(data)
            assert data.index(b"\x2a", 2) < 16  # the tag, after tag and length of the padding
            assert data[16 : 16 + len(chunk)] == bytes(chunk)


fields = st.builds(
    Frame,
    session=st.text(max_size=5),
    step=st.text(max_size=5),
    sequence=st.integers(0, 2**64 - 1),
    size=st.integers(0, 2**64 - 1),
)


@given(st.binary(max_size=300), st.binary(max_size=200), fields, st.booleans())
def test_a_frame_is_split_as_the_protobuf_library_reads_it(chunk, padding, other, first):
    head = Frame(padding=padding).SerializeToString() + Frame(chunk=chunk).SerializeToString()
    data = head + other.SerializeToString() if first else other.SerializeToString() + head
    back, rest = split(data)
    whole = Frame.FromString(data)
    assert bytes(back) == chunk == whole.chunk
    assert (rest.session, rest.step, rest.sequence, rest.size) == (
        whole.session,
        whole.step,
        whole.sequence,
        whole.size,
    )


@given(st.binary(max_size=60))
def test_random_bytes_are_split_as_the_protobuf_library_reads_them_or_refused(data):
    try:
        chunk, rest = split(data)
    except FrameError:
        return
    whole = Frame.FromString(data)
    assert bytes(chunk) == whole.chunk
    assert rest.session == whole.session
    assert rest.WhichOneof("control") == whole.WhichOneof("control")


@given(sizes)
def test_honest_frames_are_admitted(lengths):
    check = FrameCheck(SESSION, 1 << 40)
    for length in lengths:
        pieces = [check.admit(frame) for frame in cut(message(bytes(length)))]
        assert sum(len(chunk) for chunk, _ in pieces) == length
        assert check.admit(HEARTBEAT) is None
    assert check.admit(closing(Farewell())) == Farewell()


def frame(**fields):
    return Frame(**fields).SerializeToString()


HEAD = frame(session=SESSION, step="x", size=10)
BAD = {
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


@pytest.mark.parametrize("name", BAD)
def test_a_stream_that_does_not_fit_is_refused(name):
    *before, last = BAD[name][0]
    check = FrameCheck(SESSION, 1 << 30)
    for one in before:
        check.admit(one)
    with pytest.raises(FrameError, match=BAD[name][1]):
        check.admit(last)


def test_a_failed_party_may_say_farewell_within_a_message():
    check = FrameCheck(SESSION, 1 << 30)
    check.admit(HEAD)
    assert check.admit(closing(Farewell(failed=True, error="x"))).error == "x"


@given(st.lists(st.binary(max_size=80), max_size=5))
def test_random_frames_raise_frame_error_and_nothing_else(frames):
    check = FrameCheck(SESSION, 1 << 30)
    try:
        for one in frames:
            check.admit(one)
    except FrameError:
        pass
