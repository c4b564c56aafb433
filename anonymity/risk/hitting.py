"""The smallest set of elements that meets every one of some sets, by branch and bound.

A step takes the set with the fewest elements that is not met, and tries each of them; elements
tried before are forbidden further down, so that nothing is looked at twice. A branch is given up
where its bound on the number of elements is too large: sets that share no element each need one of
their own, and the `bits` of the chosen elements together must reach `need`.

Guarantee: the smallest, unless the search was given up after `Work` was used up; then `at_least` is
what was proved. Cost: exponential in the worst case, a few hundred steps on tables of people.
Errata: none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_VISITS = 5_000_000


@dataclass
class Work:
    """How many sets may still be looked at, in one search or in several that share it."""

    left: int = _VISITS


@dataclass(frozen=True)
class Hitting:
    chosen: tuple[int, ...]
    at_least: int

    @property
    def proved(self) -> bool:
        return len(self.chosen) == self.at_least


def smallest_hitting_set(
    sets: Iterable[int],
    elements: int,
    bits: Sequence[float] = (),
    need: float = 0.0,
    work: Work | None = None,
) -> Hitting:
    """A smallest set of elements that meets all `sets`, each given as a mask with a bit per element.

    The `bits` of the chosen elements together reach `need`, or all bits if these are fewer. Without
    any `work` left, the answer is a small set, and a bound that needs no search.
    """
    ordered = sorted(sets, key=int.bit_count)
    worth = list(bits) or [0.0] * elements
    need = min(need, sum(worth))
    search = _Search(worth, need, work or Work())
    greedy = _greedy(ordered, worth, need)
    for size in range(search.bound(ordered, 0, 0.0), len(greedy)):
        chosen = search.within(ordered, size, 0, 0, 0.0)
        if chosen is not None:
            return Hitting(_members(chosen), size)
        if search.work.left <= 0:
            return Hitting(_members_of(greedy), size)
    return Hitting(_members_of(greedy), len(greedy))


class _Search:
    def __init__(self, worth: list[float], need: float, work: Work) -> None:
        self.worth, self.need, self.work = worth, need, work
        self.richest = sorted(range(len(worth)), key=lambda e: -worth[e])

    def bound(self, sets: Sequence[int], forbidden: int, reached: float) -> int:
        """How many elements are needed at the least."""
        used = apart = 0
        for mask in sets:
            if not mask & used:
                used |= mask
                apart += 1
        lacking = self.need - reached
        count = 0
        for element in self.richest:
            if lacking <= 0:
                break
            if not forbidden >> element & 1:
                lacking -= self.worth[element]
                count += 1
        return max(apart, count)

    def within(
        self, sets: Sequence[int], size: int, chosen: int, forbidden: int, reached: float
    ) -> int | None:
        """A set of so many further elements that meets all; None where there is none."""
        self.work.left -= len(sets) + 1
        if self.work.left <= 0:
            return None
        if not sets and reached >= self.need:
            return chosen
        if self.bound(sets, forbidden | chosen, reached) > size:
            return None
        if sets:
            branch = min((mask & ~forbidden for mask in sets), key=int.bit_count)
        else:
            branch = ((1 << len(self.worth)) - 1) & ~chosen & ~forbidden
        tried = forbidden
        for element in sorted(_members(branch), key=lambda e: -self.worth[e]):
            bit = 1 << element
            rest = [mask for mask in sets if not mask & bit]
            found = self.within(rest, size - 1, chosen | bit, tried, reached + self.worth[element])
            if found is not None:
                return found
            tried |= bit
        return None


def _greedy(sets: Sequence[int], worth: list[float], need: float) -> list[int]:
    size = -(-max(len(worth), 1) // 8)
    data = b"".join(mask.to_bytes(size, "little") for mask in sets)
    words = np.frombuffer(data, np.uint8).reshape(len(sets), size)
    left = np.unpackbits(words, axis=1, bitorder="little")[:, : len(worth)].astype(bool)
    chosen: list[int] = []
    while len(left):
        met = left.sum(axis=0).tolist()
        best = max(range(len(worth)), key=lambda e: (met[e], worth[e]))
        chosen.append(best)
        left = left[~left[:, best]]
    for element in sorted(range(len(worth)), key=lambda e: -worth[e]):
        if sum(worth[e] for e in chosen) >= need:
            break
        if element not in chosen:
            chosen.append(element)
    return chosen


def _members(mask: int) -> tuple[int, ...]:
    return tuple(e for e in range(mask.bit_length()) if mask >> e & 1)


def _members_of(chosen: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(chosen))
