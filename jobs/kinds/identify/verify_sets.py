"""Checks of the sets of columns of an `identify` result, with code of its own.

From `result.json` and the job alone: where the job declares values, their number is the declared one;
the sets are all minimal ones whose bound reaches alpha, by going through every set; cells and bound
follow from the numbers of values; separation is a whole number of steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from coterie.jobs.file.result_file import HUGE, Claim

_NEAR = 1e-6  # relative difference of two computations of a bound
_STEP = 8  # the fewest pairs of a step


@dataclass(frozen=True)
class ClaimedSet:
    """A set of columns of a result."""

    columns: tuple[str, ...]
    cells: int
    bound: float
    separation: float | None


def read_sets(result: Claim) -> list[ClaimedSet]:
    """The sets of a result, in their order."""
    found = []
    for item in result.entry("sets").items():
        ratio = item.entries().get("separation")
        share = None if ratio is None or ratio.value is None else ratio.number()
        if share is not None and not 0 <= share <= 1:
            raise item.error("has a separation ratio outside 0 … 1")
        found.append(
            ClaimedSet(
                tuple(item.entry("columns").texts()),
                item.entry("cells").integer(1, HUGE),
                item.entry("bound").number(),
                share,
            )
        )
    return found


@dataclass(frozen=True)
class ClaimedUniques:
    """A set of columns and its number of unique people."""

    columns: tuple[str, ...]
    cells: int
    uniques: int


def read_uniques(result: Claim) -> list[ClaimedUniques]:
    """The exact numbers of a result, if it has any."""
    claim = result.optional("uniques")
    return [
        ClaimedUniques(
            tuple(item.entry("columns").texts()),
            item.entry("cells").integer(1, HUGE),
            item.entry("uniques").integer(minimum=0),
        )
        for item in (claim.items() if claim else ())
    ]


def verify_uniques(result: Claim, wanted: Sequence[Sequence[str]]) -> None:
    """Raises unless the exact numbers are of the wanted sets, and possible."""
    found = read_uniques(result)
    if [list(one.columns) for one in found] != [list(names) for names in wanted]:
        raise result.error("has unique people of other sets than the job asks for")
    values = result.entry("distinct").entries()
    for one in found:
        cells = math.prod(values[name].integer(minimum=1) for name in one.columns)
        records = result.entry("records").integer(minimum=1)
        # If not all records are unique, the others are two at least, in one further cell.
        room = cells if records <= cells else cells - 1
        fits = one.uniques == records or one.uniques <= records - 2
        if one.cells != cells or one.uniques > min(room, records) or not fits:
            raise result.error(f"has {one.uniques} unique people of {', '.join(one.columns)}")


def largest_share(cells: int, people: int) -> float:
    """The largest expected share of unique people: n p (1-p)^(n-1) in each cell, p = 1/n or 1/D."""
    if people == 1:
        return 1.0
    x = 1 / max(cells, people)  # the mass is moved to cells of 1/n, or spread evenly over all
    # ln(1 - x) by its series where 1 - x would lose the digits of x.
    logarithm = math.log(1 - x) if x > 1e-4 else -x * (1 + x / 2 + x * x / 3 + x**3 / 4)
    return (1.0 if cells >= people else cells / people) * math.exp((people - 1) * logarithm)


def verify_sets(
    result: Claim,
    declared: Mapping[str, int | None],
    people: int,
    alpha: float,
    longest: int,
    measured: bool,
) -> list[ClaimedSet]:
    """The sets of a result; raises unless they are exactly those that the job asks for."""
    claim = result.entry("distinct")
    values = {name: size.integer(minimum=1) for name, size in claim.entries().items()}
    if set(values) != set(declared):
        raise claim.error("has other columns than the job")
    for name, size in declared.items():
        if size is not None and values[name] != size:
            raise claim.error(f"gives '{name}' {values[name]} values, the job declares {size}")
    sets = read_sets(result)
    place = result.entry("sets")
    due = _minimal(values, people, alpha, longest)
    named = [frozenset(one.columns) for one in sets]
    if len(set(named)) != len(named) or any(
        len(one.columns) != len(n) for one, n in zip(sets, named, strict=True)
    ):
        raise place.error("names a set or a column twice")
    # Two computations of a bound may differ in the last digits: sets so near to alpha may be either.
    sure = {one for one, share in due.items() if share > alpha * (1 + _NEAR)}
    if missing := sure - set(named):
        raise place.error(f"lacks the set {', '.join(sorted(min(missing, key=sorted)))}")
    if extra := set(named) - set(due):
        raise place.error(
            f"names {', '.join(sorted(min(extra, key=sorted)))}, which is not such a set"
        )
    steps, pairs = (result.entry(key).integer(minimum=0) for key in ("step", "pairs"))
    if pairs and (not measured or steps < _STEP):
        raise result.error(f"tells separation in steps of {steps} pairs")
    for item, one in zip(place.items(), sets, strict=True):
        cells = math.prod(values[name] for name in one.columns)
        if one.cells != cells:
            raise item.error(f"has {one.cells} cells, the numbers of values give {cells}")
        share = largest_share(cells, people)
        if abs(one.bound - share) > _NEAR * share:
            raise item.error(f"has the bound {one.bound}, the numbers of values give {share:.9g}")
        if one.separation is None:
            continue
        level = (1 - one.separation) * pairs / steps if pairs else math.nan
        if not abs(level - round(level)) < 1e-4 and one.separation > 0:
            raise item.error("has a separation ratio that is not a whole number of steps")
    return sets


def _minimal(
    values: Mapping[str, int], people: int, alpha: float, longest: int
) -> dict[frozenset[str], float]:
    """Every set that reaches alpha (or comes near by rounding) with no subset that does."""
    found: dict[frozenset[str], float] = {}
    names = [name for name, size in values.items() if size > 1]
    for size in range(1, min(longest, len(names)) + 1):
        for chosen in combinations(names, size):
            share = largest_share(math.prod(values[name] for name in chosen), people)
            if share < alpha * (1 - _NEAR):
                continue
            inside = (
                largest_share(math.prod(values[n] for n in chosen if n != name), people)
                for name in chosen
            )
            if size == 1 or max(inside) < alpha:
                found[frozenset(chosen)] = share
    return found
