"""How long a party keeps what jobs leave in its state folder: `retention` in the party file.

`coterie party prune` removes older files, and a server does so every hour. Jobs that have not ended
are never touched. A job that is removed completely leaves its id in the journal, so that no
coordinator can use the id again. The audit log has a line for what was removed, and is itself
divided into files whose hash chain continues from one to the next.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import deque
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie.party.books.audit import AuditLog, older_files
from coterie.party.job_record import ENDED, Record
from coterie.party.operator.settings import Retention
from coterie.party.receptions import DISPUTED, RECEIVED
from coterie.party.records import Book

_SHARE = 10  # an audit log is continued in a new file when it covers this share of its retention
_LEFT_OVER = 86400.0  # seconds after which the remains of a crash are removed
_RESUME = "resume"


def prune(
    book: Book, audit: AuditLog, state: Path, retention: Retention, now: float
) -> dict[str, int]:
    """Removes everything older than the party file permits; returns how much of each."""
    removed = {field.name: 0 for field in fields(Retention)}
    places = (
        ("kept", retention.kept, ("kept",)),
        ("released", retention.released, ("released",)),
        ("received", retention.received, (RECEIVED, DISPUTED)),
    )
    ended = [record for record in book.all() if record.state in ENDED]
    for record in ended:
        for what, limit, names in places:
            if _past(limit, record.since, now):
                removed[what] += sum(_remove(record.folder / name) for name in names)
        _remove_leftovers(record, now)
    old = [record for record in ended if _past(retention.jobs, record.since, now)]
    if old:
        removed["jobs"] = len(old)
        book.forget(old)
        for record in old:
            _remove(record.folder)
    removed["resume"] = _prune_resume(state / "jobs" / _RESUME, retention.resume, now)
    removed["audit"] = _prune_audit(audit, retention.audit, now)
    if any(removed.values()):
        audit.note("pruned", **removed)
    return removed


def _past(limit: float | None, since: float, now: float) -> bool:
    return limit is not None and now - since > limit


def _remove(place: Path) -> int:
    """Removes a place; whether there was something to remove."""
    if not place.exists():
        return 0
    shutil.rmtree(place, ignore_errors=True)
    return 1


def _remove_leftovers(record: Record, now: float) -> None:
    for place in record.folder.glob("receiving-*"):
        if now - place.stat().st_mtime > _LEFT_OVER:
            _remove(place)


def _prune_resume(folder: Path, limit: float | None, now: float) -> int:
    """Removes checkpoints of interrupted intersections, by the age of their newest file."""
    if limit is None or not folder.is_dir():
        return 0
    old = [place for place in folder.iterdir() if now - _newest(place) > limit]
    return sum(_remove(place) for place in old)


def _newest(place: Path) -> float:
    return max(path.stat().st_mtime for path in (place, *place.rglob("*")))


def _prune_audit(audit: AuditLog, limit: float | None, now: float) -> int:
    """Continues the log in a new file from time to time, and removes files that are too old."""
    if limit is None:
        return 0
    if now - _time_of(audit.path, first=True) > limit / _SHARE:
        audit.rotate()
    old = [path for path in older_files(audit.path) if now - _time_of(path, first=False) > limit]
    for path in old:
        path.unlink()
    return len(old)


def _time_of(path: Path, first: bool) -> float:
    """The time of the first or the last line of an audit log; now, if it is unknown."""
    try:
        with path.open("rb") as file:
            line = file.readline()
            if not first:
                line = deque(file, 1).pop() if file.peek(1) else line
        text = str(json.loads(line)["time"])
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except (OSError, ValueError, LookupError, TypeError):
        return time.time()


def told(removed: dict[str, Any]) -> str:
    """What was removed, in words."""
    words = {
        "kept": "lists that were kept",
        "released": "folders of released files",
        "received": "received results",
        "resume": "folders to resume from",
        "jobs": "whole jobs",
        "audit": "older files of the audit log",
    }
    parts = [f"{removed[key]} {text}" for key, text in words.items() if removed.get(key)]
    return (
        "removed: " + ", ".join(parts) if parts else "nothing is older than the party file permits"
    )
