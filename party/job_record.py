"""The record of one job at a party, and its row in the journal."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coterie.base.arrays import Words
from coterie.base.names import is_job_id
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.job import Job
from coterie.protocols.messaging.wrappers import Traffic
from coterie.protos.jobs_pb2 import Event, State
from coterie.transport.session import Session

ENDED = {State.REFUSED, State.FINISHED, State.FAILED, State.CANCELLED}
_STATES = frozenset(State.keys())
REPEAT, OUTPUT = "repeat", "output"
_QUESTIONS = {
    REPEAT: "what it tells together with earlier jobs",
    OUTPUT: "its output, before it goes out",
}
_SETTLED = threading.Condition()  # of all jobs that ended a while ago


@dataclass
class Hold:
    """A question of a running job to the operator (`party.holds`). The answer is set once."""

    about: str
    until: float  # wall-clock time after which the answer is no
    facts: Mapping[str, Any]
    answered: threading.Event = field(default_factory=threading.Event)
    yes: bool = False
    reason: str = ""
    person: str = ""
    digest: str = ""  # of what the question is about

    @property
    def question(self) -> str:
        return _QUESTIONS[self.about]

    @property
    def words(self) -> str:
        """For the list of jobs."""
        until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.until))
        return f"waits until {until} for your word on {self.question}"


@dataclass(slots=True)
class Record:
    """One job. `changed` guards everything that changes."""

    job_id: str
    coordinator: str
    name: str
    kind: str
    digest: str
    home: Path  # the party's state folder
    job: Job | None = None
    state: Any = State.STATE_UNSPECIFIED
    reason: str = ""  # for the operator
    told: str = ""  # for the coordinator
    exit_code: int = 0
    culprit: str = ""
    resumable: bool = False  # it was interrupted, and its coordinator may have it go on
    records: int = 0
    proposed: float = 0.0  # wall-clock time of the proposal
    since: float = 0.0  # wall-clock time when it entered this state
    watched: float = 0.0  # wall-clock time when its coordinator last watched it
    step: str = ""
    prepared: object = None
    prepared_at: float = 0.0  # by the monotonic clock
    data: bytes = b""  # the digest of the data that was prepared
    inputs: dict[str, bytes] = field(default_factory=dict)  # the commitment to its columns
    people: Words | None = None  # the digest of the person of each row that was prepared
    held: Hold | None = None  # what the running job asks the operator
    session: Session | None = None
    eager: bool = False  # to be queued as soon as the operator approves it
    direct: bool = False  # begins as soon as this party has a place, without asking the others
    began: float | None = None
    traffic: Traffic = field(default_factory=Traffic)  # counts on while the job runs
    sent_to: Mapping[str, int] = field(default_factory=dict)  # so does this
    events: list[tuple[int, Event]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def folder(self) -> Path:
        return self.home / "jobs" / self.job_id

    @property
    def note(self) -> str:
        """The name of the note that has the job's questions to the operator, and the answers."""
        return f"held {self.job_id}"

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.folder)

    @property
    def text(self) -> str:
        return self.job.text if self.job else ""


def settle(record: Record) -> None:
    """Drops what an ended job does not need any more: all of its events but the last.

    Nobody changes such a job, so one condition serves all of them. Years of jobs use as little
    memory as they do after a restart.
    """
    if record.changed is _SETTLED:
        return
    with record.changed:
        record.events = record.events[-1:]
        record.prepared = record.people = record.held = None
        record.inputs = {}
        record.changed = _SETTLED


def unsettle(record: Record) -> None:
    """Gives a job that ended a while ago a condition of its own again."""
    if record.changed is _SETTLED:
        record.changed = threading.Condition()


def record_of(entry: Mapping[str, Any], job_id: str, home: Path) -> Record | None:
    """The record of a job from its row in the journal; None if it is the row of none."""
    state = entry.get("state")
    if not is_job_id(job_id) or not isinstance(state, str) or state not in _STATES:
        return None
    coordinator, name, kind, digest = (
        _text(entry, key) for key in ("coordinator", "name", "kind", "digest")
    )
    # Most jobs of the journal ended long ago, so they use as little memory as possible.
    record = Record(job_id, coordinator, name, kind, digest, home, changed=_SETTLED)
    record.state = State.Value(state)
    record.reason = _text(entry, "reason")
    record.told = _text(entry, "told", record.reason)
    record.exit_code = _number(entry, "exit_code", 0)
    record.culprit = _text(entry, "culprit")
    record.resumable = entry.get("resumable") is True
    record.eager = entry.get("eager") is True
    record.records = _number(entry, "records", 0)
    record.since = _time(entry)
    record.proposed = _time(entry, "proposed", record.since)
    return record


def _text(entry: Mapping[str, Any], key: str, otherwise: str = "") -> str:
    """A text of a line. Halves of characters, which damaged lines may have, cannot be told: they are "?"."""
    value = entry.get(key)
    return value.encode(errors="replace").decode() if isinstance(value, str) else otherwise


def _number(entry: Mapping[str, Any], key: str, otherwise: int) -> int:
    value = entry.get(key, otherwise)
    return value if type(value) is int and 0 <= value < 1 << 63 else otherwise


def _time(entry: Mapping[str, Any], key: str = "time", otherwise: float = 0.0) -> float:
    value = entry.get(key)
    return value if isinstance(value, float) and math.isfinite(value) else otherwise


def entry_of(record: Record) -> dict[str, Any]:
    """The row of a job in the journal."""
    return {
        "time": record.since,
        "proposed": record.proposed,
        "coordinator": record.coordinator,
        "name": record.name,
        "kind": record.kind,
        "digest": record.digest,
        "state": State.Name(record.state),
        "reason": record.reason,
        "told": record.told,
        "exit_code": record.exit_code,
        "culprit": record.culprit,
        "records": record.records,
        "eager": record.eager,
        "resumable": record.resumable,
    }
