"""Files in memory: folders, files and descriptors below one place, behind the calls of `os`.

The calls take the same arguments and raise the same errors as those of `os`; what nobody in a world
needs is left out (links by name, owners, permissions that are refused). Nothing here fails by chance:
that is the affair of `disks`.
"""

from __future__ import annotations

import errno
import io
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from typing import Any

from tests.world.tasks import EPOCH, Scheduler

FIRST = 1 << 20  # the number of the first descriptor: no real file has one as high
_WRITING = os.O_WRONLY | os.O_RDWR
_NEW = os.O_CREAT | os.O_EXCL
_TEMPORARY = getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY
_MASK = 0o022  # what others may not do with a new file


class Node:
    """A file, or a folder, whose `names` are those of the nodes in it."""

    __slots__ = ("content", "inode", "lock", "mode", "names", "safe", "turn", "unsafe", "written")

    def __init__(self, inode: int, mode: int) -> None:
        self.inode = inode
        self.mode = mode
        self.content = bytearray()
        self.names: dict[str, Node] | None = {} if mode & stat.S_IFDIR else None
        self.written = 0.0  # seconds of the world
        self.turn = 0  # of the writes: none looks like the one before
        self.safe: bytes | None = None  # the content when it was last synced
        self.unsafe = False  # whether it was written since
        self.lock: Any = None  # who holds it: the process and its descriptor


class Status:
    """What `os.stat` tells, in so far as anybody asks."""

    __slots__ = ("_turn", "_written", "st_ino", "st_mode", "st_size")
    st_dev = st_nlink = 1

    def __init__(self, node: Node) -> None:
        self.st_mode = node.mode
        self.st_ino = node.inode
        self.st_size = len(node.content)
        self._written = node.written
        self._turn = node.turn

    @property
    def st_mtime(self) -> float:
        return EPOCH + self._written

    @property
    def st_mtime_ns(self) -> int:
        return int(self.st_mtime * 1e9) + self._turn


class Descriptor:
    __slots__ = ("append", "at", "node", "path")

    def __init__(self, node: Node, path: str, append: bool) -> None:
        self.node = node
        self.path = path
        self.at = 0
        self.append = append


class Descriptors(dict[int, Descriptor]):
    """The open files by their numbers."""

    def __missing__(self, number: int) -> Descriptor:
        raise _error(errno.EBADF)


class Entry:
    """What `os.scandir` tells of a name."""

    __slots__ = ("_node", "name", "path")

    def __init__(self, folder: str, name: str, node: Node) -> None:
        self.name = name
        self.path = f"{folder}/{name}"
        self._node = node

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._node.names is not None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._node.names is None

    def is_symlink(self) -> bool:
        return False

    def inode(self) -> int:
        return self._node.inode

    def stat(self, *, follow_symlinks: bool = True) -> Status:
        return Status(self._node)

    def __fspath__(self) -> str:
        return self.path


class Listing(list[Entry]):
    """What `os.scandir` gives: entries, within a context."""

    def __enter__(self) -> Iterator[Entry]:
        return iter(self)

    def __exit__(self, *_: object) -> None:
        pass

    def __next__(self) -> Entry:
        if not self:
            raise StopIteration
        return self.pop(0)

    def close(self) -> None:
        self.clear()


class Files:
    """Everything below one place, in the time of one world."""

    def __init__(self, root: str, time: Scheduler) -> None:
        self.time = time
        self._inodes = itertools.count(2)
        self._numbers = itertools.count(FIRST)
        self.nodes: dict[str, Node] = {}
        self.descriptors = Descriptors()
        self.nodes[root] = self._made(stat.S_IFDIR | 0o700)

    def _made(self, mode: int) -> Node:
        node = Node(next(self._inodes), mode & ~_MASK)
        node.written = self.time.now
        return node

    def touch(self, node: Node) -> None:
        """Notes the time of a change; no two changes have the same."""
        node.written = self.time.now
        node.turn += 1

    def find(self, path: str) -> Node:
        node = self.nodes.get(path)
        if node is None:
            node = self.nodes.get(os.path.normpath(path))
            if node is None:
                raise _error(errno.ENOENT, path)
        return node

    def name(self, path: str, node: Node) -> None:
        """Gives a node a name; its folder must be there."""
        folder, _, name = path.rpartition("/")
        names = self.find(folder).names
        if names is None:
            raise _error(errno.ENOTDIR, path)
        names[name] = self.nodes[path] = node

    def unname(self, path: str) -> None:
        """Takes a name away, with everything below it."""
        node = self.find(path)
        if node.names:
            for name in list(node.names):
                self.unname(f"{path}/{name}")
        del self.nodes[path]
        folder, _, name = path.rpartition("/")
        names = self.nodes[folder].names
        assert names is not None
        del names[name]

    def put(self, node: Node, data: Any, offset: int) -> int:
        """Writes into a file."""
        content = node.content
        if offset > len(content):
            content += bytes(offset - len(content))
        if type(data) is not bytes:
            data = memoryview(data).cast("B")
        size = len(data)
        content[offset : offset + size] = data
        node.written = self.time.now
        node.turn += 1
        return size

    # The calls of `os`.

    def open(self, path: str, flags: int, mode: int = 0o777) -> int:
        node = self.nodes.get(path)
        if _TEMPORARY and flags & _TEMPORARY:
            node = self._made(stat.S_IFREG | mode)
        elif node is None:
            if not flags & os.O_CREAT:
                raise _error(errno.ENOENT, path)
            node = self._made(stat.S_IFREG | mode)
            self.name(path, node)
        elif flags & _NEW == _NEW:
            raise _error(errno.EEXIST, path)
        elif node.names is not None:
            if flags & _WRITING:
                raise _error(errno.EISDIR, path)
        elif flags & os.O_DIRECTORY:
            raise _error(errno.ENOTDIR, path)
        elif flags & os.O_TRUNC:
            node.content = bytearray()
            self.touch(node)
        number = next(self._numbers)
        self.descriptors[number] = Descriptor(node, path, bool(flags & os.O_APPEND))
        return number

    def close(self, number: int) -> None:
        node = self.descriptors[number].node
        del self.descriptors[number]
        if node.lock is not None and node.lock[1] == number:
            node.lock = None

    def write(self, number: int, data: Any) -> int:
        found = self.descriptors[number]
        if found.append:
            found.at = len(found.node.content)
        size = self.put(found.node, data, found.at)
        found.at += size
        return size

    def pwrite(self, number: int, data: Any, offset: int) -> int:
        return self.put(self.descriptors[number].node, data, offset)

    def pwritev(self, number: int, buffers: Any, offset: int) -> int:
        return self.pwrite(number, b"".join(buffers), offset)

    def read(self, number: int, size: int) -> bytes:
        found = self.descriptors[number]
        data = self.pread(number, size, found.at)
        found.at += len(data)
        return data

    def pread(self, number: int, size: int, offset: int) -> bytes:
        node = self.descriptors[number].node
        if node.names is not None:
            raise _error(errno.EISDIR)
        return bytes(node.content[offset : offset + size])

    def lseek(self, number: int, offset: int, whence: int) -> int:
        found = self.descriptors[number]
        base = (0, found.at, len(found.node.content))[whence]
        found.at = base + offset
        return found.at

    def ftruncate(self, number: int, length: int) -> None:
        node = self.descriptors[number].node
        more = length - len(node.content)
        if more > 0:
            node.content += bytes(more)
        else:
            del node.content[length:]
        self.touch(node)

    def fstat(self, number: int) -> Status:
        return Status(self.descriptors[number].node)

    def stat(self, path: str, *, follow_symlinks: bool = True) -> Status:
        node = self.nodes.get(path)
        return Status(self.find(path) if node is None else node)

    def lstat(self, path: str) -> Status:
        return Status(self.find(path))

    def access(self, path: str, mode: int, **_: Any) -> bool:
        return path in self.nodes

    def chmod(self, path: str, mode: int, *, follow_symlinks: bool = True) -> None:
        self._change_mode(self.find(path), mode)

    def fchmod(self, number: int, mode: int) -> None:
        self._change_mode(self.descriptors[number].node, mode)

    def _change_mode(self, node: Node, mode: int) -> None:
        node.mode = stat.S_IFMT(node.mode) | mode

    def utime(self, path: str, *_: Any, **__: Any) -> None:
        self.touch(self.find(path))

    def mkdir(self, path: str, mode: int = 0o777) -> None:
        if path in self.nodes:
            raise _error(errno.EEXIST, path)
        self.name(path, self._made(stat.S_IFDIR | mode))

    def rmdir(self, path: str) -> None:
        names = self.find(path).names
        if names is None:
            raise _error(errno.ENOTDIR, path)
        if names:
            raise _error(errno.ENOTEMPTY, path)
        self.unname(path)

    def unlink(self, path: str) -> None:
        if self.find(path).names is not None:
            raise _error(errno.EISDIR, path)
        self.unname(path)

    def link(self, source: str, target: str, **_: Any) -> None:
        if target in self.nodes:
            raise _error(errno.EEXIST, target)
        self.name(target, self.find(source))

    def replace(self, source: str, target: str) -> None:
        node, there = self.find(source), self.nodes.get(target)
        if there is not None:
            if there.names:
                raise _error(errno.ENOTEMPTY, target)
            if (there.names is None) != (node.names is None):
                raise _error(errno.ENOTDIR if there.names is None else errno.EISDIR, target)
        below = [path for path in self.nodes if path.startswith(f"{source}/")] if node.names else []
        for path in below:
            self.nodes[target + path[len(source) :]] = self.nodes.pop(path)
        names, node.names = node.names, None  # so that only its own name is taken
        self.unname(source)
        node.names = names
        self.name(target, node)

    def listdir(self, path: str) -> list[str]:
        names = self.find(path).names
        if names is None:
            raise _error(errno.ENOTDIR, path)
        return list(names)

    def scandir(self, path: str) -> Listing:
        names = self.find(path).names
        if names is None:
            raise _error(errno.ENOTDIR, path)
        return Listing(Entry(path, name, node) for name, node in names.items())

    def rmtree(self, path: str, ignore_errors: bool = False, *_: Any, **__: Any) -> None:
        """`shutil.rmtree`."""
        if path in self.nodes or not ignore_errors:
            self.unname(path)


class Raw(io.RawIOBase):
    """A file that `open` was called for, by its descriptor; `write` writes to it."""

    def __init__(
        self, files: Any, number: int, name: str, write: Callable[[int, Any], int]
    ) -> None:
        super().__init__()
        self.name = name
        self._files = files
        self._number = number
        self._write = write

    def fileno(self) -> int:
        return self._number

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._files.read(self._number, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        return self._write(self._number, data)

    def seek(self, offset: int, whence: int = 0) -> int:
        found: int = self._files.lseek(self._number, offset, whence)
        return found

    def tell(self) -> int:
        return self.seek(0, 1)

    def truncate(self, size: int | None = None) -> int:
        length = self.tell() if size is None else size
        self._files.ftruncate(self._number, length)
        return length

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._files.close(self._number)


def _error(number: int, path: str = "") -> OSError:
    """The error of a call, of the class that belongs to its number."""
    return (
        OSError(number, os.strerror(number), path) if path else OSError(number, os.strerror(number))
    )
