"""What the audit log says about the books, and whether they are so.

The lines of the audit log about the ends of jobs, about jobs that are remembered, and about the
server's starts and stops have the number of changes of the books (`serial`), and of the ledger and the
history how many rows they have and the link of the last (`books`). Both only grow, so each such link
must hold for ever. Before the history is pruned the log says so, and expects nothing more of the rows
before; so it is after a restored backup, and after new seals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coterie.party.books.people import damaged_lists
from coterie.party.store.database import Checked, database
from coterie.party.store.seal import CHAINED, Seal

HISTORY = "history"
LOST_BOOK = "book does not hold its head"
PRUNING = "history is to be pruned"
BEGUN_ANEW = "history begun anew"  # by the steward's word: nothing is expected of it any more
STATE_RESTORED = "state restored"
BROUGHT_FORWARD = "state brought forward"
SEALED = "books sealed anew"
_IN_WORDS = {"jobs": "journal", "notes": HISTORY}  # notes are counts, and heads of lists of people


@dataclass
class Expected:
    """What the log says of the books since they were last restored or sealed anew."""

    serial: int = 0
    links: dict[str, dict[int, str]] = field(default_factory=lambda: {book: {} for book in CHAINED})
    lost: set[str] = field(default_factory=set)  # books that were found to be others

    def lost_by(self, state: Path, checked: Checked) -> list[str]:
        """The books that are not what the log says, or do not fit their seal."""
        found = {_IN_WORDS.get(table, table) for table in checked.wrong}
        found |= {
            book
            for book in CHAINED
            if any(checked.links[book].get(n) != link for n, link in self.links[book].items())
        }
        if checked.seal.serial < self.serial:  # an earlier copy of the file
            found.add("journal")
        if damaged_lists(state):
            found.add(HISTORY)
        return sorted(found)


def is_about_books(entry: Mapping[str, Any]) -> bool:
    """Whether a line of the audit log changes what is expected of the books."""
    return "books" in entry or entry.get("event") in (
        LOST_BOOK, PRUNING, BEGUN_ANEW, STATE_RESTORED, BROUGHT_FORWARD, SEALED,
    )  # fmt: skip


def expected_of(entries: Iterable[Mapping[str, Any]]) -> Expected:
    """What lines of the audit log, in their order, say about the books."""
    found = Expected()
    for entry in entries:
        event = entry.get("event")
        if event in (STATE_RESTORED, BROUGHT_FORWARD, SEALED):
            found = Expected()
        elif event in (PRUNING, BEGUN_ANEW):
            found.links[HISTORY] = {}
            found.lost -= {HISTORY} if event == BEGUN_ANEW else set()
        elif event == LOST_BOOK:
            found.lost.add(str(entry.get("book")))
        told = entry.get("books")
        if isinstance(told, dict) and isinstance(told.get("serial"), int):
            found.serial = told["serial"]
            for book in CHAINED:
                rows, link = _told(told.get(book))
                found.links[book][rows] = link
    return found


def _told(link: Any) -> tuple[int, str]:
    """A link in a line of the audit log; if the line is damaged, one that no book has."""
    if not isinstance(link, list) or len(link) != 2 or type(link[0]) is not int:
        return -1, ""
    return link[0], str(link[1])


def as_fact(seal: Seal) -> dict[str, Any]:
    """A seal as a line of the audit log has it."""
    return {"serial": seal.serial, **{book: list(seal.chains[book]) for book in CHAINED}}


def lost_books(state: Path, expected: Expected) -> list[str]:
    """The books that are not what the log says; an error if the file is damaged, or another's."""
    return expected.lost_by(state, database(state).check(expected.links))
