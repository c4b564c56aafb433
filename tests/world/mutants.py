"""Planted mistakes, each with the script of a small world that must notice it.

A world that has never found anything proves nothing. Each mutant breaks one promise of the product,
as a careless change might; its world is calm without the mutant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from coterie.party import records, worker
from coterie.party.books.append_file import AppendFile
from coterie.party.callers.permissions import Permissions
from coterie.party.queue.job_queue import JobQueue
from coterie.party.queue.reservations import Reservations
from coterie.party.queue.turns import Turns
from coterie.party.records import Book
from coterie.protocols.messaging.channel import Channel
from tests.world.kind import NAME

Patches = list[Any]


@dataclass(frozen=True)
class Mutant:
    """A mistake, the steps of a world that notices it, and words of what the world says."""

    patches: Callable[[], Patches]
    steps: list[dict[str, Any]]
    says: str
    running: int = 4

    @property
    def script(self) -> dict[str, Any]:
        return {"seed": 1, "unrest": 0.0, "kind": NAME, "running": self.running} | {
            "steps": self.steps
        }

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for one in self.patches():
                stack.enter_context(one)
            yield


def _unsynced() -> Patches:
    append = AppendFile.append

    def lazily(self: AppendFile, entry: dict[str, Any], sync: bool = True) -> None:
        append(self, entry, sync=sync and self.path.name != records.JOURNAL)

    return [patch.object(AppendFile, "append", lazily)]


def _reversed() -> Patches:
    begin = Reservations.__init__

    def backwards(self: Reservations, *words: Any, **named: Any) -> None:
        begin(self, *words, **named)
        self._peers.reverse()

    return [patch.object(Reservations, "__init__", backwards)]


def _twice() -> Patches:
    set_state = Book.set_state

    def anyhow(self: Book, record: Any, state: Any, *, expected: Any = None, **more: Any) -> bool:
        return set_state(self, record, state, **more)

    def always(self: JobQueue, job_id: str) -> bool:
        return job_id in self._entries

    return [patch.object(Book, "set_state", anyhow), patch.object(JobQueue, "begin", always)]


def _secrets_left() -> Patches:
    def nothing(folder: Any) -> None:
        pass

    return [
        patch.object(records, "remove_answers", nothing),
        patch.object(worker, "remove_answers", nothing),
    ]


def _silent_cancel() -> Patches:
    note = Permissions.note

    def forgetful(self: Permissions, context: Any, event: str, **facts: Any) -> None:
        if event != "cancelled":
            note(self, context, event, **facts)

    return [patch.object(Permissions, "note", forgetful)]


def _drawn_again() -> Patches:
    return [patch.object(Channel, "drawn", lambda self, what, draw: draw())]


def _torn_line() -> Patches:
    return [patch.object(AppendFile, "_mend", lambda self: None)]


def _place_kept() -> Patches:
    return [patch.object(Turns, "leave", lambda self, job_id: None)]


def _job(*parties: str, number: int = 0, at: float = 0.1) -> dict[str, Any]:
    return {"do": "run", "job": number, "by": "carol", "parties": [*parties], "at": at}


_ALL = ("alba", "birk", "cedar")
MUTANTS = {
    "the journal is not synced before the answer": Mutant(
        _unsynced,
        [
            _job(*_ALL),
            {"fault": "power", "party": "birk", "call": "Queue", "when": "before", "nth": 1},
        ],
        "forgotten",
    ),
    "places are reserved in the reverse order": Mutant(
        _reversed,
        [_job(*_ALL), _job("birk", "cedar", number=1), _job(*_ALL, number=2)],
        "",
        running=1,
    ),
    "a job begins twice": Mutant(_twice, [_job(*_ALL)], "ended undisturbed"),
    "the kept answers stay": Mutant(_secrets_left, [_job(*_ALL)], "kept answers are left"),
    "a cancellation is not noted": Mutant(
        _silent_cancel,
        [_job(*_ALL), {"do": "cancel", "party": "alba", "at": 0.13}],
        "does not say",
    ),
    "a random number is drawn again": Mutant(
        _drawn_again,
        [_job(*_ALL), {"fault": "cut", "party": "cedar", "call": "Collect", "nth": 5}],
        "drew 2 numbers",
    ),
    "a torn line is not cut off": Mutant(
        _torn_line,
        [_job(*_ALL), {"fault": "kill", "party": "birk", "write": 8}],
        "chain of the audit log breaks",
    ),
    "a place is never given back": Mutant(_place_kept, [_job(*_ALL)], "places are left"),
}
