"""The state folder of a server: its lock, and the version in which it is written.

The file `version` says how the folder is written. An older folder is brought forward step by step
when the server starts, and the audit log says so. A newer one is refused: this program would pass over
what it does not know, and lose it without a word.

    1   before there was a file `version`
    2   jobs in the journal may be QUEUED
    3   there is a history, and the ledger says who refused to release
    4   the audit log has heads of the history
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.whole_file import write_whole

VERSION_FILE = "version"
LOCK = "lock"


def _nothing_to_change(folder: Path) -> None:
    """The newer version only adds to what the older one writes."""


# What brings a folder from version 1 to 2, from 2 to 3, and so on.
STEPS: Sequence[Callable[[Path], None]] = (_nothing_to_change,) * 3
VERSION = 1 + len(STEPS)


def take(folder: Path) -> IO[str]:
    """Creates and locks the folder, because two servers must not write the same files."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise EnvironmentFaultError(f"{folder}: state folder: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise EnvironmentFaultError(f"{folder}: another server uses this state folder") from None
    return lock


def version_of(folder: Path) -> int:
    """The version of a folder; of an empty one, that of this program."""
    try:
        text = (folder / VERSION_FILE).read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        used = any(path.name != LOCK for path in folder.iterdir())
        return 1 if used else VERSION
    except OSError as error:
        raise EnvironmentFaultError(f"{folder / VERSION_FILE}: {error.strerror}") from None
    if not text.isdigit() or len(text) > 6 or int(text) == 0:
        raise EnvironmentFaultError(f"{folder / VERSION_FILE}: not the version of a state folder")
    return int(text)


def bring_forward(folder: Path) -> tuple[int, int]:
    """Brings a folder, which must be taken, to this program's version; the versions before and after."""
    before = version_of(folder)
    if before > VERSION:
        raise EnvironmentFaultError(
            f"{folder}: the state folder has version {before}, and this program knows up to "
            f"{VERSION}; start the newer Coterie, or restore a backup of before"
        )
    for version in range(before, VERSION):
        STEPS[version - 1](folder)
        _write(folder, version + 1)
    if before == VERSION:
        _write(folder, VERSION)
    return before, VERSION


def _write(folder: Path, version: int) -> None:
    path = folder / VERSION_FILE
    try:
        write_whole(path, f"{version}\n")
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
