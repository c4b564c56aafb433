"""`coterie.simulate`, `coterie.run`, `coterie.verify`: what the commands do, from Python.

Errors are those of the commands: subclasses of `coterie.CoterieError`, each with its `exit_code`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError
from coterie.coordinator.interface.jobs import Job
from coterie.coordinator.interface.outcome import Outcome
from coterie.coordinator.results.verify import verify as check
from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.coordinator.simulate.simulation import simulate as simulate_job
from coterie.jobs.data.sources import Source
from coterie.jobs.results.folder import result_folder
from coterie.onetable.interface.frames import FrameSource
from coterie.trust.identity import find_identity


def simulate(
    job: Job | Mapping[str, Any] | str | Path,
    frames: Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    seed: str | None = None,
    models: str | Path | None = None,
    force: bool = False,
    progress: bool = False,
) -> Outcome:
    """Runs a job with every party in this process.

    `job` is a `Job`, a mapping with the keys of a job file, or the name of one. `frames` has each
    party's table as a pandas, polars, DuckDB or Arrow frame, or the name of a file; without it the
    job's `data` keys are read, relative to the job file or the working directory. The result folder
    is `out`, or a temporary one that lives as long as the outcome; with `force` an earlier result in
    it is replaced. `models` is the result folder of a simulated job that kept the model of a job of
    kind predict. `progress` prints the steps of every party as they come, also in a notebook. The
    same `seed` gives the same messages, for tests.
    """
    made, folder = _job(job)
    sources: dict[str, Source] | None = None
    if frames is not None:
        if not isinstance(frames, Mapping):
            raise UsageError("frames: must be a mapping from the names of parties to their tables")
        wrong = sorted(set(frames) ^ set(made.parties))
        if wrong:
            said = "is not a party of the job" if wrong[0] in frames else "has no frame"
            raise UsageError(f"frames: '{wrong[0]}' {said}")
        sources = {name: FrameSource.of(f"{name}'s frame", frame) for name, frame in frames.items()}
    place = _Place(out, force)
    with result_folder(place.path, force), Board(made.parties, show=progress) as board:
        result = simulate_job(
            made.typed,
            folder,
            place.path,
            seed,
            board,
            sources=sources,
            models=None if models is None else Path(models),
        )
    return Outcome(result, place.path, place.kept)


def run(
    job: Job | Mapping[str, Any] | str | Path,
    *,
    identity: str | Path,
    out: str | Path | None = None,
    force: bool = False,
    progress: bool = False,
    consent_timeout: float = 3600.0,
    heartbeat: float = 20.0,
) -> Outcome:
    """Runs a job at its party servers and collects what they release.

    `identity` is the folder with this coordinator's certificate, its key and the authority's. A
    party's operator may take up to `consent_timeout` seconds; a party that is silent for `heartbeat`
    seconds is lost. `job`, `out`, `force` and `progress` are those of `simulate`.
    """
    made, _ = _job(job)
    who = find_identity(Path(identity))
    place = _Place(out, force)
    patience = Patience(consent=consent_timeout, heartbeat=heartbeat)
    with result_folder(place.path, force), Board(made.parties, show=progress) as board:
        result = run_job(made.typed, place.path, who, board, patience)
    return Outcome(result, place.path, place.kept)


def verify(folder: str | Path | Outcome) -> dict[str, Any]:
    """What holds in a result folder, or in an outcome, with the verdict in words under `verdict`.

    Raises `VerificationError` with the first thing that does not hold.
    """
    return check(Path(folder))


def _job(job: Job | Mapping[str, Any] | str | Path) -> tuple[Job, Path]:
    if isinstance(job, Job):
        return job, job.folder
    if isinstance(job, Mapping):
        return Job(**job), Path()
    if not isinstance(job, str | os.PathLike):
        raise UsageError(f"job: must be a Job, a mapping or the name of a file, not {job!r:.80}")
    return Job.read(job), Path(job).parent


class _Place:
    """A result folder: the one that was named, or a temporary one."""

    def __init__(self, out: str | Path | None, force: bool) -> None:
        if out is not None and not force and Path(out).is_dir() and any(Path(out).iterdir()):
            raise UsageError(f"{out}: is not empty; choose another `out`, or say force=True")
        self.kept = None if out is not None else tempfile.TemporaryDirectory(prefix="coterie-")
        self.path = Path(self.kept.name if self.kept is not None else out or "")
