"""The audit log: who requested what, what was decided, what ran, how it ended.

The log is for people, in `STATE/audit.log`, with events and digests, never data. Each line has the
digest of the line before it (`previous`) and its own (`chain`), so that nobody can change or remove
a line unnoticed. Somebody who can write the file could still cut off its end, or write all of it
anew. So the log's head, the last line's digest, is also stored elsewhere: in a head file, which the
steward may put on another disk (`audit_head` in the party file); at the peers of every job, which
write it into their own audit logs; and in the result of every job. `verify` compares the log with
all heads that it is given. A head reveals nothing about the log, because it is a hash over all
lines.

The lines of some events also have the heads of the ledger and the journal (`heads.py`), and `verify`
compares these files with them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, UsageError, VerificationError
from coterie.party.books.append_file import AppendFile, Line, read_lines
from coterie.party.books.heads import (
    BOOKS,
    PLANNED,
    REWRITTEN,
    BookHead,
    BookHeads,
    Expected,
    expected_heads,
    head_of,
    lost_books,
)

START = "0" * 64
LOST = "log does not hold its head"
MENDED = "torn line cut off"
CONTINUED = "log continued"
JOURNAL = "journal"
LOST_BOOK = "book does not hold its head"
_WITH_BOOKS = ("ended", "server started", "server stopped")
_ABOUT_BOOKS = (b'"books":', b'"event":"state ')  # what such lines contain
_HEAD = re.compile(r"[0-9a-f]{64}")
_HEAD_LINE = 128  # bytes of the head file, which is overwritten in one write
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
        """`check_books`: whether the ledger and the journal must be those that the log knows."""
        self.path = path
        self._clock = clock
        self._head_file = head_file or path.with_name("audit.head")
        self._lock = threading.RLock()
        _finish_rotation(path)
        self._file = AppendFile(path)
        expected = read_head(self._head_file)
        self._head, holds, about = _last(path, expected)
        self._books = BookHeads(path.parent)
        self._head_descriptor = _open_head(self._head_file)
        if not holds:
            assert expected is not None  # noqa: S101
            log.error("%s: cut off or written anew: its head was %s", path, expected.chain)
            self.note(LOST, entries=expected.entries, head=expected.chain)
        if check_books:
            self._check_books(expected_heads(about))
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

    @contextlib.contextmanager
    def journal_rewriting(self, content: bytes) -> Iterator[None]:
        """Notes that the journal is to be written anew, and afterwards that it was."""
        head = head_of(content)
        with self._lock:
            self._append(PLANNED, {"books": {JOURNAL: head.as_fact()}})
            self._books.plan(JOURNAL, head)
        yield
        try:
            with self._lock:
                self._append(REWRITTEN, {"books": {JOURNAL: head.as_fact()}})
                self._books.settle(JOURNAL)
        except EnvironmentFaultError as error:  # the next head, or the next start, makes up for it
            log.error("%s", error)

    def _take_books(self) -> dict[str, dict[str, Any]]:
        try:
            with self._lock:
                taken = self._books.take()
                self._rewritten(taken.rewritten)
        except OSError as error:
            log.error("%s: the books cannot be read: %s", self.path, error.strerror)
            return {}
        self._lose(taken.lost)
        return {name: head.as_fact() for name, head in taken.heads.items()}

    def _rewritten(self, books: Mapping[str, BookHead]) -> None:
        for name, head in books.items():
            self._append(REWRITTEN, {"books": {name: head.as_fact()}})

    def _check_books(self, expected: Mapping[str, Expected]) -> None:
        """Compares the books, at the start, with what the log knows of them."""
        state = self.path.parent
        self._rewritten(
            {
                name: one.planned
                for name, one in expected.items()
                if one.planned is not None and one.was_written(state / BOOKS[name])
            }
        )
        self._lose(lost_books(state, expected))

    def _lose(self, books: Sequence[str]) -> None:
        for book in books:
            log.error("%s: the %s was emptied, cut off or written anew", self.path.parent, book)
            self._append(LOST_BOOK, {"book": book})

    def _append(self, event: str, facts: dict[str, Any]) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
        with self._lock:
            entry = {"time": now, "event": event, **facts, "previous": self._head.chain}
            entry["chain"] = _link(entry)
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
            entry["chain"] = _link(entry)
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
        """Overwrites the head file in place: the line is safe, and an older head still holds."""
        line = f"{self._head.entries} {self._head.chain}".ljust(_HEAD_LINE - 1) + "\n"
        try:
            os.pwrite(self._head_descriptor, line.encode(), 0)
        except OSError as error:
            log.error("%s: %s", self._head_file, error.strerror)

    def close(self) -> None:
        self._file.close()
        os.close(self._head_descriptor)


def _made(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _finish_rotation(path: Path) -> None:
    """A crash between the two steps of a rotation left the new file under its first name."""
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


def _before(first: dict[str, Any] | None) -> Head:
    """The head before a file: the number of earlier lines, and the digest of the last of them."""
    if not first or first.get("event") != CONTINUED or type(first.get("entries")) is not int:
        return Head()
    return Head(first["entries"], str(first.get("previous")))


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
    if len(words) != 2 or not words[0].isdigit() or not _HEAD.fullmatch(words[1]):
        raise VerificationError(f"{path}: not the head of an audit log; move it away to go on")
    return Head(int(words[0]), words[1])


def _last(path: Path, expected: Head | None) -> tuple[Head, bool, list[dict[str, Any]]]:
    """The present head of the log, whether the log contains the expected one, and all its lines
    about the books.

    Only lines that matter are parsed, so that a server starts quickly even after years.
    """
    last, there = b"", b""
    begins = Head()
    entries = 0
    about = []
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if number == 0:
                begins = _before(_parsed(line))
                entries = begins.entries
            entries, last = entries + 1, line
            if expected is not None and entries == expected.entries:
                there = line
            if any(mark in line for mark in _ABOUT_BOOKS):
                about.append(_parsed(line) or {})
    holds = (
        expected is None
        or expected.entries == 0
        or _chain_of(there) == expected.chain
        or expected == begins
    )
    return Head(entries, _chain_of(last)), holds, about


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _chain_of(line: bytes) -> str:
    try:
        return str(json.loads(line)["chain"])
    except (ValueError, LookupError, TypeError):
        return START


def _link(entry: dict[str, Any]) -> str:
    plain = {key: value for key, value in entry.items() if key != "chain"}
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Verified:
    """What `verify` found in an intact log."""

    entries: int
    head: str
    mended: int  # lines that were torn by a crash and cut off by the server
    torn: bool  # whether there is such a line at the end
    anchors: int  # heads stored elsewhere that the log contains
    begins: int = 0  # lines that were removed because of the retention
    files: int = 1  # files of the log
    unknown: int = 0  # heads stored elsewhere that may belong to removed lines
    books: tuple[str, ...] = ()  # ledger and journal, where they have the heads in the log


def verify(path: Path, head_file: Path | None = None, anchors: Iterable[str] = ()) -> Verified:
    """Checks the chain, all heads stored elsewhere, and the books; the error names what is broken."""
    wanted = set(anchors)
    found, lost = _verified(path, head_file, wanted)
    if lost:  # a server may have written its journal anew since the log was read
        found, lost = _verified(path, head_file, wanted)
    if lost:
        raise VerificationError(
            f"{path.parent / BOOKS[lost[0]]}: emptied, cut off or written anew: it does not have the "
            "head that the audit log has for it"
        )
    return found


def _verified(path: Path, head_file: Path | None, wanted: set[str]) -> tuple[Verified, list[str]]:
    """What is in the log, and the books that do not have the heads in it."""
    if not path.exists():
        raise EnvironmentFaultError(f"{path}: No such file or directory")
    mended = 0
    files = [*older_files(path), path]
    begins = _before(next((line.entry for line in read_lines(files[0])), None))
    previous, entries = begins.chain, begins.entries
    kept = read_head(head_file or path.with_name("audit.head"))
    found: set[str] = set()
    about: list[dict[str, Any]] = []
    for file, line in _lines_of(files):
        entry = line.entry
        if entry is None or entry.get("chain") != _link(entry) or entry["previous"] != previous:
            raise VerificationError(f"{file}:{line.number}: the chain of the audit log breaks here")
        previous = entry["chain"]
        entries += 1
        mended += entry.get("event") == MENDED
        if entry.get("event") == LOST:
            raise VerificationError(
                f"{path}:{line.number}: the server found here that lines before were cut off or "
                f"written anew: the head after {entry.get('entries')} lines was {entry.get('head')}"
            )
        if entry.get("event") == LOST_BOOK:
            raise VerificationError(
                f"{file}:{line.number}: the server found here that the {entry.get('book')} had been "
                "emptied, cut off or written anew"
            )
        if "books" in entry or str(entry.get("event")).startswith("state "):
            about.append(entry)
        if kept is not None and entries == kept.entries and previous != kept.chain:
            raise _not_held(path, f"the head file has {kept.chain} for line {entries}")
        if previous in wanted:
            found.add(previous)
    if kept is not None and entries < kept.entries:
        raise _not_held(path, f"it has {entries} lines, and the head file knows of {kept.entries}")
    missing = wanted - found
    if missing and not begins.entries:
        raise _not_held(path, f"no line has the head {min(missing)}, which was given before")
    books = expected_heads(about)
    verified = Verified(
        entries,
        previous,
        mended,
        _is_torn(path),
        len(found),
        begins.entries,
        len(files),
        len(missing),
        tuple(sorted(books)),
    )
    return verified, lost_books(path.parent, books)


def _lines_of(files: Sequence[Path]) -> Iterator[tuple[Path, Line]]:
    for file in files:
        for line in read_lines(file):
            yield file, line


def _not_held(path: Path, reason: str) -> VerificationError:
    return VerificationError(f"{path}: lines were cut off or written anew: {reason}")


def _is_torn(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return bool(size) and file.read(1) != b"\n"


def heads_of(party: str, source: Path) -> list[str]:
    """The heads of this party's log in a result folder, its result.json, or a peer's audit log."""
    path = source / "result.json" if source.is_dir() else source
    try:
        if path.name == "result.json":
            told = [json.loads(path.read_text())["parties"][party].get("audit", "")]
        else:
            entries = (line.entry or {} for line in read_lines(path))
            told = [e["heads"].get(party, "") for e in entries if isinstance(e.get("heads"), dict)]
    except (OSError, ValueError, LookupError, AttributeError, TypeError):
        told = []
    heads = [head for head in told if isinstance(head, str) and _HEAD.fullmatch(head)]
    if not heads:
        raise UsageError(f"{source}: holds no head of the audit log of '{party}'")
    return heads
