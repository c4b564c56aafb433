"""Figures with their spread: merges several runs of one benchmark into one result.

A number that is the same in all runs stays a number. A number that differs becomes
{"median", "low", "high"} over the runs, whose number is in `measured.runs`.
"""

from __future__ import annotations

import datetime
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from coterie import __version__
from coterie.bench.saved_results.surroundings import sentence


def merged(results: Sequence[Any]) -> Any:
    """One result from several of the same form; texts are those of the first."""
    first = results[0]
    if isinstance(first, dict):
        shared = [key for key in first if all(key in result for result in results)]
        return {key: merged([result[key] for result in results]) for key in shared}
    if isinstance(first, list) and len({len(result) for result in results}) == 1:
        return [merged(entries) for entries in zip(*results, strict=True)]
    if _is_number(first) and len(set(results)) > 1:
        median = statistics.median(results)
        return {"median": median, "low": min(results), "high": max(results)}
    return first


def stamped(
    results: Sequence[Any], arguments: Sequence[str], conditions: Mapping[str, Any]
) -> dict[str, Any]:
    """The merged result, and when, where, how often and beside what it was measured."""
    measured = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "runs": len(results),
        "arguments": list(arguments),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "python": platform.python_version(),
        "version": __version__,
        **conditions,
    }
    return {"measured": measured, **merged(results)}


def shown(figure: Any, unit: str = "") -> str:
    """A figure as a table prints it: the median, and the lowest and highest if they differ."""
    if figure is None:
        return ""
    if isinstance(figure, dict):
        low, high = _digits(figure["low"]), _digits(figure["high"])
        spread = "" if low == high else f" ({low} to {high})"
        return f"{_digits(figure['median'])}{unit}{spread}"
    return f"{_digits(figure)}{unit}"


def caption(result: dict[str, Any]) -> str:
    """What stands above a table: when and where the result was measured, and beside what."""
    m = result["measured"]
    times = "one run" if m["runs"] == 1 else f"median (lowest to highest) of {m['runs']} runs"
    small = " of the small sizes (`--quick`)" if "--quick" in m.get("arguments", ()) else ""
    load = f", load {m['load']}" if "load" in m else ""  # of results without their conditions
    place = (
        f"{m['date']}, version {m['version']}, {m['cores']} cores of {m['processor']}, "
        f"Python {m['python']}{load}: {times}{small}."
    )
    return f"{place} {beside}" if (beside := sentence(m)) else place


def _digits(number: float) -> str:
    """Two to three significant digits; whole numbers with separators."""
    if isinstance(number, int) or abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 10 else f"{number:.2g}"


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
