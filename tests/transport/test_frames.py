"""Frames are what the .proto says, and a stream that does not fit is refused by name."""

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
