"""Randomized response on a column of categories: the true value is kept with a known probability.

Paper: Warner, Randomized response (1965), for m values; 20.2 of the chapter (paper 3) has the form for
numbers.
With probability `keep` the value stays, otherwise one of all m values is drawn evenly, the true one
among them. So P(z | x) = keep [z = x] + (1 - keep) / m.

Guarantee: ε-differential privacy of each answer, with ε = ln(1 + m keep / (1 - keep)), whatever
somebody knows of the person; for several columns the ε add up. Cost: n random numbers.
"""

from __future__ import annotations

import math

import numpy as np

from coterie.base.arrays import Codes, Floats
from coterie.base.randomness import SYSTEM, Bytewise, uniform


def respond(codes: Codes, values: int, keep: float, source: Bytewise = SYSTEM) -> Codes:
    """The answers of all people, for codes below `values`."""
    stays = uniform((len(codes),), source) < keep
    drawn = (uniform((len(codes),), source) * values).astype(np.int64)
    return np.where(stays, codes, np.minimum(drawn, values - 1))


def response_matrix(values: int, keep: float) -> Floats:
    """The chance of each answer (row) for each true value (column)."""
    return keep * np.eye(values) + (1 - keep) / values


def epsilon(values: int, keep: float) -> float:
    """How much an answer may reveal: the ε of differential privacy; infinite if all is kept."""
    return math.inf if keep >= 1 else math.log1p(values * keep / (1 - keep))


def guessed_right(codes: Codes, answers: Codes, values: int, keep: float) -> float:
    """The share of people whose value is guessed by somebody who knows the distribution of values."""
    shares = np.bincount(codes, minlength=values) / max(len(codes), 1)
    best = (response_matrix(values, keep) * shares).argmax(axis=1)
    return float((best[answers] == codes).mean())
