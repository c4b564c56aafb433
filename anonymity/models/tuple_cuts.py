"""Mondrian's cuts where several sensitive columns are bounded together.

A model of several columns sees tuples of values, of which there are so many that the counts of all
cuts of a part would not fit into memory. So the cuts of a part are tried one by one, the best first,
until both halves of one satisfy every model; a cut of which only one half does is not made. (Paper
5, figure 5, as printed goes on with that half and loses the records of the other. Its line 10 adds
the table where it means the group.)

If every group that contains a diverse group is diverse, as for joint diversity, the allowed cuts of
an attribute follow each other: the first of them is the first whose left half satisfies the model,
the last is the last whose right half does. Both are found by bisection, so that a part costs a few
tests for each attribute rather than one for each cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from coterie.anonymity.models import joint_diversity
from coterie.anonymity.models.deletion_search import diverse_tuples
from coterie.anonymity.models.privacy import JointDiversity, Model, TupleModel
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array

Test = Callable[[Array], bool]  # whether a group of these records satisfies a model


class TupleCuts:
    """The models of a condition that see tuples, and the choice of a cut that they allow."""

    def __init__(self, models: Sequence[tuple[Model, str]], labels: Mapping[str, Labels]) -> None:
        found = [(model, labels[name].codes) for model, name in models]
        judged = [(model, codes) for model, codes in found if isinstance(model, TupleModel)]
        self._tests = [_test(model, codes) for model, codes in judged]
        self._grows = all(model.grows for model, _ in judged)

    def __bool__(self) -> bool:
        return bool(self._tests)

    def choose(
        self, codes: Array, records: Array, attribute: Array, cut: Array, taken: Array
    ) -> int:
        """The first cut, in this order of preference, that both halves survive; -1 for none.

        `codes` has the part's codes, a row per attribute, `records` the numbers of its records.
        """
        spans: dict[int, tuple[int, int]] = {}  # of allowed cuts by attribute, as codes
        for at, (j, c) in enumerate(zip(attribute.tolist(), cut.tolist(), strict=True)):
            if j in spans:
                if spans[j][0] <= c <= spans[j][1]:
                    return at
                continue
            left = _left(codes[j], c, int(taken[at]))
            if self._holds(records[left]) and self._holds(records[~left]):
                return at
            if self._grows and not taken[at]:
                spans[j] = self._span(codes[j], records, np.sort(cut[attribute == j]))
        return -1

    def _span(self, codes: Array, records: Array, cuts: Array) -> tuple[int, int]:
        """The first and the last cut of an attribute that both halves survive; 1, 0 for none."""
        first = _first(len(cuts), lambda at: self._holds(records[codes < cuts[at]]))
        if first == len(cuts):
            return 1, 0
        after = _first(
            len(cuts) - first, lambda at: not self._holds(records[codes >= cuts[first + at]])
        )
        return (int(cuts[first]), int(cuts[first + after - 1])) if after else (1, 0)

    def _holds(self, records: Array) -> bool:
        return all(test(records) for test in self._tests)


def _left(codes: Array, cut: int, taken: int) -> Array:
    """Which records go left: those below the cut, and the first `taken` of those at it."""
    left: Array = codes < cut
    if taken:
        left[np.flatnonzero(codes == cut)[:taken]] = True
    return left


def _first(number: int, holds: Callable[[int], bool]) -> int:
    """The first of 0, 1, … that holds, where all after one that holds do; `number` for none."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _test(model: TupleModel, codes: Array) -> Test:
    if not isinstance(model, JointDiversity) or model.by_frequency:
        return lambda records: bool(
            model.holds_for(np.zeros(len(records), np.int64), codes[records], 1)[0]
        )
    rows = joint_diversity.apart(model.known_tuples)
    values = int(rows.max(initial=-1)) + 1
    limits = np.array(model.limits, np.int64)
    seen = np.full(len(rows), -1, np.int64)
    tests = 0

    def holds(records: Array) -> bool:
        nonlocal tests
        tests += 1
        return bool(
            diverse_tuples(
                codes[records],
                rows,
                values,
                model.l,
                limits,
                joint_diversity.MOST_STEPS,
                seen,
                tests,
            )
        )

    return holds
