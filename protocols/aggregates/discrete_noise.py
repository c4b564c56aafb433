"""Integers of the discrete Laplace and the discrete Gaussian distribution, drawn exactly.

    discrete Laplace of scale b    P(y) proportional to exp(-|y| / b)
    discrete Gaussian of scale s   P(y) proportional to exp(-y^2 / (2 s^2))

After Canonne, Kamath and Steinke ("The discrete Gaussian for differential privacy", NeurIPS 2020,
algorithms 1 to 3). Every decision is an event whose probability is a quotient of integers, found by
comparing uniform integers, so that no rounding leaves holes in the distribution from which a noisy
answer could be told apart (Mironov, "On significance of the least significant bits", CCS 2012).
A scale is a fraction with a denominator that is a power of two.

The Gaussian is found among Laplace numbers y of the scale s, each of which is kept with probability
exp(-d^2 / 2) for d = (|y| - s) / s = a + r with a whole and 0 <= r < 1. That is the product of
exp(-1/2) a^2 times, exp(-r) a times, and exp(-r^2 / 2), so that words of 64 bits are enough.

Cost: a Laplace number takes some 8 uniform words, a Gaussian one some 25; a million take seconds.
The time depends on what is drawn; nobody but the drawing party sees it before the noise is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coterie.base.arrays import Array, Ints, Mask, Words
from coterie.protocols.primitives.randomness import Random

MOST = 1 << 50  # the largest scale
_FINE = 30  # bits that a small scale has
LARGEST = 64  # numbers are below this many scales, except with a probability below 2^-90


@dataclass(frozen=True)
class Scale:
    """A scale of noise, `top / bottom`."""

    top: int
    bottom: int

    def __float__(self) -> float:
        return self.top / self.bottom


def scale_of(least: Fraction) -> Scale:
    """A scale of at least this size, and hardly larger. ValueError if it is beyond `MOST`."""
    _check_change(least)
    bottom = 1
    while least * bottom < 1 << _FINE:
        bottom *= 2
    return _checked(Scale(math.ceil(least * bottom), bottom))


def root_scale_of(square: Fraction) -> Scale:
    """A scale whose square is at least this, and hardly larger."""
    _check_change(square)
    bottom = 1
    while square * bottom * bottom < 1 << 2 * _FINE:
        bottom *= 2
    whole = math.ceil(square * bottom * bottom)
    top = math.isqrt(whole)
    return _checked(Scale(top if top * top == whole else top + 1, bottom))


def _check_change(size: Fraction) -> None:
    if size <= 0:
        raise ValueError("what no record changes has no noise")


def _checked(scale: Scale) -> Scale:
    if scale.top > MOST:
        raise ValueError("the noise would be larger than the numbers have room for")
    return scale


def laplace(scale: Scale, count: int, rng: Random) -> Ints:
    """`count` numbers of the discrete Laplace distribution."""
    found: list[Ints] = []
    missing = count
    while missing > 0:
        drawn = _laplace_tries(scale, 2 * missing + 16, rng)
        found.append(drawn[:missing])
        missing -= len(found[-1])
    return np.concatenate([np.zeros(0, np.int64), *found])


def gaussian(scale: Scale, count: int, rng: Random) -> Ints:
    """`count` numbers of the discrete Gaussian distribution, whose scale is about its deviation."""
    found: list[Ints] = []
    missing = count
    while missing > 0:
        drawn = laplace(scale, 2 * missing + 16, rng)
        away = np.abs(np.abs(drawn) * scale.bottom - scale.top)
        whole, rest = away // scale.top, (away % scale.top).astype(np.uint64)
        kept = _powers(np.ones(len(drawn), np.uint64), 2, whole * whole, rng)
        kept &= _powers(rest, scale.top, whole, rng)
        kept &= _survives(rest, scale.top, rng, halved_square=True)
        found.append(drawn[kept][:missing])
        missing -= len(found[-1])
    return np.concatenate([np.zeros(0, np.int64), *found])


def _laplace_tries(scale: Scale, count: int, rng: Random) -> Ints:
    """Numbers of the distribution, as many as `count` tries yield."""
    rest = _below(np.full(count, scale.top, np.uint64), rng)
    rest = rest[_survives(rest, scale.top, rng)]
    wholes = np.zeros(len(rest), np.int64)
    going = np.arange(len(rest))
    while len(going):
        going = going[_survives(np.ones(len(going), np.uint64), 1, rng)]
        wholes[going] += 1
    size = (rest.astype(np.int64) + scale.top * wholes) // scale.bottom
    negative = rng.bits(len(size)).astype(np.bool_)
    size = np.where(negative, -size, size)
    kept: Ints = size[~negative | (size != 0)]  # zero has one sign
    return kept


def _powers(tops: Words, bottom: int, times: Ints, rng: Random) -> Mask:
    """Events of probability exp(-top / bottom), `times` times over."""
    kept = np.ones(len(tops), np.bool_)
    going = np.flatnonzero(times > 0)
    done = 0
    while len(going):
        lost = ~_survives(tops[going], bottom, rng)
        kept[going[lost]] = False
        done += 1
        going = going[~lost]
        going = going[times[going] > done]
    return kept


def _survives(tops: Words, bottom: int, rng: Random, halved_square: bool = False) -> Mask:
    """Events of probability exp(-g), where g is top / bottom, at most 1, or half of its square.

    The n-th step is taken with probability g / n, and the event has happened if the first step that
    is not taken has an odd number: 1 - g + g^2 / 2 - …
    """
    found = np.zeros(len(tops), np.bool_)
    going = np.arange(len(tops))
    step = 0
    while len(going):
        step += 1
        bound = bottom * step * (2 if halved_square else 1)
        taken = _below(np.full(len(going), bound, np.uint64), rng) < tops[going]
        if halved_square:
            taken &= _below(np.full(len(going), bottom, np.uint64), rng) < tops[going]
        found[going[~taken]] = step % 2 == 1
        going = going[taken]
    return found


def _below(bounds: Words, rng: Random) -> Words:
    """A uniform number below each bound: too large ones are drawn again."""
    masks: Array = bounds - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> np.uint64(shift)
    found = np.zeros(len(bounds), np.uint64)
    going = np.arange(len(bounds))
    while len(going):
        drawn = rng.array(len(going)) & masks[going]
        fits = drawn < bounds[going]
        found[going[fits]] = drawn[fits]
        going = going[~fits]
    return found
