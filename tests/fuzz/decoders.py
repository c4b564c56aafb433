"""Every decoder of bytes that others wrote: inputs to begin with, and what it may answer.

Those of messages and results are here, `documents` has those of what people write, and `books` those
of what a party itself wrote earlier.
"""

import random
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from google.protobuf.message import DecodeError

from coterie.jobs.file.result_file import read_claims
from coterie.jobs.kinds.integrate.release_table import Coded, digest, read_share, write_share
from coterie.protocols.messaging.channel import Message
from coterie.protocols.messaging.wire import WireError, decode, encode
from coterie.protos.peers_pb2 import Farewell, Frame
from coterie.transport.frames import HEARTBEAT, FrameCheck, FrameError, closing, cut
from tests.fuzz import books, documents
from tests.fuzz.decoder import Decoder, put
from tests.fuzz.forms import json_document, json_token
from tests.fuzz.mutations import one_of


def _wire_seeds() -> list[bytes]:
    values = [
        [1, -(2**70), "text", b"bytes", ["list", [0]]],
        [np.arange(20, dtype=np.uint32).reshape(4, 5), np.zeros(0, np.float64)],
        [b"x" * 5000, np.ones(3, bool)],
    ]
    return [b"".join(bytes(part) for part in encode(value)) for value in values]


def _wire(data: bytes, _: Path) -> None:
    values = decode(data)
    # There is one encoding of each value.
    assert b"".join(bytes(part) for part in encode(values)) == data


def _frame_seeds() -> list[bytes]:
    first = Frame(
        session="s", step="step", sequence=0, size=40, chunk=b"0" * 16
    ).SerializeToString()
    cut_one = b"".join(cut(Message("s", "step", 1, [b"2" * 30])))
    return [first, Frame(chunk=b"1" * 24).SerializeToString(), HEARTBEAT, cut_one, closing(Farewell(failed=True, error="why"))]  # fmt: skip


_TEXTS = ["", "s", "t", "\u202e", "x" * 1001]
_SIZES = [0, 1, 16, 24, 40, 64, 1 << 20, (1 << 20) + 1, 1 << 63, (1 << 64) - 1]


def _another_field(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Gives a field of a frame another value, adds one, or removes one."""
    try:
        frame = Frame.FromString(bytes(data))
    except DecodeError:
        frame = Frame.FromString(_frame_seeds()[0])
    which = int(chance.random() * 9)
    if which < 2:
        setattr(frame, one_of(("session", "step"), chance), one_of(_TEXTS, chance))
    elif which < 4:
        setattr(frame, one_of(("sequence", "size"), chance), one_of(_SIZES, chance))
    elif which < 6:
        frame.chunk = bytes(min(one_of(_SIZES, chance), 64))
    elif which == 6:
        frame.padding = bytes(int(chance.random() * 20))
    elif which == 7:
        frame.ClearField(one_of(_FIELDS, chance))
    elif chance.random() < 0.5:
        frame.heartbeat = chance.random() < 0.5
    else:
        frame.farewell.failed = chance.random() < 0.5
        frame.farewell.culprit = one_of(_TEXTS, chance)
        frame.farewell.exit_code = int(chance.random() * 10) - 3
    rest = frame.SerializeToString()
    if frame.chunk and chance.random() < 0.5:  # padding and chunk first, as parties send them
        whole = Frame(padding=frame.padding).SerializeToString()
        whole += Frame(chunk=frame.chunk).SerializeToString()
        frame.ClearField("padding")
        frame.ClearField("chunk")
        rest = whole + frame.SerializeToString()
    data[:] = rest


_FIELDS = [field.name for field in Frame.DESCRIPTOR.fields]


def _stream(frames: Iterable[bytes]) -> bytes:
    """Frames, each behind its length in one byte."""
    return b"".join(bytes([len(frame)]) + frame for frame in frames if len(frame) < 256)


def _frames_of(data: bytes | bytearray) -> list[bytes]:
    frames, at = [], 0
    while at < len(data):
        frames.append(bytes(data[at + 1 : at + 1 + data[at]]))
        at += 1 + data[at]
    return frames


def _stream_seeds() -> list[bytes]:
    first, second, alive, whole, farewell = _frame_seeds()
    return [
        _stream([alive, first, second, farewell]),
        _stream([whole, alive, first, alive, second]),
    ]


def _another_frame(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Changes, moves, repeats or removes a frame of a stream."""
    frames = _frames_of(data) or _frame_seeds()
    at = int(chance.random() * len(frames))
    which = chance.random()
    if which < 0.6:
        changed_one = bytearray(frames[at])
        _another_field(changed_one, others, chance)
        frames[at] = bytes(changed_one)
    else:
        moved = frames.pop(at)
        for _ in range(int(chance.random() * 3)):
            frames.insert(int(chance.random() * (len(frames) + 1)), moved)
    data[:] = _stream(frames)


def _frames(data: bytes, _: Path) -> str:
    check = FrameCheck("s", 1 << 20)
    frames = _frames_of(data)
    for frame in frames:
        check.admit(frame)
    return f"{min(len(frames), 9)}"


def _one_frame(data: bytes, _: Path) -> None:
    FrameCheck("s", 1 << 20).admit(data)


def _share_seeds() -> list[bytes]:
    columns = {
        "Sex": Coded(np.array([0, 1, 1, 0], np.int8), ("F", "M")),
        "Job": Coded(np.array([0, 0, 0, 0], np.int8), ("Any job",)),
    }
    with tempfile.TemporaryDirectory() as folder:
        write_share(columns, Path(folder))
        return [next(Path(folder).iterdir()).read_bytes()]


_CODES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()]
_PLAIN = [
    pa.array([1, 2]),
    pa.array(["a", None]),
    pa.array([b"a"]),
    pa.array([[1], []]),
    pa.nulls(2),
    pa.array([1.5]),
]
_VALUES = [
    pa.array(["F", "M"]), pa.array(["F", "F"]), pa.array(["Any"]), pa.array([], pa.string()), pa.array(["F", None]),
    pa.array(["F", "M"], pa.large_string()), pa.array([b"F", b"\xff"]), pa.array([1, 2]), pa.array(["x" * 3000, "\0"]),
    pa.array(["F", "M"]).dictionary_encode(), pa.array([f"{n}" for n in range(300)]),
]  # fmt: skip
_CODED = [[0, 1, 1, 0], [0], [], [0, None], [1, 0], [5], [255], [127, 128]]
_NAMES = ["Sex", "Job", "", "Sex", "\0", "\u202e"]
_PACKED = [None, None, None, "lz4", "zstd"]


def _another_column(chance: random.Random, rows: int) -> pa.Array:
    values = one_of(_VALUES, chance)
    if chance.random() < 0.1:
        return one_of(_PLAIN, chance)
    codes = (one_of(_CODED, chance) * (rows + 1))[:rows] if chance.random() < 0.9 else [0] * rows
    kind = one_of(_CODES, chance)
    indices = pa.array(codes, pa.int64()).cast(kind, safe=False)
    return pa.DictionaryArray.from_arrays(indices, values, safe=False)


def _another_table(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    """A share of other columns, in one piece or several, as an honest library writes it."""
    rows = int(chance.random() * 5)
    count = 1 + int(chance.random() * 3)
    names = [one_of(_NAMES, chance) for _ in range(count)]
    columns = [_another_column(chance, rows) for _ in range(count)]
    rows = min(map(len, columns))
    batch = pa.RecordBatch.from_arrays([column.slice(0, rows) for column in columns], names=names)
    options = pa.ipc.IpcWriteOptions(
        compression=one_of(_PACKED, chance), allow_64bit=True, unify_dictionaries=False
    )
    out = pa.BufferOutputStream()
    made = pa.ipc.new_file if chance.random() < 0.95 else pa.ipc.new_stream
    with made(out, batch.schema, options=options) as writer:
        for _ in range(int(chance.random() * 3)):
            writer.write_batch(batch)
    data[:] = out.getvalue().to_pybytes()


def _another_byte(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    """Changes one byte between the marks at both ends: of the columns, or of what describes them."""
    if len(data) > 30:
        data[8 + int(chance.random() * (len(data) - 18))] = one_of(
            (0, 1, 2, 4, 8, 127, 128, 255), chance
        )


def _share(data: bytes, folder: Path) -> str:
    put(folder / "columns.arrow", data)
    columns = read_share(folder, "bank")
    for column in columns.values():
        assert all(isinstance(column.values[code], str) for code in column.codes)
        digest(column)
    return f"{min(len(columns), 3)}"


def _result(data: bytes, folder: Path) -> None:
    put(folder / "result.json", data)
    read_claims(folder)


DECODERS = {
    "wire": Decoder(_wire_seeds, _wire, (WireError,)),
    "frame": Decoder(_frame_seeds, _one_frame, (FrameError,), (_another_field,)),
    "frames": Decoder(_stream_seeds, _frames, (FrameError,), (_another_frame,)),
    **documents.DECODERS,
    **books.DECODERS,
    "release share": Decoder(
        _share_seeds, _share, changes=(_another_table, _another_byte, _another_byte)
    ),
    "result": Decoder(
        lambda: [b'{"records": 3, "job": {"version": "0.1.0"}}'],
        _result,
        changes=(json_token, json_token, json_token, json_document),
    ),
}
