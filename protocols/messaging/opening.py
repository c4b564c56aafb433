"""Openings: every value that a job reveals to anybody is declared here and passes `Channel.open`.

An opening says in a sentence what is revealed, to whom and why. It is declared once by `declare`,
at the top of the module that opens it. Its name begins with the part of Coterie that it belongs to,
such as "count: visible cells", and no two openings have the same name. The tables of
docs/threat-model.md are made from the declarations. `Channel.open(OPENING, value, to)` returns the
value and notes that it was opened, to whom and how often; a job's `result.json` lists these notes
under `opened`.

A value counts as opened if somebody learns it from whom it was hidden: combined shares, decoded
outputs of circuits, winners, sizes, domains, labels, instructions, verdicts, and all that goes to
the coordinator. Shares, ciphertexts, labels of wires and masked words are not openings, because
they reveal nothing. A primitive that opens what its caller asks for (a secure sum, a garbled
output) has no declaration: the outermost caller knows what the value means, and passes the value to
`Channel.open`.

What a party's server tells outside the protocol of a job (answers to a coordinator or a peer) is
declared in the same way, by the part "answer", and passes `tell`; party/answers.py has most of it.

Messages: none. The sender of a value notes its opening, and so does everyone who learns the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

COORDINATOR = "the coordinator"  # not a valid name of a party, because of the space


@dataclass(frozen=True)
class Opening:
    """Something that a job reveals: `what` and `why` are sentences, `to` says to whom."""

    name: str
    what: str
    to: str
    why: str

    @property
    def part(self) -> str:
        """The part of Coterie that the opening belongs to."""
        return self.name.partition(":")[0]


_declared: dict[str, Opening] = {}


def declare(name: str, *, what: str, to: str, why: str) -> Opening:
    """Declares an opening, at the top of the module that opens it."""
    part, colon, rest = name.partition(": ")
    if not part or not colon or not rest.strip():
        raise ValueError(f"'{name}' must be 'part: thing'")
    for text in (what, why):
        if not text[:1].isupper() or not text.endswith("."):
            raise ValueError(f"'{name}': '{text}' is no sentence")
    if name in _declared:
        raise ValueError(f"'{name}' is declared twice")
    opening = _declared[name] = Opening(name, what, to, why)
    return opening


def declared() -> dict[str, Opening]:
    """All openings of the modules that have been imported, by name."""
    return dict(_declared)


def tell(opening: Opening, value: T) -> T:
    """Passes a value that a party's server tells outside the protocol of a job."""
    if _declared.get(opening.name) is not opening:
        raise ValueError(f"'{opening.name}' is not declared")
    return value


class Opened:
    """What has been opened in one session, as one party sees it."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def note(self, opening: Opening, to: Iterable[str]) -> None:
        if _declared.get(opening.name) is not opening:
            raise ValueError(f"'{opening.name}' is not declared")
        self._times[opening.name, tuple(sorted(to))] += 1

    @property
    def so_far(self) -> Counter[tuple[str, tuple[str, ...]]]:
        """How often each opening was noted until now."""
        return Counter(self._times)

    def since(
        self, before: Counter[tuple[str, tuple[str, ...]]]
    ) -> list[tuple[str, Sequence[str], int]]:
        """What was noted since then."""
        return [(name, to, times) for (name, to), times in (self._times - before).items()]

    def note_again(self, notes: Iterable[tuple[str, Sequence[str], int]]) -> None:
        """Notes what was opened when a kept answer was found (`protocols.messaging.kept`)."""
        for name, to, times in notes:
            if name in _declared and times > 0:
                self._times[name, tuple(to)] += times

    def listed(self) -> list[dict[str, Any]]:
        """One entry for each opening and group of recipients, in the order of first occurrence."""
        return [
            {"what": name, "to": list(to), "times": times}
            for (name, to), times in self._times.items()
        ]


def put_together(parties: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """What was opened in a job, merged from the lists of its parties.

    Not every party knows of every opening; the largest count that a party lists is the right one.
    Recipients stand in the order of `names`. Raises ValueError with the name of a party whose list
    is malformed.
    """
    order = [*names, COORDINATOR]
    times: dict[tuple[str, tuple[str, ...]], int] = {}
    for party, entries in parties.items():
        if not isinstance(entries, list) or not all(_sound(entry, order) for entry in entries):
            raise ValueError(party)
        for entry in entries:
            key = entry["what"], tuple(sorted(set(entry["to"]), key=order.index))
            count = entry["times"]
            times[key] = max(count, times.get(key, 0))
    return [
        {
            "what": name,
            "meaning": _declared[name].what,
            "to": list(to),
            "why": _declared[name].why,
            "times": count,
        }
        for (name, to), count in times.items()
    ]


def _sound(entry: Any, order: Sequence[str]) -> bool:
    """Whether a value has the form of an entry of `Opened.listed`."""
    if not isinstance(entry, dict) or set(entry) != {"what", "to", "times"}:
        return False
    name, to, times = entry["what"], entry["to"], entry["times"]
    return (
        isinstance(name, str)
        and name in _declared
        and isinstance(to, list)
        and all(recipient in order for recipient in to)
        and type(times) is int
        and times > 0
    )


__all__ = ["COORDINATOR", "Opened", "Opening", "declare", "declared", "put_together", "tell"]
