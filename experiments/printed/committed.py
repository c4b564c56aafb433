"""Figures of the inventory that an experiment prints, with the place where it prints them.

`coterie experiment all` compares each with what the experiment has just found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`path` leads through the JSON of an experiment; `value` is what it was when committed."""

    experiment: str
    what: str
    path: tuple[str | int, ...]
    value: float
    within: float = 0.0

    def found(self, result: Any) -> float:
        for key in self.path:
            result = result[key]
        return float(result)


FIGURES = (
    Figure("crowd", "Figure 3, age alone", ("figure_3", 0, "singletons"), 2),
    Figure("crowd", "Figure 3, all ten columns", ("figure_3", 11, "singletons"), 24_802),
    Figure("crowd", "Equation 1, best of 200", ("equation_1", "best"), 163),
    Figure("random-kernel", "patients recovered from 5 numbers", ("attack", 0, "recovered"), 228),
    Figure("random-kernel", "patients recovered from 2 numbers", ("attack", 3, "recovered"), 228),
    Figure("random-kernel", "Cox, pooled", ("cox", "pooled", 0), 0.619, 0.02),
    Figure("noise", "reconstruction, normal 50 %", ("reconstruction", 1, "estimate"), 0.059, 0.02),
    Figure("noise", "linear guess, noise of 1", ("noise", 1, "linear guess"), 0.503, 0.02),
    Figure("noise", "rotation, 30 known records", ("rotation", 2, "error"), 0.0, 0.001),
    Figure("diversity", "K = 50 without diversity", ("without diversity", "discernability"), 72.6),
    Figure("diversity", "records lost by figure 5, L = 4", ("lost", 0, "records"), 4_129),
    Figure("folds", "Figure 9, k = 200", ("integration", 4, "gain-ratio"), 23.90, 0.2),
    Figure("folds", "Figure 9, raw", ("raw",), 17.19, 0.2),
    Figure("adult", "BE", ("errors", "BE"), 14.83, 0.005),
    Figure("adult", "UE Top9", ("errors", "UE Top9"), 22.40, 0.005),
)
