"""Brings a state folder of version 4 forward, whose books were files of JSON lines.

All of it goes into the database in one transaction, then the folder gets its new version, and then the
files go; a crash in between repeats what is missing. Before, the files are compared with the digests of
their beginnings that the audit log has of them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError
from coterie.party.store.database import database
from coterie.party.store.seal import NAMED

VERSION = 4
_JOURNAL, _LEDGER, _HISTORY = "journal.jsonl", "ledger.jsonl", "history/releases.jsonl"
_PLACES = {"journal": _JOURNAL, "ledger": _LEDGER, "history": _HISTORY}
_COUNTS = ("examinations", "descriptions")


def bring_forward(state: Path) -> dict[str, Any]:
    """Fills the database from the files; how many rows, lines passed over, and books that were lost."""
    try:
        jobs, passed_over = _jobs(state / _JOURNAL)
        lines = {
            book: [line.decode(errors="surrogateescape") for line in _lines(state / place)]
            for book, place in (("ledger", _LEDGER), ("history", _HISTORY))
        }
        notes = _notes(state, jobs)
        lost = sorted(_lost(state))
    except OSError as error:
        raise EnvironmentFaultError(f"{error.filename or state}: {error.strerror}") from None
    with database(state).changing() as change:
        for table in NAMED:  # a crash may have ended an earlier attempt
            change.clear(table)
        for job_id, entry in jobs.items():
            change.put("jobs", job_id, entry)
        for name, note in notes.items():
            change.put("notes", name, note)
        for book, contents in lines.items():
            change.replace(book, contents)
    rows = {"jobs": len(jobs), **{book: len(contents) for book, contents in lines.items()}}
    return {"rows": rows, "passed_over": passed_over, "lost": lost}


def clear(state: Path) -> None:
    """Removes the files that are in the database now."""
    with contextlib.suppress(OSError):
        for path in (
            *(state / place for place in _PLACES.values()),
            *(state / "history" / f"{name}.json" for name in _COUNTS),
            *(state / "history").glob("head-*"),
            *state.glob("jobs/*/held.json"),
        ):
            path.unlink(missing_ok=True)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _lines(path: Path) -> list[bytes]:
    """The whole lines of a file; a line without its end was torn."""
    return [line for line in _content(path).split(b"\n")[:-1] if line.strip()]


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _jobs(path: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """The last state of every job, and how many lines could not be read."""
    jobs: dict[str, dict[str, Any]] = {}
    passed_over = 0
    for line in _lines(path):
        entry = _object(line)
        event, job = entry.pop("event", None), str(entry.pop("job", ""))
        if event == "forgotten":
            jobs[job] = {}
        elif event in ("proposed", "job"):
            state = {"state": "STATE_UNSPECIFIED", "proposed": entry.get("time")}
            jobs[job] = state | entry
        elif event in ("state", "eager") and jobs.get(job):
            more = {"resumable": False, **entry} if event == "state" else {"eager": True}
            jobs[job] = jobs[job] | more
        else:
            passed_over += event != "step"
    return jobs, passed_over


def _notes(state: Path, jobs: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    history = state / "history"
    files = {name: history / f"{name}.json" for name in _COUNTS}
    files |= {path.name.replace("head-", "people-"): path for path in history.glob("head-*")}
    files |= {f"held {job}": state / "jobs" / job / "held.json" for job in jobs}
    return {name: _object(_content(path)) for name, path in files.items() if path.exists()}


def _lost(state: Path) -> set[str]:
    """The books whose files do not begin as the last line of the audit log about them says."""
    last: dict[str, list[Any]] = {}
    for line in _lines(state / "audit.log"):
        entry = _object(line)
        event = str(entry.get("event"))
        if event == "state restored":
            last.clear()
        elif event == "history begun anew":
            last = {book: heads for book, heads in last.items() if book in ("journal", "ledger")}
        books = entry.get("books")
        for book, head in books.items() if isinstance(books, dict) else ():
            before = last.get(book, [])[-1:] if event.endswith("is to be written anew") else []
            last[book] = [*before, head]
    return {book for book, heads in last.items() if not any(_held(state, book, h) for h in heads)}


def _held(state: Path, book: str, head: Any) -> bool:
    content = _content(state / (_PLACES.get(book) or f"history/{book}"))
    size = head.get("bytes") if isinstance(head, dict) else None
    if type(size) is not int or size > len(content):
        return False
    same: bool = head == {"bytes": size, "sha256": hashlib.sha256(content[:size]).hexdigest()}
    return same
