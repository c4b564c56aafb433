"""The field of 2^128 elements: products, and inner products of many rows with one public row.

Bit i of a block is the coefficient of X^i; the modulus is X^128 + X^7 + X^2 + X + 1, as in NIST SP
800-38D (there in the reverse order of bits). An inner product adds up products of 256 bits and
reduces the sum once.

Two implementations give the same bytes: numba kernels with the carry-less multiplication of x86
through LLVM, and NumPy where the processor or numba's target lacks it. `accelerated()` says which is
in use. Both take the same time and touch the same memory whatever the blocks are, but for the
public factors of `inner_products`, by which the NumPy version selects.

Blocks are arrays of shape (n, 2), uint64, little-endian: word 0 holds bits 0 to 63.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from coterie.base.arrays import Blocks
from coterie.base.compiled import Instructions, compiled, processor_has
from coterie.protocols.primitives.aes import BLOCK, block_of, load, store

_FOLD = 0x87  # X^128 modulo the field's polynomial
_WORD, _LANE = ir.IntType(64), ir.IntType(32)
_AT_ONCE = 4  # products side by side, which hides the latency of the instruction


def accelerated() -> bool:
    """Whether numba compiles for a processor with carry-less multiplication."""
    return processor_has("pclmul")


def multiply(a: Blocks, b: Blocks) -> Blocks:
    """a[i] times b[i]; both may be secret."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.shape != b.shape:
        raise ValueError("as many blocks on either side are multiplied")
    if not accelerated():
        return _portable_multiply(a, b)
    out = np.empty_like(a)
    _multiply(a, b, out)
    return out


def inner_products(rows: Blocks, factors: Blocks) -> Blocks:
    """The sum over i of rows[j, i] times factors[i], for every row j; the factors are public."""
    rows, factors = np.ascontiguousarray(rows), np.ascontiguousarray(factors)
    if rows.shape[1:] != factors.shape:
        raise ValueError("each row has as many blocks as there are factors")
    if not accelerated():
        return _portable_inner(rows, factors)
    out = np.empty((len(rows), 2), np.uint64)
    _inner(rows, factors, out)
    return out


def packed(rows: Blocks) -> Blocks:
    """The sum of rows[j, i] X^i for every j, of 128 blocks each.

    So 128 correlated transfers t = q ^ r delta become one product of the whole field: the packed t are
    the packed q plus delta times the element whose bits are r.
    """
    powers = np.zeros((128, 2), np.uint64)
    powers[np.arange(128), np.arange(128) // 64] = (
        np.uint64(1) << np.arange(128, dtype=np.uint64) % 64
    )
    return inner_products(rows, powers)


def _product(builder: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The low, middle and high block of a product; the middle one stands 64 bits up."""
    kind = ir.FunctionType(BLOCK, [BLOCK, BLOCK, ir.IntType(8)])
    name = "llvm.x86.pclmulqdq"
    known = builder.module.globals.get(name)
    instruction = known if known is not None else ir.Function(builder.module, kind, name)

    def of(halves: int) -> Any:
        return builder.call(instruction, [a, b, ir.Constant(ir.IntType(8), halves)])

    return of(0x00), builder.xor(of(0x01), of(0x10)), of(0x11)


def _reduced(builder: Any, low: Any, middle: Any, high: Any) -> Any:
    """A product modulo the field's polynomial, by two more products."""

    def word(block: Any, at: int) -> Any:
        return builder.extract_element(block, ir.Constant(_LANE, at))

    none, fold = ir.Constant(_WORD, 0), ir.Constant(_WORD, _FOLD)
    second = builder.xor(word(low, 1), word(middle, 0))
    third = builder.xor(word(high, 0), word(middle, 1))
    folded = _product(
        builder, block_of(builder, word(high, 1), none), block_of(builder, fold, none)
    )
    second = builder.xor(second, word(folded[0], 0))
    third = builder.xor(third, word(folded[0], 1))
    folded = _product(builder, block_of(builder, third, none), block_of(builder, fold, none))
    return builder.xor(block_of(builder, word(low, 0), second), folded[0])


def _write_multiply(builder: Any, a: Any, b: Any, out: Any) -> None:
    product = _product(builder, load(builder, a), load(builder, b))
    store(builder, _reduced(builder, *product), out)


_multiply_one = Instructions("uintp uintp uintp", _write_multiply)


def _add_instructions(width: int) -> Instructions:
    """add(a, b, sums): adds `width` products to three blocks, without a reduction."""

    def write(builder: Any, a: Any, b: Any, sums: Any) -> None:
        total = [load(builder, sums, part) for part in range(3)]
        for i in range(width):
            product = _product(builder, load(builder, a, i), load(builder, b, i))
            total = [builder.xor(x, y) for x, y in zip(total, product, strict=True)]
        for part, value in enumerate(total):
            store(builder, value, sums, part)

    return Instructions("uintp uintp uintp", write)


_add_some, _add_one = _add_instructions(_AT_ONCE), _add_instructions(1)


def _write_reduce(builder: Any, sums: Any, out: Any) -> None:
    parts = [load(builder, sums, part) for part in range(3)]
    store(builder, _reduced(builder, *parts), out)


_reduce = Instructions("uintp uintp", _write_reduce)


@compiled
def _multiply(a: Any, b: Any, out: Any) -> None:
    x, y, z = np.uintp(a.ctypes.data), np.uintp(b.ctypes.data), np.uintp(out.ctypes.data)
    for i in range(a.shape[0]):
        at = np.uintp(16 * i)
        _multiply_one(np.uintp(x + at), np.uintp(y + at), np.uintp(z + at))


@compiled
def _inner(rows: Any, factors: Any, out: Any) -> None:
    count, size = rows.shape[0], rows.shape[1]
    some = size - size % _AT_ONCE
    sums = np.empty(6, np.uint64)
    row, first = np.uintp(rows.ctypes.data), np.uintp(factors.ctypes.data)
    total, target = np.uintp(sums.ctypes.data), np.uintp(out.ctypes.data)
    for j in range(count):
        sums[:] = 0
        for i in range(0, some, _AT_ONCE):
            at = np.uintp(16 * i)
            _add_some(np.uintp(row + at), np.uintp(first + at), total)
        for i in range(some, size):
            at = np.uintp(16 * i)
            _add_one(np.uintp(row + at), np.uintp(first + at), total)
        _reduce(total, np.uintp(target + np.uintp(16 * j)))
        row = np.uintp(row + np.uintp(16 * size))


def _times_x(blocks: Blocks) -> Blocks:
    """Every block times X."""
    out = blocks << np.uint64(1)
    out[..., 1] |= blocks[..., 0] >> np.uint64(63)
    out[..., 0] ^= (np.uint64(0) - (blocks[..., 1] >> np.uint64(63))) & np.uint64(_FOLD)
    return out


def _portable_multiply(a: Blocks, b: Blocks) -> Blocks:
    """By Horner's rule, with masks in place of decisions."""
    total = np.zeros_like(a)
    for i in range(127, -1, -1):
        bit = a[..., i // 64] >> np.uint64(i % 64) & np.uint64(1)
        total = _times_x(total) ^ (b & (np.uint64(0) - bit)[..., None])
    return total


def _portable_inner(rows: Blocks, factors: Blocks) -> Blocks:
    """For every power of X, the blocks whose public factors have it; then Horner's rule."""
    total = np.zeros((len(rows), 2), np.uint64)
    for i in range(127, -1, -1):
        chosen = np.flatnonzero(factors[:, i // 64] >> np.uint64(i % 64) & np.uint64(1))
        total = _times_x(total) ^ np.bitwise_xor.reduce(rows[:, chosen], axis=1)
    return total
