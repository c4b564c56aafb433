"""The job that a result came from, kept beside the result so that the result can be checked.

`job/job.yaml` is the job file as the parties were given it, and the files it refers to stand where it
refers to them. A job that reaches out of its folder (`../taxonomies/Sex.csv`) is kept as many
folders deeper, so that nothing is written outside of `job`.
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
    """What is kept of a job or of a table file: its text and the files it refers to."""

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
    """Where the result folder `out` holds the file that it came from."""
    home = out / FOLDER
    while not (home / _FILE).is_file():
        home /= _DEEPER
        if not home.is_dir():
            raise UsageError(f"{out}: no {FOLDER}/{_FILE}; is it a result folder?")
    return home / _FILE


def saved_job(out: Path) -> Job:
    """The job that the result folder `out` holds."""
    return load_job(saved_path(out))
