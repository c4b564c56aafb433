"""Frames that have arrived and wait to be read: in memory first, then in temporary files.

A receiver always takes in what its peers send, so that parties which all send before they receive
never wait for each other. What the reader has not caught up with beyond `memory` bytes goes into
unlinked files of some tens of MB each; a file is given back to the disk when it has been read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import tempfile
from collections import deque
from pathlib import Path
from typing import IO

MEMORY = 32 << 20
_SEGMENT = 64 << 20
_OVERHEAD = 64  # bytes a small frame takes beside its data
_LENGTH = struct.Struct("<I")


def keep_memory_together() -> None:
    """Tells the C library to use two pools of memory instead of eight for each core.

    Frames are taken in by one thread and freed by another; with many pools, what is freed in one
    is not used by the others, and a long stream makes the process grow without need.
    """
    pools = -8  # M_ARENA_MAX of glibc; other C libraries have no such function
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(pools, 2)


class _Segment:
    def __init__(self, folder: Path) -> None:
        # Unbuffered: what was written is read back by another offset at once.
        self.file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self.written = 0
        self.read = 0

    def put(self, frame: bytes) -> None:
        buffers = [_LENGTH.pack(len(frame)), frame]
        wanted = _LENGTH.size + len(frame)
        done = os.pwritev(self.file.fileno(), buffers, self.written)
        while done < wanted:  # a nearly full disk takes a part, then says so
            done += os.pwrite(self.file.fileno(), b"".join(buffers)[done:], self.written + done)
        self.written += wanted

    def get(self) -> bytes:
        descriptor = self.file.fileno()
        [size] = _LENGTH.unpack(os.pread(descriptor, _LENGTH.size, self.read))
        self.read += _LENGTH.size
        frame = os.pread(descriptor, size, self.read)
        self.read += size
        return frame


class Spool:
    """A first-in, first-out store of frames. Not locked: its owner does that."""

    def __init__(self, folder: Path, memory: int = MEMORY) -> None:
        self._folder = folder
        self._limit = memory
        self._used = 0
        self._frames: deque[bytes] = deque()
        self._segments: deque[_Segment] = deque()

    def __bool__(self) -> bool:
        return bool(self._frames or self._segments)

    def put(self, frame: bytes) -> None:
        """Raises OSError when the disk takes no more."""
        cost = len(frame) + _OVERHEAD
        if not self._segments and self._used + cost <= self._limit:
            self._frames.append(frame)
            self._used += cost
            return
        if not self._segments or self._segments[-1].written >= _SEGMENT:
            self._segments.append(_Segment(self._folder))
        self._segments[-1].put(frame)

    def get(self) -> bytes:
        if self._frames:
            frame = self._frames.popleft()
            self._used -= len(frame) + _OVERHEAD
            return frame
        segment = self._segments[0]
        frame = segment.get()
        if segment.read == segment.written:
            segment.file.close()
            self._segments.popleft()
        return frame

    def clear(self) -> None:
        self._frames.clear()
        self._used = 0
        while self._segments:
            self._segments.popleft().file.close()
