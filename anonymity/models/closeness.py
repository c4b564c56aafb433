"""t-closeness (Li, Li, Venkatasubramanian): each group has the table's distribution, up to t.

Both distances are convex, so a merged group is no further from the table than the further part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model, ratio, sizes
from coterie.base.errors import DataError

Distance = Literal["variational", "ordered"]
_EXACT = 2**62  # products below this are computed in whole numbers


class UnlistedValueError(ValueError):
    """A sensitive value is missing where all are listed, such as in `order`.

    Only the data's holder may see the value.
    """

    def __init__(self, value: str, where: str = "order") -> None:
        super().__init__(f"{where} lacks the value '{value}'")
        self.value, self.where = value, where


def unfit(
    error: ValueError, before: str = "", *, file: str = "", column: str | tuple[()] = ()
) -> DataError:
    """The `DataError` for a model's error about the sensitive values of a column."""
    what = before + ("{column}: " if column else "")
    if isinstance(error, UnlistedValueError):
        return DataError(
            what + error.where + " lacks the value {value}",
            file=file,
            column=column,
            value=error.value,
        )
    return DataError(what + str(error), file=file, column=column)


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
        """The model for these values; `ordered` sorts by `order`, or numerically."""
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
        records = sizes(counts).astype(kind)
        # Differences of shares, multiplied by both sizes so that they are whole numbers.
        gaps = counts.astype(kind) * kind(total) - overall.astype(kind) * records[:, None]
        if ordered:
            work, steps = np.abs(np.cumsum(gaps, axis=1)).sum(axis=1), max(values - 1, 1)
        else:
            work, steps = np.abs(gaps).sum(axis=1), 2
        return ratio(work, records * kind(total) * kind(steps))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) <= self.t
