"""The fuzzed books of a party: journal, ledger, history, audit log, and the answers of a job."""

import functools
import hashlib
import json
import random
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError
from coterie.jobs.run.answers_file import AnswersFile, finished_here
from coterie.party.books.audit import CONTINUED, AuditLog, Head, head_before, link_of
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger_lines import Booking, Charge, LedgerFile
from coterie.party.books.state_folder import require_version
from coterie.party.history.releases import History, Remembered
from coterie.party.records import Book
from coterie.party.store.database import database
from coterie.protocols.messaging.kept import Answer
from coterie.protocols.messaging.wire import WireError, decode, encode
from coterie.protos.jobs_pb2 import State
from tests.fuzz.decoder import Decoder, put
from tests.fuzz.forms import changed, json_lines, json_token, parsed
from tests.fuzz.mutations import line, one_of


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


def _journal(data: bytes, folder: Path) -> str:
    """A journal of version 4, which is brought forward, and read."""
    put(folder / "version", b"4\n")
    put(folder / "journal.jsonl", data)
    passed_over = require_version(folder)["passed_over"]
    book = Book(folder)
    try:
        if jobs := book.all():
            book.forget(jobs)
            return " ".join(sorted({State.Name(job.state) for job in jobs[:2]}))
        return "damaged" if passed_over else "empty"
    finally:
        book.close()


def _ledger_seeds() -> list[bytes]:
    ended = {"job": "j", "name": "n", "time": "t", "contributions": {"bank": 3, "lender": 4}, "fault": "", "open": False, "refused": ""}  # fmt: skip
    pardon = {"partner": "bank", "job": "j", "time": "t"}
    given = Booking("j", "d", "n", "t", "bank", ["lender"], 7, "m", False)
    spent = Charge("j", "n", "2026-01-02T03:04:05+00:00", "", "1/2", "1/1000000")
    return [_lines(ended, pardon), _lines(asdict(given)), _lines(asdict(spent), ended)]


def _fill(book: str, data: bytes, folder: Path) -> None:
    """Puts lines into a book as rows."""
    with database(folder).changing(sync=False) as change:
        lines = (line.decode(errors="surrogateescape") for line in data.splitlines())
        change.replace(book, [line.encode(errors="replace").decode() for line in lines])


def _ledger(data: bytes, folder: Path) -> str:
    _fill("ledger", data, folder)
    return " ".join(sorted({type(line).__name__ for line in LedgerFile(folder).read()}))


def _history_seeds() -> list[bytes]:
    job = "ab" * 16
    whole = Remembered(
        job, "d", "n", "count", "analyst", ["bank"], "", 1.5, ["ID"], 3, "r", {"Sex": "classes"}
    )
    return [_lines(asdict(whole)), _lines(asdict(whole), {"job": job, "groups": {"Sex": 2}})]


def _history(data: bytes, folder: Path) -> str:
    history = History(folder)
    _fill("history", data, folder)
    entries = history.entries()
    for one in entries:
        json.dumps(one.shown())
    if entries:
        history.prune({one.job for one in entries[1:]})
    return f"{min(len(entries), 2)}"


def _audit_seeds() -> list[bytes]:
    """Logs, some with a zero byte and the head file behind them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audit.log"
        log = AuditLog(path)
        for number in range(2):
            log.note("examined", coordinator="analyst", job=f"{number}")
        examined = path.read_bytes()
        log.rotate()
        log.note("server started")
        log.plan_pruning()
        log.begin_history_anew(person="steward")
        started = path.read_bytes()
        log.rotate()
        log.note("ended", job="0")
        log.close()
        head = path.with_name("audit.head").read_bytes()
        return [examined, started, path.read_bytes() + b"\0" + head]


_CONTINUED = json.dumps(CONTINUED).encode()


@functools.lru_cache(5000)  # most lines of an input are those of other inputs, too
def _relinked(line: bytes, previous: str) -> tuple[bytes, str] | None:
    """The line with the digests that it must have, and its own; None if it is not JSON."""
    entry = parsed(line)
    if not isinstance(entry, dict):
        return None
    if "previous" in entry:
        entry["previous"] = previous
    try:
        entry["chain"] = link_of(entry)
        return json.dumps(entry).encode(), entry["chain"]
    except RecursionError:
        return None


def _rechained(data: bytearray, chance: random.Random) -> None:
    """Gives each line of the log the digests that it must have, and the head file those of some line."""
    content, mark, _ = bytes(data).partition(b"\0")
    lines = content.split(b"\n")
    first = parsed(lines[0]) if _CONTINUED in lines[0] else None
    heads = [head_before(first if isinstance(first, dict) else None)]
    for at, text in enumerate(lines):
        if made := _relinked(text, heads[-1].chain):
            lines[at] = made[0]
            heads.append(Head(heads[-1].entries + 1, made[1]))
    data[:] = b"\n".join(lines)
    if mark:
        head = one_of(heads[-2:], chance)
        data += f"\0{head.entries} {head.chain}\n".encode(errors="replace")


def _audit(data: bytes, folder: Path) -> str:
    path = folder / "audit.log"
    content, _, head = data.partition(b"\0")
    put(path, content)
    put(folder / "audit.head", head)
    try:
        found = f"{min(verify(path).entries, 3)}"
    except CoterieError as error:
        found = str(error).rpartition(":")[2][:20]
    log = AuditLog(path)  # what a server does at its start, whatever it finds
    try:
        log.note("examined", coordinator="analyst")
    finally:
        log.close()
    assert path.read_bytes().endswith(b"\n")
    return found


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


def _another_value(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Changes a value of the body of a record that shall have a right digest."""
    if not data.startswith(_RESIGNED):
        data[:] = next((other for other in others if other.startswith(_RESIGNED)), _RESIGNED)
    try:
        values = changed(decode(data[len(_RESIGNED) :]), chance)
        body = b"".join(bytes(part) for part in encode(values))
    except (TypeError, ValueError, WireError, RecursionError):
        return  # not every value can be in a message
    data[:] = _RESIGNED + body


def _another_record(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    """Moves, repeats or removes a record of the file."""
    begin, records, at = len(_BEGIN), [], len(_BEGIN)
    while at + _RECORD.size <= len(data):
        size = _RECORD.unpack_from(data, at)[0]
        records.append(bytes(data[at : at + _RECORD.size + size]))
        at += _RECORD.size + size
    if records:
        moved = records.pop(int(chance.random() * len(records)))
        for _ in range(int(chance.random() * 3)):
            records.insert(int(chance.random() * (len(records) + 1)), moved)
        data[begin:] = b"".join(records)


def _answers(data: bytes, folder: Path) -> str:
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
    return f"{min(len(found), 3)}"


_LINES = (json_token, json_token, json_token, json_lines, line)
DECODERS = {
    "journal": Decoder(_journal_seeds, _journal, changes=_LINES),
    "ledger": Decoder(_ledger_seeds, _ledger, changes=_LINES),
    "history": Decoder(_history_seeds, _history, changes=_LINES),
    "audit log": Decoder(_audit_seeds, _audit, changes=_LINES, mend=_rechained),
    "answers": Decoder(_answers_seeds, _answers, changes=(_another_value, _another_record)),
}
