"""The base class of privacy models: a condition on the groups of a table.

A group is the set of records that share one value on a QID. A model needs to know how often each
sensitive value occurs in the group: one row of `counts`, an array of groups by sensitive values.
`overall` has the same counts for the whole table. Every model answers for all groups at once:

    holds(counts, overall)    which groups satisfy the model
    measure(counts, overall)  what the model bounds, for reports
    monotone                  whether merging two groups that satisfy it gives one that satisfies it

A group without records satisfies every model. Thresholds are compared exactly: both sides of a
comparison are one correctly rounded division of whole numbers, or the decimal in the job file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Floats, Ints, Mask

Counts: TypeAlias = Ints
Flags: TypeAlias = Mask
Measures: TypeAlias = Floats


class Model(ABC):
    """A condition on each group; see the module's text."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's name for people, with its thresholds."""

    def holds(self, counts: Counts, overall: Counts) -> Flags:
        """One answer per row of `counts`; a row of zeros satisfies every model."""
        flags: Flags = self._satisfied(counts, overall)
        return np.logical_or(flags, ~counts.any(axis=1))

    @abstractmethod
    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        """The condition on rows that are not all zeros."""

    @abstractmethod
    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """The quantity that the model bounds, per row of `counts`; NaN for a group without records."""

    @property
    def bound_from_above(self) -> bool:
        """Whether the largest measure of any group is the worst, rather than the smallest."""
        return True

    @property
    def monotone(self) -> bool:
        """Whether two groups that satisfy the model always satisfy it when they are merged.

        Specialization needs that: it drops a candidate for good when it is invalid once.
        """
        return True

    def for_values(self, values: Sequence[str]) -> Model:
        """The model for counts whose columns represent these sensitive values, in this order.

        Raises `ValueError` when an order that the model needs does not fit the values.
        """
        return self

    def check(self, values: Sequence[str]) -> None:
        """Raises `ValueError` when the model does not fit all values that its holder has."""
        self.for_values(values)


def sizes(counts: Counts) -> Counts:
    sizes: Counts = counts.sum(axis=1, dtype=np.int64)
    return sizes


def ratio(above: Any, below: Any) -> Measures:
    """The quotient; NaN for 0/0 and infinity for a positive number over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Measures = np.true_divide(above, below)
    return quotient


def largest(counts: Counts) -> Counts:
    largest: Counts = counts.max(axis=1, initial=0)
    return largest


@dataclass(frozen=True)
class Together(Model):
    """Several models, all of which must hold."""

    models: tuple[Model, ...]

    @property
    def name(self) -> str:
        return " and ".join(model.name for model in self.models)

    def check(self, values: Sequence[str]) -> None:
        for model in self.models:
            model.check(values)

    def for_values(self, values: Sequence[str]) -> Together:
        return Together(tuple(model.for_values(values) for model in self.models))

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """How many of the models the group satisfies."""
        satisfied = [model.holds(counts, overall) for model in self.models]
        return np.asarray(np.sum(satisfied, axis=0), dtype=np.float64)

    @property
    def bound_from_above(self) -> bool:
        return False

    @property
    def monotone(self) -> bool:
        return all(model.monotone for model in self.models)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        flags: Flags = np.ones(len(counts), bool)
        for model in self.models:
            flags &= model.holds(counts, overall)
        return flags
