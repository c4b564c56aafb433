"""`coterie verify` of a release by `method: quantiles`: are its groups and their costs those claimed?

Everything is counted again with Python's own numbers, by code that shares nothing with the method:

* the groups, the smallest of them, and the difference in ranks follow from the release;
* the representative of a group lies within it;
* with the table at hand, and every value shown in one way, the costs of the groups are those that
  its numbers give.

That no other groups would cost less is not checked again here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from coterie.base.errors import VerificationError

_CLOSE = 1e-6


def check_groups(name: str, shown: Mapping[str, int], claimed: Any) -> None:
    """`shown` has how often the release shows each value of the column."""
    found = {
        "groups": len(shown),
        "smallest": min(shown.values(), default=0),
        "rank_difference": sum(times * times // 4 for times in shown.values()),
    }
    for key, value in found.items():
        if claimed[key] != value:
            raise VerificationError(
                f"column '{name}': {key} is {value}, but result.json says {claimed[key]}"
            )
    if set(claimed["representatives"]) != set(shown):
        raise VerificationError(
            f"column '{name}': result.json has representatives of other groups than the release"
        )


def check_costs(name: str, numbers: Mapping[str, Mapping[float, int]], claimed: Any) -> None:
    """`numbers` has how often each number of the table occurs in each group that the release shows."""
    costs = {"median": 0.0, "cellular": 0.0, "centre": 0.0}
    for shown, own in numbers.items():
        low, high, records = min(own), max(own), sum(own.values())
        middle, radius = _median(own, records), (high - low) / 2
        costs["median"] += sum(abs(number - middle) * times for number, times in own.items())
        costs["cellular"] += radius * records
        costs["centre"] = max(costs["centre"], radius)
        place = claimed["representatives"][shown]
        if not low <= place <= high:
            raise VerificationError(
                f"column '{name}': the representative {place} of '{shown}' does not lie within it"
            )
    for key, value in costs.items():
        if not math.isclose(claimed["costs"][key], value, rel_tol=_CLOSE, abs_tol=_CLOSE):
            raise VerificationError(
                f"column '{name}': result.json says a cost ({key}) of {claimed['costs'][key]}, the "
                f"table gives {value}"
            )


def _median(own: Mapping[float, int], records: int) -> float:
    """The lower one of two middle numbers."""
    before = 0
    for number in sorted(own):
        before += own[number]
        if before > (records - 1) // 2:
            return number
    return math.nan
