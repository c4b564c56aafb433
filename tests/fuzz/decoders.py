"""Every decoder of bytes that others wrote: inputs to begin with, and what it may answer.

Those of messages and results are here, `documents` has those of what people write, and `books` those
of what a party itself wrote earlier.
"""

import tempfile
from pathlib import Path

import numpy as np

from coterie.jobs.file.result_file import read_claims
from coterie.jobs.kinds.integrate.release_table import Coded, read_share, write_share
from coterie.protocols.messaging.wire import WireError, decode, encode
from coterie.protos.peers_pb2 import Farewell, Frame
from coterie.transport.frames import FrameCheck, FrameError, closing
from tests.fuzz import books, documents
from tests.fuzz.decoder import Decoder, put


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
    return [first, Frame(chunk=b"1" * 24).SerializeToString(), closing(Farewell(failed=True, error="why"))]  # fmt: skip


def _frames(data: bytes, _: Path) -> None:
    check = FrameCheck("s", 1 << 20)
    for at in range(0, len(data), 61):  # as a stream of frames, and as one
        check.admit(data[at : at + 61])


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


def _share(data: bytes, folder: Path) -> None:
    put(folder / "columns.arrow", data)
    for column in read_share(folder, "bank").values():
        assert all(isinstance(column.values[code], str) for code in column.codes)


def _result(data: bytes, folder: Path) -> None:
    put(folder / "result.json", data)
    read_claims(folder)


DECODERS = {
    "wire": Decoder(_wire_seeds, _wire, (WireError,)),
    "frame": Decoder(_frame_seeds, _one_frame, (FrameError,)),
    "frames": Decoder(_frame_seeds, _frames, (FrameError,)),
    **documents.DECODERS,
    **books.DECODERS,
    "release share": Decoder(_share_seeds, _share),
    "result": Decoder(lambda: [b'{"records": 3, "job": {"version": "0.1.0"}}'], _result),
}
