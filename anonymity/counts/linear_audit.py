"""Which small sets of people follow from the answers to several questions about sets of people.

A question asks for a number that adds up over a set of people: how many of them have a value, or the
sum of a column. Whoever has the answers can add and subtract them, and so knows every number of the
span of the questions' indicator vectors. A question is harmful if the span with it, and not without
it, holds a vector that is not zero for fewer than `k` people: the answers then tell something about
these few. The answers themselves are never looked at, so that whoever knows the questions could
compute each refusal alone, and learns nothing by it (the audit is simulatable).

The vectors have an entry for each atom: a set of people who are in the same sets of all questions. The
span is held in echelon form modulo the prime 2^61 - 1: exact, unless the prime divides a determinant
of zeros and ones, which fewer than 100 questions hardly reach by accident, and which then refuses too
much rather than too little. Single atoms, and the sets asked for, are found exactly; of unions of
atoms those that stand in a line of the echelon form, by two orders of the atoms. General unions are
not searched, since that is a search for the shortest word of a code.

`partition_into_atoms` takes time of questions times people; the elimination that of questions squared
times atoms. Many questions about sets that overlap without order have as many atoms as people: where
that is more than `_CELLS` and `_WORK` permit, `TooManyQuestionsError` says so, and the caller must
assume that the answers reveal something about a few people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from coterie.base.arrays import Ints, Mask, Words

PRIME = (1 << 61) - 1
_P = np.uint64(PRIME)
_CELLS = 20_000_000  # questions times atoms; an elimination takes some 40 bytes for each
_WORK = 2_000_000_000  # questions squared times atoms; a minute or two


class TooManyQuestionsError(Exception):
    """The questions divide people into so many atoms that nobody can wait for the audit."""


def smallest_told(earlier: Iterable[Mask], asked: Mask, k: int) -> int | None:
    """The fewest people, below `k`, about whom `asked` together with `earlier` reveals a number.

    None if there are none, or if earlier questions reveal it already. `earlier` is read once, one
    set after the other.
    """
    if not asked.any():
        return None
    vectors, sizes = partition_into_atoms(chain(earlier, [asked]))
    before = _echelon(vectors[:-1])
    if not _reduced(vectors[-1:], before).any():
        return None  # the answer follows from earlier ones
    found: list[int] = []
    for order in (np.argsort(-sizes, kind="stable"), _large_first(sizes, k)):
        whole = _echelon(vectors[:, order])
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        lines = whole[:, back]
        people = ((lines != 0) * sizes).sum(axis=1)
        few = lines[(people < k) & (people > 0)]
        fresh = _reduced(few, before).any(axis=1)
        found += people[(people < k) & (people > 0)][fresh].tolist()
    differences = ((vectors != vectors[-1]) * sizes).sum(axis=1)[:-1]
    found += [people for people in [int(asked.sum()), *differences.tolist()] if people < k]
    return min(found, default=None)


def partition_into_atoms(sets: Iterable[Mask]) -> tuple[Words, Ints]:
    """Each set as a vector over the atoms, and the number of people of each atom.

    People who are in no set make no atom.
    """
    number: Ints = np.zeros(0, np.int64)
    above: list[
        Ints
    ] = []  # per set, for each atom so far: the atom before the set that it is part of
    inside: list[Mask] = []  # per set, for each atom so far: whether the atom is in the set
    for one in sets:
        number = number if above else np.zeros(len(one), np.int64)
        split = 2 * number + one
        there = np.bincount(split) > 0
        number = (np.cumsum(there) - 1)[split]
        kept = np.flatnonzero(there)
        above.append(kept // 2)
        inside.append(kept % 2 == 1)
        cells = len(above) * len(kept)
        if cells > _CELLS or len(above) * cells > _WORK:
            raise TooManyQuestionsError
    members = _members(above, inside)
    some = np.flatnonzero(members.any(axis=0))
    sizes = np.bincount(number, minlength=members.shape[1])
    return members[:, some].astype(np.uint64), sizes[some]


def _members(above: Sequence[Ints], inside: Sequence[Mask]) -> Mask:
    """Which of the last atoms are in which set; each set's atoms are parts of those before it."""
    last = len(inside[-1])
    found = np.zeros((len(inside), last), np.bool_)
    place = np.arange(last)
    for at in range(len(inside) - 1, -1, -1):
        found[at] = inside[at][place]
        place = above[at][place]
    return found


def _large_first(sizes: Ints, k: int) -> Ints:
    """Atoms of `k` people first, whose columns are cleared first; then the smallest ones."""
    order: Ints = np.lexsort((sizes, sizes < k))
    return order


def _echelon(vectors: Words) -> Words:
    """The reduced echelon form of the vectors' span, without lines of zeros."""
    left = vectors.copy()
    rank = 0
    for column in range(left.shape[1]):
        if rank == len(left):
            break
        pivots = np.flatnonzero(left[rank:, column])
        if not len(pivots):
            continue
        at = rank + int(pivots[0])
        left[[rank, at]] = left[[at, rank]]
        inverse = np.uint64(pow(int(left[rank, column]), PRIME - 2, PRIME))
        left[rank] = _times(left[rank], inverse)
        others = np.flatnonzero(left[:, column])
        others = others[others != rank]
        taken = _times(left[others, column][:, None], left[rank][None, :])
        left[others] = _minus(left[others], taken)
        rank += 1
    return left[:rank]


def _reduced(vectors: Words, echelon: Words) -> Words:
    """What is left of the vectors besides the span of a reduced echelon form."""
    left = vectors.copy()
    for line in echelon:
        pivot = int(np.flatnonzero(line)[0])
        left = _minus(left, _times(left[:, pivot][:, None], line[None, :]))
    return left


def _minus(a: Words, b: Words) -> Words:
    difference: Words = np.where(a >= b, a - b, a + _P - b)
    return difference


def _times(a: Words, b: Words | np.uint64) -> Words:
    """Products modulo 2^61 - 1, by halves of 31 bits; every sum stays below 2^64."""
    low, half, small = np.uint64((1 << 31) - 1), np.uint64(31), np.uint64((1 << 30) - 1)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + a0 * b1
    total = (
        a1 * b1 * np.uint64(2) + (middle >> np.uint64(30)) + ((middle & small) << half) + a0 * b0
    )
    total = (total & _P) + (total >> np.uint64(61))
    product: Words = np.where(total >= _P, total - _P, total)
    return product
