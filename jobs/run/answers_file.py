"""The answers that a party keeps of a running job, in one file of the job's folder.

The file is readable by its owner alone, and holds what the party itself knows: see
`protocols.messaging.kept`. Its first line says which data the answers were found with. If the party
reads other data when the job goes on, the answers are worthless and the job ends with an error.

    file    := "coterie answers 1\\n", digest of the data: 32 bytes, record*
    record  := length:u64, SHA-256 of the body, body
    body    := the token, the question, the noted openings, the value and what it told, in the encoding
               of messages

A record that a crash left incomplete, and everything after it, does not count: its answer is computed
anew.
`remove_answers` is called when the job ends, however it ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from coterie.base.errors import DataError, EnvironmentFaultError
from coterie.protocols.messaging.kept import FINISHED, Answer, attempts_in
from coterie.protocols.messaging.wire import Value, WireError, decode, encode

NAME = "answers"
_MAGIC = b"coterie answers 1\n"
_HEAD = struct.Struct("<Q32s")


class AnswersFile:
    """An `AnswerStore` in a file. `data` is the digest of the data that the answers belong to."""

    def __init__(self, path: Path, data: bytes, source: str = "") -> None:
        self._path = path
        self._begin = _MAGIC + hashlib.sha256(data).digest()
        self._source = source
        self._file = -1

    def read(self) -> list[Answer]:
        with self._explained():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            content = self._path.read_bytes()
            found = content[: len(self._begin)]
            if len(found) < len(self._begin):  # new, or torn before it had an answer
                self._restart()
                return []
            if found[: len(_MAGIC)] == _MAGIC and found != self._begin:
                raise DataError(
                    f"{self._source}: the data has changed since the job began; propose the job again"
                )
            if found != self._begin:
                self._restart()
                return []
            answers, end = _records(content, len(self._begin))
            os.ftruncate(self._file, end)
            os.lseek(self._file, end, os.SEEK_SET)
            return answers

    def _restart(self) -> None:
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._write(self._begin)
        os.fsync(self._file)

    def append(self, answer: Answer, sync: bool = False) -> None:
        with self._explained():
            self._write(_record(answer))
            if sync:
                os.fsync(self._file)

    def replace(self, answers: Sequence[Answer]) -> None:
        made = self._path.with_name(f"{self._path.name}.new")
        with self._explained():
            old = self._file
            self._file = os.open(made, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            os.close(old)
            self._write(self._begin)
            for answer in answers:
                self._write(_record(answer))
            os.fsync(self._file)
            made.replace(self._path)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:  # a nearly full disk writes only a part
            left = left[os.write(self._file, left) :]

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EnvironmentFaultError(f"{self._path}: {error.strerror}") from None


def create_answers(folder: Path) -> None:
    """Marks that a job begins: from now on it can be interrupted, and go on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise EnvironmentFaultError(f"{folder / NAME}: {error.strerror}") from None


def has_answers(folder: Path) -> bool:
    """Whether the job has begun, and has not ended for good."""
    return (folder / NAME).exists()


def finished_here(folder: Path) -> bool:
    """Whether the result of an interrupted job is complete at this party."""
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return False
    answers, _ = _records(content, len(_MAGIC) + 32)
    return any(not answer.token and answer.what == FINISHED for answer in answers)


def attempts_made(folder: Path) -> int:
    """How many attempts at an interrupted job have begun here."""
    try:
        content = (folder / NAME).read_bytes()
    except OSError:
        return 0
    return attempts_in(_records(content, len(_MAGIC) + 32)[0])


def was_kept(folder: Path) -> bool:
    """Whether anything is left of what a job has kept; quick, because a server asks for every job."""
    place = f"{folder}/{NAME}"
    return os.path.exists(place) or os.path.exists(f"{place}.new")


def remove_answers(folder: Path) -> None:
    """Removes what a job has kept."""
    for name in (NAME, f"{NAME}.new"):
        with contextlib.suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _record(answer: Answer) -> bytes:
    notes: list[Value] = [[name, [*to], times] for name, to, times in answer.notes]
    parts = encode([answer.token, answer.what, notes, answer.value, answer.told])
    body = b"".join(bytes(part) for part in parts)
    return _HEAD.pack(len(body), hashlib.sha256(body).digest()) + body


def _records(content: bytes, at: int) -> tuple[list[Answer], int]:
    """The whole records from this place on, and where they end."""
    answers: list[Answer] = []
    while at + _HEAD.size <= len(content):
        length, digest = _HEAD.unpack_from(content, at)
        body = content[at + _HEAD.size : at + _HEAD.size + length]
        if len(body) != length or hashlib.sha256(body).digest() != digest:
            break
        answer = _answer(body)
        if answer is None:
            break
        answers.append(answer)
        at += _HEAD.size + length
    return answers, at


def _answer(body: bytes) -> Answer | None:
    """The answer in a record; None if the record has another form than this version's."""
    try:
        values = decode(bytearray(body))
    except WireError:
        return None
    match values:
        case [bytes(token), str(what), list(notes), bytes(value), bytes(told)]:
            noted = [note for note in map(_note, notes) if note is not None]
            return Answer(token, what, noted, value, told) if len(noted) == len(notes) else None
    return None


def _note(values: Value) -> tuple[str, Sequence[str], int] | None:
    match values:
        case [str(name), list(to), int(times)] if all(isinstance(one, str) for one in to):
            return name, tuple(map(str, to)), times
    return None
