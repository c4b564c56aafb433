"""The models that a party keeps parts of: `models/NAME.json` in its state folder, for its owner alone.

A job with `keep: NAME` leaves its part among what it keeps; when the job has finished, the server moves
the part here, together with who asked for it. A name is given once: nobody replaces a model that
others rely on, also where two jobs come to their ends at the same moment. A model is for the
coordinator that had it made, unless the policy says `models: shared`. `retention.models` says how long
models stay.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import DataError, EnvironmentFaultError
from coterie.base.names import is_name
from coterie.jobs.kinds.kept_models import FILE, LARGEST, KeptModel, read_model
from coterie.party.books.whole_file import MADE, sync_names

FOLDER = "models"
MOST = 100  # models that a party keeps
_ENDING = ".json"


@dataclass(frozen=True)
class Entry:
    """A kept model as its party lists it: who had it made, by which job, and when."""

    model: KeptModel
    coordinator: str
    job: str
    kept: float
    size: int

    def shown(self) -> dict[str, Any]:
        """The entry as `party models --json` has it; the party's own numbers are not in it."""
        return {
            "name": self.model.name,
            "kind": self.model.kind,
            "coordinator": self.coordinator,
            "job": self.job,
            "kept": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.kept)),
            "parties": list(self.model.parties),
            "class": self.model.class_name,
            "own_columns": list(self.model.own),
            "bytes": self.size,
        }


class ModelFolder:
    """The models of one party."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self.folder = state / FOLDER
        self._clock = clock

    def names(self) -> list[str]:
        """The names that are given, also those of files that cannot be read."""
        if not self.folder.is_dir():
            return []
        found = [path.name.removesuffix(_ENDING) for path in self.folder.glob(f"*{_ENDING}")]
        return sorted(name for name in found if is_name(name))

    def entry(self, name: str) -> Entry | None:
        """A kept model; None if there is none of this name."""
        path = self._path(name)
        try:
            size = path.stat().st_size
            if size > 2 * LARGEST:
                raise DataError(f"{path}: is not a readable part of a model")
            content = json.loads(path.read_bytes())
            model = read_model(json.dumps(content["part"]).encode(), str(path))
            if model.name != name:
                raise ValueError(model.name)
            who, job, kept = str(content["coordinator"]), str(content["job"]), content["kept"]
            return Entry(model, who, job, float(kept), size)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
        except (ValueError, LookupError, TypeError):
            raise DataError(f"{path}: is not a readable part of a model") from None

    def find(self, name: str) -> KeptModel:
        """The party's part of this model."""
        found = self.entry(name)
        if found is None:
            raise DataError(f"no model '{name}' is kept here")
        return found.model

    def take(self, kept: Path, coordinator: str, job: str) -> str:
        """Moves the part that a finished job left into the folder; returns why it could not, or "".

        It is not an error to take a part again, as after a crash in between.
        """
        left = kept / FILE
        if not left.exists():
            return ""
        data = left.read_bytes()
        model, part = read_model(data, str(left)), json.loads(data)
        there = self.entry(model.name)
        if there is None:
            if len(self.names()) >= MOST:
                return full()
            content = {"coordinator": coordinator, "job": job, "kept": self._clock(), "part": part}
            if not self._write(model.name, job, json.dumps(content).encode()):
                return taken(model.name)
        elif there.job != job:
            return taken(model.name)
        left.unlink()
        return ""

    def old(self, limit: float | None, now: float) -> list[Path]:
        """The files of models that were kept longer than so many seconds ago."""
        if limit is None:
            return []
        return [self._path(name) for name in self.names() if now - self._since(name) > limit]

    def _since(self, name: str) -> float:
        """When a model was kept; of a file that cannot be read, when it was written."""
        try:
            found = self.entry(name)
            return self._clock() if found is None else found.kept
        except DataError:
            return self._path(name).stat().st_mtime

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise DataError(f"'{name}' is not the name of a model")
        return self.folder / f"{name}{_ENDING}"

    def remove(self, name: str) -> None:
        """Removes a model; it is gone from the disk on return."""
        path = self._path(name)
        try:
            path.unlink(missing_ok=True)
            sync_names(self.folder)
        except OSError as error:
            raise EnvironmentFaultError(f"{path}: {error.strerror}") from None

    def _write(self, name: str, job: str, data: bytes) -> bool:
        """Puts the whole file in its place; False if another job's is there by now.

        A crash leaves either nothing or all of it.
        """
        made = self.folder / f".{name}.{job}{MADE}"
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(made, self._path(name))  # fails where a name is given
            except FileExistsError:
                return False
            finally:
                made.unlink()
            sync_names(self.folder)
        except OSError as error:
            raise EnvironmentFaultError(f"{made}: {error.strerror}") from None
        return True


def full() -> str:
    """Why a party keeps no further model."""
    return f"{MOST} models are kept already, the most; 'retention.models' lets old ones go"


def taken(name: str) -> str:
    """Why a party keeps no model of this name."""
    return f"a model '{name}' is kept already: choose another name"


def promised(name: str) -> str:
    """Why a party takes no second job that would keep a model of this name."""
    return f"another job that keeps a model '{name}' has not ended: choose another name, or wait for its end"


def refusals_of(
    folder: ModelFolder, keeps: str | None, uses: str | None, coordinator: str, shared: bool
) -> tuple[list[str], list[str]]:
    """Why a job may not keep or use a model; and what of that only this party's log may have.

    A coordinator that may not use a model is not told whether there is one of the name.
    """
    if keeps is not None:
        if keeps in folder.names():
            return [taken(keeps)], []
        return ([full()], []) if len(folder.names()) >= MOST else ([], [])
    if uses is None:
        return [], []
    found = folder.entry(uses)
    if found is not None and (shared or found.coordinator == coordinator):
        return [], []
    inside = [] if found is None else [f"the model is {found.coordinator}'s"]
    return [f"no model '{uses}' that '{coordinator}' may use is kept here"], inside
