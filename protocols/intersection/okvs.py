"""An oblivious key-value store: encoded keys give their values, any other key a random one.

Garimella, Pinkas, Rosulek, Trieu and Yanai, "Oblivious Key-Value Stores and Amplification for
Private Set Intersection" (CRYPTO 2021): garbled cuckoo table with three positions
(3H-GCT), and dense columns for what cannot be peeled, after Pinkas, Rosulek, Trieu and Yanai, "PSI
from PaXoS" (EUROCRYPT 2020).

A key has one position in each third of a table of 1.3 n + 96 words and a subset of 64 more words;
its value is the exclusive or of these. Keys are peeled off from positions that only they use. The
remaining keys (none, in most large tables) are solved by elimination with the 64 dense words; a
solution exists except with probability of about 2^-60. Free words are random. If the values are
pseudorandom to the receiver of the hint, so is the whole hint, and it reveals nothing about the
keys.

Keys are different 128-bit blocks, values 64-bit words. Cost for n keys: linear; 10.4 n bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.base.arrays import Blocks, Words
from coterie.base.compiled import compiled
from coterie.protocols.primitives.blocks import spread
from coterie.protocols.primitives.randomness import Random

DENSE = 64
_ATTEMPTS = 5


@dataclass(frozen=True)
class Hint:
    """The encoded store: the key of the hash functions, the table, the dense words."""

    key: bytes
    table: Words
    dense: Words


def table_size(count: int) -> int:
    """Words of the table for `count` keys: a multiple of three."""
    return -(-(13 * count // 10 + 96) // 3) * 3


def _places(keys: Blocks, key: bytes, size: int) -> tuple[Any, Words]:
    """Positions (n, 3) and dense subsets (n,) of the keys."""
    words = spread(key, keys).view(np.uint32).reshape(-1, 4)[:, :3].astype(np.uint64)
    third = size // 3
    positions = (words * np.uint64(third)) >> np.uint64(32)
    positions += np.arange(3, dtype=np.uint64) * np.uint64(third)
    flipped = bytes(byte ^ 0xA5 for byte in key)
    return positions.astype(np.uint32), spread(flipped, keys)[:, 0].copy()


@compiled
def _peel(positions: Any, degree: Any, sums: Any, order: Any, place: Any) -> Any:
    """Orders keys so that each has, at its turn, a position of its own; returns their number."""
    count = positions.shape[0]
    for i in range(count):
        for h in range(3):
            p = positions[i, h]
            degree[p] += 1
            sums[p] ^= i
    queue = np.empty(degree.shape[0], np.uint32)
    end = 0
    for p in range(degree.shape[0]):
        if degree[p] == 1:
            queue[end] = p
            end += 1
    done, at = 0, 0
    while at < end:
        p = queue[at]
        at += 1
        if degree[p] != 1:
            continue
        i = sums[p]
        order[done] = i
        place[done] = p
        done += 1
        for h in range(3):
            q = positions[i, h]
            degree[q] -= 1
            sums[q] ^= i
            if degree[q] == 1 and end < queue.shape[0]:
                queue[end] = q
                end += 1
    return done


@compiled
def _tables(dense: Any) -> Any:
    """For every value of every byte of a subset, the exclusive or of the dense words it selects."""
    out = np.zeros((8, 256), np.uint64)
    for block in range(8):
        for subset in range(1, 256):
            low = subset & -subset
            bit = 0
            while (low >> bit) != 1:
                bit += 1
            out[block, subset] = out[block, subset ^ low] ^ dense[8 * block + bit]
    return out


@compiled
def _dot(tables: Any, subset: Any) -> Any:
    total = np.uint64(0)
    for block in range(8):
        total ^= tables[block, (subset >> np.uint64(8 * block)) & np.uint64(255)]
    return total


@compiled
def _assign(
    positions: Any, subsets: Any, values: Any, order: Any, place: Any, table: Any, tables: Any
) -> None:
    for at in range(order.shape[0] - 1, -1, -1):
        i = order[at]
        word = values[i] ^ _dot(tables, subsets[i])
        for h in range(3):
            if positions[i, h] != place[at]:
                word ^= table[positions[i, h]]
        table[place[at]] = word


@compiled
def _decode(positions: Any, subsets: Any, table: Any, tables: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        out[i] = (
            table[positions[i, 0]]
            ^ table[positions[i, 1]]
            ^ table[positions[i, 2]]
            ^ _dot(tables, subsets[i])
        )


def encode(keys: Blocks, values: Words, rng: Random) -> Hint:
    """A hint that maps keys[i] to values[i]."""
    size = table_size(len(keys))
    for _ in range(_ATTEMPTS):
        key = rng.bytes(16)
        positions, subsets = _places(keys, key, size)
        degree, sums = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
        order, place = np.empty(len(keys), np.uint32), np.empty(len(keys), np.uint32)
        peeled = int(_peel(positions, degree, sums, order, place))
        table, dense = rng.array(size), rng.array(DENSE)
        if peeled < len(keys):
            left = np.ones(len(keys), np.bool_)
            left[order[:peeled]] = False
            core = np.flatnonzero(left)
            if not _solve(positions[core], subsets[core], values[core], table, dense):
                continue
        _assign(positions, subsets, values, order[:peeled], place[:peeled], table, _tables(dense))
        return Hint(key, table, dense)
    raise ValueError("no key-value store in five attempts: the keys cannot be different")


def decode(hint: Hint, keys: Blocks) -> Words:
    """The value of every key; a random one for a key that was not encoded."""
    positions, subsets = _places(keys, hint.key, len(hint.table))
    out = np.empty(len(keys), np.uint64)
    _decode(positions, subsets, hint.table, _tables(hint.dense), out)
    return out


def _solve(positions: Any, subsets: Words, values: Words, table: Words, dense: Words) -> bool:
    """Gaussian elimination for the keys that were not peeled; False if it fails.

    A row is a Python integer of bits. Words that no pivot determines keep their random values.
    """
    used = sorted(set(positions.reshape(-1).tolist()))
    column = {place: DENSE + i for i, place in enumerate(used)}
    pivots: dict[int, tuple[int, int]] = {}
    for places, subset, value in zip(
        positions.tolist(), subsets.tolist(), values.tolist(), strict=True
    ):
        row = subset
        for place in places:
            row ^= 1 << column[place]
        while row:
            top = row.bit_length() - 1
            if top not in pivots:
                pivots[top] = (row, value)
                break
            other, other_value = pivots[top]
            row ^= other
            value ^= other_value
        else:
            if value:
                return False
    words = {place: int(table[place]) for place in used}
    content = [int(word) for word in dense] + [words[place] for place in used]
    for top in sorted(pivots):  # a pivot row has no column above its own
        row, value = pivots[top]
        rest = row ^ (1 << top)
        while rest:
            low = rest & -rest
            value ^= content[low.bit_length() - 1]
            rest ^= low
        content[top] = value
    dense[:] = content[:DENSE]
    table[used] = content[DENSE:]
    return True
