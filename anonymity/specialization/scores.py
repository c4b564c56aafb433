"""How good a specialization is (paper 1 §4), and where an interval is best split.

Scores are compared as whole numbers, `round(score * 2**30)`, so that every way of computing them
names the same winner.

| rule | score of v -> its children |
|---|---|
| `gain-ratio` | information gain over split information; the gain itself where that is zero |
| `information-gain` | entropy of the class in v, less the mean entropy in the children |
| `information-gain-per-anonymity-loss` | gain / (1 + mean fall of the smallest group, over the QIDs with v's attribute) (Fung, Wang, Yu 2007) |
| `discernibility` | fall of the sum of squared partition sizes, as a part of the squared number of records; needs no class |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array

SCALE = 2**30
_TINY = 1e-300


@dataclass(frozen=True)
class Effect:
    """What a specialization does, in counts.

    `by_class` has a row per child and a column per class. `partitions` has a row per leaf partition
    concerned and a column per child. `smallest` has, for each QID concerned, the smallest group
    before and after.
    """

    by_class: Sequence[Sequence[int]]
    partitions: Array
    smallest: Sequence[tuple[int, int]]
    records: int


@dataclass(frozen=True)
class Rule:
    """A way to score. A `lasting` score does not change when other attributes are specialized."""

    name: str
    value: Callable[[Effect], float]
    lasting: bool
    needs_class: bool

    def score(self, effect: Effect) -> int:
        return fixed_point(self.value(effect))


def fixed_point(score: float) -> int:
    return max(0, round(score * SCALE))


def entropy(counts: Sequence[int]) -> float:
    """Of the distribution that the counts stand for, in bits."""
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c)


def information_gain(by_class: Sequence[Sequence[int]]) -> float:
    whole = [sum(column) for column in zip(*by_class, strict=True)]
    total = sum(whole)
    parts = math.fsum(sum(row) / total * entropy(row) for row in by_class if any(row))
    return entropy(whole) - parts


def gain_ratio(by_class: Sequence[Sequence[int]]) -> float:
    gain = information_gain(by_class)
    split = entropy([sum(row) for row in by_class])
    return gain / split if split > 0 else gain


def _gain_per_loss(effect: Effect) -> float:
    losses = [max(0, before - after) for before, after in effect.smallest]
    return information_gain(effect.by_class) / (1 + sum(losses) / len(losses))


def _discernibility(effect: Effect) -> float:
    sizes = effect.partitions.astype(np.float64)
    fall = (sizes.sum(axis=1) ** 2).sum() - (sizes**2).sum()
    return float(fall) / float(effect.records) ** 2


RULES = {
    rule.name: rule
    for rule in (
        Rule("gain-ratio", lambda effect: gain_ratio(effect.by_class), True, True),
        Rule("information-gain", lambda effect: information_gain(effect.by_class), True, True),
        Rule("information-gain-per-anonymity-loss", _gain_per_loss, False, True),
        Rule("discernibility", _discernibility, False, False),
    )
}


def best_split(counts: Array, by_size: bool = False) -> int | None:
    """The place at which the second part of the best binary split begins.

    `counts` has a row per class and a column per distinct value, in order. The best split has the
    largest information gain in whole numbers, and the smallest value among equals. `by_size` takes
    the most even split instead, for releases without a class. None where only one value occurs.
    """
    sizes = counts.sum(axis=0)
    occurring = np.flatnonzero(sizes)
    if len(occurring) < 2:
        return None
    left = np.cumsum(counts if len(occurring) == len(sizes) else counts[:, occurring], axis=1)
    whole = left[:, -1:]
    left = left[:, :-1]
    total = float(whole.sum())
    left_size = left.sum(axis=0)
    shares = left_size / total, (total - left_size) / total
    if by_size:
        values = 1 - shares[0] ** 2 - shares[1] ** 2
    else:
        parts = shares[0] * _entropies(left, left_size)
        parts += shares[1] * _entropies(whole - left, total - left_size)
        values = entropy(whole[:, 0].tolist()) - parts
    return int(occurring[1 + int(np.argmax(np.rint(values * SCALE)))])


def _entropies(counts: Array, sizes: Array) -> Array:
    """Of every column. Class by class, since adding long rows is what NumPy does fast."""
    result = np.zeros(len(sizes))
    for row in counts:
        share = row / sizes
        result -= share * np.log2(np.maximum(share, _TINY))  # 0 log 0 is 0
    return result
