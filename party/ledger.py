"""What this party and its partners have contributed, over all jobs.

The game is repeated (paper 1, §6.2): a party that gave little in one job is remembered in the next.
Each integrate job adds one line of JSON to STATE/ledger.jsonl: the job, its end, and everybody's
contribution as this party recomputed it from the instructions, a whole number (times 2^30). A job
that failed adds what was given until then, and the culprit if it was a peer's fault. A fault that
only another party tells of is noted with that party's name and counts against nobody.

Lines are only ever added, and are on disk when `add` returns. A line that was torn when the machine
died can only be the last; it is left out when reading, and cut off before the next line is added.
A damaged line elsewhere is an error: somebody changed the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import EnvironmentFaultError, PeerFaultError, VerificationError
from coterie.jobs.data.workspace import CONTRIBUTIONS
from coterie.jobs.file.job import Job
from coterie.party.append_file import AppendFile
from coterie.party.config import PartyConfig
from coterie.party.records import Record

FILE = "ledger.jsonl"


@dataclass(frozen=True)
class Entry:
    """One job. `fault` names who ended it by a fault, and is empty when it finished."""

    job: str
    name: str
    time: str
    contributions: dict[str, int]
    fault: str = ""


@dataclass(frozen=True)
class Balance:
    """What one partner and this party gave in the jobs they had together."""

    jobs: int
    given: int
    received: int
    faults: int

    @property
    def owes(self) -> int:
        """How much more this party gave than it got; negative when this party is ahead."""
        return self.given - self.received


class Ledger:
    """The ledger of the party called `me`."""

    def __init__(self, state: Path, me: str) -> None:
        self.path = state / FILE
        self._me = me

    def add(self, entry: Entry) -> None:
        file = AppendFile(self.path)  # it cuts off what a crash has left of a last line
        try:
            file.append(asdict(entry))
        finally:
            file.close()

    def entries(self) -> list[Entry]:
        """All jobs, oldest first; each job once, its last line counting."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EnvironmentFaultError(f"{self.path}: {error.strerror}") from None
        found: dict[str, Entry] = {}
        for number, line in enumerate(data[: self._whole(data)].splitlines(), 1):
            entry = _entry(line)
            if entry is None:
                raise VerificationError(f"{self.path}:{number}: not a line of a ledger")
            found.pop(entry.job, None)
            found[entry.job] = entry
        return list(found.values())

    def table(self) -> list[str]:
        """For the operator: who gave how much, in scores."""
        balances = self.balances()
        if not balances:
            return ["no integrate job yet"]
        mine = f"{self._me} gave"
        width = max(12, len(mine))
        head = (
            f"{'partner':<20} {'jobs':>5} {mine:>{width}} {'it gave':>12} {'it owes':>12}  faults"
        )
        return [head] + [
            f"{name:<20} {b.jobs:>5} {b.given / SCALE:>{width}.6f} {b.received / SCALE:>12.6f} "
            f"{b.owes / SCALE:>12.6f}  {b.faults}"
            for name, b in balances.items()
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "party": self._me,
            "partners": {
                name: {
                    "jobs": b.jobs,
                    "given": b.given / SCALE,
                    "received": b.received / SCALE,
                    "owes": b.owes / SCALE,
                    "faults": b.faults,
                }
                for name, b in self.balances().items()
            },
            "jobs": [
                {**asdict(e), "contributions": {n: mu / SCALE for n, mu in e.contributions.items()}}
                for e in self.entries()
            ],
        }

    @staticmethod
    def _whole(data: bytes) -> int:
        """The length up to the end of the last whole line."""
        return data.rfind(b"\n") + 1

    def balances(self) -> dict[str, Balance]:
        """By partner, in the order of the first job with each."""
        totals: dict[str, list[int]] = {}
        for entry in self.entries():
            for name, mu in entry.contributions.items():
                if name == self._me or self._me not in entry.contributions:
                    continue
                total = totals.setdefault(name, [0, 0, 0, 0])
                total[0] += 1
                total[1] += entry.contributions[self._me]
                total[2] += mu
                total[3] += entry.fault == name
        return {name: Balance(*total) for name, total in totals.items()}

    def debtors(self, names: Iterable[str], most_owed: float) -> list[str]:
        """Why these partners are refused: those who owe more than the bound, with the amount."""
        balances = self.balances()
        bound = round(most_owed * SCALE)
        return [
            f"policy.most_owed is {most_owed:g}, and '{name}' owes "
            f"{balances[name].owes / SCALE:.6f} after {balances[name].jobs} jobs"
            for name in names
            if name in balances and balances[name].owes > bound
        ]


def _entry(line: bytes) -> Entry | None:
    try:
        raw: Any = json.loads(line)
        contributions = raw["contributions"]
        if set(raw) != {"job", "name", "time", "contributions", "fault"}:
            return None
        if not all(type(mu) is int and mu >= 0 for mu in contributions.values()):
            return None
        texts = [raw[key] for key in ("job", "name", "time", "fault")]
        if not all(isinstance(text, str) for text in texts):
            return None
        return Entry(raw["job"], raw["name"], raw["time"], dict(contributions), raw["fault"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def note_job(config: PartyConfig, record: Record, job: Job, error: BaseException | None) -> None:
    """Adds a job that has ended, if the parties got so far that anybody contributed."""
    path = record.workspace.kept / CONTRIBUTIONS
    try:
        contributions = json.loads(path.read_text())
    except FileNotFoundError:
        return
    except OSError as failure:
        raise EnvironmentFaultError(f"{path}: {failure.strerror}") from None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    fault = error.peer if isinstance(error, PeerFaultError) else ""
    if isinstance(error, PeerFaultError) and error.said_by:
        fault = f"{error.peer}, says {error.said_by}"  # written down, not counted against anybody
    entry = Entry(record.job_id, job.name, now, contributions, fault)
    Ledger(config.state, config.name).add(entry)
