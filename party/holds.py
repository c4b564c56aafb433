"""Questions that a running job puts to the steward, and its wait for the answer.

A job asks before its people are counted again (`policy.repeat` with `on: ask`), and before its output
goes out (`policy.output`). While the job waits, it runs for its peers and its coordinator: heartbeats
are sent, and its step says that it waits. The limit of `policy.answer_within` counts from the first time
the question was put: a restart of the server does not prolong it. An answer is on the disk, with the
digest of what it was about, before the steward hears that it counts and before the job goes on: after
an interruption the same question is not put again, and a no stays a no.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from coterie.base.errors import RefusedError
from coterie.base.text import one_line
from coterie.party.job_record import Hold, Record
from coterie.party.store.database import database

_LOOK = 0.1


def ask(
    record: Record,
    hold: Hold,
    digest: str,
    on_ask: Callable[[], None],
    interrupted: Callable[[], BaseException | None],
    wall: Callable[[], float] = time.time,
) -> None:
    """Waits for the steward's yes; raises `RefusedError` at a no, or when nobody answers in time.

    `interrupted` returns the error that has ended the job meanwhile, if one has.
    """
    books, name = database(record.home), record.note
    kept = books.get("notes", name) or {}
    before = kept.get(hold.about, {})
    if before.get("yes") == digest:
        return
    if before.get("no") == digest:
        raise _refusal(hold, str(before.get("reason", "")))
    hold.digest = digest
    within = hold.until - wall()
    hold.until = min(hold.until, _until(before, hold.until))
    books.put("notes", name, {**kept, hold.about: {"until": hold.until}})
    record.held = hold
    try:
        on_ask()
        while not hold.answered.wait(_LOOK):
            if (error := interrupted()) is not None:
                raise error
            if wall() > hold.until:
                raise RefusedError(
                    f"nobody answered within {_in_words(within)} (policy.answer_within) about "
                    f"{hold.question}"
                )
        if not hold.yes:
            raise _refusal(hold, hold.reason)
    finally:
        record.held = None


def answer(record: Record, about: str, yes: bool, reason: str, person: str) -> bool:
    """The steward's answer, on the disk when this returns; False if the job does not ask this.

    If the answer cannot be written, it does not count, and the job asks on.
    """
    with record.changed:
        hold = record.held
        if hold is None or hold.about != about or hold.answered.is_set():
            return False
        books, name, reason = database(record.home), record.note, one_line(reason)
        said = {"yes": hold.digest} if yes else {"no": hold.digest, "reason": reason}
        kept = books.get("notes", name) or {}
        books.put("notes", name, {**kept, about: {"until": hold.until, **said}})
        hold.yes, hold.reason, hold.person = yes, reason, one_line(person)
        hold.answered.set()
        return True


def _refusal(hold: Hold, reason: str) -> RefusedError:
    why = f": {reason}" if reason else ""
    return RefusedError(f"the operator says no to {hold.question}{why}")


def _until(before: Mapping[str, Any], otherwise: float) -> float:
    """The limit that was written when the question was first put."""
    found = before.get("until")
    return float(found) if isinstance(found, int | float) else otherwise


def _in_words(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
