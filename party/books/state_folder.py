"""The state folder of a server: its lock, and the version in which it is written.

The file `version` says how the folder is written. A folder of another version is refused: this program
would pass over what it does not know, and lose it without a word. A folder of version 4 is brought
forward (`version_4`).
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO, Any

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.whole_file import write_whole
from coterie.party.store import version_4

VERSION_FILE = "version"
LOCK = "lock"
VERSION = 5


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


def require_version(folder: Path) -> dict[str, Any]:
    """Refuses a folder, which must be taken, of another version; gives a new one this program's.

    What was found in a folder that was brought forward; empty for any other.
    """
    path = folder / VERSION_FILE
    try:
        text = path.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        if not (folder / "audit.log").exists():  # nothing was served from it yet
            _write(path)
            return {}
        text = "1"  # which had no such file
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
    if not text.isdigit() or len(text) > 6 or int(text) == 0:
        raise EnvironmentFaultError(f"{path}: not the version of a state folder")
    if int(text) > VERSION:
        raise EnvironmentFaultError(
            f"{folder}: the state folder has version {text}, and this program knows only {VERSION}; "
            "start the newer Coterie, or restore an earlier backup"
        )
    if int(text) == version_4.VERSION:
        found = version_4.bring_forward(folder)
        _write(path)
        version_4.clear(folder)
        return found
    if int(text) < VERSION:
        raise EnvironmentFaultError(
            f"{folder}: the state folder has version {text}, which no released Coterie has written, and "
            f"this program knows only {VERSION}; move the folder away to begin anew"
        )
    version_4.clear(folder)  # after a crash
    return {}


def _write(path: Path) -> None:
    try:
        write_whole(path, f"{VERSION}\n")
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
