"""Transposing matrices of bits that are packed eight to a byte, lowest bit first.

The extension of oblivious transfers makes a long matrix by rows and uses it by columns. Sixteen
rows of one byte become eight columns of sixteen bits by comparing signs in a vector register. The
LLVM instructions are generic, so that numba compiles them for any processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from coterie.base.arrays import Bytes
from coterie.base.compiled import Instructions, compiled, portable


def _sixteen_by_eight(builder: Any, source: Any, stride: Any, target: Any, step: Any) -> None:
    byte, vector = ir.IntType(8), ir.VectorType(ir.IntType(8), 16)
    rows = ir.Constant(vector, ir.Undefined)
    for row in range(16):
        value = builder.load(builder.inttoptr(source, byte.as_pointer()))
        rows = builder.insert_element(rows, value, ir.Constant(ir.IntType(32), row))
        source = builder.add(source, stride)
    for bit in range(8):
        raised = builder.shl(rows, ir.Constant(vector, [7 - bit] * 16))
        signs = builder.icmp_signed("<", raised, ir.Constant(vector, [0] * 16))
        column = builder.bitcast(signs, ir.IntType(16))
        builder.store(column, builder.inttoptr(target, ir.IntType(16).as_pointer())).align = 1
        target = builder.add(target, step)


_tile = Instructions("uintp uintp uintp uintp", _sixteen_by_eight)


@compiled
def _transpose(matrix: Any, out: Any) -> None:
    groups, columns = matrix.shape[0] // 16, matrix.shape[1]
    source, stride = np.uintp(matrix.ctypes.data), np.uintp(columns)
    target, step = np.uintp(out.ctypes.data), np.uintp(out.shape[1])
    # Sixteen rows by one cache line at a time, because rows at distances of a power of two compete
    # for the same few cache sets.
    for high in range(0, groups, 32):
        for left in range(0, columns, 64):
            for group in range(high, min(groups, high + 32)):
                for column in range(left, min(columns, left + 64)):
                    _tile(
                        np.uintp(source + np.uintp(16 * group) * stride + np.uintp(column)),
                        stride,
                        np.uintp(target + np.uintp(8 * column) * step + np.uintp(2 * group)),
                        step,
                    )


def transpose(matrix: Bytes) -> Bytes:
    """From (rows, columns / 8) to (columns, rows / 8); rows are a multiple of sixteen."""
    rows, width = matrix.shape
    if rows % 16:
        raise ValueError("rows are transposed by sixteens")
    matrix = np.ascontiguousarray(matrix)
    if portable():
        return portable_transpose(matrix)
    out = np.empty((8 * width, rows // 8), np.uint8)
    _transpose(matrix, out)
    return out


def portable_transpose(matrix: Bytes) -> Bytes:
    """`transpose` in NumPy alone, with eight times the memory and much slower."""
    bits = np.unpackbits(matrix, axis=1, bitorder="little")
    return np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
