"""The audit log: who requested what, what was decided, what ran, how it ended.

The log is for people, in `STATE/audit.log`, with events and digests, never data. Each line has the
digest of the line before it (`previous`) and its own (`chain`), so that nobody can change or remove
a line unnoticed. Somebody who can write the file could still cut off its end, or write all of it
anew. So the log's head, the last line's digest, is also stored elsewhere: in a head file, which the
steward may put on another disk (`audit_head` in the party file); at the peers of every job, which
write it into their own audit logs; and in the result of every job. `audit_check` compares the log with
all heads that it is given. A head reveals nothing about the log, because it is a hash over all lines.

The head is sealed with the books, too (`party.store`), and the lines of some events have what identifies
the books (`heads.py`), so that log and books each show whether the other was changed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError, EnvironmentFaultError, VerificationError
from coterie.party.books.append_file import AppendFile
from coterie.party.books.heads import (
    BEGUN_ANEW,
    HISTORY,
    LOST_BOOK,
    PRUNING,
    SEALED,
    as_fact,
    expected_of,
    is_about_books,
    lost_books,
)
from coterie.party.books.people import ADVICE, damaged_lists
from coterie.party.store.database import FILE, database

START = "0" * 64
LOST = "log does not hold its head"
NO_HEAD = "head file was missing or empty"
MENDED = "torn line cut off"
CONTINUED = "log continued"
_BOOKS = ("history", "journal", "ledger")
_WITH_BOOKS = ("ended", "remembered", "server started", "server stopped", SEALED)
_ABOUT_BOOKS = (b'"books":', b'"event":"state ', b'"event":"history ', b'"event":"book')
HEAD = re.compile(r"[0-9a-f]{64}")
_MOST_ENTRIES = 1 << 63  # which no log has: the name of a file and the head file have their number
_HEAD_LINE = 128  # bytes of the head file, which is overwritten in one write
_CANONICAL = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
log = logging.getLogger("coterie.party")


@dataclass(frozen=True)
class Head:
    """The end of a log: the number of its lines, and the digest of the last."""

    entries: int = 0
    chain: str = START


class AuditLog:
    """The log, open for the one server of the state folder."""

    def __init__(
        self,
        path: Path,
        head_file: Path | None = None,
        clock: Callable[[], float] = time.time,
        check_books: bool = True,
    ) -> None:
        """`check_books`: whether the books must be those that the log knows."""
        self.path = path
        self._clock = clock
        self._head_file = head_file or path.with_name("audit.head")
        self._lock = threading.RLock()
        _finish_rotation(path)
        self._books = database(path.parent)
        sealed = Head(*self._books.seal().audit)
        expected = read_head(self._head_file)
        self._file = AppendFile(path)
        self._head, missing, about = _last(path, [h for h in (expected, sealed) if h is not None])
        self._expected = expected_of(filter(is_about_books, about) if check_books else ())
        self._head_descriptor = _open_head(self._head_file)
        lost = lost_books(path.parent, self._expected)
        for head in missing:
            log.error("%s: cut off or written anew: its head was %s", path, head.chain)
            self.note(LOST, entries=head.entries, head=head.chain)
        if expected is None and self._head.entries:
            log.error("%s: missing or empty, so that lines may have been cut off", self._head_file)
            self.note(NO_HEAD)
        self.lose(lost)
        if lost:
            self._books.reseal()
        if self._file.torn:
            digest = hashlib.sha256(self._file.torn).hexdigest()
            self.note(MENDED, bytes=len(self._file.torn), digest=digest)
        self._keep_head()

    @property
    def head(self) -> str:
        """The digest of the last line."""
        return self._head.chain

    def note(self, event: str, **facts: Any) -> None:
        """Adds one line; it is on the disk when this returns."""
        if event in _WITH_BOOKS:
            facts["books"] = self._take_books()
        self._append(event, facts)

    def require_history(self) -> None:
        """Raises an error if the history is not what the log knows."""
        self._take_books()
        if HISTORY not in self._expected.lost and damaged_lists(self.path.parent):
            self.lose([HISTORY])
        if HISTORY in self._expected.lost:
            raise EnvironmentFaultError(
                f"{self.path.with_name(FILE)}: the history is not what the audit log knows: removed, "
                f"changed or written anew, so that people of earlier jobs would count as new ones; {ADVICE}"
            )

    def begin_history_anew(self, **facts: Any) -> None:
        """Notes that from now on nothing is expected of the history, which is about to be removed."""
        self._append(BEGUN_ANEW, facts)

    def plan_pruning(self) -> None:
        """Notes that the history is about to be written anew, without the jobs that are too old."""
        self._append(PRUNING, {})

    def _take_books(self) -> dict[str, Any]:
        """What identifies the books now; it is on the disk on return."""
        try:
            seal = self._books.note_audit(self._head.entries, self._head.chain, sync=True)
        except CoterieError as error:
            log.error("%s", error)
            return {}
        if seal.serial <= self._expected.serial:  # the file was replaced while it was used
            self.lose(sorted({*_BOOKS} - self._expected.lost))
        self._expected.serial = seal.serial
        return as_fact(seal)

    def lose(self, books: Sequence[str]) -> None:
        """Notes that these books are not what the log knows of them."""
        for book in books:
            log.error("%s: the %s was removed, changed or written anew", self._books.path, book)
            self._append(LOST_BOOK, {"book": book})
            self._expected.lost.add(book)

    def _append(self, event: str, facts: dict[str, Any]) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
        with self._lock:
            entry = {"time": now, "event": event, **facts, "previous": self._head.chain}
            entry["chain"] = link_of(entry)
            self._file.append(entry)
            self._head = Head(self._head.entries + 1, entry["chain"])
            self._keep_head()

    def rotate(self) -> Path:
        """Continues in a new file, whose first line is chained to the last line of this file.

        The earlier file is named after the number of lines up to its end. A crash in between is
        repaired at the next start.
        """
        with self._lock:
            old = self.path.with_name(
                f"{self.path.stem}-{self._head.entries:012}{self.path.suffix}"
            )
            made = _made(self.path)
            made.unlink(missing_ok=True)
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
            entry: dict[str, Any] = {
                "time": now,
                "event": CONTINUED,
                "entries": self._head.entries,
                "file": old.name,
                "previous": self._head.chain,
            }
            entry["chain"] = link_of(entry)
            fresh = AppendFile(made)
            fresh.append(entry)
            try:
                os.rename(self.path, old)
                os.rename(made, self.path)
            except OSError as error:
                raise EnvironmentFaultError(f"{self.path}: {error.strerror}") from None
            fresh.path = self.path
            self._file, before = fresh, self._file
            before.close()
            self._head = Head(self._head.entries + 1, entry["chain"])
            self._keep_head()
        return old

    def _keep_head(self) -> None:
        """Overwrites the head file in place: the log is safe, and an older head would still hold."""
        line = f"{self._head.entries} {self._head.chain}".ljust(_HEAD_LINE - 1) + "\n"
        try:
            os.pwrite(self._head_descriptor, line.encode(), 0)
        except OSError as error:
            log.error("%s: %s", self._head_file, error.strerror)
        try:
            self._books.note_audit(self._head.entries, self._head.chain)
        except CoterieError as error:
            log.error("%s", error)

    def close(self) -> None:
        self._file.close()
        os.close(self._head_descriptor)
        self._books.close()


def _made(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _finish_rotation(path: Path) -> None:
    """Finishes a rotation after a crash, which left the new file under its first name."""
    made = _made(path)
    try:
        if made.exists() and not path.exists():
            os.rename(made, path)
        made.unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None


def older_files(path: Path) -> list[Path]:
    """The files that a log was continued from, the oldest first."""
    return sorted(path.parent.glob(f"{path.stem}-{'[0-9]' * 12}{path.suffix}"))


def head_before(first: dict[str, Any] | None) -> Head:
    """The head before a file: the number of earlier lines, and the digest of the last of them."""
    entries = first.get("entries") if first and first.get("event") == CONTINUED else None
    if first is None or type(entries) is not int or not 0 <= entries < _MOST_ENTRIES:
        return Head()
    previous = first.get("previous")
    return Head(entries, previous if isinstance(previous, str) else START)


def _open_head(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None


def read_head(path: Path) -> Head | None:
    """The head in the head file; None if there is none."""
    try:
        # Zeros are what a power cut leaves of a file that was not on the disk yet.
        words = path.read_bytes()[:_HEAD_LINE].strip(b"\0").decode("ascii", "replace").split()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
    if not words:
        return None
    if len(words) != 2 or not words[0].isdigit() or not HEAD.fullmatch(words[1]):
        raise VerificationError(f"{path}: not the head of an audit log; move it away to go on")
    return Head(int(words[0]), words[1])


def _last(path: Path, expected: Sequence[Head]) -> tuple[Head, list[Head], list[dict[str, Any]]]:
    """The present head of the log, the expected ones that it does not contain, and all its lines
    about the books.

    Only lines that matter are parsed, so that a server starts quickly even after years.
    """
    last, there = b"", dict.fromkeys((head.entries for head in expected), b"")
    begins = Head()
    entries = 0
    about = []
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if number == 0:
                begins = head_before(_parsed(line))
                entries = begins.entries
            entries, last = entries + 1, line
            if entries in there:
                there[entries] = line
            if any(mark in line for mark in _ABOUT_BOOKS):
                about.append(_parsed(line) or {})
    missing = [
        head
        for head in expected
        if head.entries and _chain_of(there[head.entries]) != head.chain and head != begins
    ]
    return Head(entries, _chain_of(last)), missing, about


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _chain_of(line: bytes) -> str:
    """The digest that a line has of itself; a line without one is as good as none."""
    chain = (_parsed(line) or {}).get("chain")
    return chain if isinstance(chain, str) and HEAD.fullmatch(chain) else START


def link_of(entry: dict[str, Any]) -> str:
    """The digest of a line, without its own."""
    plain = {key: value for key, value in entry.items() if key != "chain"}
    text = _CANONICAL.encode(plain)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
