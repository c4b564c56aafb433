"""Systems of linear equations with a symmetric positive matrix, the same at every party to the bit.

Parties compute public numbers from sums that all of them know, and the coordinator compares what
they report. A matrix library may round in another order on another processor; additions and
products of Python's numbers, in the order written here, give the same bits everywhere. Matrices
have some tens of rows, so that plain loops are fast enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

Vector: TypeAlias = "list[float]"
Matrix: TypeAlias = "list[list[float]]"

DEPENDENT = 1e-10  # the share of a column's square that the columns before it must leave


class SingularError(Exception):
    """The matrix has no inverse: its column `at` follows from those before it."""

    def __init__(self, at: int) -> None:
        super().__init__(f"column {at} follows from those before it")
        self.at = at


def unpacked(entries: Sequence[float], size: int) -> Matrix:
    """The symmetric matrix whose rows, each up to the diagonal, follow each other in `entries`."""
    rows = [list(entries[at * (at + 1) // 2 : (at + 1) * (at + 2) // 2]) for at in range(size)]
    return [[rows[max(i, j)][min(i, j)] for j in range(size)] for i in range(size)]


def added(a: Matrix, b: Matrix) -> Matrix:
    return [[x + y for x, y in zip(one, two, strict=True)] for one, two in zip(a, b, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def applied(a: Matrix, x: Sequence[float]) -> Vector:
    return [dot(row, x) for row in a]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


class Factored:
    """A symmetric positive matrix as the product of a triangle and its mirror image (Cholesky)."""

    def __init__(self, matrix: Matrix) -> None:
        self._rows: Matrix = []
        for i, given in enumerate(matrix):
            row: Vector = []
            for j in range(i):
                upper = self._rows[j]
                row.append((given[j] - dot(row, upper[:j])) / upper[j])
            left = given[i] - dot(row, row)
            if not left > DEPENDENT * given[i]:
                raise SingularError(i)
            row.append(math.sqrt(left))
            self._rows.append(row)

    def solve(self, right: Sequence[float]) -> Vector:
        """The x for which the matrix times x is `right`."""
        size = len(self._rows)
        half: Vector = []
        for i, row in enumerate(self._rows):
            half.append((right[i] - dot(row[:i], half)) / row[i])
        x = [0.0] * size
        for i in reversed(range(size)):
            rest = half[i]
            for j in range(i + 1, size):
                rest -= self._rows[j][i] * x[j]
            x[i] = rest / self._rows[i][i]
        return x

    def inverse(self) -> Matrix:
        size = len(self._rows)
        columns = [self.solve([float(i == j) for i in range(size)]) for j in range(size)]
        return [[(columns[i][j] + columns[j][i]) / 2 for j in range(size)] for i in range(size)]
