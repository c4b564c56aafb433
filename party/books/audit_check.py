"""Checks an audit log: its chain, the heads that were stored elsewhere, and the books that it names.

`audit` says how the log is written, and why its head is stored elsewhere. `verify` reads the log whole,
also while a server writes it; `heads_of` finds the heads of a log in a result or in a peer's log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, UsageError, VerificationError
from coterie.party.books.append_file import Line, read_lines
from coterie.party.books.audit import (
    HEAD,
    LOST,
    MENDED,
    NO_HEAD,
    head_before,
    link_of,
    older_files,
    read_head,
)
from coterie.party.books.heads import LOST_BOOK, SEALED, expected_of, is_about_books, lost_books
from coterie.party.store.database import database


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
    books: bool = False  # whether there are books, which are as the log says
    sealed: bool = False  # whether they are sealed with a key
    resealed: int = 0  # how often the books were sealed anew by the operator's word
    headless: int = 0  # starts at which the head file was missing or empty

    @property
    def counted(self) -> str:
        """The number of lines in words."""
        return "1 entry" if self.entries == 1 else f"{self.entries:,} entries"


def verify(path: Path, head_file: Path | None = None, anchors: Iterable[str] = ()) -> Verified:
    """Checks the chain, all heads stored elsewhere, and the books; the error names what is broken."""
    wanted = set(anchors)
    found, lost = _verified(path, head_file, wanted)
    if lost:  # a server may have pruned its history since the log was read
        found, lost = _verified(path, head_file, wanted)
    if lost:
        raise VerificationError(
            f"{database(path.parent).path}: the {' and the '.join(lost)} were removed, changed or written "
            "anew by somebody else: they are not what their seal and the audit log say"
        )
    return found


def _verified(path: Path, head_file: Path | None, wanted: set[str]) -> tuple[Verified, list[str]]:
    """What is in the log, and the books that do not have the heads in it."""
    if not path.exists():
        raise EnvironmentFaultError(f"{path}: No such file or directory")
    mended = headless = resealed = 0
    files = [*older_files(path), path]
    begins = head_before(next((line.entry for line in read_lines(files[0])), None))
    previous, entries = begins.chain, begins.entries
    seal = database(path.parent).seal()  # before the log: both may grow meanwhile
    sealed, found_sealed = (
        seal.audit,
        not seal.audit[0] or seal.audit == (begins.entries, begins.chain),
    )
    kept = read_head(head_file or path.with_name("audit.head"))
    found: set[str] = set()
    about: list[dict[str, Any]] = []
    for file, line in _lines_of(files):
        entry = line.entry
        if (
            entry is None
            or entry.get("chain") != link_of(entry)
            or entry.get("previous") != previous
        ):
            raise VerificationError(f"{file}:{line.number}: the chain of the audit log breaks here")
        previous = entry["chain"]
        entries += 1
        mended += entry.get("event") == MENDED
        headless += entry.get("event") == NO_HEAD
        resealed += entry.get("event") == SEALED
        if entry.get("event") == LOST:
            raise VerificationError(
                f"{path}:{line.number}: the server found here that lines before were cut off or "
                f"written anew: the head after {entry.get('entries')} lines was {entry.get('head')}"
            )
        if entry.get("event") == LOST_BOOK:
            raise VerificationError(
                f"{file}:{line.number}: the server found here that the {entry.get('book')} had been "
                "removed, changed or written anew by somebody else"
            )
        if is_about_books(entry):
            about.append(entry)
        if kept is not None and entries == kept.entries and previous != kept.chain:
            raise _not_held(path, f"the head file has {kept.chain} for line {entries}")
        found_sealed |= sealed == (entries, previous)
        if previous in wanted:
            found.add(previous)
    if not found_sealed:
        raise _not_held(
            path, f"the books were sealed when it had {sealed[0]} lines, and other ones"
        )
    if kept is not None and entries < kept.entries:
        raise _not_held(path, f"it has {entries} lines, and the head file knows of {kept.entries}")
    if kept is None and entries:
        raise VerificationError(
            f"{head_file or path.with_name('audit.head')}: is missing or empty, so that lines of the "
            "audit log may have been cut off; after a power cut, or where 'audit_head' is new, start "
            "the server once, which notes it"
        )
    missing = wanted - found
    if missing and not begins.entries:
        raise _not_held(path, f"no line has the head {min(missing)}, which was given before")
    verified = Verified(
        entries,
        previous,
        mended,
        _is_torn(path),
        len(found),
        begins.entries,
        len(files),
        len(missing),
        seal.serial > 0,
        seal.keyed,
        resealed,
        headless,
    )
    return verified, lost_books(path.parent, expected_of(about))


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
    except (OSError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        told = []
    heads = [head for head in told if isinstance(head, str) and HEAD.fullmatch(head)]
    if not heads:
        raise UsageError(f"{source}: holds no head of the audit log of '{party}'")
    return heads
