"""Planted mistakes, each with the script of a small world that must notice it.

A world that has never found anything proves nothing. Each mutant breaks one promise of the product,
as a careless change might; its world is calm without the mutant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from coterie.base.errors import RefusedError
from coterie.party import live, proposals, receptions, records, server, worker
from coterie.party.books.append_file import AppendFile
from coterie.party.callers.permissions import Permissions
from coterie.party.queue.job_queue import JobQueue
from coterie.party.queue.reservations import Reservations
from coterie.party.queue.turns import Turns
from coterie.party.records import Book
from coterie.party.store.database import Database
from coterie.protocols.messaging.kept import Kept
from coterie.transport.session import Session
from tests.world import threads
from tests.world.kind import NAME

Patches = list[Any]


@dataclass(frozen=True)
class Mutant:
    """A mistake, the steps of a world that notices it, and words of what the world says."""

    patches: Callable[[], Patches]
    steps: list[dict[str, Any]]
    says: str
    running: int = 4
    longest: float = 3600.0  # simulated seconds after which the world hangs
    more: Mapping[str, Any] = field(default_factory=dict)  # of the script

    @property
    def script(self) -> dict[str, Any]:
        whole = {"running": self.running, "longest": self.longest, "steps": self.steps}
        return {"seed": 1, "unrest": 0.0, "kind": NAME, **whole, **self.more}

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for one in self.patches():
                stack.enter_context(one)
            yield


def _unsynced() -> Patches:
    def lazily(self: Database, table: str, name: str, entry: Any) -> None:
        with self.changing(sync=False) as change:
            change.put(table, name, entry)

    return [patch.object(Database, "put", lazily)]


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


def _used_again() -> Patches:
    return [patch.object(Kept, "count", lambda self, inputs: [])]


def _torn_line() -> Patches:
    return [patch.object(AppendFile, "_mend", lambda self: None)]


def _place_kept() -> Patches:
    return [patch.object(Turns, "leave", lambda self, job_id: None)]


def _endless() -> Patches:
    def told_only(self: Any, record: Any, session: Session, error: BaseException) -> None:
        session.fail(error)

    return [patch.object(worker.Worker, "_break_off", told_only)]


def _deaf_to_files() -> Patches:
    return [patch.object(live.Live, "_take_up", lambda self: False)]


def _silent_refusal() -> Patches:
    return [patch.object(server.PartyServer, "_kept_back", lambda self, reason: None)]


def _by_the_wall() -> Patches:
    begin = Session.__init__

    def init(self: Session, *words: Any, **named: Any) -> None:
        begin(self, *words, **{**named, "clock": threads.wall})

    return [patch.object(Session, "__init__", init)]


def _punctual() -> Patches:
    def refuse(off: float) -> str:
        raise RefusedError(f"the clock is {off:g} s ahead")

    return [patch.object(proposals, "skew_in_words", refuse)]


def _unsynced_jobs() -> Patches:
    def write(path: Any, content: str) -> None:
        path.write_text(content)

    return [patch.object(records, "write_whole", write)]


def _unsynced_delivery() -> Patches:
    return [patch.object(receptions, "sync_tree", lambda folder: None)]


def _untidy() -> Patches:
    return [patch.object(server, "remove_leftovers", lambda state: None)]


def _model_lost() -> Patches:
    return [patch.object(worker.Worker, "_keep_model", lambda self, record: None)]


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
    "a random number is used in two attempts": Mutant(
        _used_again,
        [_job(*_ALL), {"fault": "cut", "party": "cedar", "call": "Collect", "nth": 5}],
        "in two attempts",
    ),
    "a torn line is not cut off": Mutant(
        _torn_line,
        [_job(*_ALL), {"fault": "kill", "party": "birk", "write": 27}],
        "chain of the audit log breaks",
    ),
    "a place is never given back": Mutant(_place_kept, [_job(*_ALL)], "places are left"),
    "a job whose end cannot be accounted for runs on": Mutant(
        _endless,
        [_job(*_ALL), {"fault": "full", "party": "birk", "write": 104, "for": 1.0}],
        "hangs: after 120 s these still wait",
        longest=120.0,
    ),
    "a newer party file is not taken up": Mutant(
        _deaf_to_files,
        [_job(*_ALL), {"do": "reload", "party": "birk", "change": "memory", "at": 0.5}],
        "does not work under its newest file",
    ),
    "a renewed certificate is not taken up": Mutant(
        _deaf_to_files,
        [_job(*_ALL), {"do": "reload", "party": "birk", "change": "certificate", "at": 0.5}],
        "does not work under its newest file",
    ),
    "a file that cannot be read is not noted": Mutant(
        _silent_refusal,
        [_job(*_ALL), {"do": "reload", "party": "birk", "change": "broken", "at": 0.5}],
        "does not say that a file was refused",
    ),
    "silence is measured by the wall clock": Mutant(
        _by_the_wall,
        [_job(*_ALL), {"do": "clock", "party": "birk", "by": 3600.0, "at": 4.0}],
        "ended undisturbed",
        more={"latency": 0.3},
    ),
    "whose clock is wrong is refused": Mutant(
        _punctual, [_job(*_ALL)], "ended undisturbed", more={"clocks": {"carol": 3600.0}}
    ),
    "an accepted job is not on the disk": Mutant(
        _unsynced_jobs,
        [
            _job(*_ALL),
            {"fault": "power", "party": "birk", "at": 0.4},
        ],
        "was accepted, and is lost",
        more={"manual": ["cedar"]},
    ),
    "a recipient acknowledges what is not on its disk": Mutant(
        _unsynced_delivery,
        [
            _job(*_ALL) | {"recipients": ["birk"]},
            {"fault": "power", "party": "birk", "call": "Deliver", "when": "over", "nth": 1},
        ],
        "does not have the result that it acknowledged",
    ),
    "what a crash left of a delivery stays": Mutant(
        _untidy,
        [
            _job(*_ALL) | {"recipients": ["birk"]},
            {"fault": "kill", "party": "birk", "write": 122},
        ],
        "a temporary folder is left",
    ),
    "a job has finished although its disk is full": Mutant(
        lambda: [patch.object(records, "_WITHOUT_JOURNAL", records.ENDED)],
        [
            {"do": "run", "job": 0, "by": "dora", "parties": ["birk", "cedar"], "at": 0.2},
            {"fault": "full", "party": "cedar", "write": 108, "for": 3.0},
            {"fault": "power", "party": "cedar", "at": 0.6},
        ],
        "told FINISHED",
        more={"servers": ["birk", "cedar"]},
    ),
    "the model of a finished job is not kept": Mutant(
        _model_lost, [_job("a", "b", "c")], "its model is not kept", more={"kind": "naive bayesnet"}
    ),
}
