"""Oblivious polynomial evaluation over Z_m.

Naor and Pinkas, "Oblivious transfer and polynomial evaluation" (STOC 1999), in the homomorphic form
that paper 2, third article, §2 (step 4) uses for the logarithm's second phase.

In, for each of n instances: a polynomial Q of degree d over Z_m at the first party, a point y at
the second. Out: shares of Q(y) mod m, and nobody learns anything else. If z1 is the first party's
share, the second's is Q(y) - z1; the article says that it evaluates the polynomial with z1
subtracted from its constant term.

The powers y, …, y^d mod m are one row and the coefficients of degree 1 to d another: an inner
product (`protocols.numbers.inner_product`, with its two engines, adversary, messages and costs for
n rows of d columns). That module also has the lift to the integers and its mask of 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import UsageError
from coterie.protocols.numbers.shares import Engine, Ring
from coterie.protocols.primitives.randomness import Random


def evaluate_coefficients(engine: Engine, ring: Ring, coefficients: Array, rng: Random) -> Array:
    """The first party: coefficients of shape (n, d+1), the constant term first."""
    if not engine.first or coefficients.ndim != 2 or coefficients.shape[1] < 1:
        raise UsageError("the first party of the engine puts in rows of coefficients")
    constant = coefficients[:, 0]
    if coefficients.shape[1] == 1:
        return constant
    with engine.channel.step("polynomial"):
        shares = engine.inner_products(ring, coefficients[:, 1:], rng)
    return ring.add(constant, shares)


def evaluate_points(engine: Engine, ring: Ring, points: Array, degree: int, rng: Random) -> Array:
    """The second party: one point for each polynomial."""
    if engine.first or points.ndim != 1:
        raise UsageError("the second party of the engine puts in a vector of points")
    if degree == 0:
        return ring.zeros(points.shape)
    with engine.channel.step("polynomial"):
        return engine.inner_products(ring, powers(ring, points, degree), rng)


def powers(ring: Ring, points: Array, degree: int) -> Array:
    """y, y², …, y^degree for each point, in columns."""
    columns = [points]
    for _ in range(degree - 1):
        columns.append(ring.multiply(columns[-1], points))
    return np.stack(columns, axis=1)


def shift_argument(ring: Ring, coefficients: Sequence[int], offsets: Array) -> Array:
    """For P with public coefficients, the coefficients of P(a + y) in y for each offset a.

    Horner's rule on polynomials: Q <- Q (a + y) + c, from the leading coefficient down.
    """
    degree = len(coefficients) - 1
    rows = ring.zeros((len(offsets), degree + 1))
    for coefficient in reversed(coefficients):
        moved = ring.zeros(rows.shape)
        moved[:, 1:] = rows[:, :-1]
        rows = ring.add(ring.multiply(rows, offsets[:, None]), moved)
        rows[:, 0] = ring.add(rows[:, 0], ring.array([coefficient]))
    return rows
