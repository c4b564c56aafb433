"""Generated taxonomies: leaf-to-root paths built from the values of a column.

| builder | for | a path |
|---|---|---|
| `prefix_paths` | postal codes and other codes whose beginning says where they belong | 53711, 537**, 5****, * |
| `date_paths` | dates, written as 1971-03-13 | 1971-03-13, 1971-03, 1971, 1970s, * |
| `equal_paths` | numbers in bands of equal widths, each a multiple of the one before | 23, [20, 25), [20, 30), * |
| `cut_paths` | numbers between given cuts, coarser ones among the finer | 23, [18, 30), [18, 65), * |
| `quantile_paths` | numbers in bands of about as many records each | 23, [21, 26), [18, 30), * |
| `code_paths` | codes of a catalogue that says what stands above each, as ICD does | I21.0, I21, I20-I25, IX, * |

Equal values have equal paths, and no value has two parents. A path is complete, so a taxonomy
written as one path a line, separated by `;`, is an ARX hierarchy.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from coterie.anonymity.table.intervals import Interval
from coterie.anonymity.table.scales import number_text
from coterie.anonymity.table.taxonomy import TOP
from coterie.base.errors import DataError

Path = list[str]


def prefix_paths(values: Iterable[str], lengths: Sequence[int]) -> list[Path]:
    """Shorter and shorter prefixes, with stars for the rest."""
    if not lengths or list(lengths) != sorted(set(lengths), reverse=True) or lengths[-1] < 1:
        raise DataError("prefixes must fall in length and have at least one character")
    found = []
    for value in sorted(set(values)):
        shorter = [value[:n] + TOP * (len(value) - n) if n < len(value) else value for n in lengths]
        found.append([value, *shorter, TOP])
    return found


def date_paths(values: Iterable[str]) -> list[Path]:
    """Day, month, year, decade."""
    found = []
    for value in sorted(set(values)):
        try:
            day = datetime.date.fromisoformat(value)
        except ValueError:
            raise DataError("{value} is not a date as in 1971-03-13", value=value) from None
        decade = f"{day.year // 10 * 10}s"
        found.append([value, f"{day.year:04}-{day.month:02}", f"{day.year:04}", decade, TOP])
    return found


def code_paths(values: Iterable[str], parents: Mapping[str, str]) -> list[Path]:
    """The way up through a catalogue; a code that it lacks stands below its longest beginning in it."""
    known = {*parents, *parents.values()}
    found = []
    for value in sorted(set(values)):
        path = [value]
        if value not in known:
            shorter = next(
                (value[:n] for n in range(len(value) - 1, 0, -1) if value[:n] in known), ""
            )
            if not shorter:
                raise DataError("{value} is not in the catalogue", value=value)
            path.append(shorter)
        while (above := parents.get(path[-1], "")) and above != path[-1]:
            if above in path:
                raise DataError(f"the catalogue has a circle at '{above}'")
            path.append(above)
        found.append(path if path[-1] == TOP else [*path, TOP])
    return found


def equal_paths(values: Iterable[str], widths: Sequence[float]) -> list[Path]:
    """Bands of equal width that begin at multiples of the width."""
    for finer, wider in itertools.pairwise(widths):
        if wider <= finer or wider / finer != round(wider / finer):
            raise DataError(f"a band of {wider:g} is not made of bands of {finer:g}")
    if not widths or widths[0] <= 0:
        raise DataError("bands need widths above 0")

    def band(number: float, width: float) -> str:
        low = math.floor(number / width) * width
        return str(Interval(low, low + width, False))

    return _number_paths(values, lambda number: [band(number, width) for width in widths])


def cut_paths(values: Iterable[str], levels: Sequence[Sequence[float]]) -> list[Path]:
    """Bands between cuts, finest level first; a coarser level's cuts are among the finer one's."""
    texts = list(values)
    numbers = [_number(text) for text in texts]
    for finer, coarser in itertools.pairwise(levels):
        if not set(coarser) < set(finer):
            raise DataError("the cuts of a coarser level must be some of the finer one's")
    ends = [
        [min(numbers), *(cut for cut in sorted(cuts) if min(numbers) < cut <= max(numbers))]
        for cuts in levels
    ]

    def band(number: float, low: list[float]) -> str:
        at = int(np.searchsorted(low, number, "right")) - 1
        topmost = at == len(low) - 1
        return str(Interval(low[at], max(numbers) if topmost else low[at + 1], topmost))

    return _number_paths(texts, lambda number: [band(number, low) for low in ends])


def quantile_paths(values: Iterable[str], parts: Sequence[int]) -> list[Path]:
    """Bands of about equally many records, the finest first: 8, 4, 2. Equal numbers stay together."""
    texts = list(values)
    for finer, coarser in itertools.pairwise(parts):
        if coarser >= finer or finer % coarser:
            raise DataError(f"{coarser} bands cannot be made of {finer}")
    if not parts or parts[-1] < 2:
        raise DataError("a level needs at least two bands")
    numbers = np.sort([_number(text) for text in texts])
    levels = [
        sorted({float(numbers[len(numbers) * i // part]) for i in range(1, part)}) for part in parts
    ]
    kept = [levels[0]]
    for cuts in levels[1:]:
        if set(cuts) < set(kept[-1]):  # with few different numbers levels may coincide
            kept.append(cuts)
    return cut_paths(texts, kept)


def _number_paths(values: Iterable[str], bands: Callable[[float], Path]) -> list[Path]:
    ordered = sorted({_number(value): value for value in values}.items())
    return [[number_text(number), *bands(number), TOP] for number, _ in ordered]


def _number(text: str) -> float:
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError("{value} is not a number", value=text)
    return number
