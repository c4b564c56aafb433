"""Figures of the inventory that an experiment prints, with the place where it prints them.

`coterie experiment all` compares each with what the experiment has just found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """`path` leads through the JSON of an experiment; `value` is what it was when committed.

    A part of the path that is a mapping stands for the entry of a list that has these values.
    """

    experiment: str
    what: str
    path: tuple[str | int | Mapping[str, Any], ...]
    value: float
    within: float = 0.0

    def found(self, result: Any) -> float | None:
        """The figure; None where a quick run has no such entry."""
        for key in self.path:
            if isinstance(key, Mapping):
                matching = [entry for entry in result if key.items() <= entry.items()]
                if not matching:
                    return None
                (result,) = matching
            else:
                result = result[key]
        return float(result)


def _adult(qid: str, k: int) -> tuple[str | int | Mapping[str, Any], ...]:
    """The integration error of paper 1's Figure 8."""
    return "integration", {"qid": qid, "k": k, "way": "gain-ratio"}, "error"


def _four(qid: str, k: int) -> tuple[str | int | Mapping[str, Any], ...]:
    """The integration error of four parties under the strategy, of paper 1's Figure 11."""
    return "adult", "integration", {"split": "four", "qid": qid, "k": k}, "error_2"


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
    Figure("adult", "SE(A)", ("errors", "SE(A)"), 17.60, 0.005),
    Figure("adult", "Figure 8, Top7 at k = 200", _adult("Top7", 200), 17.74, 0.005),
    Figure("adult", "Figure 8, Top9 at k = 80", _adult("Top9", 80), 17.88, 0.005),
    Figure("adult", "Figure 8, Top9 at k = 800", _adult("Top9", 800), 18.35, 0.005),
    Figure("deviation", "Figure 11, SE of C", ("adult", "source_errors", "four", "C"), 19.51, 0.005),
    Figure("deviation", "Figure 11, Top5 at k = 40", _four("Top5", 40), 15.88, 0.005),
    Figure("deviation", "Figure 11, Top7 at k = 80", _four("Top7", 80), 16.66, 0.005),
    Figure("deviation", "Figure 11, Top9 at k = 20", _four("Top9", 20), 18.37, 0.005),
    Figure("deviation", "Figure 11, Top9 at k = 40", _four("Top9", 40), 17.01, 0.005),
    Figure("keys", "greedy key", ("rows", {"what": "greedy key"}, "size"), 13),
    Figure("lattices", "nodes that satisfy k = 2", ("lattices", {"columns": 5, "k": 2}, "satisfying"), 188),
    Figure("lattices", "nodes that satisfy k = 50", ("lattices", {"columns": 8, "k": 50, "may_go": 0}, "satisfying"), 174),
    Figure("constrained", "violations of country, k = 2", ("thresholds", {"k": 2}, "country"), 666),
    Figure("constrained", "violations of country, k = 10", ("thresholds", {"k": 10}, "country"), 2_720),
    Figure("priorities", "C_DM at k = 50", ("thresholds", {"k": 50}, "found", 0), 2_305_596),
)  # fmt: skip
