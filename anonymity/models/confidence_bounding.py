"""Confidence bounding (Wang, Fung, Yu): the sensitive value s has a share of at most h(s).

The share of a value in a merged group lies between its shares in the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model, ratio, sizes


@dataclass(frozen=True)
class ConfidenceBounding(Model):
    """The sensitive value s has a share of at most h(s) in every group; others are not bounded."""

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
        """Raises for a bounded value that no record has, which is more likely misspelt than absent."""
        for value in self.bounds:
            if value not in values:
                raise ValueError(f"confidence names '{value}', which no record has")

    def for_values(self, values: Sequence[str]) -> ConfidenceBounding:
        places = {value: at for at, value in enumerate(values)}
        return replace(self, columns=tuple(places.get(value, -1) for value in self.bounds))

    def _excess(self, counts: Counts) -> tuple[Measures, Measures]:
        if self.columns is None:
            raise TypeError("the model has not been told which column is which value")
        absent = np.zeros((len(counts), 1), counts.dtype)  # column -1, for values that do not occur
        bounded = np.hstack([counts, absent])[:, list(self.columns)]
        shares = ratio(bounded, sizes(counts)[:, None])
        return shares, np.array(list(self.bounds.values()))

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """The largest share of a bounded value, as a part of its bound: at most 1."""
        shares, bounds = self._excess(counts)
        return np.asarray((shares / bounds).max(axis=1))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        shares, bounds = self._excess(counts)
        return (shares <= bounds).all(axis=1)
