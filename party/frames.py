"""Messages cut into frames of about 1 MB, and frames checked as they come in.

The bytes are those of the `Frame` message of protos/party.proto. Frames that carry nothing but a
chunk are written and read by hand, because a chunk would otherwise be copied twice by the protobuf
library; everything else goes through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from google.protobuf.message import DecodeError

from protocols.channel import Message
from protocols.wire import Buffer, size_of
from protos.party_pb2 import Farewell, Frame

CHUNK = 1 << 20
_SMALL = 1 << 16  # up to here a message is one frame
_CHUNK_TAG = 5 << 3 | 2
_MAX_STEP = 1000  # characters of a step label
HEARTBEAT = Frame(heartbeat=True).SerializeToString()


class FrameError(Exception):
    """What a peer did that no honest one does; the text completes `PEER: …`."""


def opening(session: str) -> bytes:
    """The first frame of a stream."""
    return bytes(Frame(session=session, heartbeat=True).SerializeToString())


def closing(farewell: Farewell) -> bytes:
    """The last frame of a stream."""
    return bytes(Frame(farewell=farewell).SerializeToString())


def cut(message: Message) -> Iterator[bytes]:
    """The frames of one message. Nothing refers to the message's buffers afterwards."""
    size = size_of(message.body)
    header = Frame(
        session=message.session, step=message.step, sequence=message.sequence, size=size
    ).SerializeToString()
    if size <= _SMALL:
        yield b"".join([header, *([_chunk_prefix(size), *message.body] if size else [])])
        return
    yield header
    pieces: list[Buffer] = []
    room = CHUNK
    for buffer in message.body:
        view = memoryview(buffer).cast("B")
        while view:
            piece, view = view[:room], view[room:]
            pieces.append(piece)
            room -= len(piece)
            if not room:
                yield b"".join([_chunk_prefix(CHUNK), *pieces])
                pieces, room = [], CHUNK
    if pieces:
        yield b"".join([_chunk_prefix(CHUNK - room), *pieces])


def _chunk_prefix(size: int) -> bytes:
    out = bytearray([_CHUNK_TAG])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)


def bare_chunk(frame: bytes) -> memoryview | None:
    """The chunk of a frame that has nothing else, without copying it."""
    if not frame or frame[0] != _CHUNK_TAG:
        return None
    size = shift = 0
    for at in range(1, min(len(frame), 6)):
        size |= (frame[at] & 0x7F) << shift
        if frame[at] < 0x80:
            return memoryview(frame)[at + 1 :] if size == len(frame) - at - 1 else None
        shift += 7
    return None


def parse(frame: bytes) -> Frame:
    try:
        return Frame.FromString(frame)
    except DecodeError:
        raise FrameError("sent bytes that are not a frame") from None


@dataclass
class FrameCheck:
    """Follows one incoming stream and refuses the frame that does not fit.

    `admit` says what the frame was: data to keep, a heartbeat, or a farewell.
    """

    session: str
    largest: int  # bytes of a message
    _missing: int = field(default=0, init=False)

    def admit(self, frame: bytes) -> Farewell | bool:
        """True for data, False for a heartbeat, or the farewell."""
        chunk = bare_chunk(frame)
        if chunk is not None:
            self._take(len(chunk))
            return True
        parsed = parse(frame)
        control = parsed.WhichOneof("control")
        if control == "heartbeat":
            return False
        if control == "farewell":
            farewell: Farewell = parsed.farewell
            if self._missing and not farewell.failed:
                raise FrameError("said farewell in the middle of a message")
            return farewell
        if not parsed.session:
            self._take(len(parsed.chunk))
            return True
        if self._missing:
            raise FrameError(
                f"began a message while {self._missing} bytes of the last one were missing"
            )
        if parsed.session != self.session:
            raise FrameError("sent a message of another session")
        if len(parsed.step) > _MAX_STEP:
            raise FrameError(f"sent a step label of {len(parsed.step)} characters")
        if parsed.size > self.largest:
            raise FrameError(
                f"announced a message of {parsed.size} bytes, more than the memory budget "
                f"of {self.largest} bytes here"
            )
        self._missing = parsed.size
        if parsed.chunk:
            self._take(len(parsed.chunk))
        return True

    def _take(self, size: int) -> None:
        if size > self._missing:
            raise FrameError(f"sent {size} bytes where {self._missing} were announced")
        if not size:
            raise FrameError("sent an empty frame")
        self._missing -= size
