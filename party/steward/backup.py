"""A copy of a state folder, made while the server serves, and a folder made from the copy.

The books are copied by SQLite as they are at one moment. Everything else a server writes is either only
appended to, a line at a time, or put in its place as a whole; so files can be copied one after the
other, in an order in which what is copied later knows at least as much: the books first, the head of
the audit log before the log. A line that was being written is torn in the copy, and cut off when the
copy is served, as after a crash. Jobs that ran have failed in the copy, and cannot go on: the answers that they had kept for that
hold secrets that must not outlive the jobs, and are not copied.

The copy holds what the folder holds, released and kept data included: it is readable by its owner
only, and must be kept as safe as the folder.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from coterie.base.errors import EnvironmentFaultError, UsageError
from coterie.base.text import one_line
from coterie.jobs.run.answers_file import NAME as ANSWERS
from coterie.party.books.state_folder import LOCK, VERSION_FILE
from coterie.party.store.database import FILE, database

RESTORED = "restored.json"  # tells the server that its folder comes from a backup
_FIRST = (VERSION_FILE, "audit.head", "audit.log")
_BOOKS = (FILE, f"{FILE}-wal", f"{FILE}-shm")


def back_up(state: Path, party: str, target: Path, now: float | None = None) -> int:
    """Writes the state folder into a tar file; the number of files."""
    if not state.is_dir():
        raise UsageError(f"{state}: there is no state folder")
    if target.exists():
        raise UsageError(f"{target}: exists already; a backup is never overwritten")
    made = target.with_name(f"{target.name}.part")
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    note = json.dumps({"party": party, "date": date}).encode()
    count = 0
    try:
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as raw, tarfile.open(fileobj=raw, mode="w") as archive:
            _add(archive, RESTORED, note)
            count += _add_books(archive, state, target.parent)
            for path in _files(state):
                try:
                    data = path.read_bytes()
                except FileNotFoundError:  # it was removed meanwhile
                    continue
                _add(archive, path.relative_to(state).as_posix(), data)
                count += 1
            archive.close()
            raw.flush()
            os.fsync(raw.fileno())
        made.replace(target)
    except OSError as error:
        made.unlink(missing_ok=True)
        raise EnvironmentFaultError(f"{error.filename or target}: {error.strerror}") from None
    return count


def _add_books(archive: tarfile.TarFile, state: Path, place: Path) -> int:
    with tempfile.TemporaryDirectory(dir=place, prefix=".backup-") as made:
        copy = Path(made) / FILE
        database(state).copy(copy)
        if copy.exists():
            _add(archive, FILE, copy.read_bytes())
        return copy.exists()


def _files(state: Path) -> Iterator[Path]:
    """The files of the folder, in the order in which they must be copied."""
    yield from (state / name for name in _FIRST if (state / name).is_file())
    for path in sorted(state.rglob("*")):
        known = path.parent == state and (path.name in (*_FIRST, *_BOOKS, LOCK, RESTORED))
        passing = path.name.startswith(ANSWERS) and path.parent.parent == state / "jobs"
        if path.is_file() and not path.is_symlink() and not known and not passing:
            yield path


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = len(data), 0o600, int(time.time())
    archive.addfile(entry, io.BytesIO(data))


def restore(source: Path, party: str, state: Path) -> str:
    """Makes a state folder, which must not be there or be empty, from a backup; the backup's date."""
    if state.exists() and any(path.name != LOCK for path in state.iterdir()):
        raise UsageError(f"{state}: is not empty; move it away first")
    try:
        with tarfile.open(source, "r:") as archive:
            first = archive.next()
            read = archive.extractfile(first) if first and first.name == RESTORED else None
            note = json.loads(read.read(4096)) if read else {}
            if note.get("party") != party:
                whose = f"of '{note['party']}', not of '{party}'" if note else "not a backup"
                raise UsageError(f"{source}: {whose}")
            members = archive.getmembers()
            for member in members:  # all of them, before anything is written
                _require_plain(member)
            state.mkdir(parents=True, exist_ok=True, mode=0o700)
            for member in members:
                _write(archive, member, state)
    except (tarfile.TarError, ValueError) as error:
        raise UsageError(f"{source}: not a backup: {error}") from None
    except OSError as error:
        raise EnvironmentFaultError(f"{error.filename or source}: {error.strerror}") from None
    return str(note["date"])


def _require_plain(member: tarfile.TarInfo) -> None:
    """A backup holds files below its folder, and nothing else.

    The filters of `tarfile` would say so, too; Debian's Python 3.11.2 does not have them yet.
    """
    path = PurePosixPath(member.name)
    if not member.isreg() or path.is_absolute() or ".." in path.parts or not path.parts:
        raise tarfile.TarError(f"it holds '{one_line(member.name)}'")


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, state: Path) -> None:
    path = state / member.name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    read = archive.extractfile(member)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        if read is not None:
            shutil.copyfileobj(read, file)


def restored_from(state: Path) -> str:
    """The date of the backup that the folder was just made from; empty if it was not."""
    path = state / RESTORED
    try:
        date = str(json.loads(path.read_text())["date"])
        path.unlink()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, LookupError, TypeError):
        return "unknown"
    return date
