"""The finished results that this party receives as a recipient of a job.

The coordinator delivers the finished files after the job has ended. The party checks them against
what it kept of its own run (`jobs/run/received.py`), stores them in the job's folder as `received`,
and compares their digest with every other recipient, which calls in turn. A recipient that does not
answer is asked again when the server starts and every minute, for 30 days. If another recipient got
something else, the folder is renamed to `disputed`, and the audit log names both. Only recipients
of the job learn a digest, because somebody who knows nearly all of a table could guess the rest
with it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import grpc

from coterie.base.errors import (
    CoterieError,
    EnvironmentFaultError,
    RefusedError,
    UsageError,
    VerificationError,
)
from coterie.base.text import one_line
from coterie.jobs.data.workspace import sync_tree
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.received import recipients_of, take_in
from coterie.party.answers import RECEIPT
from coterie.party.books.audit import AuditLog
from coterie.party.books.whole_file import write_whole
from coterie.party.job_record import Record
from coterie.party.live import Live
from coterie.party.records import Book
from coterie.protocols.messaging.opening import tell
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2 import State
from coterie.protos.peers_pb2 import Received
from coterie.transport.peers import COMPARE

log = logging.getLogger("coterie.party")
RECEIVED, DISPUTED, NOTE = "received", "disputed", "reception.json"
_SECONDS = 10.0  # for another recipient to answer
_ASKED_FOR = 30 * 86400.0  # seconds after a job's end in which other recipients are asked again
_CELL = 4096  # the most bytes of a cell of the result, on average
_DIGITS = 64


class Receptions:
    """Receives results, and compares them with the other recipients."""

    def __init__(self, live: Live, book: Book, audit: AuditLog) -> None:
        self._live = live
        self._book = book
        self._audit = audit
        self._lock = threading.Lock()
        self._uncompared: set[str] | None = None  # ids of jobs; None: not looked up yet

    def deliver(self, record: Record, chunks: Iterable[pb.FileChunk]) -> pb.Delivered:
        """Receives the finished files of a job. The same files may be delivered again."""
        job = self._job(record)
        me = self._live.config.name
        scratch = _scratch(record.folder)
        try:
            _save(chunks, KINDS[job.kind].delivers, scratch, _most(record, job))
            try:
                found = take_in(job, me, record.job_id, record.folder, scratch)
            except CoterieError as error:
                reason = one_line(str(error))
                self._note("result not accepted", record, reason=reason)
                raise VerificationError(str(error)) from None
            except OSError as error:  # the disk is full; the delivery can be repeated
                raise EnvironmentFaultError(f"the job's folder: {error.strerror}") from None
            with self._lock:
                note = _read(record)
                if note["digest"] and note["digest"] != found.digest:
                    self._note("result not accepted", record, reason="another one came before")
                    raise VerificationError("another result of this job was delivered before")
                if not note["digest"]:
                    _keep(scratch, record.folder / RECEIVED)
                    note |= {"digest": found.digest, "holds": list(found.holds)}
                    self._note("result received", record, digest=found.digest)
                    for peer, digest in note["others"].items():  # who was given it sooner
                        if digest == found.digest:
                            note["same"].append(peer)
                            self._note("result compared", record, peer=peer, digest=digest)
                    _write(record, note)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        for peer in self._others(job):
            self._ask(record, peer, found.digest)
        note = _read(record)
        if self._uncompared is not None and set(self._others(job)) - set(note["same"]):
            self._uncompared.add(record.job_id)
        self._require_same(record, note)
        same = sorted(note["same"])
        return pb.Delivered(digest=tell(RECEIPT, found.digest), holds=found.holds, same=same)

    def compare_again(self, now: float) -> None:
        """Asks recipients that were away when this party compared its results."""
        if self._uncompared is None:
            finished = [r for r in self._book.all() if r.state == State.FINISHED]
            self._uncompared = {r.job_id for r in finished if (r.folder / NOTE).exists()}
        away: set[str] = set()
        for job_id in sorted(self._uncompared):
            record = self._book.get(job_id)
            if record is None or now - record.since > _ASKED_FOR or not self._again(record, away):
                self._uncompared.discard(job_id)

    def _again(self, record: Record, away: set[str]) -> bool:
        """Compares one result; whether some recipient is still to be asked."""
        try:
            others = self._others(self._job(record))
            note = _read(record)
            asked = [peer for peer in others if note["digest"] and peer not in note["others"]]
            for peer in asked:
                if peer in away or not self._ask(record, peer, note["digest"]):
                    away.add(peer)
            note = _read(record)
            return bool(set(others) - set(note["others"]))
        except CoterieError as error:
            log.error("job %s: the result is not compared: %s", record.job_id, one_line(str(error)))
            return False

    def _others(self, job: Job) -> list[str]:
        """The other recipients."""
        return [peer for peer in recipients_of(job) if peer != self._live.config.name]

    def compare(self, peer: str, session: str, digest: str) -> str:
        """Compares another recipient's digest; returns this party's own, empty if it has none."""
        record = self._book.get(session)
        if record is None or record.state != State.FINISHED:
            raise RefusedError("there is no such finished job")
        if peer not in recipients_of(self._job(record)):
            raise RefusedError(f"'{peer}' is not a recipient of this job")
        if len(digest) != _DIGITS or not digest.isalnum():
            raise RefusedError(f"'{peer}' sent something else than a digest")
        return self._heard(record, peer, digest)

    def _heard(self, record: Record, peer: str, digest: str) -> str:
        """Notes a peer's digest; returns this party's own."""
        with self._lock:
            note = _read(record)
            own = str(note["digest"])
            news = note["others"].get(peer) != digest
            note["others"][peer] = digest
            if own and own != digest and news:
                self._dispute(record, peer, own, digest)
            elif own == digest and peer not in note["same"]:
                note["same"].append(peer)
                self._note("result compared", record, peer=peer, digest=digest)
            _write(record, note)
        return own

    def _dispute(self, record: Record, peer: str, own: str, other: str) -> None:
        self._note(
            "recipients were given different results", record, peer=peer, digest=own, other=other
        )
        log.error("job %s: %s was given another result than this party", record.job_id, peer)
        if (record.folder / RECEIVED).exists():
            os.rename(record.folder / RECEIVED, record.folder / DISPUTED)

    def _require_same(self, record: Record, note: dict[str, Any]) -> None:
        for peer, digest in note["others"].items():
            if digest != note["digest"]:
                with self._lock:
                    self._dispute(record, peer, note["digest"], digest)
                raise VerificationError(f"{peer} was given another result of this job")

    def _ask(self, record: Record, peer: str, digest: str) -> bool:
        """Compares with one other recipient; whether it answers."""
        config = self._live.config
        if peer not in config.peers:
            return False
        channel = config.connect(peer)
        try:
            request = Received(session=record.job_id, digest=digest).SerializeToString()
            call = channel.unary_unary(COMPARE)
            told = Received.FromString(call(request, timeout=_SECONDS)).digest
        except (grpc.RpcError, ValueError):
            return False
        finally:
            channel.close()
        if len(told) == _DIGITS and told.isalnum():
            self._heard(record, peer, told)
        return True

    def _job(self, record: Record) -> Job:
        """The job, of which this party must be a recipient."""
        job = self._book.stored_job(record)
        me = self._live.config.name
        if job is None:
            raise UsageError(f"{me} no longer has this job")
        if me not in recipients_of(job):
            raise RefusedError(f"{me} is not a recipient of this job")
        return job

    def _note(self, event: str, record: Record, **facts: Any) -> None:
        self._audit.note(event, job=record.job_id, **facts)


def _most(record: Record, job: Job) -> int:
    """The most bytes of a result, so that nobody can fill the disk."""
    columns = len(KINDS[job.kind].needs(job, job.party_names[0]).read) + len(job.text) // 8
    return max(record.records, 1) * columns * _CELL


def _scratch(folder: Path) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="receiving-", dir=folder))
    except OSError as error:
        raise EnvironmentFaultError(f"the job's folder: {error.strerror}") from None


def _save(chunks: Iterable[pb.FileChunk], wanted: Iterable[str], folder: Path, most: int) -> None:
    """Writes the wanted files, each once and complete, and no others."""
    left = list(wanted)
    file: IO[bytes] | None = None
    size = 0
    try:
        for chunk in chunks:
            if file is None:
                if chunk.path not in left:
                    raise UsageError(f"'{one_line(chunk.path)}' is not a file of this result")
                left.remove(chunk.path)
                file, current = (folder / chunk.path).open("xb"), chunk.path
            if chunk.path != current:
                raise UsageError("the files of the result are mixed")
            size += len(chunk.data)
            if size > most:
                raise UsageError(f"the result has more than {most:,} bytes")
            file.write(chunk.data)
            if chunk.last:
                file.close()
                file = None
    except OSError as error:
        raise EnvironmentFaultError(f"the job's folder: {error.strerror}") from None
    finally:
        if file is not None:
            file.close()
    if file is not None or left:
        raise UsageError("the result is not whole")


def _keep(scratch: Path, received: Path) -> None:
    """Gives the received files their place, on the disk.

    Without a note, files of that name are those of a delivery that a crash broke off.
    """
    try:
        sync_tree(scratch)
        shutil.rmtree(received, ignore_errors=True)
        os.rename(scratch, received)
    except OSError as error:
        raise EnvironmentFaultError(f"the job's folder: {error.strerror}") from None


def _read(record: Record) -> dict[str, Any]:
    try:
        note = json.loads((record.folder / NOTE).read_text())
        return {
            "digest": str(note["digest"]),
            "others": dict(note["others"]),
            "same": list(note["same"]),
            "holds": list(note["holds"]),
        }
    except FileNotFoundError:
        return {"digest": "", "others": {}, "same": [], "holds": []}
    except (OSError, ValueError, LookupError, TypeError):
        raise EnvironmentFaultError(f"{NOTE} of the job cannot be read") from None


def _write(record: Record, note: dict[str, Any]) -> None:
    try:
        write_whole(record.folder / NOTE, json.dumps(note, indent=1) + "\n")
    except OSError as error:
        raise EnvironmentFaultError(f"the job's folder: {error.strerror}") from None


def read_note(folder: Path) -> dict[str, Any] | None:
    """The note about a job's received result; None if nothing was received."""
    try:
        note: dict[str, Any] = json.loads((folder / NOTE).read_text())
        return note if note.get("digest") else None
    except (OSError, ValueError, AttributeError):
        return None
