"""`coterie verify DIR` for the release of one table: does it satisfy its table file?

Everything is counted again from `release.csv` and the table file kept beside it, by code that
shares nothing with the algorithms:

* the columns are the attributes, then the class, and nothing else; rows are in sorted order;
* a value of an attribute in a qid is a value of its taxonomy, or a number or an interval of its
  range; no value lies above the bounds in `at_most`; a method that recodes whole columns shows no
  two values of which one contains the other, as a local one may;
* an attribute in no qid has values that its taxonomy or its range allows;
* every requirement holds, and the smallest groups are those that `result.json` names;
* no more records were suppressed than the file allows, and the discernibility and the risk are those
  claimed.

With the table itself at hand, `verify_source` checks more.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from coterie.anonymity.models.audit import Released, check_risk, group_numbers
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.base.text import numbered
from coterie.house.anatomy.verify import check_anatomy
from coterie.house.condense.keys import CONDENSE
from coterie.house.condense.verify import verify_condensed
from coterie.house.quantiles.verify import check_groups
from coterie.house.table_file import TableAttribute, TableFile, load_table_file
from coterie.house.verify_source import check_source, shown_times
from coterie.jobs.data.release_file import check_order, check_requirements, read_release
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.document import read_document
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.run.archive import saved_path

RELEASE = "release.csv"
UNCHECKED = (
    "that the release is made of the table, and how much it keeps of it: --data names the table"
)
_DAY = 86_400
LOCAL = ("mondrian", "cluster")  # methods that may release one value in several ways
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_END = rf"{_NUMBER}|\d{{4}}-\d\d-\d\d(?: [\d:.]+)?|\d\d:[\d:.]+"  # a date or a time
_INTERVAL = re.compile(rf"\[({_END}), ({_END})([\])])")


def is_table_result(folder: Path) -> bool:
    """Whether a result folder came from a table file rather than from a job."""
    path = saved_path(folder)
    return read_document(path.read_text(encoding="utf-8"), str(path)).optional("kind") is None


def verify_table(folder: Path, data: Path | None = None) -> dict[str, Any]:
    """The checks that hold; raises a `VerificationError` for the first that does not."""
    file = load_table_file(saved_path(folder))
    result = _read_result(folder / RESULT)
    try:
        if file.method == CONDENSE:
            return verify_condensed(file, result, folder / RELEASE, data)
        if file.method == "anatomy":
            return _verify_anatomy(file, result, folder, data)
        found = _verify(file, result, folder / RELEASE, data)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise VerificationError(
            f"{folder / RESULT}: not the result of such a table file ({error})"
        ) from None
    return {
        "verdict": f"holds: {numbered(len(file.requirements), 'requirement')} on "
        f"{numbered(found['records'], 'record')}",
        "unchecked": [UNCHECKED if data is None else "whether each record is in its own group"],
        "job": "table",
        "kind": f"anonymise ({file.method})",
        "digest": file.digest,
        **found,
    }


def _verify_anatomy(
    file: TableFile, result: Any, folder: Path, data: Path | None
) -> dict[str, Any]:
    found, unchecked = check_anatomy(file, result, folder, data)
    _check_parquet(found.columns, folder / "release.parquet")
    for attribute in file.attributes:
        if attribute.in_qid:  # published as it is, like a column in no qid
            plain = replace(attribute, in_qid=False)
            _check_values(plain, found.columns[attribute.name], folder / RELEASE, local=True)
    return {
        "verdict": f"holds: {numbered(len(file.requirements), 'requirement')} on the groups of "
        f"{numbered(found.records, 'record')}; {', '.join(found.raw)} are published as they are",
        "unchecked": unchecked,
        "job": "table",
        "kind": "anonymise (anatomy)",
        "digest": file.digest,
        "records": found.records,
        "suppressed": 0,
        "requirements": found.requirements,
    }


def _read_result(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise VerificationError(f"{path}: not JSON") from None


def _verify(file: TableFile, result: Any, path: Path, data: Path | None) -> dict[str, Any]:
    table = read_release(path, file.columns, "the table file")
    _check_parquet(table, path.with_suffix(".parquet"))
    records = len(next(iter(table.values())).codes)
    suppressed = int(result["suppressed"])
    for key, own in (("method", file.method), ("records", records)):
        if result[key] != own:
            raise VerificationError(f"{path}: {key} is {own}, but {RESULT} says {result[key]}")
    total = records + suppressed
    if suppressed < 0 or suppressed > file.max_suppression * total + 1e-9:
        raise VerificationError(
            f"{suppressed} of {total} records were suppressed; the table file allows a share of "
            f"{file.max_suppression:g}"
        )
    check_order(table, path)
    local = file.method in LOCAL or (file.method == "quantiles" and file.quantiles.by == "rank")
    for attribute in file.attributes:
        _check_values(attribute, table[attribute.name], path, local)
    requirements = check_requirements(
        file.requirements, result["anonymity"], table, "the table file"
    )
    qids = [attribute.name for attribute in file.attributes if attribute.in_qid]
    for name in qids if file.method == "quantiles" else ():
        check_groups(name, shown_times(table[name]), result["quantiles"][name])
    sizes = np.bincount(group_numbers([table[name] for name in qids])) if records else np.zeros(1)
    squares = sum(int(size) ** 2 for size in sizes) + suppressed * total
    if result["utility"]["discernibility"] != squares:
        raise VerificationError(
            f"{RESULT} says a discernibility of {result['utility']['discernibility']}, "
            f"the release {squares}"
        )
    check_risk(table, result, qids, [requirement.qid for requirement in file.requirements])
    found = {"records": records, "suppressed": suppressed, "requirements": requirements}
    if data is not None:
        found["measures"] = check_source(file, result, table, data)
    return found


def _check_parquet(table: Mapping[str, Released], path: Path) -> None:
    """The Parquet file, where there is one, has the same rows."""
    if not path.exists():
        return
    try:
        other = read_table(path, list(table))
    except DataError as error:
        raise VerificationError(str(error)) from None
    for name, column in table.items():
        own = [column.values[code] for code in column.codes.tolist()]
        if own != pc.fill_null(other.column(name), "").to_pylist():
            raise VerificationError(f"{path}: column '{name}' is not that of {RELEASE}")


def _check_values(attribute: TableAttribute, column: Released, path: Path, local: bool) -> None:
    where = f"{path}: column '{attribute.name}'"
    taxonomy, limits = attribute.taxonomy, attribute.limits
    if limits is not None and attribute.scale.name == "date":
        limits = limits[0] * _DAY, limits[1] * _DAY  # from days to seconds
    if not attribute.in_qid:
        for value in column.values:
            if taxonomy is not None and value not in taxonomy.leaves:
                raise VerificationError(f"{where}: '{value}' is not a leaf of its taxonomy")
            if attribute.type is not None and not (value == "?" and attribute.gap):
                number = _place(value, where, attribute.type.name)
                _in_range(number, limits, value, where)
        return
    if attribute.flat:
        return
    kind = attribute.scale.name
    spans = []
    for value in column.values:
        if value == "?" and attribute.missing == "value":
            continue
        if taxonomy is not None:
            spans.append((*_leaves(taxonomy, value, where), value))
            _check_bounds(taxonomy, attribute.at_most, value, where)
            continue
        known, mark, rest = value.partition(" or ?")
        if rest or (mark and attribute.missing != "value"):
            raise VerificationError(f"{where}: '{value}' stands for missing values, too")
        interval = _INTERVAL.fullmatch(known)
        low = _place(interval[1] if interval else known, where, kind)
        high = _place(interval[2], where, kind) if interval else low
        if low > high or (low == high and interval and not mark):
            raise VerificationError(f"{where}: '{value}' is not an interval")
        _in_range(low, limits, value, where)
        _in_range(high, limits, value, where)
        closed = not interval or interval[3] == "]"
        spans.append((low, np.nextafter(high, np.inf) if closed else high, value))
    if local or attribute.at_most:
        return
    spans.sort()
    for (_, end, one), (begin, _, other) in itertools.pairwise(spans):
        if begin < end:
            raise VerificationError(
                f"{where}: '{one}' and '{other}' overlap, but the whole column is recoded alike"
            )


def _leaves(taxonomy: Taxonomy, value: str, where: str) -> tuple[float, float]:
    if value not in taxonomy.labels:
        raise VerificationError(f"{where}: '{value}' is not in its taxonomy")
    node = taxonomy.labels.index(value)
    return taxonomy.first[node], taxonomy.last[node]


def _check_bounds(taxonomy: Taxonomy, marks: tuple[str, ...], value: str, where: str) -> None:
    """Raises if no leaf under the value may be generalized as far as the value."""
    first, last = _leaves(taxonomy, value, where)
    spans = [(mark, *_leaves(taxonomy, mark, where)) for mark in marks]
    below = [s for s in spans if first <= s[1] and s[2] <= last and (s[1], s[2]) != (first, last)]
    covered = {leaf for _, a, b in below for leaf in range(int(a), int(b))}
    if below and value not in marks and len(covered) == last - first:
        raise VerificationError(f"{where}: '{value}' is above the bounds {', '.join(marks)}")


def _place(value: str, where: str, kind: str) -> float:
    """A number, or a date or time as seconds."""
    if kind == "number":
        return _number(value, where)
    try:
        if kind == "time":
            moment = datetime.combine(date(1970, 1, 1), time.fromisoformat(value))
        elif kind == "date":
            moment = datetime.combine(date.fromisoformat(value), time())
        else:
            moment = datetime.fromisoformat(value)
    except ValueError:
        raise VerificationError(f"{where}: '{value}' is neither a {kind} nor an interval") from None
    return (moment - datetime(1970, 1, 1)).total_seconds()


def _number(value: str, where: str) -> float:
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value):
        raise VerificationError(f"{where}: '{value}' is neither a number nor an interval")
    return float(value)


def _in_range(number: float, limits: tuple[float, float] | None, value: str, where: str) -> None:
    if limits is not None and not limits[0] <= number <= limits[1]:
        raise VerificationError(f"{where}: '{value}' is not in its range")
