"""Privacy models as conditions on the groups of a table.

A group is the set of records that share one value on a QID. What a model needs to know of it is how
often each sensitive value occurs in it: one row of `counts`, an array of groups by sensitive values.
`overall` is the same for the whole table. Every model answers for all groups at once:

    holds(counts, overall)    which groups satisfy the model
    measure(counts, overall)  what the model bounds, for reports

| model | definition | holds when |
|---|---|---|
| `KAnonymity` | Samarati, Sweeney | n >= k |
| `DistinctDiversity` | Machanavajjhala et al. | at least l sensitive values occur |
| `EntropyDiversity` | the same | entropy of the sensitive values >= log l |
| `RecursiveDiversity` | the same | r1 < c (rl + ... + rm), frequencies in falling order |
| `AlphaAnonymity` | Wong et al., (alpha, k) | no sensitive value has a share above alpha |
| `ConfidenceBounding` | Wang, Fung, Yu | value s has a share of at most h(s) |
| `Closeness` | Li, Li, Venkatasubramanian | distance between shares in group and table <= t |

(Paper 1 §8 uses these as validity conditions beside k; paper 3 §20.3 prints most of the formulas.)
Merging two groups that satisfy a model gives a group that does, for all of them: so a
specialization that is invalid once stays invalid. docs/privacy-models.md has the argument, and the
cases where it breaks.

A group without records satisfies every model. Thresholds are compared exactly: both sides of a
comparison are one correctly rounded division of whole numbers, or the decimal in the job file;
entropies are compared as `round(entropy * 2**30)`, like scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

Counts: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
Measures: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Distance = Literal["variational", "ordered"]

_SCALE = float(2**30)
_EXACT = 2**62  # products below this are computed in whole numbers


class Model(ABC):
    """A condition on each group; see the module's text."""

    @property
    @abstractmethod
    def name(self) -> str:
        """As a person writes it, with its thresholds."""

    def holds(self, counts: Counts, overall: Counts) -> Flags:
        """One answer per row of `counts`; a row of zeros satisfies every model."""
        flags: Flags = self._satisfied(counts, overall)
        return np.logical_or(flags, ~counts.any(axis=1))

    @abstractmethod
    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        """The condition on rows that are not all zeros."""

    @abstractmethod
    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """What the model bounds, one per row of `counts`; NaN for a group without records."""

    @property
    def bound_from_above(self) -> bool:
        """Whether the largest measure of any group is the worst, rather than the smallest."""
        return True

    def for_values(self, values: Sequence[str]) -> Model:
        """The model for columns that stand for these sensitive values, in this order.

        Raises `ValueError` when an order that the model needs does not fit the values.
        """
        return self

    def check(self, values: Sequence[str]) -> None:
        """Raises `ValueError` when the model does not fit all values that its holder has."""
        self.for_values(values)


def _sizes(counts: Counts) -> Counts:
    sizes: Counts = counts.sum(axis=1, dtype=np.int64)
    return sizes


def _ratio(above: Any, below: Any) -> Measures:
    """The quotient; NaN for 0/0 and infinity for a positive number over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Measures = np.true_divide(above, below)
    return quotient


def _largest(counts: Counts) -> Counts:
    largest: Counts = counts.max(axis=1, initial=0)
    return largest


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every group has at least k records."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, not {self.k}")

    @property
    def name(self) -> str:
        return f"{self.k}-anonymity"

    @property
    def bound_from_above(self) -> bool:
        return False

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        sizes = _sizes(counts)
        return np.where(sizes == 0, np.nan, sizes)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return _sizes(counts) >= self.k


@dataclass(frozen=True)
class DistinctDiversity(Model):
    """At least l different sensitive values occur in every group."""

    l: int  # noqa: E741

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError(f"l must be at least 2, not {self.l}")

    @property
    def name(self) -> str:
        return f"distinct {self.l}-diversity"

    @property
    def bound_from_above(self) -> bool:
        return False

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        values = (counts > 0).sum(axis=1)
        return np.where(values == 0, np.nan, values)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return (counts > 0).sum(axis=1) >= self.l


@dataclass(frozen=True)
class EntropyDiversity(Model):
    """The entropy of the sensitive values in every group is at least log l; l need not be whole."""

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        if not self.l > 1:
            raise ValueError(f"l must be above 1, not {self.l:g}")

    @property
    def name(self) -> str:
        return f"entropy {self.l:g}-diversity"

    @property
    def bound_from_above(self) -> bool:
        return False

    @staticmethod
    def _entropy(counts: Counts) -> Measures:
        shares = _ratio(counts, _sizes(counts)[:, None])
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        entropy: Measures = -(shares * logs).sum(axis=1)
        return entropy

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """The largest l for which the group is diverse."""
        return np.exp2(self._entropy(counts))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        least = np.rint(np.log2(self.l) * _SCALE)
        return np.rint(self._entropy(counts) * _SCALE) >= least


@dataclass(frozen=True)
class RecursiveDiversity(Model):
    """(c, l): the most frequent value is rarer than c times all from the l-th most frequent on."""

    c: float
    l: int  # noqa: E741

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError(f"l must be at least 2, not {self.l}")
        if not self.c > 0:
            raise ValueError(f"c must be above 0, not {self.c:g}")

    @property
    def name(self) -> str:
        return f"recursive ({self.c:g}, {self.l})-diversity"

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """r1 / (rl + ... + rm), which c must exceed."""
        falling = -np.sort(-counts, axis=1)
        return _ratio(_largest(counts), falling[:, self.l - 1 :].sum(axis=1))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) < self.c


@dataclass(frozen=True)
class AlphaAnonymity(Model):
    """No sensitive value has a share above alpha in any group; with k: (alpha, k)-anonymity."""

    alpha: float

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be above 0 and below 1, not {self.alpha:g}")

    @property
    def name(self) -> str:
        return f"alpha {self.alpha:g}"

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        return _ratio(_largest(counts), _sizes(counts))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) <= self.alpha


@dataclass(frozen=True)
class ConfidenceBounding(Model):
    """The sensitive value s has a share of at most h(s) in every group; other values have none."""

    bounds: Mapping[str, float]
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not self.bounds:
            raise ValueError("confidence must name at least one value")
        for value, bound in self.bounds.items():
            if not 0 < bound < 1:
                raise ValueError(
                    f"confidence of '{value}' must be above 0 and below 1, not {bound:g}"
                )

    @property
    def name(self) -> str:
        inner = ", ".join(f"{value}: {bound:g}" for value, bound in self.bounds.items())
        return f"confidence bounding {{{inner}}}"

    def check(self, values: Sequence[str]) -> None:
        """A value that no record has is more likely misspelt than absent."""
        for value in self.bounds:
            if value not in values:
                raise ValueError(f"confidence names '{value}', which no record has")

    def for_values(self, values: Sequence[str]) -> ConfidenceBounding:
        places = {value: at for at, value in enumerate(values)}
        return replace(self, columns=tuple(places.get(value, -1) for value in self.bounds))

    def _excess(self, counts: Counts) -> tuple[Measures, Measures]:
        if self.columns is None:
            raise TypeError("the model has not been told which column is which value")
        absent = np.zeros((len(counts), 1), counts.dtype)  # what column -1 is
        bounded = np.hstack([counts, absent])[:, list(self.columns)]
        shares = _ratio(bounded, _sizes(counts)[:, None])
        return shares, np.array(list(self.bounds.values()))

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """The largest share of a bounded value, as a part of its bound: at most 1."""
        shares, bounds = self._excess(counts)
        return np.asarray((shares / bounds).max(axis=1))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        shares, bounds = self._excess(counts)
        return (shares <= bounds).all(axis=1)


class UnlistedValueError(ValueError):
    """A sensitive value that `order` does not have. The value is for the data's holder alone."""

    def __init__(self, value: str) -> None:
        super().__init__(f"order lacks the value '{value}'")
        self.value = value


@dataclass(frozen=True)
class Closeness(Model):
    """t-closeness: the sensitive values of a group are distributed as in the table, up to t.

    `variational` is half the sum of the differences, which is the earth mover's distance when any
    two values are equally far apart. `ordered` is the earth mover's distance when the values stand
    in a row at equal steps and the two ends are 1 apart.
    """

    t: float
    distance: Distance = "variational"
    order: tuple[str, ...] | None = None
    columns: tuple[int, ...] | None = field(default=None)

    def __post_init__(self) -> None:
        if not 0 < self.t < 1:
            raise ValueError(f"t must be above 0 and below 1, not {self.t:g}")
        if self.order is not None and self.distance != "ordered":
            raise ValueError("order has a meaning with 'distance: ordered' only")
        if self.order is not None and len(set(self.order)) < len(self.order):
            raise ValueError("order names a value twice")

    @property
    def name(self) -> str:
        return f"{self.t:g}-closeness ({self.distance})"

    def for_values(self, values: Sequence[str]) -> Closeness:
        """`ordered` follows `order`, or the size of numbers."""
        if self.distance == "variational":
            return self
        if self.order is not None:
            for value in values:
                if value not in self.order:
                    raise UnlistedValueError(value)
            places = [float(self.order.index(value)) for value in values]
        else:
            try:
                places = [float(value) for value in values]
            except ValueError:
                raise ValueError(
                    "an ordered distance needs numbers, or the key 'order' with the values in order"
                ) from None
        return replace(self, columns=tuple(np.argsort(places, kind="stable").tolist()))

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        ordered = self.distance == "ordered"
        if ordered:
            if self.columns is None:
                raise TypeError("the model has not been told the order of the values")
            counts, overall = counts[:, list(self.columns)], overall[list(self.columns)]
        total, values = int(overall.sum()), counts.shape[1]
        kind = np.int64 if total * total * max(values, 1) < _EXACT else np.float64
        sizes = _sizes(counts).astype(kind)
        # The differences of the shares, times both sizes, so that they are whole numbers.
        gaps = counts.astype(kind) * kind(total) - overall.astype(kind) * sizes[:, None]
        if ordered:
            work, steps = np.abs(np.cumsum(gaps, axis=1)).sum(axis=1), max(values - 1, 1)
        else:
            work, steps = np.abs(gaps).sum(axis=1), 2
        return _ratio(work, sizes * kind(total) * kind(steps))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) <= self.t


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

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        flags: Flags = np.ones(len(counts), bool)
        for model in self.models:
            flags &= model.holds(counts, overall)
        return flags
