"""Transposing matrices of bits that are packed eight to a byte, lowest bit first.

The extension of oblivious transfers makes a long matrix by rows and uses it by columns. Sixteen
rows of sixteen bytes are turned byte by byte, by mixing pairs of vector registers four times; then
sixteen bytes become eight columns of sixteen bits by comparing signs. The LLVM instructions are generic,
so that numba compiles them for any processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from coterie.base.arrays import Bytes
from coterie.base.compiled import Instructions, compiled, portable

_BYTES = ir.VectorType(ir.IntType(8), 16)
_FIRST = [i // 2 + 16 * (i % 2) for i in range(16)]  # the first halves of two registers, in turns
_SECOND = [place + 8 for place in _FIRST]


def _write_tile(builder: Any, source: Any, stride: Any, target: Any, step: Any) -> None:
    """Sixteen rows of sixteen bytes become 128 rows of sixteen bits."""

    def mixed(a: Any, b: Any, places: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), 16), places))

    rows = []
    for _ in range(16):
        rows.append(builder.load(builder.inttoptr(source, _BYTES.as_pointer())))
        rows[-1].align = 1
        source = builder.add(source, stride)
    for _ in range(4):
        rows = [
            mixed(rows[i // 2], rows[i // 2 + 8], _SECOND if i % 2 else _FIRST) for i in range(16)
        ]
    for column in rows:
        for bit in range(8):
            raised = builder.shl(column, ir.Constant(_BYTES, [7 - bit] * 16))
            signs = builder.icmp_signed("<", raised, ir.Constant(_BYTES, [0] * 16))
            bits = builder.bitcast(signs, ir.IntType(16))
            builder.store(bits, builder.inttoptr(target, ir.IntType(16).as_pointer())).align = 1
            target = builder.add(target, step)


_tile = Instructions("uintp uintp uintp uintp", _write_tile)


@compiled
def _transpose(matrix: Any, out: Any) -> None:
    groups, columns = matrix.shape[0] // 16, matrix.shape[1]
    source, stride = np.uintp(matrix.ctypes.data), np.uintp(columns)
    target, step = np.uintp(out.ctypes.data), np.uintp(out.shape[1])
    # Up to 512 rows at a time, because rows at distances of a power of two compete for the same few
    # cache sets.
    for high in range(0, groups, 32):
        for left in range(0, columns, 16):
            for group in range(high, min(groups, high + 32)):
                _tile(
                    np.uintp(source + np.uintp(16 * group) * stride + np.uintp(left)),
                    stride,
                    np.uintp(target + np.uintp(8 * left) * step + np.uintp(2 * group)),
                    step,
                )


def transpose(matrix: Bytes) -> Bytes:
    """From (rows, columns / 8) to (columns, rows / 8); rows are a multiple of sixteen."""
    rows, width = matrix.shape
    if rows % 16:
        raise ValueError("rows are transposed by sixteens")
    if portable():
        return portable_transpose(matrix)
    matrix = np.ascontiguousarray(
        np.pad(matrix, ((0, 0), (0, -width % 16))) if width % 16 else matrix
    )
    out = np.empty((8 * matrix.shape[1], rows // 8), np.uint8)
    _transpose(matrix, out)
    return out[: 8 * width]


def portable_transpose(matrix: Bytes) -> Bytes:
    """`transpose` in NumPy alone, with eight times the memory and much slower."""
    bits = np.unpackbits(matrix, axis=1, bitorder="little")
    return np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
