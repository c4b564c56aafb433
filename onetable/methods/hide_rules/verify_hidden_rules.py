"""`coterie verify DIR` for a table whose rules were hidden: are they?

The counts are made anew, row by row with Python's own sets, from `release.csv` and the file beside it:
columns and order, and that every rule to hide misses a threshold, among blocked cells also in the
worst case. With `--data`: as many records, and every column with the table's values less those that
became empty or unknown, as many as `result.json` says.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from coterie.anonymity.models.audit import Released
from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.release_file import check_order, read_release
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.result_file import RESULT
from coterie.onetable.methods.hide_rules.keys import Cells, HideFile
from coterie.onetable.released import RELEASE

UNCHECKED = (
    "side effects, and that the release is made of the table: --data names the table",
    "lost and ghost rules, which take the table's own rules",
)
_SLACK = 1e-9


def verify_hidden(file: HideFile, result: Any, folder: Path, data: Path | None) -> dict[str, Any]:
    path, release = folder / RESULT, folder / RELEASE
    table = read_release(release, file.columns, "the file")
    check_order(table, release)
    rows = _rows(file, table)
    for key, own in (("method", file.method), ("by", file.by), ("records", len(rows))):
        if result[key] != own:
            raise VerificationError(f"{release}: {key} is {own}; {RESULT} says {result[key]}")
    if result["failures"] != 0 or result["hidden"] != len(file.hide):
        raise VerificationError(f"{path}: says that not all rules are hidden")
    for premise, conclusion in file.hide:
        _check_rule(file, rows, premise, conclusion)
    if data is not None:
        _check_source(file, rows, int(result["cells_changed"]), data)
    return {
        "verdict": f"holds: {numbered(len(file.hide), 'rule')} "
        f"{'is' if len(file.hide) == 1 else 'are'} not found in {numbered(len(rows), 'record')}",
        "unchecked": [UNCHECKED[0] if data is None else UNCHECKED[1]],
        "records": len(rows),
    }


def _rows(file: HideFile, table: dict[str, Released]) -> list[dict[str, str]]:
    texts = [[table[n].values[code] for code in table[n].codes.tolist()] for n in file.columns]
    return [dict(zip(file.columns, row, strict=True)) for row in zip(*texts, strict=True)]


def _check_rule(
    file: HideFile, rows: list[dict[str, str]], premise: Cells, conclusion: Cells
) -> None:
    blocked = file.by == "blocking"
    both = [*premise, *conclusion]
    together = sum(all(row[name] == value for name, value in both) for row in rows)
    possible = sum(
        all(row[name] == value or (blocked and row[name] == "?") for name, value in premise)
        for row in rows
    )
    margin = file.margin if blocked else 0.0
    frequent = together >= (file.support - margin) * len(rows) - _SLACK * len(rows)
    confident = together >= (file.confidence - margin) * possible - _SLACK * len(rows)
    if together and frequent and confident:
        text = " and ".join(f"{name} = {value}" for name, value in premise)
        then = " and ".join(f"{name} = {value}" for name, value in conclusion)
        raise VerificationError(
            f"the rule {text} -> {then} is found: {together} of {len(rows)} records, confidence "
            f"{together / possible:.3f}"
        )


def _check_source(file: HideFile, rows: list[dict[str, str]], claimed: int, data: Path) -> None:
    text = read_table(data, file.columns)
    if text.num_rows != len(rows):
        raise VerificationError(f"{data}: has {text.num_rows} records, the release {len(rows)}")
    changed = 0
    for name in file.columns:
        own = Counter(value or "" for value in text.column(name).to_pylist())
        shown = Counter(row[name] for row in rows)
        for value, number in shown.items():
            if value not in ("", "?") and number > own[value]:
                raise VerificationError(
                    f"{data}: column '{name}' has '{value}' {own[value]} times, the release {number}"
                )
        changed += sum(max(number - shown[value], 0) for value, number in own.items())
    if changed != claimed:
        raise VerificationError(f"{data}: {changed} cells differ; {RESULT} says {claimed}")
