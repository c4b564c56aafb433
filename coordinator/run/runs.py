"""The coordinator's own list of its runs, so that it finds them again by their id.

There is one small file for each run, in `COTERIE_STATE`, or else the user's state folder
(`$XDG_STATE_HOME/coterie`, `~/.local/state/coterie`): id, name, kind, parties, date and the result
folder. The result folder shows the state of a run: it has `run.json` while the result can still be
fetched, and `result.json` once it is complete.

The list does not grow for ever: when a run is added, runs that are over leave it if they are older
than 90 days or if 200 newer ones are over, too. Their result folders are not touched.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coterie.base.errors import UsageError
from coterie.base.names import is_job_id
from coterie.coordinator.run.collect import NOTE
from coterie.jobs.file.job import Job

_SHORTEST = 4  # the fewest digits of an id that identify a run
_MOST_OVER = 200  # runs of the list that are over
_LONGEST_OVER = timedelta(days=90)


@dataclass(frozen=True)
class Run:
    """A run that was proposed."""

    job: str
    name: str
    kind: str
    parties: tuple[str, ...]
    date: str
    out: str

    @property
    def state(self) -> str:
        """`open`, `collected`, or `ended` without a result."""
        folder = Path(self.out)
        if _id_in(folder / NOTE, "job") == self.job:
            return "open"
        return "collected" if _id_in(folder / "result.json", "job", "id") == self.job else "ended"


def _id_in(path: Path, *keys: str) -> str:
    try:
        value = json.loads(path.read_text())
        for key in keys:
            value = value[key]
        return str(value)
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    known = os.environ if environment is None else environment
    if place := known.get("COTERIE_STATE"):
        return Path(place)
    home = known.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "coterie"


def remember(job: Job, job_id: str, out: Path) -> None:
    """Adds a run to the list. A failure does not stop the run: its folder is enough to fetch it."""
    now = datetime.now(UTC)
    run = Run(job_id, job.name, job.kind, job.party_names, _date(now), str(out.resolve()))
    with contextlib.suppress(OSError):
        folder = state_folder() / "runs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / f"{job_id}.json").write_text(json.dumps(asdict(run), indent=1) + "\n")
        _forget(folder, _date(now - _LONGEST_OVER))


def _date(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _forget(folder: Path, oldest: str) -> None:
    """Takes runs from the list that are over and too old, or too many."""
    over = [run for run in known_runs() if run.state != "open"]
    for place, run in enumerate(reversed(over)):
        if place >= _MOST_OVER or run.date < oldest:
            (folder / f"{run.job}.json").unlink(missing_ok=True)


def known_runs() -> list[Run]:
    """All runs of the list, the newest last."""
    found = []
    for path in (state_folder() / "runs").glob("*.json"):
        try:
            content = json.loads(path.read_text())
            run = Run(**{**content, "parties": tuple(content["parties"])})
        except (OSError, ValueError, LookupError, TypeError):
            continue
        if is_job_id(run.job):
            found.append(run)
    return sorted(found, key=lambda run: (run.date, run.job))


def folder_of(wanted: str) -> Path:
    """The result folder of a run: a folder, an id, the beginning of an id, or a name.

    Of several runs of one name the newest that is open is meant.
    """
    place = Path(wanted)
    if (place / NOTE).is_file():
        return place
    runs = [
        run
        for run in known_runs()
        if run.name == wanted or (run.job.startswith(wanted) and len(wanted) >= _SHORTEST)
    ]
    if not runs:
        where = f"{place}: no {NOTE}; no run has left its result to be fetched"
        raise UsageError(
            where if place.is_dir() else f"no run '{wanted}'; 'coterie jobs' lists them"
        )
    still = [run for run in runs if run.state == "open"]
    if not still:
        last = runs[-1]
        what = f"its result is in {last.out}" if last.state == "collected" else "it left no result"
        raise UsageError(f"the run '{wanted}' is over: {what}")
    return Path(still[-1].out)
