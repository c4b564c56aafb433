"""Messages are cut into frames of about 1 MB, and received frames are checked.

A frame is the `Frame` message of protos/peers.proto, with padding and the chunk before the other
fields. Padding and chunk are written and read by hand, because the protobuf library would copy each
chunk twice more; it writes and reads all other fields. The padding makes the chunk start 16 bytes
into the frame, so that arrays in a message of one frame are aligned where they lie.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from google.protobuf.message import DecodeError

from coterie.protocols.messaging.channel import Message
from coterie.protocols.messaging.wire import Buffer, size_of
from coterie.protos.peers_pb2 import Farewell, Frame

CHUNK = 1 << 20
_SLACK = 1 << 18  # bytes by which a chunk may be longer, so that no short one is left over
_CHUNK_TAG = 5 << 3 | 2
_PADDING_TAG = 8 << 3 | 2
ALIGNMENT = 16
_MAX_STEP = 1000  # characters of a step label
_LONG = 1 << 16  # bytes, from which a frame is joined without the interpreter's lock
_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.restype, _new_bytes.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)
_address_of = ctypes.pythonapi.PyBytes_AsString
_address_of.restype, _address_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)
HEARTBEAT = Frame(heartbeat=True).SerializeToString()


class FrameError(Exception):
    """A frame that no honest peer sends; the text completes `PEER: …`."""


def closing(farewell: Farewell) -> bytes:
    """The last frame of a stream."""
    return bytes(Frame(farewell=farewell).SerializeToString())


def cut(message: Message) -> Iterator[bytes]:
    """The frames of one message, which do not refer to the message's buffers."""
    size = size_of(message.body)
    header = Frame(
        session=message.session, step=message.step, sequence=message.sequence, size=size
    ).SerializeToString()
    count = max(1, -(-(size - _SLACK) // CHUNK))
    length = -(-size // count)  # equal parts: the last frame is not short
    pieces: list[Buffer] = []
    room = min(length, size)
    left = size
    for buffer in message.body:
        view = memoryview(buffer).cast("B")
        while view:
            piece, view = view[:room], view[room:]
            pieces.append(piece)
            room -= len(piece)
            left -= len(piece)
            if not room:
                filled = sum(map(len, pieces))
                yield _joined([_chunk_prefix(filled), *pieces, header])
                header = b""  # on the first frame only
                pieces, room = [], min(length, left)
    if header:
        yield header


class _Place:
    """Memory at an address, in the form that NumPy reads."""

    def __init__(self, address: int, size: int) -> None:
        self.__array_interface__ = {
            "data": (address, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }


def _joined(pieces: list[Buffer]) -> bytes:
    """The pieces joined to one bytes object.

    Long pieces are copied without the interpreter's lock, which gRPC's threads need meanwhile;
    `bytes.join` would hold it.
    """
    size = sum(map(len, pieces))
    if size < _LONG:
        return b"".join(pieces)
    # The C interface allows to fill a new bytes object until anything else refers to it.
    made: bytes = _new_bytes(None, size)
    place = np.asarray(_Place(_address_of(made), size))
    at = 0
    for piece in pieces:
        place[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
        at += len(piece)
    return made


def _chunk_prefix(size: int) -> bytes:
    """The bytes of a frame before its chunk: the padding, and the chunk's tag and length."""
    out = bytearray([_CHUNK_TAG])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    padding = ALIGNMENT - 2 - len(out)
    return bytes([_PADDING_TAG, padding]) + bytes(padding) + out


Piece = tuple[memoryview, Frame]
_NOTHING = Frame()


def split(frame: bytes) -> Piece:
    """The chunk of a frame (not copied if it comes first) and the other fields."""
    size = shift = first = 0
    if frame[:1] == bytes([_PADDING_TAG]) and len(frame) > ALIGNMENT > frame[1]:
        first = 2 + frame[1]
    if frame[first : first + 1] == bytes([_CHUNK_TAG]):
        for at in range(first + 1, min(len(frame), first + 6)):
            size |= (frame[at] & 0x7F) << shift
            if frame[at] < 0x80:
                start = at + 1
                if size > len(frame) - start:
                    raise FrameError("sent bytes that are not a frame")
                if size == len(frame) - start:
                    return memoryview(frame)[start:], _NOTHING
                rest = parse(frame[start + size :])
                if rest.chunk:
                    raise FrameError("sent a frame with two chunks")
                return memoryview(frame)[start : start + size], rest
            shift += 7
    whole = parse(frame)
    return memoryview(whole.chunk), whole


def parse(frame: bytes) -> Frame:
    """The frame as the protobuf library reads it."""
    try:
        return Frame.FromString(frame)
    except DecodeError:
        raise FrameError("sent bytes that are not a frame") from None


@dataclass
class FrameCheck:
    """Checks the frames of one incoming stream, and refuses a frame that is not in order."""

    session: str
    largest: int  # bytes of a message
    _missing: int = field(default=0, init=False)

    def admit(self, frame: bytes) -> Piece | Farewell | None:
        """The chunk and other fields of a frame with data, None for a heartbeat, or the farewell."""
        chunk, fields = piece = split(frame)
        size = len(chunk)
        if fields is not _NOTHING:
            control = fields.WhichOneof("control")
            if control:
                if size:
                    raise FrameError("sent data with a heartbeat or farewell")
                return self._control(fields, control)
            if fields.session:
                self._begin(fields)
                if not size:
                    return piece
        if size > self._missing:
            raise FrameError(f"sent {size} bytes where {self._missing} were announced")
        if not size:
            raise FrameError("sent an empty frame")
        self._missing -= size
        return piece

    def _control(self, fields: Frame, control: str) -> Farewell | None:
        if control == "heartbeat":
            return None
        farewell: Farewell = fields.farewell
        if self._missing and not farewell.failed:
            raise FrameError("said farewell in the middle of a message")
        return farewell

    def _begin(self, fields: Frame) -> None:
        if self._missing:
            raise FrameError(
                f"began a message while {self._missing} bytes of the last one were missing"
            )
        if fields.session != self.session:
            raise FrameError("sent a message of another session")
        if len(fields.step) > _MAX_STEP:
            raise FrameError(f"sent a step label of {len(fields.step)} characters")
        if fields.size > self.largest:
            raise FrameError(
                f"announced a message of {fields.size} bytes, more than the memory budget "
                f"of {self.largest} bytes here"
            )
        self._missing = fields.size
