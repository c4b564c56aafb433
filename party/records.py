"""All jobs of a party: their states and events, in memory and in the journal."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, UsageError
from coterie.base.text import one_line
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.answers_file import has_answers, remove_answers, was_kept
from coterie.party.answers import STATE
from coterie.party.books.whole_file import sync_names, write_whole
from coterie.party.job_record import (
    ENDED,
    Record,
    entry_of,
    record_of,
    settle,
    unsettle,
)
from coterie.party.store.database import ADVICE, database
from coterie.protocols.messaging.opening import tell
from coterie.protocols.messaging.wrappers import Traffic
from coterie.protos.jobs_pb2 import Event, State
from coterie.transport.error_messages import without_folders

_OFTEN = 0.1  # seconds between two noted events of steps and progress within one phase
RESTARTED = "the server was restarted"
STORED = "job.json"  # the job as it was proposed, in its folder
_WATCHED = 60.0  # seconds after its end in which a job still has its events for who watches it
_WITHOUT_JOURNAL = ENDED - {State.FINISHED}  # what FINISHED promises must survive a power cut
_UNBEGUN = (State.STATE_UNSPECIFIED, State.WAITING, State.ACCEPTED, State.QUEUED)


class Book:
    """All records of a party, stored in its state folder."""

    def __init__(
        self,
        state: Path,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._state = state
        self._books = database(state)
        self._clock = clock
        self._wall = wall
        self._lock = threading.Lock()
        self._writing = threading.RLock()  # for a row of the journal and its change
        self._records: dict[str, Record] = {}
        self._forgotten: set[str] = set()  # ids of jobs that were removed
        self._unwritten: set[str] = set()  # ids of jobs whose end the journal does not have yet
        self.ends = 0  # how many jobs have ended since the server started
        self.listener: Callable[[Record], None] = lambda record: None
        self.place: Callable[[str], int] = lambda job_id: 0  # of a job in the queue
        self.waits: Callable[[str], str] = lambda job_id: ""  # for whom, and why
        self._take_all()
        for record in self._records.values():
            if record.state in (State.RUNNING, State.STATE_UNSPECIFIED):
                began = record.state == State.RUNNING and has_answers(record.folder)
                self.set_state(record, State.FAILED, reason=RESTARTED, exit_code=6, resumable=began)
            elif record.state not in ENDED:
                self._reload(record)
            elif not record.resumable and was_kept(record.folder):
                remove_answers(record.folder)  # the machine crashed before that reached the disk

    def _take_all(self) -> None:
        """Reads the journal."""
        for job_id, entry in self._books.named("jobs"):
            if not entry:
                self._forgotten.add(job_id)
                continue
            record = record_of(entry, job_id, self._state)
            if record is None:
                raise EnvironmentFaultError(
                    f"{self._books.path}: job {one_line(job_id)} has a row that is damaged; {ADVICE}"
                )
            self._records[job_id] = record
            if record.state not in ENDED:
                record.changed, record.watched = threading.Condition(), self._wall()
                if record.state != State.STATE_UNSPECIFIED:
                    self._add_event(record, self._event(record))

    def make_up(self) -> None:
        """Writes down the ends of jobs that the journal lacks, because the disk was full."""
        with self._lock, self._writing:
            for job_id in sorted(self._unwritten & self._records.keys()):
                self._books.put("jobs", job_id, entry_of(self._records[job_id]))
                self._unwritten.discard(job_id)

    def forget(self, records: Sequence[Record]) -> None:
        """Removes ended jobs; their ids are kept, so that none is used again."""
        with self._lock, self._writing:
            gone = [record for record in records if record.state in ENDED]
            with self._books.changing() as change:
                for record in gone:
                    change.put("jobs", record.job_id, {})
                    change.remove("notes", record.note)
            ids = {record.job_id for record in gone}
            self._records = {key: r for key, r in self._records.items() if key not in ids}
            self._forgotten |= ids
            self._books.purge()

    def _reload(self, record: Record) -> None:
        """Restores a job that had not begun; its data is checked again when it starts."""
        record.job = self.stored_job(record)
        if record.job is None:
            self.set_state(record, State.FAILED, reason=RESTARTED, exit_code=6)

    def stored_job(self, record: Record) -> Job | None:
        """The job in its folder, also after its end; None if it is not there."""
        if record.job is not None:
            return record.job
        try:
            stored = json.loads((record.folder / STORED).read_text())
            files = {path: base64.b64decode(data) for path, data in stored["files"].items()}
            return parse_job(stored["text"], files)
        except (OSError, ValueError, KeyError, UsageError):
            return None

    def add(self, job_id: str, coordinator: str, job: Job | None) -> Record | None:
        """A new record; None if the job's id was used before."""
        with self._lock:
            if job_id in self._records or job_id in self._forgotten:
                return None
            record = Record(
                job_id,
                coordinator,
                job.name if job else "",
                job.kind if job else "",
                job.digest if job else "",
                self._state,
                job,
                proposed=self._wall(),
            )
            self._write(record)
            self._records[job_id] = record
        return record

    def store(self, record: Record) -> None:
        """Stores the job itself, so that it survives a restart, and a power cut, while it waits."""
        job = record.job
        if job is None:  # it was cancelled meanwhile
            return
        files = {path: base64.b64encode(data).decode() for path, data in job.files.items()}
        try:
            record.folder.mkdir(parents=True, exist_ok=True)
            write_whole(record.folder / STORED, json.dumps({"text": job.text, "files": files}))
            sync_names(record.folder.parent)
        except OSError as error:
            if record.job is None:  # it was cancelled just now, and its folder has gone
                return
            raise EnvironmentFaultError(f"{record.folder}: {error.strerror}") from None

    def get(self, job_id: str) -> Record | None:
        with self._lock:
            record = self._records.get(job_id)
            if record is not None and not record.events and record.state in ENDED:
                self._add_event(record, self._event(record))  # for a job before the last restart
            return record

    def all(self) -> list[Record]:
        with self._lock:
            return list(self._records.values())

    def after(self, job_id: str) -> list[Record]:
        """The jobs that were proposed after this one; all if there is none of this id."""
        records = self.all()
        at = next((n for n, record in enumerate(records, 1) if record.job_id == job_id), 0)
        return records[at:]

    def unstarted_for(self, seconds: float) -> list[Record]:
        """The jobs that have waited to be approved or started for longer than this."""
        oldest = self._wall() - seconds
        unstarted = (State.WAITING, State.ACCEPTED, State.QUEUED)
        return [r for r in self.all() if r.state in unstarted and r.since < oldest]

    def watched(self, record: Record) -> None:
        """Notes that the job's coordinator is there."""
        record.watched = self._wall()

    def abandoned_for(self, seconds: float) -> list[Record]:
        """The accepted jobs that nobody has started or watched for longer than this."""
        oldest = self._wall() - seconds
        accepted = [record for record in self.all() if record.state == State.ACCEPTED]
        return [r for r in accepted if max(r.since, r.watched) < oldest]

    def set_state(
        self,
        record: Record,
        state: Any,
        *,
        expected: set[Any] | None = None,
        reason: str = "",
        told: str | None = None,
        exit_code: int = 0,
        culprit: str = "",
        resumable: bool = False,
    ) -> bool:
        """Moves the job to a state, unless it has ended or is not in an expected one.

        `told` is the reason for the coordinator, by default the same reason. Raises
        `EnvironmentFaultError`, and changes nothing, if the journal cannot be written; but a job
        that fails, is refused or is cancelled ends all the same: after a restart it is again in the
        state that the journal has, without the files that its end removed. A job that FAILED and is `resumable` may
        still be cancelled, be taken up by `take_again`, or finish by `finish_late`.
        """
        told = reason if told is None else told
        with record.changed, self._writing:
            given_up = record.resumable and state == State.CANCELLED
            if record.state in ENDED and not given_up:
                return False
            if expected is not None and record.state not in expected:
                return False
            try:
                self._write(
                    record,
                    time=self._wall(),
                    state=State.Name(state),
                    reason=reason,
                    told=told,
                    exit_code=exit_code,
                    culprit=culprit,
                    resumable=resumable,
                )
            except EnvironmentFaultError:
                if state not in _WITHOUT_JOURNAL:
                    raise
                self._unwritten.add(record.job_id)
            before, record.state = record.state, state
            record.since = self._wall()
            record.reason, record.told = reason, told
            record.exit_code, record.culprit = exit_code, culprit
            record.resumable = resumable
            if state == State.RUNNING:
                record.began = self._clock()
            if state in ENDED:
                if not resumable:
                    remove_answers(record.folder)
                record.prepared = record.people = record.job = None
                self.ends += 1
                if before in _UNBEGUN and not resumable:  # what it brought is not kept
                    (record.folder / STORED).unlink(missing_ok=True)
                    with contextlib.suppress(OSError):  # it is not there, or holds something
                        record.folder.rmdir()
            self._add_event(record, self._event(record))
            self.listener(record)
        return True

    def take_again(self, record: Record, prepare: Callable[[Job], None]) -> bool:
        """Takes an interrupted job up again: it is ACCEPTED, as before its start; False if it cannot be.

        `prepare` is called when nothing else can fail but the journal.
        """
        unsettle(record)
        with record.changed, self._writing:
            job = self.stored_job(record) if record.resumable else None
            if record.state != State.FAILED or job is None:
                return False
            record.job = job
            try:
                prepare(job)
                self._write(record, **self._renewed(State.ACCEPTED))
            except BaseException:
                record.job = None
                raise
            self._renew(record, State.ACCEPTED)
        return True

    def finish_late(self, record: Record) -> bool:
        """Marks an interrupted job as finished, since its result is complete everywhere."""
        unsettle(record)
        with record.changed, self._writing:
            if record.state != State.FAILED or not record.resumable:
                return False
            self._write(record, **self._renewed(State.FINISHED))
            self._renew(record, State.FINISHED)
            remove_answers(record.folder)
        return True

    def _renewed(self, state: Any) -> dict[str, Any]:
        """What changes in the journal when an ended job gets another state."""
        told = dict.fromkeys(("reason", "told", "culprit"), "")
        return {
            "time": self._wall(),
            "state": State.Name(state),
            "exit_code": 0,
            **told,
            "resumable": False,
        }

    def _renew(self, record: Record, state: Any) -> None:
        """Gives an ended job another state, and lets its earlier events be forgotten."""
        record.state, record.since = state, self._wall()
        record.reason = record.told = record.culprit = record.step = ""
        record.exit_code, record.resumable, record.direct = 0, False, False
        record.began, record.traffic, record.sent_to = None, Traffic(), {}
        serial = record.events[-1][0] + 1 if record.events else 1
        record.events.clear()
        self._add_event(record, self._event(record), serial)
        self.listener(record)

    def settle(self) -> None:
        """Drops the courses of jobs that ended a while ago; who watches one is told its end."""
        oldest = self._wall() - _WATCHED
        for record in self.all():
            if record.state in ENDED and not record.resumable and record.since < oldest:
                settle(record)

    def interrupted_for(self, seconds: float) -> list[Record]:
        """The jobs that were interrupted and have not been taken up again for longer than this."""
        oldest = self._wall() - seconds
        return [r for r in self.all() if r.resumable and r.since < oldest]

    def set_eager(self, record: Record) -> None:
        """Notes that the job is to be queued as soon as the operator approves it."""
        with record.changed:
            if not record.eager:
                self._write(record, eager=True)
                record.eager = True

    def progress(self, record: Record, step: str, done: int, total: int, traffic: Traffic) -> None:
        with record.changed:
            if record.state != State.RUNNING:
                return
            record.traffic = traffic
            last_serial, last = record.events[-1]
            event = self._event(record)
            event.step, event.done, event.total = step, done, total
            same_phase = step.split("/")[0] == last.step.split("/")[0]
            if step == last.step:
                record.events.pop()
            elif same_phase and event.seconds - last.seconds < _OFTEN:
                # Too soon for another event: the newest one is updated.
                record.events.pop()
                event.seconds = last.seconds
            record.step = step
            self._add_event(record, event, last_serial + 1)

    def _event(self, record: Record) -> Event:
        last = record.events[-1][1] if record.events else Event()
        return Event(
            state=record.state,
            step=last.step,
            sent_bytes=record.traffic.sent_bytes,
            received_bytes=record.traffic.received_bytes,
            seconds=self.seconds(record),
            error=tell(STATE, record.told),
            exit_code=record.exit_code,
            culprit=record.culprit,
            place=self.place_of(record),
            waits=self.waits_of(record),
            sent_to=dict(record.sent_to),
        )

    def place_of(self, record: Record) -> int:
        return self.place(record.job_id) if record.state == State.QUEUED else 0

    def waits_of(self, record: Record) -> str:
        waits = self.waits(record.job_id) if record.state == State.QUEUED else ""
        return tell(STATE, without_folders(one_line(waits)))

    def newest(self, record: Record) -> Event:
        """The last event, with the present time and bytes."""
        with record.changed:
            event = Event()
            event.CopyFrom(record.events[-1][1])
            event.seconds = self.seconds(record)
            event.place, event.waits = self.place_of(record), self.waits_of(record)
            event.sent_bytes = record.traffic.sent_bytes
            event.received_bytes = record.traffic.received_bytes
            event.sent_to.update(record.sent_to)
        return event

    def seconds(self, record: Record) -> float:
        return self._clock() - record.began if record.began is not None else 0.0

    def _add_event(self, record: Record, event: Event, serial: int | None = None) -> None:
        if serial is None:
            serial = record.events[-1][0] + 1 if record.events else 1
        with record.changed:
            record.events.append((serial, event))
            record.changed.notify_all()

    def _write(self, record: Record, **changed: Any) -> None:
        """Writes the job down as it will be."""
        with self._writing:
            self._books.put("jobs", record.job_id, entry_of(record) | changed)

    def close(self) -> None:
        self._books.close()
