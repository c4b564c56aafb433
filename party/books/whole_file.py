"""Small files that are replaced as a whole, so that a crash leaves the old or the new content."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

MADE = ".new"  # the ending of a file that is being written
_RECEIVING = "receiving-"  # the beginning of a folder whose files are being received


def write_whole(path: Path, content: str | bytes) -> None:
    """Gives a file this content, on the disk when this returns; an `OSError` leaves the old content."""
    made = path.with_name(f"{path.name}{MADE}")
    try:
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            left = memoryview(content.encode() if isinstance(content, str) else content)
            while left:  # a nearly full disk writes only a part
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(made, path)
        sync_names(path.parent)
    except OSError:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)
        raise


def sync_names(folder: Path) -> None:
    """Writes the names of a folder's files through to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(state: Path) -> None:
    """Removes what a crash left of files that were being written; only when nobody writes yet."""
    with contextlib.suppress(OSError):
        for left in (*state.glob(f"*{MADE}"), *(state / "models").glob(f".*{MADE}")):
            left.unlink(missing_ok=True)
        with os.scandir(state / "jobs") as folders:
            for folder in folders:
                _tidy(folder.path)


def _tidy(folder: str) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(MADE):
                os.unlink(entry.path)
            elif entry.name.startswith(_RECEIVING):
                shutil.rmtree(entry.path, ignore_errors=True)
