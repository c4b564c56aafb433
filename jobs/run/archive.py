"""Stores the job beside its result, so that the result can be verified.

`job/job.yaml` is the job file as the parties received it, with the files that it refers to at their
relative paths. A job that refers to files outside its folder (`../taxonomies/Sex.csv`) is stored as
many folders deeper, so that nothing is written outside of `job`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Protocol

from coterie.base.errors import UsageError
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.job_file import load_job

FOLDER = "job"
_FILE, _DEEPER = "job.yaml", "inner"


class Kept(Protocol):
    """What is stored of a job or of a table file: its text and the files that it refers to."""

    @property
    def text(self) -> str: ...

    @property
    def files(self) -> Mapping[str, bytes]: ...


def save_job(job: Kept, out: Path) -> None:
    """Writes the job into the result folder `out`."""
    paths = {path: PurePosixPath(posixpath.normpath(path)) for path in job.files}
    climbs = max((path.parts.count("..") for path in paths.values()), default=0)
    home = out.joinpath(FOLDER, *[_DEEPER] * climbs)
    for path, place in paths.items():
        target = home / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(job.files[path])
    home.mkdir(parents=True, exist_ok=True)
    (home / _FILE).write_bytes(job.text.encode())


def saved_path(out: Path) -> Path:
    """The path of the job file or table file in the result folder `out`."""
    home = out / FOLDER
    while not (home / _FILE).is_file():
        home /= _DEEPER
        if not home.is_dir():
            raise UsageError(f"{out}: no {FOLDER}/{_FILE}; is it a result folder?")
    return home / _FILE


def saved_job(out: Path) -> Job:
    """The job in the result folder `out`."""
    return load_job(saved_path(out))
