"""The disks of the world's machines: real files, whose writes can be torn, refused or lost.

A machine is the folder of a party below the world's root. What a process wrote and synced survives
everything. What it wrote without a sync survives the end of the process, but perhaps not a power
cut: then a file may end earlier, a new name may be missing, and a removed file may be there again.
What a power cut takes back is remembered only of machines whose power the script cuts.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl as real_fcntl
import io
import os
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from tests.world.tasks import Process, Scheduler, scheduler
from tests.world.threads import module_like

_real = {
    name: getattr(os, name)
    for name in (
        [
            "open",
            "close",
            "write",
            "pwrite",
            "fsync",
            "ftruncate",
            "replace",
            "rename",
            "unlink",
            "remove",
            "urandom",
        ]
    )
}
_real_open = io.open
_real_open_descriptor = os.open
_READING = frozenset("rbt")
_SECTOR = 512  # bytes that a disk writes at once
_SHORT = 1 << 16  # bytes that are read at once


class Disks:
    """All machines' disks. `full` says which are full; `on_write` and `die` end a process in a write."""

    def __init__(self, world: Scheduler, root: Path, losing: Collection[str] = ()) -> None:
        """`losing`: the machines that may lose their power."""
        self._world = world
        self._root = f"{root}/"
        self._losing = frozenset(losing)
        self._files: dict[int, str] = {}  # paths by descriptor, of files that were opened here
        self._open: dict[int, int | None] = {}  # that nobody has closed yet, with known inodes
        self._synced: dict[int, bytes] = {}  # the content that is safe, by inode
        self._unsafe: set[int] = set()  # inodes that were written since
        self._names: dict[str, list[Callable[[], None]]] = {}  # what takes a name's change back
        self._locks: dict[int, tuple[Process, int]] = {}
        self.full: dict[str, float] = {}  # until when a machine's disk is full
        self.writes: dict[str, int] = {}  # writes of each machine so far
        self.on_write: Callable[[str, int], str] = lambda machine, number: ""
        self.die: Callable[[str, bool], None] = lambda machine, power: None

    def machine(self, path: Any) -> str:
        """Whose file this is; nobody's if it is not of the world."""
        text = os.fspath(path) if not isinstance(path, str) else path
        return text[len(self._root) :].partition("/")[0] if text.startswith(self._root) else ""

    def _inode(self, descriptor: int) -> int:
        """The inode of an open file, which is asked for once."""
        known = self._open.get(descriptor)
        if known is None:
            known = _inode(descriptor)
            if descriptor in self._open:
                self._open[descriptor] = known
        return known

    def handed_over(self, descriptor: int) -> None:
        """A file object has the descriptor now, and closes it by itself."""
        self._open.pop(descriptor, None)

    # What the processes do.

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
        if scheduler().task_here() is not None:
            scheduler().task()
            if dir_fd is None and not isinstance(path, bytes):
                path = os.fspath(path)
                found: int = _real_open_descriptor(path, flags, mode)
                self._files[found] = path
            else:
                found = _real_open_descriptor(path, flags, mode, dir_fd=dir_fd)
                self._files[found] = ""
            self._open[found] = None
            return found
        return int(_real_open_descriptor(path, flags, mode, dir_fd=dir_fd))

    def close(self, descriptor: int) -> None:
        """A closed file is not locked any more."""
        self._files.pop(descriptor, None)
        self._open.pop(descriptor, None)
        if self._locks:
            for inode in [i for i, held in self._locks.items() if held[1] == descriptor]:
                del self._locks[inode]
        _real["close"](descriptor)

    def write(self, descriptor: int, data: Any) -> int:
        return self._write(descriptor, data, lambda part: _real["write"](descriptor, part))

    def pwrite(self, descriptor: int, data: Any, offset: int) -> int:
        """A short piece in the middle of a file is written as a whole, or not at all."""
        write = lambda part: _real["pwrite"](descriptor, part, offset)  # noqa: E731
        return self._write(descriptor, data, write, whole=len(data) <= _SECTOR)

    def _write(
        self, descriptor: int, data: Any, write: Callable[[Any], int], whole: bool = False
    ) -> int:
        if scheduler().task_here() is None:
            return write(data)
        world = self._world
        world.task()
        machine = self.machine(self._files.get(descriptor, ""))
        if not machine:
            return write(data)
        world.pause()
        number = self.writes[machine] = self.writes.get(machine, 0) + 1
        if machine in self._losing:
            self._unsafe.add(self._inode(descriptor))
        fault = self.on_write(machine, number)
        part = world.random.random()
        if not fault and machine not in self.full:
            return write(data)
        some = memoryview(data).cast("B")[: 0 if whole else int(len(data) * part)]
        if fault:
            if len(some):
                write(some)
            self.die(machine, fault == "power")
        if self.full.get(machine, 0.0) > world.now:
            if not len(some):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(some)
        return write(data)

    def raw(self, path: Any, mode: str) -> RawFile:
        made = RawFile(self, path, mode)
        self._open.pop(made.fileno(), None)  # a file that was closed behind our back
        self._files[made.fileno()] = os.fspath(path)
        if "w" in mode and self.machine(path) in self._losing:
            self._unsafe.add(os.fstat(made.fileno()).st_ino)
        return made

    def fsync(self, descriptor: int) -> None:
        if scheduler().task_here() is None:
            _real["fsync"](descriptor)
            return
        self._world.task()
        path = self._files.get(descriptor, "")
        if self.machine(path) in self._losing:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                self._names.pop(path, None)
            else:
                self._synced[status.st_ino] = _content(descriptor, path, status.st_size)
                self._unsafe.discard(status.st_ino)
        self._world.pause()

    def ftruncate(self, descriptor: int, length: int) -> None:
        if scheduler().task_here() is not None:
            self._world.task()
            if self.machine(self._files.get(descriptor, "")) in self._losing:
                self._unsafe.add(self._inode(descriptor))
        _real["ftruncate"](descriptor, length)

    def replace(self, source: Any, target: Any, **more: Any) -> None:
        if scheduler().task_here() is None or more or not self.machine(source):
            _real["replace"](source, target, **more)
            return
        self._world.task()
        if self.machine(source) not in self._losing:
            _real["replace"](source, target)
            return
        old = _read(target)

        def back() -> None:
            if os.path.exists(target) and not os.path.exists(source):
                _real["replace"](target, source)
                if old is not None:
                    _overwrite(target, old)

        _real["replace"](source, target)
        self._changed(target, back)

    def unlink(self, path: Any, *, dir_fd: Any = None) -> None:
        if scheduler().task_here() is None or dir_fd is not None or not self.machine(path):
            _real["unlink"](path, dir_fd=dir_fd)
            return
        self._world.task()
        if self.machine(path) not in self._losing:
            _real["unlink"](path)
            return
        old = _read(path)
        mode = os.stat(path).st_mode & 0o777 if old is not None else 0
        _real["unlink"](path)

        def back() -> None:
            if (
                old is not None
                and not os.path.exists(path)
                and os.path.isdir(os.path.dirname(path))
            ):
                _overwrite(path, old)
                os.chmod(path, mode)

        self._changed(path, back)

    def _changed(self, path: Any, back: Callable[[], None]) -> None:
        folder = os.path.dirname(os.fspath(path))
        self._names.setdefault(folder, []).append(back)

    def urandom(self, size: int) -> bytes:
        task = scheduler().task_here()
        return self._world.random.randbytes(size) if task is not None else _real["urandom"](size)

    def flock(self, file: Any, operation: int) -> None:
        descriptor = file if isinstance(file, int) else file.fileno()
        inode = self._inode(descriptor) if isinstance(file, int) else _inode(descriptor)
        if scheduler().task_here() is None:
            real_fcntl.flock(file, operation)
            return
        world = self._world
        if operation & real_fcntl.LOCK_UN:
            if self._locks.get(inode, (None, -1))[1] == descriptor:
                del self._locks[inode]
            return
        me = world.task().process
        while (held := self._locks.get(inode)) is not None and held != (me, descriptor):
            if not held[0].alive:
                break
            if operation & real_fcntl.LOCK_NB:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            world.sleep(0.001)
        self._locks[inode] = me, descriptor

    def close_all(self) -> None:
        """Closes what the processes of the world left open."""
        for descriptor, inode in self._open.items():
            with contextlib.suppress(OSError):
                if inode is None or os.fstat(descriptor).st_ino == inode:
                    _real["close"](descriptor)
        self._open.clear()

    # Faults.

    def cut_power(self, machine: str) -> None:
        """What was not synced is lost, in part or as a whole."""
        assert machine in self._losing
        chance = self._world.random
        for folder in [name for name in self._names if self.machine(name) == machine]:
            changes = self._names.pop(folder)
            for back in reversed(changes[chance.randrange(len(changes) + 1) :]):
                back()
        home = Path(self._root) / machine
        for path in sorted(home.rglob("*")):
            if path.is_file() and (inode := path.stat().st_ino) in self._unsafe:
                self._unsafe.discard(inode)
                _overwrite(path, self._left(path.read_bytes(), self._synced.get(inode)))

    def _left(self, content: bytes, safe: bytes | None) -> bytes:
        """What is left of a file that was written since its last sync."""
        chance = self._world.random
        if safe is None:  # never synced: empty, or zeros where the content should be
            whole = chance.choice((content, b"", bytes(len(content)), content))
            return whole[: _SECTOR * chance.randint(1, 8)] if len(whole) > _SECTOR else whole
        if content.startswith(safe):
            return content[: chance.randint(len(safe), len(content))]
        if len(content) < len(safe):
            return chance.choice((content, safe))
        starts = range(0, len(content), _SECTOR)  # each sector may be the one before
        mixed = b"".join(
            (safe if at + _SECTOR <= len(safe) and chance.random() < 0.5 else content)[
                at : at + _SECTOR
            ]
            for at in starts
        )
        return chance.choice((content, safe, mixed))


class RawFile(io.FileIO):
    """A file that was opened for writing by `open`."""

    def __init__(self, disks: Disks, path: Any, mode: str) -> None:
        super().__init__(path, mode)
        self._disks = disks

    def write(self, data: Any) -> int:
        return self._disks.write(self.fileno(), data)


def _inode(descriptor: int) -> int:
    return os.fstat(descriptor).st_ino


def _content(descriptor: int, path: str, size: int) -> bytes:
    try:
        return os.pread(descriptor, size, 0)
    except OSError:  # it was opened for writing only
        return _read(path) or b""


def _read(path: Any) -> bytes | None:
    try:
        descriptor = _real["open"](path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    except OSError:  # a folder
        return None
    finally:
        _real["close"](descriptor)


def _overwrite(path: Any, content: bytes) -> None:
    """Gives a file this content; a file that is there keeps its inode and its mode."""
    descriptor = _real["open"](path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        _real["write"](descriptor, content)
    finally:
        _real["close"](descriptor)


def read_bytes(path: Any) -> bytes:
    """`Path.read_bytes`, with as few system calls as possible: most files are short."""
    descriptor = _real_open_descriptor(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _SHORT)
        if len(content) == _SHORT:
            content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        return content
    finally:
        _real["close"](descriptor)


_disks: list[Disks] = []


def enter(disks: Disks) -> None:
    _disks.append(disks)


def leave() -> None:
    _disks.pop()


def _open_file(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Any = None,
) -> Any:
    if isinstance(file, int):
        if _disks and closefd:
            _disks[-1].handed_over(file)
        return _real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    if (
        _READING.issuperset(mode)
        or not _disks
        or scheduler().task_here() is None
        or not _disks[-1].machine(file)
    ):
        return _real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    scheduler().task()
    raw = _disks[-1].raw(file, mode.replace("b", "").replace("t", ""))
    if buffering == 0:
        return raw
    buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    if "b" in mode:
        return buffered
    return io.TextIOWrapper(buffered, encoding, errors, newline)


def _stand_in(name: str) -> Callable[..., Any]:
    def call(*words: Any, **named: Any) -> Any:
        if not _disks:
            return _real[name](*words, **named)
        return getattr(_disks[-1], name)(*words, **named)

    return call


CALLS = {
    name: _stand_in(name)
    for name in (
        "open",
        "close",
        "write",
        "pwrite",
        "fsync",
        "ftruncate",
        "replace",
        "unlink",
        "urandom",
    )
}
CALLS |= {"remove": CALLS["unlink"], "rename": CALLS["replace"]}
open_file = _open_file
fcntl = module_like(real_fcntl, flock=lambda *words: _disks[-1].flock(*words))
