"""The heads of the ledger and the journal, which the audit log keeps.

Neither file has a chain of its own. Instead the audit log's lines about the ends of jobs, and about
the server's starts and stops, have for each of the two files its length in bytes, in whole lines, and
the SHA-256 of these bytes (`books`). Both files are only ever appended to, so every such head must
hold for ever: a file that was emptied, cut at its end or written anew no longer has the bytes of the
last head. The audit log itself is anchored elsewhere (`audit.py`), and so are the two books with it.

The journal is written anew, with a line for each job, when it has become long or jobs are pruned.
The audit log has a line before that happens and one afterwards, both with the head of the new
content. The first is for a crash between the two: the next start finds either content, and notes
which. From the second on, the following heads are those of the new content.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coterie.party.books.ledger_lines import FILE

BOOKS = {"journal": "journal.jsonl", "ledger": FILE}
PLANNED, REWRITTEN = "journal is to be written anew", "journal written anew"
_NEW_FOLDER = ("state restored", "state brought forward")  # after these, other content is expected
_SETTLED = ("server started", "server stopped")  # after these, nothing is planned any more
_BLOCK = 1 << 20


@dataclass(frozen=True)
class BookHead:
    """The first `size` bytes of a book, which are whole lines, have this digest."""

    size: int
    digest: str

    def as_fact(self) -> dict[str, Any]:
        """As a line of the audit log has it."""
        return {"bytes": self.size, "sha256": self.digest}


def head_of(content: bytes) -> BookHead:
    return BookHead(len(content), hashlib.sha256(content).hexdigest())


@dataclass
class Expected:
    """The heads that a book must have, or the one that was planned for it."""

    heads: list[BookHead] = field(default_factory=list)
    planned: BookHead | None = None

    def held_by(self, path: Path) -> bool:
        return _held(path, self.heads) or self.was_written(path)

    def was_written(self, path: Path) -> bool:
        """Whether a book has the planned content instead of the one before."""
        planned = self.planned
        return planned is not None and not _held(path, self.heads) and _held(path, [planned])


def expected_heads(entries: Iterable[Mapping[str, Any]]) -> dict[str, Expected]:
    """What lines of the audit log, in their order, say about the books."""
    found: dict[str, Expected] = {}
    for entry in entries:
        event = entry.get("event")
        if event in _NEW_FOLDER:
            found.clear()
        books = entry.get("books")
        for name, told in books.items() if isinstance(books, dict) else ():
            if name not in BOOKS:
                continue
            head = _told_head(told)
            if event == PLANNED:
                found.setdefault(name, Expected()).planned = head
            elif event == REWRITTEN:
                found[name] = Expected([head])
            else:
                found.setdefault(name, Expected()).heads.append(head)
                if event in _SETTLED:
                    found[name].planned = None
    return found


def _told_head(told: Any) -> BookHead:
    """The head in a line of the audit log; if the line is damaged, one that no book has."""
    if not isinstance(told, dict) or type(told.get("bytes")) is not int:
        return BookHead(-1, "")
    return BookHead(told["bytes"], str(told.get("sha256")))


def lost_books(state: Path, expected: Mapping[str, Expected]) -> list[str]:
    """The books that do not have the heads which the audit log has for them."""
    return [name for name, heads in expected.items() if not heads.held_by(state / BOOKS[name])]


def _held(path: Path, heads: Iterable[BookHead]) -> bool:
    """Whether a file has all these heads; it is read once."""
    wanted = sorted(set(heads), key=lambda head: head.size)
    total, at = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            for head in wanted:
                while at < head.size and (piece := file.read(min(_BLOCK, head.size - at))):
                    total.update(piece)
                    at += len(piece)
                if at != head.size or total.hexdigest() != head.digest:
                    return False
    except FileNotFoundError:
        return all(head.size == 0 for head in wanted)
    return True


@dataclass
class _Known:
    """What has been read of a book: the file that it was, how far, and the digest up to there."""

    inode: int = 0
    size: int = 0
    total: Any = field(default_factory=hashlib.sha256)

    @property
    def head(self) -> BookHead:
        return BookHead(self.size, self.total.hexdigest())


@dataclass(frozen=True)
class Taken:
    """The heads of the books that exist, the books written anew as planned, and those lost."""

    heads: dict[str, BookHead]
    rewritten: dict[str, BookHead]
    lost: list[str]


class BookHeads:
    """The present heads of the books, read on from where they were last read."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._known: dict[str, _Known] = {}
        self._planned: dict[str, BookHead] = {}

    def plan(self, name: str, head: BookHead) -> None:
        """Notes that the book is about to be replaced by content with this head."""
        self._planned[name] = head

    def settle(self, name: str) -> None:
        """Notes that the book was replaced, and that the audit log says so."""
        self._planned.pop(name, None)
        self._known.pop(name, None)

    def take(self) -> Taken:
        """Reads what is new in the books.

        The lines that a head covers are on the disk when this returns. Raises `OSError`.
        """
        taken = Taken({}, {}, [])
        for name, file in BOOKS.items():
            path = self._state / file
            known = self._known.get(name, _Known())
            try:
                found = _read_on(path, known)
            except FileNotFoundError:
                found = _Known()
            if found is not known and not _held(path, [known.head]):  # it is another file
                planned = self._planned.pop(name, None)
                if planned is not None and _held(path, [planned]):
                    taken.rewritten[name] = planned
                else:
                    taken.lost.append(name)
            self._known[name] = found
            if found.inode:
                taken.heads[name] = found.head
        return taken


def _read_on(path: Path, known: _Known) -> _Known:
    """What is known of a book after reading its new lines: all anew if it is another file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Whoever appends holds the lock until the line is whole, or taken back.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.fsync(descriptor)
        status = os.fstat(descriptor)
        if status.st_ino != known.inode or status.st_size < known.size:
            known = _Known(status.st_ino)
        rest = b""
        at = known.size
        while at < status.st_size:
            piece = os.pread(descriptor, min(_BLOCK, status.st_size - at), at)
            at += len(piece)
            whole, newline, torn = (rest + piece).rpartition(b"\n")
            known.total.update(whole + newline)
            known.size += len(whole) + len(newline)
            rest = torn
        return known
    finally:
        os.close(descriptor)


__all__ = [
    "BOOKS",
    "PLANNED",
    "REWRITTEN",
    "BookHead",
    "BookHeads",
    "Expected",
    "Taken",
    "expected_heads",
    "head_of",
    "lost_books",
]
