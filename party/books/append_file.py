"""An append-only file of JSON lines: the audit log.

When `append` returns, the line is on the disk. Every write is checked: a line that was written only
in part is removed before the error is raised, so that a full disk leaves whole lines only. A line
that was torn when the machine crashed can only be the last one, without its newline; it is cut off
when the file is opened for writing, and `torn` has its bytes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError

_BLOCK = 1 << 16
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_CLOSED = -1  # in place of the number of an open file


@dataclass(frozen=True)
class Line:
    """One whole line of the file: its number from 1, and its object, None if damaged."""

    number: int
    entry: dict[str, Any] | None


class AppendFile:
    """The file, open for appending. Threads, and other processes, may append at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = b""  # what a crash left of the last line
        self._lock = threading.RLock()
        self._rest: int | None = None  # the length to restore, if restoring has failed once
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            os.fchmod(self._file, 0o600)
        except OSError as error:
            raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
        with self._alone():
            self._mend()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with self._lock:
            if self._file == _CLOSED:
                raise EnvironmentFaultError(f"{self.path}: is closed; the server has stopped")
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX)
                yield
            except OSError as error:
                raise EnvironmentFaultError(f"{self.path}: {error.strerror}") from None
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _mend(self) -> None:
        """Cuts off a last line without its newline."""
        size = os.fstat(self._file).st_size
        whole = self._end_of_last_line(size)
        if whole < size:
            self.torn = os.pread(self._file, min(size - whole, _BLOCK), whole)
            os.ftruncate(self._file, whole)
            os.fsync(self._file)

    def _end_of_last_line(self, size: int) -> int:
        end = size
        while end:
            start = max(0, end - _BLOCK)
            at = os.pread(self._file, end - start, start).rfind(b"\n")
            if at >= 0:
                return start + at + 1
            end = start
        return 0

    def append(self, entry: dict[str, Any]) -> None:
        """Adds one line, or raises `EnvironmentFaultError` and leaves the file as it was."""
        line = _line_of(entry)
        with self._alone():
            if self._rest is not None:  # a line that was refused could not be removed yet
                os.ftruncate(self._file, self._rest)
                self._rest = None
            before = os.fstat(self._file).st_size
            try:
                self._write(line)
                os.fsync(self._file)
            except OSError:
                self._rest = before
                os.ftruncate(self._file, before)
                self._rest = None
                raise

    def _write(self, line: bytes) -> None:
        left = memoryview(line)
        while left:  # a nearly full disk writes only a part
            left = left[os.write(self._file, left) :]

    def close(self) -> None:
        """Closes the file once no line is being appended; nobody uses its number afterwards."""
        with self._lock:
            if self._file != _CLOSED:
                os.close(self._file)
                self._file = _CLOSED


def _line_of(entry: dict[str, Any]) -> bytes:
    """The line of an entry. Halves of characters, which damaged lines may have, stay as they are."""
    return _COMPACT.encode(entry).encode(errors="surrogatepass") + b"\n"


def read_lines(path: Path) -> Iterator[Line]:
    """The whole, non-empty lines of a file; none if the file does not exist.

    A torn last line has no newline and does not count as a line.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n") and line.strip():
                    yield Line(number, _object(line))
    except FileNotFoundError:
        return
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None


def read_entries(path: Path) -> list[dict[str, Any]]:
    """The objects of the undamaged lines."""
    return [line.entry for line in read_lines(path) if line.entry is not None]


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
