"""How long a party keeps what jobs leave in its state folder: `retention` in the party file.

`coterie party prune` removes older files, and a server does so every hour; with `--dry-run` the
command says what it would remove. Jobs that have not ended are never touched. A job that is removed
completely leaves its id in the journal, so that no coordinator can use the id again. The audit log has
a line for what was removed, and is itself divided into files whose hash chain continues from one to the
next.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import deque
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie.party.books.audit import AuditLog, older_files
from coterie.party.books.models import FOLDER as MODELS
from coterie.party.books.models import ModelFolder
from coterie.party.books.state_folder import take
from coterie.party.config import PartyConfig
from coterie.party.history.descriptions import Descriptions
from coterie.party.history.releases import FOLDER, History
from coterie.party.job_record import ENDED, Record
from coterie.party.receptions import DISPUTED, RECEIVED
from coterie.party.records import Book
from coterie.party.settings import Retention
from coterie.party.steward.opened_audit import AUDIT, opened_audit
from coterie.party.store.database import FILE, use_key

_SHARE = 10  # an audit log is continued in a new file when it covers this share of its retention
_LEFT_OVER = 86400.0  # seconds after which the remains of a crash are removed
_RESUME = "resume"


@dataclass
class Old:
    """What is older than the party file permits: places in the state folder, by key, and jobs."""

    places: dict[str, list[Path]]
    jobs: list[Record]


def old_places(book: Book, audit: Path, state: Path, retention: Retention, now: float) -> Old:
    """Everything that `prune` would remove now; changes nothing."""
    names = {"kept": ["kept"], "released": ["released"], "received": [RECEIVED, DISPUTED]}
    ended = [record for record in book.all() if record.state in ENDED]
    places = {
        what: [
            record.folder / name
            for record in ended
            if _past(getattr(retention, what), record.since, now)
            for name in within
            if (record.folder / name).exists()
        ]
        for what, within in names.items()
    }
    jobs = [record for record in ended if _past(retention.jobs, record.since, now)]
    places["jobs"] = [record.folder for record in jobs]
    places["resume"] = _old_resume(state / "jobs" / _RESUME, retention.resume, now)
    files = older_files(audit)
    if _is_long(audit, retention.audit, now):  # it would be continued in a new file
        files = [*files, audit]
    places["audit"] = [
        path for path in files if _past(retention.audit, _time_of(path, first=False), now)
    ]
    history = History(state)
    places["history"] = [
        history.folder / entry.job for entry in history.old(retention.history, now)
    ]
    places["models"] = ModelFolder(state).old(retention.models, now)
    return Old({field.name: places[field.name] for field in fields(Retention)}, jobs)


def would_prune(
    book: Book, audit: Path, state: Path, retention: Retention, now: float
) -> dict[str, Any]:
    """What `prune` would remove: how much of each, and the places within the state folder."""
    old = old_places(book, audit, state, retention, now).places
    listed = sorted(str(path.relative_to(state)) for paths in old.values() for path in paths)
    return {**{what: len(paths) for what, paths in old.items()}, "places": listed}


def prune(
    book: Book, audit: AuditLog, state: Path, retention: Retention, now: float
) -> dict[str, int]:
    """Removes everything older than the party file permits; returns how much of each."""
    if _is_long(audit.path, retention.audit, now):
        audit.rotate()
    old = old_places(book, audit.path, state, retention, now)
    for what in ("kept", "released", "received", "resume"):
        for place in old.places[what]:
            _remove(place)
    if old.jobs:
        book.forget(old.jobs)
        for record in old.jobs:
            _remove(record.folder)
    for path in (*old.places["audit"], *old.places["models"]):
        path.unlink(missing_ok=True)
    history = History(state, lambda: now)
    if old.places["history"]:
        audit.plan_pruning()
        history.prune({path.name for path in old.places["history"]})
    history.forget_examinations(retention.history)
    Descriptions(history).forget(retention.history)
    for record in book.all():
        if record.state in ENDED:
            _remove_leftovers(record, now)
    removed = {what: len(paths) for what, paths in old.places.items()}
    if any(removed.values()):
        audit.note("pruned", **removed)
    return removed


def prune_unserved(config: PartyConfig) -> dict[str, int]:
    """Prunes the state folder of a party whose server does not run."""
    with take(config.state):
        audit = opened_audit(config)
        book = Book(config.state)
        try:
            return prune(book, audit, config.state, config.retention, time.time())
        finally:
            book.close()
            audit.close()


def would_prune_unserved(config: PartyConfig) -> dict[str, Any]:
    """What pruning would remove where no server runs; the state folder stays exactly as it is."""
    if not config.state.is_dir():
        return {**{field.name: 0 for field in fields(Retention)}, "places": []}
    with tempfile.TemporaryDirectory(prefix="coterie-") as made:
        copy = Path(made)  # because jobs that ran have ended where a journal is read
        for path in (*config.state.glob(f"{FILE}*"), *config.state.glob("audit*.log")):
            shutil.copy(path, copy)
        for folder in ("jobs", FOLDER, MODELS):
            (copy / folder).symlink_to(config.state.absolute() / folder)
        use_key(copy, config.books_key)
        book = Book(copy)
        try:
            return would_prune(book, copy / AUDIT, copy, config.retention, time.time())
        finally:
            book.close()


def _past(limit: float | None, since: float, now: float) -> bool:
    return limit is not None and now - since > limit


def _remove(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)


def _remove_leftovers(record: Record, now: float) -> None:
    for place in record.folder.glob("receiving-*"):
        if now - place.stat().st_mtime > _LEFT_OVER:
            _remove(place)


def _old_resume(folder: Path, limit: float | None, now: float) -> list[Path]:
    """Checkpoints of interrupted intersections, by the age of their newest file."""
    if limit is None or not folder.is_dir():
        return []
    return [place for place in folder.iterdir() if now - _newest(place) > limit]


def _newest(place: Path) -> float:
    return max(path.stat().st_mtime for path in (place, *place.rglob("*")))


def _is_long(audit: Path, limit: float | None, now: float) -> bool:
    """Whether the log covers so long a time that it goes on in a new file."""
    return limit is not None and now - _time_of(audit, first=True) > limit / _SHARE


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


def told(removed: dict[str, Any], done: bool = True) -> str:
    """What was removed, in words; or what would be."""
    words = {
        "kept": "lists that were kept",
        "released": "folders of released files",
        "received": "received results",
        "resume": "folders to resume from",
        "jobs": "whole jobs",
        "audit": "older files of the audit log",
        "history": "jobs of the history",
        "models": "kept models",
    }
    parts = [f"{removed[key]} {text}" for key, text in words.items() if removed.get(key)]
    if not parts:
        return "nothing is older than the party file permits"
    places = [f"\n  {place}" for place in removed.get("places", [])]
    return ("removed: " if done else "would remove: ") + ", ".join(parts) + "".join(places)
