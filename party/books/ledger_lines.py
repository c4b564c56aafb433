"""The lines of a party's ledger: contributions, the ends of jobs, and pardons.

One row each in the table `ledger` of the books (`party.store`):

    Booking   something that one party gave to others in a job, written before it is sent
    Entry     the end of a job: everybody's contribution, and the culprit if a peer's fault ended it
    Pardon    the operator forgives a partner what it owes since a job did not end
    Charge    what a job with noise spends of the party's budget, written before the job begins
    Use       a job that uses a kept model, written before the job begins

Lines are only ever added. When `append` returns, a booking survives the end of the process, and it is
on disk within a second; other lines are on disk.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from coterie.base.errors import VerificationError
from coterie.party.store.database import database

_SYNC_SECONDS = 1.0
_NUMBER = re.compile("[0-9]{1,400}(/[1-9][0-9]{0,400})?")  # a Fraction as Python writes it


@dataclass(frozen=True)
class Booking:
    """A contribution in a job; `digest` is the job's, the same in each run of the job."""

    job: str
    digest: str
    name: str
    time: str
    giver: str
    to: list[str]
    score: int
    mark: str
    proposal: bool


@dataclass(frozen=True)
class Entry:
    """The end of one job. `fault` names the party that ended it by a fault.

    `open` is set if the job did not finish: its contributions stay owed until it does. `refused` names
    the party that took part and then refused to release.
    """

    job: str
    name: str
    time: str
    contributions: dict[str, int]
    fault: str = ""
    open: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Pardon:
    """From this line on `partner` no longer owes for this unfinished job."""

    partner: str
    job: str
    time: str


@dataclass(frozen=True)
class Charge:
    """What a job spends; `table` is empty for the table without a name, numbers are fractions."""

    job: str
    name: str
    time: str
    table: str
    epsilon: str
    delta: str


@dataclass(frozen=True)
class Use:
    """A job uses the model of this name that the job `made_by` has made."""

    job: str
    model: str
    made_by: str
    time: str


Line: TypeAlias = "Booking | Entry | Pardon | Charge | Use"
_KINDS: tuple[type[Booking] | type[Entry] | type[Pardon] | type[Charge] | type[Use], ...] = (
    Booking,
    Entry,
    Pardon,
    Charge,
    Use,
)


class LedgerFile:
    """The lines. Threads and processes may add to them at the same time."""

    _synced: dict[Path, float] = {}  # noqa: RUF012 - shared by all who write the same books
    _lock = threading.Lock()

    def __init__(self, state: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._books = database(state)
        self.path = self._books.path
        self._clock = clock

    def append(self, line: Line) -> None:
        sync = not isinstance(line, Booking) or self._is_time()
        self._books.append("ledger", asdict(line), sync)

    def _is_time(self) -> bool:
        """Whether bookings must be written to the disk now."""
        now = self._clock()
        with self._lock:
            if now - self._synced.get(self.path, -_SYNC_SECONDS) < _SYNC_SECONDS:
                return False
            self._synced[self.path] = now
        return True

    def read(self) -> list[Line]:
        lines = []
        for number, content in enumerate(self._books.rows("ledger"), 1):
            line = _parsed(content)
            if line is None:
                raise VerificationError(f"{self.path}: row {number} is not a line of a ledger")
            lines.append(line)
        return lines


def _parsed(content: str) -> Line | None:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError):
        return None
    for kind in _KINDS if isinstance(raw, dict) else ():
        if set(raw) == {field.name for field in fields(kind)} and all(
            _fits(raw[field.name], str(field.type)) for field in fields(kind)
        ):
            line = kind(**raw)
            return line if not isinstance(line, Charge) or _sound(line) else None
    return None


def _sound(charge: Charge) -> bool:
    """Whether a charge has numbers and a time that can be added up."""
    if not all(_NUMBER.fullmatch(text) for text in (charge.epsilon, charge.delta)):
        return False
    try:
        datetime.fromisoformat(charge.time).timestamp()
    except (ValueError, OverflowError):
        return False
    return True


def _fits(value: Any, kind: str) -> bool:
    if kind == "list[str]":
        return isinstance(value, list) and all(type(one) is str for one in value)
    if kind == "dict[str, int]":
        return isinstance(value, dict) and all(_fits(one, "int") for one in value.values())
    if kind == "int":
        return type(value) is int and value >= 0
    return type(value) is {"str": str, "bool": bool}[kind]


__all__ = ["Booking", "Charge", "Entry", "LedgerFile", "Line", "Pardon", "Use"]
