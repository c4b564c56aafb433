"""Sums of pseudorandom streams: of the sixteen leaves of many small trees, by the bits of their places.

Every leaf is a key of AES-128, and its stream is the encryption of the counters first, first + 1, …
(little-endian). For each tree come out the sum (XOR) of all streams, and for every bit b of a place the
sum of the streams of the leaves whose place has this bit: five sums, made by folding the leaves in
half four times, with 30 additions in place of 47.

Place 0 counts towards the first sum alone. A party that does not know the leaf of place 0 passes
`known=False`; then that leaf counts as zeros, and the first sum is not the others' first sum.

Two implementations give the same bytes: numba kernels with the AES instructions of x86 through
LLVM, the key schedule included, and NumPy around the AES of `cryptography`; see
`protocols.primitives.aes`. Both run in constant time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from llvmlite import ir

from coterie.base.arrays import Array, Bytes, Words
from coterie.base.compiled import Instructions, compiled
from coterie.protocols.primitives.aes import (
    BLOCK,
    accelerated,
    block_of,
    encrypt_blocks,
    load,
    store,
)

LEAVES, BITS = 16, 4
PIECE = 8  # blocks of a stream that are made together; streams are read by multiples of these
_WORDS = 2 * PIECE
_SCHEDULE = 22  # words of the eleven round keys
_ROUND_CONSTANTS = (1, 2, 4, 8, 16, 32, 64, 128, 27, 54)  # FIPS 197, section 5.2


class LeafSums:
    """The streams of trees whose keys have the shape (trees, 16, 16)."""

    def __init__(self, keys: Bytes, known: bool = True) -> None:
        self._known = known
        self._trees = len(keys)
        self._ciphers: list[Any] = []
        if accelerated():
            self._schedules = schedules(keys.reshape(-1, 16))
        else:
            self._ciphers = [
                Cipher(algorithms.AES(key.tobytes()), modes.ECB())  # noqa: S305 a keyed function
                for key in keys.reshape(-1, 16)
            ]

    def sums(self, first: int, blocks: int) -> tuple[Words, Words]:
        """The sums of `blocks` blocks from the counter `first` on.

        Of shapes (trees, words) and (trees, 4, words); `blocks` is a multiple of `PIECE`.
        """
        if blocks % PIECE:
            raise ValueError(f"streams are read by {PIECE} blocks")
        totals = np.empty((self._trees, 2 * blocks), np.uint64)
        by_bit = np.empty((self._trees, BITS, 2 * blocks), np.uint64)
        if self._ciphers:
            self._portable(first, blocks, totals, by_bit)
        else:
            space = np.zeros((LEAVES, _WORDS), np.uint64)
            _sums(self._schedules, np.uint64(first), self._known, totals, by_bit, space)
        return totals, by_bit

    def _portable(self, first: int, blocks: int, totals: Array, by_bit: Array) -> None:
        counters = np.zeros((blocks, 2), np.uint64)
        counters[:, 0] = np.arange(first, first + blocks, dtype=np.uint64)
        source = counters.reshape(-1).view(np.uint8).data
        for tree in range(self._trees):
            leaves = np.zeros((LEAVES, 2 * blocks), np.uint64)
            for place in range(0 if self._known else 1, LEAVES):
                space = np.empty(2 * blocks + 2, np.uint64)
                encryptor = self._ciphers[LEAVES * tree + place].encryptor()
                encryptor.update_into(source, space.view(np.uint8).data)
                leaves[place] = space[: 2 * blocks]
            for bit in range(BITS - 1, -1, -1):
                low, high = leaves[: 1 << bit], leaves[1 << bit : 2 << bit]
                by_bit[tree, bit] = np.bitwise_xor.reduce(high, axis=0)
                leaves = low ^ high
            totals[tree] = leaves[0]


def schedules(keys: Bytes) -> Words:
    """The round keys of every key, of shape (keys, 22), by the processor's instructions."""
    out = np.empty((len(keys), _SCHEDULE), np.uint64)
    _expand(np.ascontiguousarray(keys).view(np.uint64), out)
    return out


def _write_schedule(builder: Any, key: Any, out: Any) -> None:
    """The key schedule of AES-128, of which the processor has the substitution."""
    row = ir.VectorType(ir.IntType(32), 4)
    kind = ir.FunctionType(BLOCK, [BLOCK, ir.IntType(8)])
    name = "llvm.x86.aesni.aeskeygenassist"
    known = builder.module.globals.get(name)
    assist = known if known is not None else ir.Function(builder.module, kind, name)

    def shuffled(a: Any, b: Any, places: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(row, places))

    zeros = ir.Constant(row, [0] * 4)
    current = load(builder, key)
    store(builder, current, out)
    for number, constant in enumerate(_ROUND_CONSTANTS, 1):
        word = builder.call(assist, [current, ir.Constant(ir.IntType(8), constant)])
        word = builder.bitcast(word, row)
        value = builder.bitcast(current, row)
        for _ in range(3):  # each word becomes the sum of the words up to it
            moved = shuffled(zeros, builder.bitcast(current, row), [0, 4, 5, 6])
            value = builder.xor(value, moved)
            current = builder.bitcast(moved, BLOCK)
        value = builder.xor(value, shuffled(word, zeros, [3, 3, 3, 3]))
        current = builder.bitcast(value, BLOCK)
        store(builder, current, out, number)


def _write_counters(builder: Any, schedule: Any, first: Any, out: Any) -> None:
    """The encryption of `PIECE` counters."""
    none = ir.Constant(first.type, 0)
    counters = [
        block_of(builder, builder.add(first, ir.Constant(first.type, i)), none)
        for i in range(PIECE)
    ]
    for i, block in enumerate(encrypt_blocks(builder, counters, schedule)):
        store(builder, block, out, i)


_expand_one = Instructions("uintp uintp", _write_schedule)
_encrypt_counters = Instructions("uintp uint64 uintp", _write_counters)


@compiled
def _expand(keys: Any, out: Any) -> None:
    source, target = np.uintp(keys.ctypes.data), np.uintp(out.ctypes.data)
    for i in range(keys.shape[0]):
        _expand_one(
            np.uintp(source + np.uintp(16 * i)),
            np.uintp(target + np.uintp(8 * _SCHEDULE * i)),
        )


@compiled
def _sums(schedule: Any, first: Any, known: Any, totals: Any, by_bit: Any, space: Any) -> None:
    keys, buffer = np.uintp(schedule.ctypes.data), np.uintp(space.ctypes.data)
    start = 0 if known else 1
    for tree in range(totals.shape[0]):
        for at in range(0, totals.shape[1], _WORDS):
            counter = np.uint64(first + np.uint64(at // 2))
            space[0, :] = 0
            for place in range(start, LEAVES):
                _encrypt_counters(
                    np.uintp(keys + np.uintp(8 * _SCHEDULE * (LEAVES * tree + place))),
                    counter,
                    np.uintp(buffer + np.uintp(8 * _WORDS * place)),
                )
            for bit in range(BITS - 1, -1, -1):
                half = 1 << bit
                for word in range(_WORDS):
                    total = np.uint64(0)
                    for place in range(half):
                        value = space[place + half, word]
                        total ^= value
                        space[place, word] ^= value
                    by_bit[tree, bit, at + word] = total
            for word in range(_WORDS):
                totals[tree, at + word] = space[0, word]
