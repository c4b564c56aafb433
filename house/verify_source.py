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
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.anonymity.models.audit import Released
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import VerificationError
from coterie.house.table_file import TableAttribute, TableFile
from coterie.jobs.data.sources import read_table

_INTERVAL = re.compile(r"\[(\S+), (\S+?)([\])])")
_GAPS = ("", "?")
CLOSE = 1e-9


def check_source(
    file: TableFile, result: Any, release: Mapping[str, Released], data: Path
) -> dict[str, float]:
    """The measures found; the first thing that does not hold is a `VerificationError`."""
    table = read_table(data, file.columns)
    columns = {name: table.column(name).to_pylist() for name in file.columns}
    stays = list(range(table.num_rows))
    for attribute in file.attributes:
        if attribute.missing == "drop":
            stays = [i for i in stays if not _is_gap(columns[attribute.name][i], attribute)]
    columns = {
        name: ["" if values[i] is None else values[i] for i in stays]
        for name, values in columns.items()
    }
    suppressed, records = int(result["suppressed"]), int(result["records"])
    if table.num_rows - len(stays) != result["dropped"] or len(stays) != records + suppressed:
        raise VerificationError(
            f"{data}: has {table.num_rows} records, of which {table.num_rows - len(stays)} have a "
            f"gap; the release says {records} released, {suppressed} suppressed and "
            f"{result['dropped']} dropped"
        )
    widths, heights, losses = [], [], []
    for name in file.columns:
        own = next((a for a in file.attributes if a.name == name and a.in_qid), None)
        shown = _times(release[name])
        if own is None:
            _check_plain(name, columns[name], shown, suppressed, data)
        elif own.missing == "value":
            return {}  # a gap is a leaf of its own, of which only the method knows the place
        else:
            width, height, loss = _measured(own, columns[name], shown, suppressed, data)
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


def _times(column: Released) -> dict[str, int]:
    numbers = Counter(column.codes.tolist())
    return {value: numbers[code] for code, value in enumerate(column.values) if numbers[code]}


def _is_gap(value: str | None, attribute: TableAttribute) -> bool:
    leaf = attribute.taxonomy is not None and value in attribute.taxonomy.leaves
    return value is None or (value in _GAPS and not leaf)


def _check_plain(
    name: str, values: list[str], shown: Mapping[str, int], suppressed: int, data: Path
) -> None:
    own = Counter(values)
    for value, times in shown.items():
        if times > own[value] or (not suppressed and times != own[value]):
            raise VerificationError(
                f"column '{name}': the release shows '{value}' {times} times, {data} {own[value]}"
            )


def _measured(
    attribute: TableAttribute,
    values: list[str],
    shown: Mapping[str, int],
    suppressed: int,
    data: Path,
) -> tuple[float, float, float]:
    """The mean width and height of what is shown, and the share of the bits that is lost."""
    own, total = Counter(values), len(values)
    widths = heights = float(suppressed)
    bits = suppressed * math.log2(total) - sum(n * math.log2(n) for n in own.values())
    numbers = {}
    if attribute.taxonomy is None and not attribute.flat:
        numbers = {value: attribute.scale.read(value) for value in own}
    for region, times in shown.items():
        inside = [value for value in own if _covers(attribute, region, value, numbers)]
        covered = sum(own[value] for value in inside)
        if covered < times:
            raise VerificationError(
                f"column '{attribute.name}': the release shows '{region}' {times} times, but "
                f"{data} has {covered} records in it"
            )
        width, height = _extent(attribute, region, inside, numbers, own)
        widths, heights = widths + times * width, heights + times * height
        bits += times * math.log2(covered)
    most = total * math.log2(total) - sum(n * math.log2(n) for n in own.values())
    return widths / total, heights / total, bits / most if most > 1e-6 else 0.0


def _covers(
    attribute: TableAttribute, region: str, value: str, numbers: Mapping[str, float]
) -> bool:
    if attribute.flat:
        return region in ("*", value)
    if attribute.taxonomy is not None:
        return value in _leaves(attribute.taxonomy, region)
    match = _INTERVAL.fullmatch(region)
    read = attribute.scale.read
    if match is None:
        return numbers[value] == read(region)
    low, high = read(match[1]), read(match[2])
    return low <= numbers[value] < high or (match[3] == "]" and numbers[value] == high)


def _leaves(taxonomy: Taxonomy, label: str) -> tuple[str, ...]:
    node = taxonomy.labels.index(label)
    return taxonomy.leaves[taxonomy.first[node] : taxonomy.last[node]]


def _extent(
    attribute: TableAttribute,
    region: str,
    inside: list[str],
    numbers: Mapping[str, float],
    own: Mapping[str, int],
) -> tuple[float, float]:
    """The width and the height of a region, as shares of the whole."""
    if attribute.flat:
        star = float(region == "*" and len(own) > 1)
        return star, star
    if attribute.taxonomy is None:
        ends = [numbers[value] for value in inside]
        span = max(numbers.values()) - min(numbers.values())
        width = (max(ends) - min(ends)) / span if span else 0.0
        return width, width
    taxonomy = attribute.taxonomy

    def height(node: int) -> int:
        return max((1 + height(child) for child in taxonomy.children[node]), default=0)

    width = (len(_leaves(taxonomy, region)) - 1) / max(len(taxonomy.leaves) - 1, 1)
    return width, height(taxonomy.labels.index(region)) / max(height(0), 1)
