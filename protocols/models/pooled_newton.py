"""Newton's method on a function that is a sum over the records of all parties.

Paper 2, fifth article, fits support vector machines and Cox models to records of several hospitals
after projecting them by a random kernel that all know, which does not hide them (docs/regress.md).
The same functions are sums over records. So each party evaluates value, gradient and second
derivatives over its own records at coefficients that all know, the secure sum adds them up, and all
take the same step: the result is the optimum for the pooled records, not for projected ones.

In: at every party a function that evaluates its own records, and the penalty, which is public. Out:
the optimum, the second derivatives there, and the value, the same at every party. A step that does
not lower the value is halved, up to the number of evaluations that the job allows.

What each party learns: the sums at every point that is evaluated, by the opening below. With two
parties each gets the other's sums by subtraction. Adversary: semi-honest, any number colluding
(`secure_sum`). Messages: one sum for each evaluation, of 1 + p + p (p + 1) / 2 numbers for p
coefficients; some 5 to 10 evaluations.

After an interruption nothing of this is kept: the search begins again, at coefficients of zero. What
is opened follows from the job and the records alone, so that a second attempt opens the same sums at
the same points, and the result is the same. The masks do not follow from them: each attempt has a
new `SecureSum` with seeds drawn anew, and the servers draw new shares, so that no mask covers two
vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Floats
from coterie.base.errors import DataError
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.symmetric import (
    Factored,
    Matrix,
    SingularError,
    Vector,
    added,
    applied,
    dot,
    product,
    unpacked,
)

SETTLED = 1e-10  # of the largest coefficient: a smaller step is not taken any more
FAR = 6.0  # a coefficient, for one standard deviation, that only grows where outcomes are separable

SUMS = declare(
    "regress: sums of an iteration",
    what="At the coefficients of each iteration the value, the gradient and the second derivatives of the model's objective, each a sum over all records of all parties; with two parties each gets the other's sums by subtraction.",
    to="every party",
    why="All parties take the same step from them; the coefficients are the result.",
)


@dataclass(frozen=True)
class Slope:
    """The function at one point. `loss` is its value without the penalty, as is `second`."""

    loss: float
    value: float
    gradient: Vector
    second: Matrix


@dataclass(frozen=True)
class Optimum:
    """`loss` and `second` are without the penalty; `factored` is `second` with it.

    Unless `settled`, `at` was not evaluated: it is one step from the last point that was.
    """

    at: Vector
    loss: float
    second: Matrix
    factored: Factored
    start: Matrix  # `second` at the first point, where all coefficients are zero
    evaluations: int
    settled: bool = True

    def spread(self) -> Matrix:
        """The covariance of the coefficients: the inverse of `second`, or A^-1 `second` A^-1."""
        inverse = self.factored.inverse()
        return product(product(inverse, self.second), inverse)


Parts: TypeAlias = "tuple[float, Vector, Matrix]"


class NoOptimumError(DataError):
    """No finite coefficients are best, or none were reached."""


def minimise(
    sums: ExactSums,
    local: Callable[[Floats], Floats],
    size: int,
    penalty: Matrix,
    evaluations: int,
    names: Sequence[str],
    may_open: Callable[[Floats], bool] = lambda at: True,
    parts: Callable[[Vector, Vector], Parts] | None = None,
    check: Callable[[Slope], None] = lambda start: None,
) -> Optimum:
    """The least of the sum of all parties' `local` and of z' penalty z / 2.

    `local` gives the value, the gradient and, row after row, the second derivatives on and below
    the diagonal, one after the other in a vector.
    `names` are the coefficients' names in errors. `may_open` says, before anything is opened,
    whether the sums at a point may be; if not, the search ends there. `parts` makes value, gradient
    and second derivatives of the sums and the point, where these are not the sums themselves.
    `check` may end the search at its first point, where all coefficients are zero.
    """
    channel = sums.channel
    done = 0

    def evaluate(at: Vector) -> Slope:
        nonlocal done
        with channel.step(f"iteration {done + 1}"):
            found = channel.open(SUMS, sums.totals(local(np.array(at))))
        done += 1
        channel.progress(done, evaluations)
        if parts is None:
            loss, gradient, second = (
                found[0],
                found[1 : 1 + size],
                unpacked(found[1 + size :], size),
            )
        else:
            loss, gradient, second = parts(found, at)
        pull = applied(penalty, at)
        pulled = [a + b for a, b in zip(gradient, pull, strict=True)]
        return Slope(loss, loss + dot(at, pull) / 2, pulled, second)

    at = [0.0] * size
    may_open(np.array(at))  # nothing has been opened to compare it with
    here = evaluate(at)
    check(here)
    start = here.second
    while True:
        try:
            factored = Factored(added(here.second, penalty))
        except SingularError as error:
            if done > 1:
                raise _unbounded() from None
            raise NoOptimumError(
                f"the column '{names[error.at]}' follows from the other columns (it is constant, or "
                "a sum of others): leave it out, or set a 'penalty' (of a linear model: 'model: ridge')"
            ) from None
        step = factored.solve([-slope for slope in here.gradient])
        far = max(map(abs, at), default=0.0)
        if max(map(abs, step), default=0.0) <= SETTLED * max(1.0, far):
            return Optimum(at, here.loss, here.second, factored, start, done)
        share = 1.0
        while True:
            if done == evaluations:
                if far > FAR:
                    raise _unbounded()
                raise NoOptimumError(
                    f"no optimum after {done} iterations: allow more ('iterations'), or set a "
                    "'penalty'"
                )
            there = [a + share * s for a, s in zip(at, step, strict=True)]
            if not may_open(np.array(there)):
                return Optimum(there, here.loss, here.second, factored, start, done, settled=False)
            found = evaluate(there)
            if found.value <= here.value + 1e-12 * abs(here.value):
                break
            share /= 2
        at, here = there, found


def _unbounded() -> NoOptimumError:
    return NoOptimumError(
        "no finite coefficients are best, because the features separate the outcomes (or nearly): "
        "leave out the feature that does, or set a 'penalty'"
    )
