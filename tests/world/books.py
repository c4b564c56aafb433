"""SQLite above the world's disks: what it writes can be torn, refused or lost, as any other write.

One connection is all that a machine has, so that there are no locks between processes, and no shared
memory. What a dead process still does to its file while its tasks are freed comes to nothing.
"""

# ruff: noqa: N802 - the names are those of SQLite
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import apsw

from coterie.party.store import database
from tests.world.tasks import scheduler, worlds

_NAME = "coterie-world"
_SETTINGS = ("locking_mode = EXCLUSIVE", "temp_store = MEMORY")


class _File:
    """A file of SQLite, for as long as the process that opened it lives."""

    def __init__(self, path: str, flags: int) -> None:
        self._path = path
        process = scheduler().task().process
        self._alive: Callable[[], bool] = lambda: process.alive
        make = os.O_CREAT if flags & apsw.SQLITE_OPEN_CREATE else 0
        try:
            self._descriptor = os.open(path, os.O_RDWR | make, 0o600)
        except OSError as error:
            raise apsw.CantOpenError(str(error)) from None

    def xRead(self, amount: int, offset: int) -> bytes:
        return os.pread(self._descriptor, amount, offset) if self._alive() else bytes(amount)

    def xWrite(self, data: bytes, offset: int) -> None:
        if not self._alive():
            return
        try:
            written = os.pwrite(self._descriptor, data, offset)
        except OSError:
            written = 0
        if written < len(data):
            raise apsw.FullError("the disk is full")

    def xTruncate(self, size: int) -> None:
        if self._alive():
            os.ftruncate(self._descriptor, size)

    def xSync(self, flags: int) -> None:
        if self._alive():
            os.fsync(self._descriptor)

    def xFileSize(self) -> int:
        return os.fstat(self._descriptor).st_size if self._alive() else 0

    def xLock(self, level: int) -> None:
        pass

    def xUnlock(self, level: int) -> None:
        pass

    def xCheckReservedLock(self) -> bool:
        return False

    def xFileControl(self, operation: int, pointer: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return 4096

    def xDeviceCharacteristics(self) -> int:
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE

    def xClose(self) -> None:
        if self._alive():  # else the world closes it
            os.close(self._descriptor)


class _Disk(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(_NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        flags[1] = flags[0]
        return _File(name.filename() if isinstance(name, apsw.URIFilename) else name, flags[0])

    def xDelete(self, path: str, sync: bool) -> None:
        task = worlds[-1].task_here() if worlds else None
        if task is None or not task.process.alive or not os.path.exists(path):
            return  # a connection of a process that is dead, or of a world that is over
        os.unlink(path)
        if sync:
            folder = os.open(os.path.dirname(path), os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def xAccess(self, path: str, flags: int) -> bool:
        return os.path.exists(path)


@contextlib.contextmanager
def simulated() -> Iterator[None]:
    """While this is open, books are opened above the disks of the world."""
    disk = _Disk()
    try:
        with patch.multiple(database, VFS=_NAME, SETTINGS=_SETTINGS):
            yield
    finally:
        disk.unregister()
