"""Frames that have arrived and wait to be read: in memory first, then in temporary files.

A party always receives what its peers send, so that parties which all send before they receive
never wait for each other. Unread frames beyond `memory` bytes go into unlinked files of some tens
of MB each; the disk space of a file is freed when the file has been read.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Generic, TypeVar

MEMORY = 32 << 20
_SEGMENT = 64 << 20
_OVERHEAD = 64  # bytes that a small frame takes in addition to its data
_LENGTH = struct.Struct("<I")
_TO_FILES: Any = ("what follows is in files",)  # known by identity, not by its value
T = TypeVar("T")


def keep_memory_together() -> None:
    """Tunes the C library's allocator for frames, which are allocated and freed by the thousand.

    Frames are allocated by one thread and freed by another. With the usual eight arenas for each
    core, memory that is freed in one arena is not used by the others, and a long stream makes the
    process grow without need. And if a frame's memory went back to the system at once, the system
    would have to provide and clear it again for the next frame.
    """
    pools, mapped, trimmed = -8, -3, -1  # M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of glibc
    with contextlib.suppress(OSError, AttributeError):  # other C libraries lack mallopt
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(pools, 2)
        mallopt(mapped, 4 << 20)
        mallopt(trimmed, 64 << 20)


class _Segment:
    def __init__(self, folder: Path) -> None:
        # Unbuffered, because written data is read back at another offset at once.
        self.file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self.written = 0
        self.read = 0

    def put(self, frame: bytes) -> None:
        buffers = [_LENGTH.pack(len(frame)), frame]
        wanted = _LENGTH.size + len(frame)
        done = os.pwritev(self.file.fileno(), buffers, self.written)
        while done < wanted:  # a nearly full disk writes a part, then raises
            done += os.pwrite(self.file.fileno(), b"".join(buffers)[done:], self.written + done)
        self.written += wanted

    def get(self) -> bytes:
        descriptor = self.file.fileno()
        [size] = _LENGTH.unpack(os.pread(descriptor, _LENGTH.size, self.read))
        self.read += _LENGTH.size
        frame = os.pread(descriptor, size, self.read)
        self.read += size
        return frame


class Spool(Generic[T]):
    """A first-in, first-out queue of frames, for one thread that puts and one that gets.

    A frame that was in a file is parsed again. The path through memory takes no lock, which the two
    threads would pass to and fro for every frame.
    """

    def __init__(self, folder: Path, read: Callable[[bytes], T], memory: int = MEMORY) -> None:
        self._folder = folder
        self._read = read
        self._limit = memory
        self._queue: SimpleQueue[tuple[T, int] | None] = SimpleQueue()
        self._put_bytes = 0  # changed by the thread that puts
        self._got_bytes = 0  # changed by the thread that gets
        self._lock = threading.Lock()  # for the fields below
        self._segments: deque[_Segment] = deque()
        self._spilled = False  # frames are in files, and further frames must follow them
        self._reading_files = False  # all frames before those in files have been read

    def put(self, frame: bytes, as_read: T) -> None:
        """Adds a frame; raises OSError when the disk is full."""
        cost = len(frame) + _OVERHEAD
        if not self._spilled and self._put_bytes + cost - self._got_bytes <= self._limit:
            self._put_bytes += cost
            self._queue.put((as_read, cost))
            return
        with self._lock:
            if not self._segments or self._segments[-1].written >= _SEGMENT:
                self._segments.append(_Segment(self._folder))
            self._segments[-1].put(frame)
            if not self._spilled:
                self._spilled = True
                self._queue.put(_TO_FILES)

    @property
    def empty(self) -> bool:
        """Whether `get` would wait; for the reading thread."""
        return not self._spilled and self._put_bytes == self._got_bytes

    def wake(self) -> None:
        """Makes `get` return None, now or when everything before has been read, and ever after."""
        self._queue.put(None)

    def get(self) -> T | None:
        """Waits for the next frame; None after `wake`."""
        while True:
            if self._reading_files:
                frame = self._from_file()
                if frame is not None:
                    return self._read(frame)
            waiting = self._queue.get()
            if waiting is None:
                self._queue.put(None)
                return None
            if waiting is not _TO_FILES:
                as_read, cost = waiting
                self._got_bytes += cost
                return as_read
            self._reading_files = True

    def _from_file(self) -> bytes | None:
        with self._lock:
            if not self._segments:
                self._spilled = self._reading_files = False
                return None
            segment = self._segments[0]
            frame = segment.get()
            if segment.read == segment.written:
                segment.file.close()
                self._segments.popleft()
            return frame

    def clear(self) -> None:
        """Frees all frames and files; nothing is put or got afterwards."""
        with self._lock:
            while self._segments:
                self._segments.popleft().file.close()
        self._queue = SimpleQueue()
        self._queue.put(None)
