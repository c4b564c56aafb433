"""Binary trees of pseudorandom blocks: one party knows all leaves, the other all leaves but one.

Goldreich, Goldwasser and Micali, "How to construct random functions" (J. ACM 1986), punctured at a
point as in Boneh and Waters (ASIACRYPT 2013) and others. A tree grows from a random root: each node
is hashed (TMMO, `protocols.primitives.aes`) to a left and a right child. Whoever knows, level by level,
the XOR of all nodes on the side that a path does *not* take can compute every leaf but the one at
the path's end: the sibling of the node on the path is that XOR without the nodes that are known.

    grow      at the owner of the roots: both sums of each level, and pads from the leaves
    regrow    at the other party: the same pads but for one leaf, from one sum of each level

In both cases the pads are used up at once, so that no tree is ever stored. A vector v of ring
elements belongs to each record, and `size` vectors come out, which add up to v at the record's leaf
and to zero at the others (`protocols.statistics.grouped_sums` explains why):

    grow      minus the pad of every leaf; and `sealed`, which is v plus the pads of all leaves
    regrow    the pad of every other leaf; at its own leaf `sealed` less these pads

They are added up over the records, or kept for each record. A vector of one block has the leaf itself
as its pad. A longer one has pads that are hashed from the leaf, a block each: whoever knows some of
the elements must not get the leaf, from which the other pads would follow.

Leaf j is reached by the bits of j, the lowest first, so that the nodes of a level which end in the
same low bits lie side by side. Only the leaves below `size` grow on the last level.

Security: leaves are pseudorandom to whoever lacks the path's nodes if the hash is a pseudorandom
generator for random inputs. Every record has tweaks of its own. Both implementations (numba with
AES instructions, NumPy around `cryptography`) give the same bytes. Which memory `regrow` touches
depends on the path, which is the secret of the party that runs it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.base.arrays import Array, Blocks, Codes
from coterie.base.compiled import compiled
from coterie.protocols.primitives.aes import (
    ROUND_KEYS,
    accelerated,
    hash_loop,
    portable_hash,
)

LEFT, RIGHT, PAD = 4, 5, 6  # domains of tweaks; pads of further blocks have PAD + 256 * block
MOST_LEAVES = 1 << 16
_SHIFT = np.uint64(17)  # tweaks of one record: more than a tree has nodes on a level
_NONE = np.zeros(2, np.uint64)


def depth(size: int) -> int:
    """The levels below the root of a tree with `size` leaves."""
    if not 1 <= size <= MOST_LEAVES:
        raise ValueError(f"a tree has 1 to {MOST_LEAVES} leaves, not {size}")
    return (size - 1).bit_length()


def grow(
    roots: Blocks, size: int, rows: Array, first: int, each: bool
) -> tuple[Blocks, Array, Array]:
    """Sums of levels (records, depth, 2, 2), the sealed rows, and this party's vectors.

    `rows` has a vector for each record; `first` numbers the first record in the session. The
    vectors are of shape (size, width), or (records, size, width) with `each`.
    """
    records, width = rows.shape
    rows = np.ascontiguousarray(rows)
    sums = np.zeros((records, depth(size), 2, 2), np.uint64)
    sealed = np.empty_like(rows)
    out = np.zeros((records if each else 1, size, width), rows.dtype)
    if accelerated():
        nodes = np.zeros((max(1 << depth(size), 8), 2), np.uint64)
        buffer = _buffer(nodes, size, width, rows.dtype)
        _grow(roots, size, rows, np.uint64(first), each, sums, sealed, out,
              nodes, buffer, ROUND_KEYS, _NONE)  # fmt: skip
    else:
        leaves = _portable_grow(roots, size, first, sums)
        pads = _portable_pads(leaves, width, rows.dtype, first)
        sealed[:] = rows + pads.sum(axis=1, dtype=rows.dtype)
        _keep(np.negative(pads), out, each)
    return sums, sealed, out if each else out[0]


def regrow(sums: Blocks, codes: Codes, size: int, sealed: Array, first: int, each: bool) -> Array:
    """The other party's vectors, from the received sums (records, depth, 2) and sealed rows."""
    records, width = sealed.shape
    sealed = np.ascontiguousarray(sealed)
    codes = np.ascontiguousarray(codes, np.int64)
    out = np.zeros((records if each else 1, size, width), sealed.dtype)
    if accelerated():
        nodes = np.zeros((max(1 << depth(size), 8), 2), np.uint64)
        buffer = _buffer(nodes, size, width, sealed.dtype)
        _regrow(np.ascontiguousarray(sums), codes, size, sealed, np.uint64(first), each, out,
                nodes, buffer, ROUND_KEYS, _NONE)  # fmt: skip
    else:
        leaves = _portable_regrow(sums, codes, size, first)
        pads = _portable_pads(leaves, width, sealed.dtype, first)
        at = np.arange(records)
        pads[at, codes] = 0
        pads[at, codes] = sealed - pads.sum(axis=1, dtype=sealed.dtype)
        _keep(pads, out, each)
    return out if each else out[0]


def _buffer(nodes: Blocks, size: int, width: int, dtype: Any) -> Array:
    """Where the pads of a record are: the leaves themselves, or room for what is hashed from them."""
    per = 16 // np.dtype(dtype).itemsize
    if width <= per:
        return nodes.view(dtype)
    return np.zeros((max(size, 8), per), dtype)


# Kernels: one record after the other, in memory that stays in the processor's cache.


@compiled
def _pads(nodes: Any, block: Any, size: Any, tweak: Any, buffer: Any, keys: Any, none: Any) -> None:
    """The pads of all leaves: block number `block` of each, of vectors that have several."""
    domain = np.uint64(PAD) + (np.uint64(block) << np.uint64(8))
    hash_loop(nodes[:size], none, buffer, keys, tweak, domain)


@compiled
def _grow(
    roots: Any, size: Any, rows: Any, first: Any, each: Any, sums: Any, sealed: Any, out: Any,
    nodes: Any, buffer: Any, keys: Any, none: Any,
) -> None:  # fmt: skip
    records, width = rows.shape
    per = buffer.shape[1]
    for i in range(records):
        tweak = (first + np.uint64(i)) << _SHIFT
        nodes[0, 0], nodes[0, 1] = roots[i, 0], roots[i, 1]
        for level in range(sums.shape[1]):
            count = 1 << level
            right = min(count, size - count)
            hash_loop(nodes[:right], none, nodes[count:], keys, tweak, np.uint64(RIGHT))
            hash_loop(nodes[:count], none, nodes, keys, tweak, np.uint64(LEFT))
            for side in range(2):
                x = y = np.uint64(0)
                for j in range(count * side, count + right * side):
                    x ^= nodes[j, 0]
                    y ^= nodes[j, 1]
                sums[i, level, side, 0], sums[i, level, side, 1] = x, y
        place = i if each else 0
        for block in range((width + per - 1) // per):
            if width > per:
                _pads(nodes, block, size, tweak, buffer, keys, none)
            for word in range(min(per, width - block * per)):
                column = block * per + word
                total = rows[i, column]
                for j in range(size):
                    total += buffer[j, word]
                    out[place, j, column] -= buffer[j, word]
                sealed[i, column] = total


@compiled
def _regrow(
    sums: Any, codes: Any, size: Any, sealed: Any, first: Any, each: Any, out: Any,
    nodes: Any, buffer: Any, keys: Any, none: Any,
) -> None:  # fmt: skip
    records, width = sealed.shape
    per = buffer.shape[1]
    for i in range(records):
        tweak = (first + np.uint64(i)) << _SHIFT
        code = codes[i]
        nodes[0, 0] = nodes[0, 1] = np.uint64(0)
        for level in range(sums.shape[1]):
            count = 1 << level
            right = min(count, size - count)
            hash_loop(nodes[:right], none, nodes[count:], keys, tweak, np.uint64(RIGHT))
            hash_loop(nodes[:count], none, nodes, keys, tweak, np.uint64(LEFT))
            known = code & (count - 1)  # the node on the path, whose children are not known
            side = 1 - ((code >> level) & 1)  # the path goes to the other side
            start = count * side
            number = right if side else count
            if start + known < size:
                nodes[start + known, 0] = nodes[start + known, 1] = np.uint64(0)
            x, y = sums[i, level, 0], sums[i, level, 1]
            for j in range(start, start + number):
                x ^= nodes[j, 0]
                y ^= nodes[j, 1]
            if start + known < size:
                nodes[start + known, 0], nodes[start + known, 1] = x, y
        place = i if each else 0
        for block in range((width + per - 1) // per):
            if width > per:
                _pads(nodes, block, size, tweak, buffer, keys, none)
            for word in range(min(per, width - block * per)):
                column = block * per + word
                total = sealed[i, column]
                for j in range(size):
                    total -= buffer[j, word]
                    out[place, j, column] += buffer[j, word]
                # At the leaf itself: neither its pad, which is not the right one, nor that in the sum.
                out[place, code, column] += total


# `_grow` and `_regrow` by NumPy, for a whole array of records.


def _tweaks(first: int, records: int, count: int) -> Array:
    start = (np.uint64(first) + np.arange(records, dtype=np.uint64)) << _SHIFT
    tweaks: Array = start[:, None] + np.arange(count, dtype=np.uint64)
    return tweaks


def _children(nodes: Blocks, size: int, first: int) -> tuple[Blocks, Blocks]:
    """The left and the right children of a level."""
    records, count = nodes.shape[:2]
    tweaks = _tweaks(first, records, count)
    right = min(count, size - count)
    return (
        portable_hash(nodes, tweaks, LEFT),
        portable_hash(np.ascontiguousarray(nodes[:, :right]), tweaks[:, :right], RIGHT),
    )


def _portable_grow(roots: Blocks, size: int, first: int, sums: Blocks) -> Blocks:
    nodes = np.ascontiguousarray(roots)[:, None, :]
    for level in range(sums.shape[1]):
        sides = _children(nodes, size, first)
        for side, children in enumerate(sides):
            sums[:, level, side] = np.bitwise_xor.reduce(children, axis=1)
        nodes = np.concatenate(sides, axis=1)
    return nodes


def _portable_regrow(sums: Blocks, codes: Codes, size: int, first: int) -> Blocks:
    records = len(codes)
    at = np.arange(records)
    nodes = np.zeros((records, 1, 2), np.uint64)
    for level in range(sums.shape[1]):
        count = 1 << level
        left, right = _children(nodes, size, first)
        known = codes & (count - 1)
        to_left = (codes >> level & 1).astype(bool)  # the sum is that of the left children
        for chosen, children in ((to_left, left), (~to_left, right)):
            here = chosen & (known < children.shape[1])
            children[at[here], known[here]] = 0
            found = sums[:, level] ^ np.bitwise_xor.reduce(children, axis=1)
            children[at[here], known[here]] = found[here]
        nodes = np.concatenate([left, right], axis=1)
    return nodes


def _portable_pads(leaves: Blocks, width: int, dtype: Any, first: int) -> Array:
    """Pads of shape (records, leaves, width)."""
    records, size = leaves.shape[:2]
    per = 16 // np.dtype(dtype).itemsize
    if width <= per:
        cut: Array = np.ascontiguousarray(leaves).view(dtype)[:, :, :width].copy()
        return cut
    tweaks = _tweaks(first, records, size)
    blocks = [
        portable_hash(leaves, tweaks, PAD + 256 * block).view(dtype)
        for block in range((width + per - 1) // per)
    ]
    return np.concatenate(blocks, axis=2)[:, :, :width]


def _keep(vectors: Array, out: Array, each: bool) -> None:
    out[:] = vectors if each else vectors.sum(axis=0, dtype=vectors.dtype)[None]
