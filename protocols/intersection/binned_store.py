"""An oblivious key-value store of 128-bit values, in bins that are filled and read side by side.

Raghuraman and Rindal, "Blazing Fast PSI from Improved OKVS and Subfield VOLE" (CCS 2022, eprint
2022/320), section 3, after Garimella, Pinkas, Rosulek, Trieu and Yanai (CRYPTO 2021). In: different
128-bit keys, and a 128-bit value for each. Out: words, from which every key gives its value and any
other key a random block. Reading is linear in the words over GF(2^128) (`protocols.primitives.field128`),
as `protocols.intersection.vole_intersect` needs it.

A public seed sends each key to a bin. In a bin, a key has three different places, and a number d of
GF(2^128); its value is the sum of the words at these places and of d, d^2, … times the few dense words.
To encode, a key that alone uses some place is set aside, again and again; where every place in use has
two keys or more, one key of the place with the fewest is put into the *gap*. The dense words are then
solved for the gap's keys, and the places from the last key set aside to the first. Words that no key
determines are random: without them the words would tell keys from others.

Sizes. For a bin of n keys, its places are e n for e = 1.223 + 49.2 / 2^(0.555 log2 n + 2.34) and its
dense words g = 40 / log2(e n), rounded down: the gap has more than g keys with a probability of 2^-40,
by the fit of Raghuraman and Rindal to their runs, which is no proof. Bins have the room that random
keys exceed with a probability of 2^-40 in all of them together (binomial tail, summed). In either case
another seed is drawn; so the seed tells of the keys no more than that it was possible. Words for each
key: 1.34 at 10,000 keys, 1.28 at a million, where a bin takes 1.3 MB, a core's cache.

Judgement. They hold the bound on the gap behind e = 1.3 with 60 binary dense columns, as
`protocols.intersection.okvs` has them, for wrong; here a gap of more than g keys is counted, never hidden,
and costs another seed. Their store has one bin of any size; bins of 2^16 keys need 5 % more words and
read the cache in place of the memory.

Cost for n keys: 2 AES for each key, 2 g products; encoding and reading each go over the words once.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Blocks, Ints, UInt32s
from coterie.base.compiled import compiled
from coterie.protocols.intersection.store_equations import solved
from coterie.protocols.primitives.blocks import spread
from coterie.protocols.primitives.field128 import multiply
from coterie.protocols.primitives.randomness import Random

SEED_BYTES = 16
FAILURE_BITS = 40
BIN_KEYS = 1 << 16  # the mean number of keys of a bin is this at most
_ATTEMPTS = 5


@dataclass(frozen=True)
class Shape:
    """What the number of keys determines; both parties compute it."""

    bins: int
    capacity: int  # keys of a bin at most
    places: int  # words of a bin that keys have places in
    dense: int  # words of a bin that belong to all of its keys

    @property
    def words(self) -> int:
        return self.bins * (self.places + self.dense)


@cache
def shape_for(count: int) -> Shape:
    """The shape of a store for `count` keys."""
    bins = max(1, -(-count // BIN_KEYS))
    room = max(1, _room(count, bins))
    slope = 2 ** (0.555 * math.log2(room) + 2.34)
    places = max(3, math.ceil(room * (1.223 + (FAILURE_BITS + 9.2) / slope)))
    return Shape(bins, room, places, int(FAILURE_BITS / math.log2(places)))


def _room(count: int, bins: int) -> int:
    """Keys that no bin exceeds, except with a probability of 2^-40 for all together."""
    if bins == 1:
        return count
    low, high = count // bins, count
    while low < high:
        middle = (low + high) // 2
        if _overflow(count, bins, middle) <= -FAILURE_BITS:
            high = middle
        else:
            low = middle + 1
    return low


def _overflow(count: int, bins: int, room: int) -> float:
    """log2 of a bound on the chance that some bin has more than `room` keys.

    The terms of the binomial tail fall faster than a geometric series of the first two.
    """
    if room >= count:
        return -math.inf
    more = room + 1
    first = (
        math.lgamma(count + 1) - math.lgamma(more + 1) - math.lgamma(count - more + 1)
        - more * math.log(bins) + (count - more) * math.log1p(-1 / bins)
    )  # fmt: skip
    ratio = (count - more) / ((more + 1) * (bins - 1))
    if ratio >= 1:
        return 0.0
    return (first - math.log1p(-ratio)) / math.log(2) + math.log2(bins)


class UnevenBinsError(ValueError):
    """More keys fall into a bin than it has room for."""


class Places:
    """Where the keys are under a seed: sorted by bins, with the places and the number of each."""

    def __init__(self, shape: Shape, seed: bytes, keys: Blocks) -> None:
        self.shape, self.seed = shape, seed
        marks = spread(seed, keys)
        bin_of = np.empty(len(keys), np.uint32)
        starts = np.zeros(shape.bins + 1, np.int64)
        _count(marks, bin_of, starts)
        self._order = np.empty(len(keys), np.int64)
        self._starts = np.cumsum(starts)
        _sort(bin_of, self._starts[:-1].copy(), self._order)
        self._marks = marks[self._order]
        self._numbers = spread(bytes(byte ^ 0xA5 for byte in seed), keys)[self._order]

    @property
    def fullest(self) -> int:
        """The most keys of a bin."""
        return int(np.diff(self._starts).max())

    def encode(self, values: Blocks, rng: Random) -> Blocks | None:
        """Words that give the keys these values; None if the seed does not permit it."""
        if self.fullest > self.shape.capacity:
            return None
        words = rng.array((self.shape.words, 2))
        with _workers(self.shape.bins) as each:
            done = each(lambda number: self._encode_bin(number, values, words))
            return words if all(done) else None

    def decode(self, words: Blocks) -> Blocks:
        """What the words give for every key, in the order of the keys."""
        out = np.empty((len(self._order), 2), np.uint64)
        with _workers(self.shape.bins) as each:
            for _ in each(lambda number: self._decode_bin(number, words, out)):
                pass
        return out

    def _bin(self, number: int) -> tuple[slice, UInt32s, Blocks, Ints]:
        """A bin's words, and of its keys the places, numbers and rows."""
        size = self.shape.places + self.shape.dense
        part = slice(*self._starts[number : number + 2].tolist())
        places = np.empty((part.stop - part.start, 3), np.uint32)
        _place(self._marks[part], np.uint64(self.shape.places), places)
        words = slice(size * number, size * (number + 1))
        return words, places, self._numbers[part], self._order[part]

    def _encode_bin(self, number: int, values: Blocks, words: Blocks) -> bool:
        at, places, numbers, rows = self._bin(number)
        count = len(rows)
        table, dense = words[at][: self.shape.places], words[at][self.shape.places :]
        order, own = np.empty(count, np.uint32), np.empty(count, np.uint32)
        gap = np.empty(self.shape.dense, np.uint32)
        peeled, left = _peel(places, len(table), order, own, gap)
        if peeled + left < count:
            return False
        order, own, gap = order[:peeled], own[:peeled], gap[:left]
        wanted = values[rows]
        if left and not self._solve(places, numbers, wanted, (order, own, gap), table, dense):
            return False
        _assign(places, wanted ^ dense_sums(numbers, dense), order, own, table)
        return True

    def _solve(
        self,
        places: UInt32s,
        numbers: Blocks,
        wanted: Blocks,
        peeled: tuple[Array, Array, Array],
        table: Blocks,
        dense: Blocks,
    ) -> bool:
        """Sets the dense words so that the gap's keys get their values; False if they cannot.

        What a gap's key reads is a sum of the dense words, each times a factor. The factors, and
        the rest, come from assigning the places as if all dense words were zero but one.
        """
        order, own, gap = peeled

        def read(values: Blocks, start: Blocks) -> Blocks:
            trial = start.copy()
            _assign(places, values, order, own, trial)
            total: Blocks = np.bitwise_xor.reduce(trial[places[gap]], axis=1)
            return total

        rests = wanted[gap] ^ read(wanted, table)
        power, factors = numbers, []
        for _ in range(len(dense)):
            factors.append(power[gap] ^ read(power, np.zeros_like(table)))
            power = multiply(power, numbers)
        found = solved(np.stack(factors, axis=1), rests, dense)
        if found is None:
            return False
        dense[:] = found
        return True

    def _decode_bin(self, number: int, words: Blocks, out: Blocks) -> None:
        at, places, numbers, rows = self._bin(number)
        dense = words[at][self.shape.places :]
        _read(places, words[at], dense_sums(numbers, dense), rows, out)


def encode(shape: Shape, keys: Blocks, values: Blocks, rng: Random) -> tuple[Places, Blocks]:
    """Words that map keys[i] to values[i], and the places of the keys under the seed drawn."""
    for _ in range(_ATTEMPTS):
        places = Places(shape, rng.bytes(SEED_BYTES), keys)
        words = places.encode(values, rng)
        if words is not None:
            return places, words
    raise ValueError("no key-value store in five attempts: the keys cannot be different")


def dense_sums(numbers: Blocks, dense: Blocks) -> Blocks:
    """For every number d the sum of d, d^2, … times the dense words, by Horner's rule."""
    total = np.zeros_like(numbers)
    for word in dense[::-1]:
        total = multiply(total ^ word, numbers)
    return total


@contextmanager
def _workers(bins: int) -> Iterator[Callable[[Callable[[int], Any]], Iterator[Any]]]:
    """Calls a function with the number of each bin, on all cores."""
    cores = min(bins, len(os.sched_getaffinity(0)))
    if cores == 1:
        yield lambda function: map(function, range(bins))
        return
    with ThreadPoolExecutor(cores, "store") as pool:
        yield lambda function: pool.map(function, range(bins))


@compiled
def _count(marks: Any, bin_of: Any, counts: Any) -> None:
    """The bin of every key, and how many keys each bin has, one place further on."""
    bins = np.uint64(counts.shape[0] - 1)
    for i in range(marks.shape[0]):
        number = ((marks[i, 0] & np.uint64(0xFFFFFFFF)) * bins) >> np.uint64(32)
        bin_of[i] = number
        counts[number + np.uint64(1)] += 1


@compiled
def _sort(bin_of: Any, starts: Any, order: Any) -> None:
    for i in range(bin_of.shape[0]):
        number = bin_of[i]
        order[starts[number]] = i
        starts[number] += 1


@compiled
def _place(marks: Any, size: Any, places: Any) -> None:
    """Three different places below `size`, each choice equally likely (but for 2^-16)."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    one = np.uint64(1)
    for i in range(marks.shape[0]):
        first = ((marks[i, 0] >> shift) * size) >> shift
        second = ((marks[i, 1] & low) * (size - one)) >> shift
        third = ((marks[i, 1] >> shift) * (size - one - one)) >> shift
        second += one if second >= first else np.uint64(0)
        small, large = min(first, second), max(first, second)
        third += one if third >= small else np.uint64(0)
        third += one if third >= large else np.uint64(0)
        places[i, 0], places[i, 1], places[i, 2] = first, second, third


@compiled
def _peel(places: Any, size: Any, order: Any, own: Any, gap: Any) -> Any:
    """Orders keys so that each has, at its turn, a place of its own; the others go to the gap.

    Returns how many are in order and how many in the gap; fewer than all if the gap is full.
    """
    count = places.shape[0]
    degree, sums = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    for i in range(count):
        for h in range(3):
            degree[places[i, h]] += 1
            sums[places[i, h]] ^= np.uint32(i)
    queue = np.empty(size, np.uint32)  # a place comes to have one key once at most
    end = 0
    for place in range(size):
        if degree[place] == 1:
            queue[end] = place
            end += 1
    done, left, at = 0, 0, 0
    while True:
        while at < end:
            place = queue[at]
            at += 1
            if degree[place] != 1:
                continue
            i = sums[place]
            order[done], own[done] = i, place
            done += 1
            for h in range(3):
                other = places[i, h]
                degree[other] -= 1
                sums[other] ^= i
                if degree[other] == 1:
                    queue[end] = other
                    end += 1
        if done + left == count or left == gap.shape[0]:
            return done, left
        lightest = -1
        for place in range(size):
            if degree[place] > 1 and (lightest < 0 or degree[place] < degree[lightest]):
                lightest = place
        waiting = np.ones(count, np.bool_)
        for k in range(done):
            waiting[order[k]] = False
        for k in range(left):
            waiting[gap[k]] = False
        for i in range(count):
            if waiting[i] and (
                places[i, 0] == lightest or places[i, 1] == lightest or places[i, 2] == lightest
            ):
                gap[left] = i
                left += 1
                for h in range(3):
                    other = places[i, h]
                    degree[other] -= 1
                    sums[other] ^= np.uint32(i)
                    if degree[other] == 1:
                        queue[end] = other
                        end += 1
                break


@compiled
def _assign(places: Any, values: Any, order: Any, own: Any, table: Any) -> None:
    """Sets each key's own place, from the last key set aside to the first."""
    for at in range(order.shape[0] - 1, -1, -1):
        i, mine = order[at], own[at]
        x, y = values[i, 0], values[i, 1]
        for h in range(3):
            place = places[i, h]
            if place != mine:
                x ^= table[place, 0]
                y ^= table[place, 1]
        table[mine, 0], table[mine, 1] = x, y


@compiled
def _read(places: Any, table: Any, sums: Any, rows: Any, out: Any) -> None:
    for i in range(places.shape[0]):
        x, y = sums[i, 0], sums[i, 1]
        for h in range(3):
            x ^= table[places[i, h], 0]
            y ^= table[places[i, h], 1]
        out[rows[i], 0], out[rows[i], 1] = x, y
