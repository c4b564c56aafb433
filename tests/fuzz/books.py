"""The fuzzed books of a party: journal, ledger, history, audit log, and the answers of a job."""

import contextlib
import hashlib
import json
import struct
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError
from coterie.jobs.run.answers_file import AnswersFile, finished_here
from coterie.party.books.audit import AuditLog
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger_lines import Booking, Charge, LedgerFile
from coterie.party.history.releases import History, Remembered
from coterie.party.records import JOURNAL, Book
from coterie.protocols.messaging.kept import Answer
from tests.fuzz.decoder import Decoder, put


def _lines(*entries: dict[str, Any]) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def _journal_seeds() -> list[bytes]:
    job, other = "ab" * 16, "cd" * 16
    proposed = {"event": "proposed", "job": job, "coordinator": "analyst", "name": "n", "kind": "count", "digest": "d"}  # fmt: skip
    waiting = {"event": "state", "job": job, "state": "WAITING", "time": 1.5}
    running = {"event": "state", "job": job, "state": "RUNNING", "told": "", "resumable": True}
    finished = {"event": "state", "job": job, "state": "FINISHED", "records": 3, "exit_code": 0}
    ended = {"event": "job", "job": other, "state": "FAILED", "reason": "why", "proposed": 1.5, "culprit": "bank"}  # fmt: skip
    return [
        _lines(proposed, waiting),
        _lines(proposed, waiting, {"event": "step", "job": job, "step": "count"}, finished),
        _lines(ended, proposed, {"event": "eager", "job": job}, running),
        _lines({"event": "forgotten", "job": other}, proposed, finished),
    ]


def _journal(data: bytes, folder: Path) -> None:
    path = folder / JOURNAL
    put(path, data)
    book = Book(folder)
    try:
        assert path.read_bytes().count(b"\n") >= data.count(b"\n")  # no line is lost
        if not book.damaged:
            book.forget(book.all())  # writes the journal anew
    finally:
        book.close()


def _ledger_seeds() -> list[bytes]:
    ended = {"job": "j", "name": "n", "time": "t", "contributions": {"bank": 3, "lender": 4}, "fault": "", "open": False}  # fmt: skip
    pardon = {"partner": "bank", "job": "j", "time": "t"}
    given = Booking("j", "d", "n", "t", "bank", ["lender"], 7, "m", False)
    spent = Charge("j", "n", "2026-01-02T03:04:05+00:00", "", "1/2", "1/1000000")
    return [_lines(ended, pardon), _lines(asdict(given)), _lines(asdict(spent), ended)]


def _ledger(data: bytes, folder: Path) -> None:
    path = folder / "ledger.jsonl"
    put(path, data)
    LedgerFile(path).read()


def _history_seeds() -> list[bytes]:
    job = "ab" * 16
    whole = Remembered(
        job, "d", "n", "count", "analyst", ["bank"], "", 1.5, ["ID"], 3, "r", {"Sex": "classes"}
    )
    return [_lines(asdict(whole)), _lines(asdict(whole), {"job": job, "groups": {"Sex": 2}})]


def _history(data: bytes, folder: Path) -> None:
    history = History(folder)
    file = history.folder / "releases.jsonl"
    try:
        put(file, data)
    except FileNotFoundError:
        history.folder.mkdir()
        put(file, data)
    history.tidy()
    for one in history.entries():
        one.shown()


_BOOKS = {"journal.jsonl": b'{"event":"step"}\n', "ledger.jsonl": b"{}\n"}


def _audit_seeds() -> list[bytes]:
    """Logs, some with a zero byte and the head file behind them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.log"
        for name, content in _BOOKS.items():
            put(path.with_name(name), content)
        log = AuditLog(path)
        for number in range(3):
            log.note("examined", coordinator="analyst", job=f"{number}")
        examined = path.read_bytes()
        log.note("server started")
        with log.journal_rewriting(_BOOKS["journal.jsonl"]):
            pass
        started = path.read_bytes()
        log.rotate()
        log.note("ended", job="0")
        log.close()
        head = path.with_name("audit.head").read_bytes()
        return [examined, started, path.read_bytes() + b"\0" + head]


def _audit(data: bytes, folder: Path) -> None:
    path = folder / "audit.log"
    if not path.exists():
        for name, content in _BOOKS.items():
            put(folder / name, content)
    content, _, head = data.partition(b"\0")
    put(path, content)
    put(folder / "audit.head", head)
    with contextlib.suppress(CoterieError):
        verify(path)
    log = AuditLog(path)  # what a server does at its start, whatever it finds
    try:
        log.note("examined", coordinator="analyst")
    finally:
        log.close()
    assert path.read_bytes().endswith(b"\n")


_RESIGNED = b"="
_BEGIN = b"coterie answers 1\n" + hashlib.sha256(b"data").digest()
_RECORD = struct.Struct("<Q32s")


def _answers_seeds() -> list[bytes]:
    """A file, and the body of a record behind a sign that it shall have a right digest."""
    several = [
        Answer(b"token", f"round {number}", (("sum", ("bank",), 1),), bytes([number]))
        for number in range(3)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        answers = AnswersFile(path, b"data")
        answers.read()
        begin = path.stat().st_size
        answers.append(several[0])
        body = path.read_bytes()[begin + _RECORD.size :]
        for answer in several[1:]:
            answers.append(answer)
        answers.close()
        return [path.read_bytes(), _RESIGNED + body]


def _answers(data: bytes, folder: Path) -> None:
    path = folder / "answers"
    if data.startswith(_RESIGNED):
        body = data[len(_RESIGNED) :]
        digest = hashlib.sha256(body).digest()
        data = _BEGIN + _RECORD.pack(len(body), digest) + body
    put(path, data)
    finished_here(folder)
    answers = AnswersFile(path, b"data")
    try:
        found = answers.read()
        answers.append(Answer(b"token", "one more", (), b"1"))
    finally:
        answers.close()
    again = AnswersFile(path, b"data")
    try:
        assert len(again.read()) == len(found) + 1  # nothing torn stands before the new one
    finally:
        again.close()


DECODERS = {
    "journal": Decoder(_journal_seeds, _journal),
    "ledger": Decoder(_ledger_seeds, _ledger),
    "history": Decoder(_history_seeds, _history),
    "audit log": Decoder(_audit_seeds, _audit),
    "answers": Decoder(_answers_seeds, _answers),
}
