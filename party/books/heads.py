"""The heads of the books, which the audit log keeps: of the journal, the ledger and the history.

None of these files has a chain of its own. Instead the audit log's lines about the ends of jobs, about
jobs that are remembered, and about the server's starts and stops have for each file its length in
bytes, in whole lines, and the SHA-256 of these bytes (`books`). The files are only ever appended to, so
every such head must hold for ever: a file that was removed, emptied, cut at its end or written anew no
longer has the bytes of the last head. The audit log itself is anchored elsewhere (`audit.py`), and so
are the books with it. Of the history there are the list of jobs and the lists of people, which have
numbers of eight bytes in place of lines.

The journal is written anew, with a line for each job, when it has become long or jobs are pruned; so
is the history when jobs are pruned. The audit log has a line before that happens and one afterwards,
both with the head of the new content. The first is for a crash between the two: the next start finds
either content, and notes which. From the second on, the following heads are those of the new content.
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
from coterie.party.books.people import LIST, length_that_counts

HISTORY = "history"  # the folder, and the book of its jobs
RELEASES = "releases.jsonl"
_PLACES = {"journal": "journal.jsonl", "ledger": FILE, HISTORY: f"{HISTORY}/{RELEASES}"}
PLANNED = ("journal is to be written anew", "history is to be written anew")
REWRITTEN = ("journal written anew", "history written anew")
BEGUN_ANEW = "history begun anew"  # by the steward's word: nothing is expected of it any more
STATE_RESTORED = "state restored"  # after this, other content is expected
_SETTLED = ("server started", "server stopped")  # after these, nothing is planned any more
_BLOCK = 1 << 20
_TAIL = 4096


def place_of(state: Path, book: str) -> Path:
    """The file of a book."""
    return state / (_PLACES.get(book) or f"{HISTORY}/{book}")


def is_of_history(book: str) -> bool:
    return book == HISTORY or LIST.fullmatch(book) is not None


def in_words(book: str) -> str:
    """What a book is called where people read it."""
    return book if book in _PLACES else f"list of people {HISTORY}/{book}"


def _is_book(name: str) -> bool:
    """Whether this version knows the book; a later one may have others."""
    return name in _PLACES or is_of_history(name)


def is_about_books(entry: Mapping[str, Any]) -> bool:
    """Whether a line of the audit log changes what is expected of the books."""
    event = entry.get("event")
    return "books" in entry or event in (STATE_RESTORED, BEGUN_ANEW)


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
        if event == STATE_RESTORED:
            found.clear()
        elif event == BEGUN_ANEW:
            found = {name: one for name, one in found.items() if not is_of_history(name)}
        books = entry.get("books")
        for name, told in books.items() if isinstance(books, dict) else ():
            if not _is_book(name):
                continue
            head = _told_head(told)
            if event in PLANNED:
                found.setdefault(name, Expected()).planned = head
            elif event in REWRITTEN:
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
    return [name for name, heads in expected.items() if not heads.held_by(place_of(state, name))]


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
    tail: bytes = b""  # the last bytes of what has been read: another file may get the same number

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
        lists = (self._state / HISTORY).glob("people-*")
        there = (path.name for path in lists if LIST.fullmatch(path.name))
        for name in sorted({*_PLACES, *there, *self._known}):
            path = place_of(self._state, name)
            known = self._known.get(name, _Known())
            try:
                found = _read_on(path, known, name in _PLACES)
            except FileNotFoundError:
                found = _Known()
            if found is not known and known.size and not _held(path, [known.head]):  # another file
                planned = self._planned.pop(name, None)
                if planned is not None and _held(path, [planned]):
                    taken.rewritten[name] = planned
                else:
                    taken.lost.append(name)
            self._known[name] = found
            if found.inode:
                taken.heads[name] = found.head
        return taken


def _read_on(path: Path, known: _Known, of_lines: bool) -> _Known:
    """What is known of a book after reading what is new in it: all anew if it is another file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Whoever appends holds the lock until the line is whole, or taken back.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        os.fsync(descriptor)
        status = os.fstat(descriptor)
        end = status.st_size if of_lines else min(status.st_size, length_that_counts(path))
        tail = os.pread(descriptor, len(known.tail), known.size - len(known.tail))
        if status.st_ino != known.inode or end < known.size or tail != known.tail:
            known = _Known(status.st_ino)
        rest = b""
        at = known.size
        while at < end:
            piece = rest + os.pread(descriptor, min(_BLOCK, end - at), at)
            at += len(piece) - len(rest)
            whole = piece.rfind(b"\n") + 1 if of_lines else len(piece)
            known.total.update(piece[:whole])
            known.size += whole
            known.tail = (known.tail + piece[:whole])[-_TAIL:]
            rest = piece[whole:]
        return known
    finally:
        os.close(descriptor)


__all__ = [
    "BEGUN_ANEW",
    "HISTORY",
    "PLANNED",
    "RELEASES",
    "REWRITTEN",
    "STATE_RESTORED",
    "BookHead",
    "BookHeads",
    "Expected",
    "Taken",
    "expected_heads",
    "head_of",
    "in_words",
    "is_about_books",
    "is_of_history",
    "lost_books",
    "place_of",
]
