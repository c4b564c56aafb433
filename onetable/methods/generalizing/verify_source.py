"""Is a release of one table made of that table? `coterie verify DIR --data FILE`.

With the table at hand, more can be computed again, by code that shares nothing with the methods nor
with the measures, value by value and with Python's own numbers:

* the table has as many records as were released, suppressed and dropped;
* columns in no qid have the table's values, as often or, where records went, at most as often;
* every released region has records of the table, and at least as many as the release shows in it;
* normalised width, precision and entropy loss are those that `result.json` says.

The entropy loss needs no record's own region: the sum of log2 n(R) is over the released rows, that of
log2 n(v) over the table's records, and a suppressed record adds log2 of their number.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from coterie.anonymity.models.audit import Released
from coterie.anonymity.table.scales import declared_form
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.batches import batches
from coterie.jobs.data.sources import file_source
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.table_file import TableAttribute, TableFile

_INTERVAL = re.compile(r"\[(\S+), (\S+?)([\])])")
_GAPS = ("", "?")
CLOSE = 1e-9
_READ = 1 << 26  # bytes of memory for reading


def check_source(
    method: Generalizing,
    file: TableFile,
    result: Any,
    release: Mapping[str, Mapping[str, int]],
    data: Path,
) -> dict[str, float]:
    """The measures found; the first thing that does not hold is a `VerificationError`.

    `release` has how often each column shows each value. The table is read piece by piece; how often
    each of its values occurs is in memory.
    """
    columns, rows, kept = _counted(file, data)
    suppressed, records = int(result["suppressed"]), int(result["records"])
    if rows - kept != result["dropped"] or kept != records + suppressed:
        raise VerificationError(
            f"{data}: has {numbered(rows, 'record')}, of which {rows - kept} have a "
            f"gap; the release says {records} released, {suppressed} suppressed and "
            f"{result['dropped']} dropped"
        )
    widths, heights, losses = [], [], []
    for name in file.columns:
        own = next((a for a in file.attributes if a.name == name and a.in_qid), None)
        shown = release[name]
        if own is None:
            _check_plain(name, columns[name], shown, suppressed, data)
        elif own.missing == "value":
            return {}  # a gap is a leaf of its own, of which only the method knows the place
        else:
            width, height, loss = _measured(own, columns[name], shown, suppressed, data)
            method.check_source(file, result, own, partial(_grouped, own, columns[name], shown))
            widths.append(width)
            heights.append(height)
            losses.append(loss)
    found = {
        "normalised_width": sum(widths) / len(widths),
        "precision": 1 - sum(heights) / len(heights),
        "entropy_loss": sum(losses) / len(losses),
    }
    for key, value in found.items():
        if not math.isclose(result["utility"][key], value, rel_tol=CLOSE, abs_tol=CLOSE):
            raise VerificationError(
                f"result.json says {key} = {result['utility'][key]}, the table gives {value}"
            )
    return found


def _counted(file: TableFile, data: Path) -> tuple[dict[str, Counter[str]], int, int]:
    """How often each value of the table occurs in the records without a gap that drops them, the
    number of all records, and the number of these."""
    found = {name: Counter[str]() for name in file.columns}
    rows = kept = 0
    dropping = [attribute for attribute in file.attributes if attribute.missing == "drop"]
    for piece in batches(file_source(data), file.columns, _READ):
        columns = {name: piece.column(name).to_pylist() for name in file.columns}
        stays = list(range(piece.num_rows))
        for attribute in dropping:
            stays = [i for i in stays if not _is_gap(columns[attribute.name][i], attribute)]
        for name, values in columns.items():
            found[name].update("" if values[i] is None else values[i] for i in stays)
        rows, kept = rows + piece.num_rows, kept + len(stays)
    for attribute in file.attributes:
        if attribute.taxonomy is not None:
            leaves, counted = set(attribute.taxonomy.leaves), Counter[str]()
            for value, times in found[attribute.name].items():
                counted[declared_form(value, leaves)] += times
            found[attribute.name] = counted
    return found, rows, kept


def shown_times(column: Released) -> dict[str, int]:
    numbers = Counter(column.codes.tolist())
    return {value: numbers[code] for code, value in enumerate(column.values) if numbers[code]}


def _grouped(
    attribute: TableAttribute, values: Mapping[str, int], shown: Mapping[str, int]
) -> dict[str, Counter[float]]:
    """How often each number of the table occurs in each region; regions do not overlap."""
    ordered = sorted((ends_of(region, attribute), region) for region in shown)
    lows = [low for (low, _, _), _ in ordered]
    found = {region: Counter[float]() for region in shown}
    for value, times in values.items():
        number = attribute.scale.read(value)
        found[ordered[max(bisect_right(lows, number) - 1, 0)][1]][number] += times
    return found


def _is_gap(value: str | None, attribute: TableAttribute) -> bool:
    leaf = attribute.taxonomy is not None and value in attribute.taxonomy.leaves
    return value is None or (value in _GAPS and not leaf)


def _check_plain(
    name: str, own: Counter[str], shown: Mapping[str, int], suppressed: int, data: Path
) -> None:
    for value, times in shown.items():
        if times > own[value] or (not suppressed and times != own[value]):
            raise VerificationError(
                f"column '{name}': the release shows '{value}' {times} times, {data} {own[value]}"
            )


def _measured(
    attribute: TableAttribute,
    own: Counter[str],
    shown: Mapping[str, int],
    suppressed: int,
    data: Path,
) -> tuple[float, float, float]:
    """The mean width and height of what is shown, and the share of the bits that is lost."""
    total = own.total()
    widths = heights = float(suppressed)
    bits = suppressed * math.log2(total) - sum(n * math.log2(n) for n in own.values())
    numeric = attribute.taxonomy is None and not attribute.flat
    extent_of = (_numbers if numeric else _categories)(attribute, own)
    for region, times in shown.items():
        covered, width, height = extent_of(region)
        if covered < times:
            raise VerificationError(
                f"column '{attribute.name}': the release shows '{region}' {times} times, but "
                f"{data} has {numbered(covered, 'record')} in it"
            )
        widths, heights = widths + times * width, heights + times * height
        bits += times * math.log2(covered)
    most = total * math.log2(total) - sum(n * math.log2(n) for n in own.values())
    return widths / total, heights / total, bits / most if most > 1e-6 else 0.0


Extent = tuple[int, float, float]  # the table's records in a region, its width and its height


def _numbers(attribute: TableAttribute, own: Mapping[str, int]) -> Callable[[str], Extent]:
    """Regions of numbers: an interval is looked up among the sorted numbers, not searched in all."""
    times = Counter[float]()
    for value, number in own.items():
        times[attribute.scale.read(value)] += number
    places = sorted(times)
    before = [0, *accumulate(times[place] for place in places)]
    span = places[-1] - places[0]

    def extent(region: str) -> Extent:
        low, high, closed = ends_of(region, attribute)
        first = bisect_left(places, low)
        last = (bisect_right if closed else bisect_left)(places, high)
        if first >= last:
            return 0, 0.0, 0.0
        width = (places[last - 1] - places[first]) / span if span else 0.0
        return before[last] - before[first], width, width

    return extent


def ends_of(region: str, attribute: TableAttribute) -> tuple[float, float, bool]:
    """The ends of an interval or of a number, and whether the upper one belongs to it."""
    match = _INTERVAL.fullmatch(region)
    read = attribute.scale.read
    if match is None:
        return read(region), read(region), True
    return read(match[1]), read(match[2]), match[3] == "]"


def _categories(attribute: TableAttribute, own: Mapping[str, int]) -> Callable[[str], Extent]:
    """Values of a taxonomy, or values and `*` of a flat column."""
    total = sum(own.values())
    taxonomy = attribute.taxonomy
    if taxonomy is None:

        def flat(region: str) -> Extent:
            star = float(region == "*" and len(own) > 1)
            return total if region == "*" else own.get(region, 0), star, star

        return flat

    def height(node: int) -> int:
        return max((1 + height(child) for child in taxonomy.children[node]), default=0)

    def extent(region: str) -> Extent:
        leaves = _leaves(taxonomy, region)
        width = (len(leaves) - 1) / max(len(taxonomy.leaves) - 1, 1)
        share = height(taxonomy.labels.index(region)) / max(height(0), 1)
        return sum(own.get(leaf, 0) for leaf in leaves), width, share

    return extent


def _leaves(taxonomy: Taxonomy, label: str) -> tuple[str, ...]:
    node = taxonomy.labels.index(label)
    return taxonomy.leaves[taxonomy.first[node] : taxonomy.last[node]]
