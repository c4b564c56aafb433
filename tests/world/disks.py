"""The disks of the world's machines: files in memory, whose writes can be torn, refused or lost.

A machine is the folder of a party below the world's root. What a process wrote and synced survives
everything. What it wrote without a sync survives the end of the process, but perhaps not a power
cut: then a file may end earlier, a new name may be missing, and a removed file may be there again.
"""

from __future__ import annotations

import errno
import fcntl as real_fcntl
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.world.files import FIRST, Files, Raw, Status
from tests.world.tasks import Scheduler
from tests.world.threads import module_like

ROOT = "/world"  # every world is below it, one after the other, and no real file
SCRATCH = f"{ROOT}/scratch"  # for temporary files of commands, which are nobody's disk
_BELOW = f"{ROOT}/"
_READING = frozenset("rbt")
_FLAGS = {"r": 0, "w": os.O_CREAT | os.O_TRUNC, "x": os.O_CREAT | os.O_EXCL, "a": os.O_CREAT}
_SECTOR = 512  # bytes that a disk writes at once


class Disks(Files):
    """All machines' disks. `full`, `on_write` and `cut_power` are their faults."""

    def __init__(self, world: Scheduler) -> None:
        super().__init__(ROOT, world)
        self._names: dict[str, list[Callable[[], None]]] = {}  # what takes a name's change back
        self.full: dict[str, float] = {}  # until when a machine's disk is full
        self.writes: dict[str, int] = {}  # writes of each machine so far
        self.on_write: Callable[[str, int], str] = lambda machine, number: ""
        self.die: Callable[[str, bool], None] = lambda machine, power: None
        self.mkdir(SCRATCH)

    # What the processes do.

    def write(self, number: int, data: Any) -> int:
        found = self.descriptors[number]
        if found.append:
            found.at = len(found.node.content)
        size = self.pwrite(number, data, found.at, whole=False)
        found.at += size
        return size

    def pwrite(self, number: int, data: Any, offset: int, whole: bool = True) -> int:
        """A short piece in the middle of a file is written as a `whole`, or not at all."""
        world = self.time
        found = self.descriptors[number]
        machine = _machine(found.path)
        if not machine or world.current is None:
            return self.put(found.node, data, offset)
        world.task()
        if world.ready_tasks:
            world.pause()
        count = self.writes[machine] = self.writes.get(machine, 0) + 1
        found.node.unsafe = True
        fault = self.on_write(machine, count)
        share = world.random.random()
        if fault or self.full:
            some = memoryview(data).cast("B")[: int(len(data) * share)]
            if whole and len(data) <= _SECTOR:
                some = some[:0]
            if fault:
                self.put(found.node, some, offset)
                self.die(machine, fault == "power")
            if self.full.get(machine, 0.0) > world.now:
                if not len(some):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return self.put(found.node, some, offset)
        return self.put(found.node, data, offset)

    def fsync(self, number: int) -> None:
        found = self.descriptors[number]
        node = found.node
        if node.names is not None:
            self._names.pop(found.path, None)
        elif node.unsafe or node.safe is None:
            node.safe = bytes(node.content)
            node.unsafe = False
        if self.time.ready_tasks and self.time.current is not None:
            self.time.pause()

    def ftruncate(self, number: int, length: int) -> None:
        self.descriptors[number].node.unsafe = True
        super().ftruncate(number, length)

    def replace(self, source: str, target: str) -> None:
        old, new = self.nodes.get(target), self.find(source)
        super().replace(source, target)

        def back() -> None:
            if self.nodes.get(target) is new and source not in self.nodes:
                super(Disks, self).replace(target, source)
                if old is not None:
                    self.name(target, old)

        self._changed(target, back)

    def unlink(self, path: str) -> None:
        old = self.nodes.get(path)
        super().unlink(path)

        def back() -> None:
            if old is not None and path not in self.nodes and _folder(path) in self.nodes:
                self.name(path, old)

        self._changed(path, back)

    def _changed(self, path: str, back: Callable[[], None]) -> None:
        if _machine(path) and self.time.current is not None:
            self._names.setdefault(_folder(path), []).append(back)

    def flock(self, file: Any, operation: int) -> None:
        number = file if type(file) is int else file.fileno()
        node = self.descriptors[number].node
        if operation == real_fcntl.LOCK_UN:
            if node.lock is not None and node.lock[1] == number:
                node.lock = None
            return
        task = self.time.task()
        while (held := node.lock) is not None and held[1] != number and held[0].alive:
            if operation & real_fcntl.LOCK_NB:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            self.time.sleep(0.001)
        node.lock = task.process, number

    def open_file(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        *_: Any,
    ) -> Any:
        """`open` for a path of the world, or the number of one of its descriptors."""
        if isinstance(file, str) and _READING.issuperset(mode):
            raw: Any = io.BytesIO(self.content(file))
        else:
            raw = self._raw(file, mode)
            if buffering == 0:
                return raw
            raw = io.BufferedRandom(raw) if "+" in mode else _BUFFERED["r" in mode](raw)
        return raw if "b" in mode else io.TextIOWrapper(raw, encoding, errors, newline)

    def content(self, path: str) -> bytes:
        node = self.nodes.get(path)
        if node is None:
            node = self.find(path)
        if node.names is not None:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return bytes(node.content)

    def _raw(self, file: Any, mode: str) -> Raw:
        if isinstance(file, int):
            return Raw(self, file, "", super().write)  # the product syncs it before it counts
        kind = mode.replace("b", "").replace("t", "")
        flags = _FLAGS[kind[0]] | (os.O_RDWR if "+" in kind else os.O_WRONLY)
        number = self.open(file, flags | (os.O_APPEND if kind[0] == "a" else 0), 0o666)
        if kind[0] == "w":
            self.descriptors[number].node.unsafe = True
        return Raw(self, number, file, self.write)

    # Faults.

    def cut_power(self, machine: str) -> None:
        """What was not synced is lost, in part or as a whole."""
        chance = self.time.random
        for folder in [name for name in self._names if _machine(f"{name}/") == machine]:
            changes = self._names.pop(folder)
            for back in reversed(changes[chance.randrange(len(changes) + 1) :]):
                back()
        home = f"{_BELOW}{machine}/"
        for path in sorted((p for p in self.nodes if p.startswith(home)), key=_parts):
            node = self.nodes[path]
            if node.unsafe and node.names is None:
                node.unsafe = False
                node.content = bytearray(self._left(bytes(node.content), node.safe))

    def _left(self, content: bytes, safe: bytes | None) -> bytes:
        """What is left of a file that was written since its last sync."""
        chance = self.time.random
        if safe is None:  # never synced: empty, or zeros where the content should be
            whole = chance.choice((content, b"", bytes(len(content)), content))
            return whole[: _SECTOR * chance.randint(1, 8)] if len(whole) > _SECTOR else whole
        if content.startswith(safe):
            return content[: chance.randint(len(safe), len(content))]
        return chance.choice((content, safe))


_BUFFERED: dict[bool, Any] = {True: io.BufferedReader, False: io.BufferedWriter}


def _machine(path: str) -> str:
    """Whose file this is; nobody's if it is only for a while."""
    name = path[len(_BELOW) :].partition("/")[0]
    return "" if name == "scratch" else name


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _parts(path: str) -> list[str]:
    return path.split("/")


_disks: list[Disks] = []  # the last one is that of the world that runs now


def enter(disks: Disks) -> None:
    _disks.append(disks)


def leave() -> None:
    _disks.pop()


# What stands in for the calls of `os`, `io` and `shutil`.


def _text(path: Any) -> Any:
    """The text of a path; what is none stays as it is."""
    return getattr(path, "_str", None) or (os.fspath(path) if hasattr(path, "__fspath__") else path)


def _stat(path: Any, *, dir_fd: Any = None, follow_symlinks: bool = True) -> Any:
    text = path if type(path) is str else _text(path)
    if _disks and type(text) is str:
        node = _disks[-1].nodes.get(text)
        if node is not None:
            return Status(node)
        if text.startswith(ROOT):
            return _disks[-1].stat(text)
    return _real_stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)


def _by_path(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    act = getattr(Disks, name)

    def call(path: Any = ".", *words: Any, **named: Any) -> Any:
        text = path if type(path) is str else _text(path)
        if type(text) is str and text.startswith(ROOT) and _disks:
            named.pop("dir_fd", None)
            return act(_disks[-1], text, *words, **named)
        return real(path, *words, **named)

    return call


def _by_paths(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    act = getattr(Disks, name)

    def call(source: Any, target: Any, **named: Any) -> Any:
        text = _text(source)
        if type(text) is str and text.startswith(ROOT) and _disks:
            return act(_disks[-1], text, _text(target))
        return real(source, target, **named)

    return call


def _by_number(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    act = getattr(Disks, name)

    def call(number: int, *words: Any) -> Any:
        if type(number) is int and number >= FIRST and _disks:
            return act(_disks[-1], number, *words)
        return real(number, *words)

    return call


_real_stat = os.stat
_real_urandom = os.urandom
_real_open = io.open


def _urandom(size: int) -> bytes:
    if _disks and (world := _disks[-1].time).current is not None:
        return world.random.randbytes(size)
    return _real_urandom(size)


def _open_file(file: Any, mode: str = "r", *words: Any, **named: Any) -> Any:
    if _disks:
        text = file if type(file) is str else _text(file)
        if text.startswith(ROOT) if type(text) is str else type(text) is int and text >= FIRST:
            return _disks[-1].open_file(text, mode, *words, **named)
    return _real_open(file, mode, *words, **named)


def _read_text(
    path: Path, encoding: str | None = None, errors: str | None = None, *more: Any
) -> str:
    """`Path.read_text`, whose files need not be opened here."""
    text = _text(path)
    if _disks and text.startswith(ROOT):
        found = _disks[-1].content(text)
        if b"\r" not in found:
            return found.decode(encoding or "utf-8", errors or "strict")
    return _real_read_text(path, encoding, errors, *more)


def _read_bytes(path: Path) -> bytes:
    text = _text(path)
    if _disks and text.startswith(ROOT):
        return _disks[-1].content(text)
    return _real_read_bytes(path)


_real_read_text = Path.read_text
_real_read_bytes = Path.read_bytes
READING = {"read_text": _read_text, "read_bytes": _read_bytes}
_PATHS = [
    "open",
    "lstat",
    "access",
    "chmod",
    "utime",
    "mkdir",
    "rmdir",
    "unlink",
    "listdir",
    "scandir",
]
_NUMBERS = [
    "close",
    "write",
    "pwrite",
    "pwritev",
    "read",
    "pread",
    "lseek",
    "fsync",
    "ftruncate",
    "fstat",
    "fchmod",
]
CALLS: dict[str, Callable[..., Any]] = {
    **{name: _by_path(name, getattr(os, name)) for name in _PATHS},
    **{name: _by_number(name, getattr(os, name)) for name in _NUMBERS},
    **{name: _by_paths(name, getattr(os, name)) for name in ("replace", "link")},
    "stat": _stat,
    "urandom": _urandom,
}
CALLS |= {"remove": CALLS["unlink"], "rename": CALLS["replace"]}
rmtree = _by_path("rmtree", shutil.rmtree)
open_file = _open_file
fcntl = module_like(real_fcntl, flock=lambda *words: _disks[-1].flock(*words))
