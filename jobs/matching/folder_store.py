"""A store in a folder, for the buckets and checkpoints of an intersection."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

from coterie.base.errors import EnvironmentFaultError

_taken: set[Path] = set()
_taking = threading.Lock()


class FolderStore:
    """Values as files of a folder, which is created with the first value.

    If the same job runs twice at a time, the second store gets a folder beside the first, named
    after its session. No run resumes from that folder, and nothing stays in it.
    """

    def __init__(self, folder: Path, session: str = "") -> None:
        with _taking:
            self._passing = folder in _taken
            if self._passing:
                folder = folder.with_name(f"{folder.name}-{session}")
            _taken.add(folder)
        self._folder = folder

    def _path(self, name: str) -> Path:
        if not re.fullmatch(r"[a-z]+(-[0-9]+)?", name):
            raise ValueError(f"'{name}' is not a name of the store")
        return self._folder / name

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EnvironmentFaultError(f"{self._folder}: {error.strerror}") from None

    def append(self, name: str, data: bytes) -> None:
        with self._explained():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._path(name).open("ab") as file:
                file.write(data)

    def replace(self, name: str, data: bytes) -> None:
        with self._explained():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._folder / "new"
            with new.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path(name))

    def read(self, name: str) -> bytes | None:
        with self._explained():
            try:
                return self._path(name).read_bytes()
            except FileNotFoundError:
                return None

    def remove(self, name: str) -> None:
        with self._explained():
            self._path(name).unlink(missing_ok=True)

    def clear(self) -> None:
        with self._explained():
            for path in self._folder.iterdir() if self._folder.exists() else ():
                path.unlink()

    def close(self) -> None:
        """Releases the folder, and removes it if it is empty."""
        if self._passing:
            with contextlib.suppress(EnvironmentFaultError):
                self.clear()
        with _taking:
            _taken.discard(self._folder)
        for folder in (self._folder, self._folder.parent):
            with contextlib.suppress(OSError):
                folder.rmdir()
