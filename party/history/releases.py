"""The history of what jobs have told about this party's people.

The table `history` of the books (`party.store`) has a row for each job about people, and one for the
groups of its release; notes have how often the data was checked for a coordinator, by day, and in which
ways a coordinator has described columns (`descriptions`). Beside them, in the folder `history` of the
state:

    ID.rows           the people whom the job is about: a bit for each number of `people`
    ID.groups.npz     the released people, and for each QID of the release the group of each of them
    people-…, key     see `people`

Everything is readable by the party alone, and on the disk before the release that it is about leaves.
Nothing in it is a value of the table: people are numbers, groups are numbers, and attributes have their
names. `retention.history` says how long an entry is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import threading
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from coterie.base.arrays import Codes, Ints, Mask
from coterie.base.distinct import distinct
from coterie.base.errors import EnvironmentFaultError
from coterie.base.names import is_job_id
from coterie.party.books.people import ADVICE, remove_lists
from coterie.party.books.whole_file import write_whole
from coterie.party.store.database import database

FOLDER = "history"
_EXAMINED = "examinations"
COUNTS = (_EXAMINED, "descriptions")
DAY = 86400.0


@dataclass(frozen=True)
class Remembered:
    """One job of the history. `by` has the columns that identify people; none: people are unknown."""

    job: str
    digest: str
    name: str
    kind: str
    coordinator: str
    parties: list[str]
    table: str
    time: float
    by: list[str]
    people: int
    rows: str  # the digest of the set of people, empty if they are unknown
    counted: dict[str, str]
    groups: dict[str, int] = field(default_factory=dict)  # of each QID, how many
    predicted: bool = False  # whether somebody learned a class of each person
    matched: bool = False  # whether others learned which of their people are in the table
    thresholds: dict[str, str] = field(
        default_factory=dict
    )  # by which something was shown or hidden
    inputs: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # what the partners committed to

    @property
    def tells(self) -> bool:
        """Whether the job counts among the jobs whose number `policy.repeat` limits."""
        return self.predicted or self.matched or bool(self.counted)

    def shown(self) -> dict[str, Any]:
        """As `party history --json` prints it."""
        when = f"{datetime.fromtimestamp(self.time, UTC):%Y-%m-%dT%H:%M:%SZ}"
        return {**asdict(self), "time": when, "counted": sorted(self.counted)}


_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("job", "digest", "name", "kind", "coordinator", "table", "rows"), str),
    **dict.fromkeys(("parties", "by"), list),
    **dict.fromkeys(("counted", "groups", "thresholds", "inputs"), dict),
    "time": (int, float),
    "people": int,
    "predicted": bool,
    "matched": bool,
}
_HELD = {
    "parties": str,
    "by": str,
    "counted": str,
    "groups": int,
    "thresholds": str,
    "inputs": dict,
}  # what these hold
_LATEST = 1e11  # seconds since 1970; a later time is no time


def _sound(entry: Mapping[str, Any]) -> bool:
    """Whether a line has values that a history can have."""
    fit = all(isinstance(value, _TYPES[key]) for key, value in entry.items())
    return fit and 0 <= entry.get("time", 0) < _LATEST and all(_holds(entry, key) for key in _HELD)


def _holds(entry: Mapping[str, Any], key: str) -> bool:
    """Whether a list or mapping of a line has the values that it can have."""
    held = entry.get(key, ())
    values = held.values() if isinstance(held, dict) else held
    return all(isinstance(value, _HELD[key]) for value in values)


class History:
    """The history in a state folder. Threads may use it at the same time; one process writes."""

    _locks: dict[Path, threading.RLock] = {}  # noqa: RUF012 - shared by all who use the same folder

    def __init__(
        self,
        state: Path,
        clock: Callable[[], float] = time.time,
        guard: Callable[[], None] = lambda: None,
    ) -> None:
        """`guard` raises an error if the history is not what it was."""
        self.folder = state / FOLDER
        self.books = database(state)
        self.clock = clock
        self.guard = guard
        self.lock = self._locks.setdefault(self.folder.absolute(), threading.RLock())

    def tidy(self) -> None:
        """Removes what a crash left of files that were being written; the server calls it first."""
        with contextlib.suppress(OSError):
            for left in self.folder.glob("*.new*"):
                left.unlink(missing_ok=True)

    def entries(self) -> list[Remembered]:
        """All jobs, oldest first. A line that cannot be read is an error: it may hide a release."""
        found: dict[str, Remembered] = {}
        for number, content in enumerate(self.books.rows("history"), 1):
            entry = _parsed(content)
            job = str(entry.get("job"))
            if set(entry) == {"job", "groups"} and job in found and _sound(entry):
                found[job] = replace(found[job], groups=entry["groups"])
            elif set(entry) == set(_TYPES) and is_job_id(job) and _sound(entry):
                found[job] = Remembered(**entry)
            else:
                raise EnvironmentFaultError(
                    f"{self.books.path}: row {number} is not a line of a history; {ADVICE}"
                )
        return list(found.values())

    def entry(self, job: str) -> Remembered | None:
        return next((one for one in self.entries() if one.job == job), None)

    def add(self, entry: Remembered, people: Ints | None) -> None:
        """Remembers a job and its people; both are on the disk on return."""
        with self.lock:
            self._make()
            if people is not None:
                self._put(f"{entry.job}.rows", packed(people))
            self.books.append("history", asdict(entry))

    def add_groups(self, job: str, people: Ints, groups: Mapping[str, Codes]) -> None:
        """Remembers the groups of a job's release."""
        order = np.argsort(people)
        columns = {
            f"q{at}": codes[order].astype(np.min_scalar_type(int(codes.max(initial=0))))
            for at, codes in enumerate(groups.values())
        }
        content = io.BytesIO()
        columns["people"] = np.frombuffer(packed(people), np.uint8)
        columns["names"] = np.array(list(groups), np.str_)
        np.savez_compressed(content, allow_pickle=False, **columns)
        numbers = {name: len(distinct(codes)) for name, codes in groups.items()}
        with self.lock:
            self._make()
            self._put(f"{job}.groups.npz", content.getvalue())
            self.books.append("history", {"job": job, "groups": numbers})

    def members(self, job: str) -> Mask:
        """Which people a job was about."""
        return unpacked(self.member_bits(job))

    def member_bits(self, job: str, digest: str | None = None) -> bytes:
        """The people of a job as bits; an error if the bits do not have the `digest` that is given."""
        bits = self._read(f"{job}.rows")
        if digest is not None and hashlib.sha256(bits).hexdigest() != digest:
            raise self._damaged(f"{job}.rows")
        return bits

    def _damaged(self, name: str) -> EnvironmentFaultError:
        return EnvironmentFaultError(f"{self.folder / name}: is damaged; {ADVICE}")

    def released(self, job: str) -> tuple[Ints, dict[str, Codes]]:
        """The people of a release, in the order of their numbers, and their groups for each QID."""
        content = io.BytesIO(self._read(f"{job}.groups.npz"))
        try:
            with np.load(content, allow_pickle=False) as found:
                people = np.flatnonzero(unpacked(found["people"].tobytes()))
                return people, {str(n): found[f"q{at}"] for at, n in enumerate(found["names"])}
        except (OSError, EOFError, ValueError, LookupError, BadZipFile, zlib.error):
            raise self._damaged(f"{job}.groups.npz") from None

    def old(self, limit: float | None, now: float) -> list[Remembered]:
        """The entries that are older than this."""
        return [e for e in self.entries() if limit is not None and now - e.time > limit]

    def prune(self, gone: Collection[str]) -> None:
        """Forgets these jobs; when none is left, the numbers of people, too."""
        with self.lock:
            left = [entry for entry in self.entries() if entry.job not in gone]
            with self.books.changing() as change:
                change.replace("history", (json.dumps(asdict(entry)) for entry in left))
            for job in gone:
                for name in (f"{job}.rows", f"{job}.groups.npz"):
                    (self.folder / name).unlink(missing_ok=True)
            if not any(entry.by for entry in left):
                remove_lists(self.folder)
            self.books.purge()

    # How often the data was checked.

    def examined(self, coordinator: str) -> None:
        """Counts one check of the data for a coordinator."""
        with self.lock:
            days = self._days()
            today = str(int(self.clock() // DAY))
            count = days.setdefault(coordinator, {})
            count[today] = count.get(today, 0) + 1
            self.books.put("notes", _EXAMINED, days)

    def examinations(self, coordinators: Collection[str], window: float) -> int:
        """The checks for these coordinators within the last so many seconds, in whole days."""
        first = (self.clock() - window) // DAY
        days = self._days()
        counts: list[Mapping[str, int]] = [days.get(name, {}) for name in coordinators]
        return sum(n for count in counts for day, n in count.items() if int(day) >= first)

    def forget_examinations(self, limit: float | None) -> None:
        """Forgets the counts of days that are older than this."""
        with self.lock:
            known = self._days()
            if limit is None or not known:
                return
            first = (self.clock() - limit) // DAY
            days = {
                name: {day: n for day, n in counts.items() if int(day) >= first}
                for name, counts in known.items()
            }
            self.books.put("notes", _EXAMINED, {n: c for n, c in days.items() if c})

    def _days(self) -> dict[str, dict[str, int]]:
        return self.books.get("notes", _EXAMINED) or {}

    def _make(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentFaultError(f"{self.folder}: {error.strerror}") from None

    def _read(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise EnvironmentFaultError(f"{self.folder / name}: {error.strerror}") from None

    def _put(self, name: str, content: bytes) -> None:
        """Puts a file in its place as a whole."""
        path = self.folder / name
        try:
            write_whole(path, content)
        except OSError as error:
            raise EnvironmentFaultError(f"{path}: {error.strerror}") from None


def _parsed(content: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def packed(people: Ints) -> bytes:
    """A set of people as bits."""
    members = np.zeros(int(people.max(initial=-1)) + 1, np.bool_)
    members[people] = True
    return np.packbits(members).tobytes()


def unpacked(bits: bytes) -> Mask:
    return np.unpackbits(np.frombuffer(bits, np.uint8)).astype(np.bool_)


def digest_of(people: Ints) -> str:
    """Equal for equal sets of people."""
    return hashlib.sha256(packed(people)).hexdigest()
