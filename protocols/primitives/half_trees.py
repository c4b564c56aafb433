"""Trees of pseudorandom blocks that add up to a secret on every level, grown at half the price.

Guo, Yang, Wang, Zhang, Xie, Liu and Zhao, "Half-Tree: Halving the Cost of Tree Expansion in COT and
DPF" (EUROCRYPT 2023, eprint 2022/1431): the correlated tree of Goldreich, Goldwasser and Micali. The
first level is (root, root ^ delta). Below it the left child of a node is its hash, and the right one
the node XOR the left one. So all nodes of a level add up (XOR) to delta, a hash makes two nodes, and one
sum for each level is enough to open a tree but for one leaf.

    grow      at the owner of delta: all leaves, and the XOR of the left nodes of each level
    regrow    at the other party: all leaves but one, from the sums of one side of each level

`sides` says which: the other party gets the sum of the left nodes where it is 0 and of the right ones
where it is 1 (the former XOR delta), and its path takes the other side: bit j of the place of the
missing leaf is 1 - sides[j] (`missing`). With a correlated transfer t = q ^ r delta for each level the
owner sends q ^ sum, and t ^ (q ^ sum) is what the other needs with sides = r: no choice is sent.

Two kinds of leaves, v at the owner and w at the other party:

    bits      v = w but at the missing leaf, where w = v ^ delta. The lowest bit of every leaf is
              cleared, and that of delta is 1, so that the lowest bit of w is 1 at the missing leaf
              alone. Nothing has to be sent for it.
    field     v = w but at the missing leaf, where w = v ^ a delta for an a of GF(2^128). The leaves
              are hashed once more, which takes delta out of them. `grow` gives the XOR of a tree's
              leaves; with a product c = b ^ a delta for each tree the owner sends total ^ b, and the
              other party passes that ^ c as `extra`.

Each hash is TMMO of `protocols.primitives.aes`, with a tweak for every node: `first` is the number
of the first tree. No two trees under one delta may have one number and one kind.

Security: without delta and the path's nodes, the missing leaf and the sides look random if the hash
is circular correlation robust under delta, as the paper has it. The owner learns nothing of the sides,
which do not occur in what it computes. `regrow` takes the same time and touches the same memory
whatever the sides are. Cost: one hash (two blocks of AES) for each leaf, two for field leaves.

Two implementations give the same bytes: numba with AES instructions, NumPy around `cryptography`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits, Blocks, Ints
from coterie.base.compiled import compiled
from coterie.protocols.primitives.aes import ROUND_KEYS, accelerated, hash_loop, portable_hash
from coterie.protocols.primitives.executor import on_all_cores

DEEPEST = 16
_PIECE = 1 << 15  # leaves that one core works on
_BIT_NODE, _FIELD_NODE, _FIELD_LEAF = 7, 8, 9  # domains of tweaks
_SHIFT = np.uint64(17)  # tweaks of one tree: one for each of its nodes
_NONE = np.zeros(2, np.uint64)
_ONE = np.uint64(1)
_NOT_LOWEST = np.uint64(2**64 - 2)


def grow(
    roots: Blocks, delta: Blocks, depth: int, first: int, field: bool = False
) -> tuple[Blocks, Blocks, Blocks]:
    """Leaves (trees, 2^depth, 2), sums of left nodes (trees, depth, 2), totals of leaves (trees, 2)."""
    _check_depth(depth)
    trees = len(roots)
    sums = np.empty((trees, depth, 2), np.uint64)
    totals = np.empty((trees, 2), np.uint64)
    leaves = np.empty((trees, 1 << depth, 2), np.uint64)
    if accelerated():
        roots, each = np.ascontiguousarray(roots), max(1, _PIECE >> depth)

        def grow_piece(at: int) -> None:
            part = slice(at, at + each)
            _grow(roots[part], delta, np.uint64(first + at), field, leaves[part], sums[part],
                  totals[part], ROUND_KEYS, _NONE)  # fmt: skip

        on_all_cores(grow_piece, range(0, trees, each))
    else:
        _portable_grow(roots, delta, first, field, leaves, sums)
        totals[:] = np.bitwise_xor.reduce(leaves, axis=1)
    return leaves, sums, totals


def regrow(sums: Blocks, sides: Bits, first: int, extra: Blocks | None = None) -> Blocks:
    """The other party's leaves, from sums (trees, depth, 2); `extra` (trees, 2) for field leaves."""
    trees, depth = sides.shape
    _check_depth(depth)
    field = extra is not None
    if extra is None:
        extra = np.tile(np.array([1, 0], np.uint64), (trees, 1))
    leaves = np.empty((trees, 1 << depth, 2), np.uint64)
    wide = np.ascontiguousarray(sides, np.uint64)
    if accelerated():
        sums, extra = np.ascontiguousarray(sums), np.ascontiguousarray(extra)
        each = max(1, _PIECE >> depth)

        def regrow_piece(at: int) -> None:
            part = slice(at, at + each)
            _regrow(sums[part], wide[part], np.uint64(first + at), field, extra[part], leaves[part],
                    ROUND_KEYS, _NONE)  # fmt: skip

        on_all_cores(regrow_piece, range(0, trees, each))
    else:
        _portable_regrow(sums, wide, first, field, extra, leaves)
    return leaves


def missing(sides: Bits) -> Ints:
    """The place of each tree's missing leaf."""
    powers = np.int64(1) << np.arange(sides.shape[1], dtype=np.int64)
    places: Ints = ((1 - sides.astype(np.int64)) * powers).sum(axis=1)
    return places


def at_missing(values: Blocks, sides: Bits) -> Blocks:
    """(trees, 2^depth, 2): each tree's value at its missing leaf and zeros elsewhere.

    As `regrow`, in a time that does not depend on the sides.
    """
    size = 1 << sides.shape[1]
    chosen = np.uint64(0) - (np.arange(size) == missing(sides)[:, None]).astype(np.uint64)
    out: Blocks = chosen[..., None] & values[:, None, :]
    return out


def _check_depth(depth: int) -> None:
    if not 1 <= depth <= DEEPEST:
        raise ValueError(f"a tree has 1 to {DEEPEST} levels, not {depth}")


# Kernels: one tree after the other, in memory that stays in the processor's cache.


@compiled
def _finish(nodes: Any, tree: Any, field: Any, keys: Any, none: Any) -> None:
    """Turns the last level into leaves."""
    if field:
        hash_loop(nodes, none, nodes, keys, tree << _SHIFT, np.uint64(_FIELD_LEAF))
    else:
        for i in range(nodes.shape[0]):
            nodes[i, 0] &= _NOT_LOWEST


@compiled
def _grow(
    roots: Any, delta: Any, first: Any, field: Any, leaves: Any, sums: Any, totals: Any,
    keys: Any, none: Any,
) -> None:  # fmt: skip
    domain = np.uint64(_FIELD_NODE) if field else np.uint64(_BIT_NODE)
    for number in range(leaves.shape[0]):
        nodes, tree = leaves[number], np.uint64(first + np.uint64(number))
        for word in range(2):
            nodes[0, word] = sums[number, 0, word] = roots[number, word]
            nodes[1, word] = roots[number, word] ^ delta[word]
        for level in range(1, sums.shape[1]):
            count = 1 << level
            tweak = np.uint64((tree << _SHIFT) + np.uint64(count))
            hash_loop(nodes[:count], none, nodes[count : 2 * count], keys, tweak, domain)
            x = y = np.uint64(0)
            for i in range(count):
                left, up = nodes[count + i, 0], nodes[count + i, 1]
                nodes[count + i, 0], nodes[count + i, 1] = nodes[i, 0] ^ left, nodes[i, 1] ^ up
                nodes[i, 0], nodes[i, 1] = left, up
                x ^= left
                y ^= up
            sums[number, level, 0], sums[number, level, 1] = x, y
        _finish(nodes, tree, field, keys, none)
        x = y = np.uint64(0)
        for i in range(nodes.shape[0]):
            x ^= nodes[i, 0]
            y ^= nodes[i, 1]
        totals[number, 0], totals[number, 1] = x, y


@compiled
def _equal(a: Any, b: Any) -> Any:
    """All ones where two small numbers are equal, and zero elsewhere."""
    return np.uint64(0) - (((a ^ b) - _ONE) >> np.uint64(63))


@compiled
def _complete(nodes: Any, x: Any, y: Any, place: Any) -> None:
    """Clears one place, and puts (x, y) XOR all others there."""
    for i in range(nodes.shape[0]):
        other = ~_equal(np.uint64(i), place)
        nodes[i, 0] &= other
        nodes[i, 1] &= other
        x ^= nodes[i, 0]
        y ^= nodes[i, 1]
    for i in range(nodes.shape[0]):
        here = _equal(np.uint64(i), place)
        nodes[i, 0] |= here & x
        nodes[i, 1] |= here & y


@compiled
def _regrow(
    sums: Any, sides: Any, first: Any, field: Any, extra: Any, leaves: Any, keys: Any, none: Any
) -> None:
    domain = np.uint64(_FIELD_NODE) if field else np.uint64(_BIT_NODE)
    for number in range(leaves.shape[0]):
        nodes, tree = leaves[number], np.uint64(first + np.uint64(number))
        side = np.uint64(0) - sides[number, 0]
        for word in range(2):
            nodes[0, word] = sums[number, 0, word] & ~side
            nodes[1, word] = sums[number, 0, word] & side
        path = np.uint64(_ONE - sides[number, 0])
        for level in range(1, sums.shape[1]):
            count = 1 << level
            tweak = np.uint64((tree << _SHIFT) + np.uint64(count))
            hash_loop(nodes[:count], none, nodes[count : 2 * count], keys, tweak, domain)
            side = np.uint64(0) - sides[number, level]
            x, y = sums[number, level, 0], sums[number, level, 1]
            for i in range(count):
                known = ~_equal(np.uint64(i), path)
                left, up = nodes[count + i, 0] & known, nodes[count + i, 1] & known
                right, high = nodes[i, 0] ^ left, nodes[i, 1] ^ up
                x ^= left ^ (side & (left ^ right))
                y ^= up ^ (side & (up ^ high))
                nodes[i, 0], nodes[i, 1] = left, up
                nodes[count + i, 0], nodes[count + i, 1] = right, high
            for i in range(count):
                here = _equal(np.uint64(i), path)
                nodes[i, 0] ^= here & ~side & x
                nodes[i, 1] ^= here & ~side & y
                nodes[count + i, 0] ^= here & side & x
                nodes[count + i, 1] ^= here & side & y
            path |= np.uint64((_ONE - sides[number, level]) << np.uint64(level))
        _finish(nodes, tree, field, keys, none)
        _complete(nodes, extra[number, 0], extra[number, 1], path)


# The same by NumPy, for all trees at once.


def _tweaks(first: int, trees: int, start: int, count: int) -> Array:
    numbers = np.uint64(first) + np.arange(trees, dtype=np.uint64)
    within = np.arange(start, start + count, dtype=np.uint64)
    return (numbers[:, None] << _SHIFT) + within


def _children(nodes: Blocks, level: int, first: int, field: bool) -> tuple[Blocks, Blocks]:
    tweaks = _tweaks(first, len(nodes), 1 << level, 1 << level)
    left = portable_hash(nodes, tweaks, _FIELD_NODE if field else _BIT_NODE)
    return left, nodes ^ left


def _portable_finish(leaves: Blocks, first: int, field: bool) -> None:
    if field:
        tweaks = _tweaks(first, len(leaves), 0, leaves.shape[1])
        leaves[:] = portable_hash(leaves, tweaks, _FIELD_LEAF)
    else:
        leaves[..., 0] &= _NOT_LOWEST


def _portable_grow(
    roots: Blocks, delta: Blocks, first: int, field: bool, leaves: Blocks, sums: Blocks
) -> None:
    nodes = np.stack([roots, roots ^ delta], axis=1)
    sums[:, 0] = roots
    for level in range(1, sums.shape[1]):
        left, right = _children(nodes, level, first, field)
        sums[:, level] = np.bitwise_xor.reduce(left, axis=1)
        nodes = np.concatenate([left, right], axis=1)
    leaves[:] = nodes
    _portable_finish(leaves, first, field)


def _portable_regrow(
    sums: Blocks, sides: Array, first: int, field: bool, extra: Blocks, leaves: Blocks
) -> None:
    masks = (np.uint64(0) - sides)[..., None]
    nodes = np.stack([sums[:, 0] & ~masks[:, 0], sums[:, 0] & masks[:, 0]], axis=1)
    place = _ONE - sides[:, 0]
    for level in range(1, sides.shape[1]):
        numbers = np.arange(1 << level, dtype=np.uint64)
        here = (np.uint64(0) - (numbers == place[:, None]).astype(np.uint64))[..., None]
        left, right = _children(nodes, level, first, field)
        left, right = left & ~here, right & ~here
        side = masks[:, level, None]
        found = sums[:, level] ^ np.bitwise_xor.reduce(left ^ (side & (left ^ right)), axis=1)
        found = here & found[:, None]
        nodes = np.concatenate([left ^ (found & ~side), right ^ (found & side)], axis=1)
        place = place | ((_ONE - sides[:, level]) << np.uint64(level))
    leaves[:] = nodes
    _portable_finish(leaves, first, field)
    numbers = np.arange(leaves.shape[1], dtype=np.uint64)
    here = (np.uint64(0) - (numbers == place[:, None]).astype(np.uint64))[..., None]
    leaves &= ~here
    leaves |= here & (extra ^ np.bitwise_xor.reduce(leaves, axis=1))[:, None]
