"""`coterie hide-rules TABLE.yaml --out DIR`: a table in which given rules are not found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released
from coterie.anonymity.rules.blocking import block, certain_confidence
from coterie.anonymity.rules.effects import Effects, effects
from coterie.anonymity.rules.exact import TooLargeError, hide_exactly
from coterie.anonymity.rules.hiding import hide
from coterie.anonymity.rules.mining import (
    Items,
    Rule,
    TooManySetsError,
    frequent_sets,
    least_count,
    rules_of,
)
from coterie.base.arrays import Mask
from coterie.base.errors import DataError, EnvironmentFaultError
from coterie.base.randomness import SYSTEM, Bytewise
from coterie.base.text import numbered
from coterie.jobs.data.release_file import coded_columns
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.release_table import Coded
from coterie.onetable.methods.hide_rules.keys import Cells, HideFile
from coterie.onetable.released import RELEASE, MadeOfColumns, about_job

UNKNOWN = "?"
_SHOWN = 50  # rules that `result.json` lists of a kind


@dataclass(frozen=True)
class Hidden(MadeOfColumns[HideFile]):
    def lines(self, out: Path) -> list[str]:
        return lines(self.result, out)


class _Items:
    """The items of a table, each a column with its value, and the transactions that have them."""

    def __init__(self, file: HideFile, columns: dict[str, Released]) -> None:
        self.names = [
            (name, value)
            for name in file.columns
            for value in columns[name].values
            if value not in ("", UNKNOWN)
        ]
        self.number = {name: at for at, name in enumerate(self.names)}
        records = len(columns[file.columns[0]].codes)
        self.table: Mask = np.zeros((len(self.names), records), bool)
        for at, (name, value) in enumerate(self.names):
            column = columns[name]
            self.table[at] = column.codes == column.values.index(value)

    def of(self, cells: Cells, source: str) -> Items:
        for name, value in cells:
            if (name, value) not in self.number:
                raise DataError(f"{source}: column '{name}': no record has the value '{value}'")
        return tuple(sorted(self.number[cell] for cell in cells))

    def listed(self, rules: Sequence[Rule]) -> list[dict[str, Any]]:
        return [
            {
                "if": [list(self.names[i]) for i in rule.premise],
                "then": [list(self.names[i]) for i in rule.conclusion],
            }
            for rule in rules[:_SHOWN]
        ]


def hide_file(file: HideFile, source: Bytewise = SYSTEM) -> Hidden:
    """Reads a table and hides its rules; writes nothing."""
    begun = time.perf_counter()
    text = file.source.read(file.columns)
    if not text.num_rows:
        raise DataError(f"{file.source}: the table has no records")
    columns = coded_columns(text)
    for name, column in columns.items():
        if UNKNOWN in column.values and file.by == "blocking":
            raise DataError(f"{file.source}: column '{name}' has a ?, which blocking writes")
    items = _Items(file, columns)
    rules = [
        Rule(items.of(one, str(file.source)), items.of(other, str(file.source)))
        for one, other in file.hide
    ]
    least = least_count(file.support, text.num_rows)
    try:
        found = frequent_sets(items.table, least, file.longest)
        before = list(rules_of(found, file.confidence))
        changed, unknown, decoys, after = _changed(file, items, rules, least, found, source)
    except TooManySetsError as error:
        raise DataError(f"{file.source}: {error}; a larger 'support' or fewer 'longest'") from None
    done = effects(before, after, rules)
    result = {
        "method": file.method,
        "by": file.by,
        "records": text.num_rows,
        "support": file.support,
        "confidence": file.confidence,
        "hidden": len(rules) - len(done.failures),
        **_effects_listed(done, items),
        "items_changed": int((items.table != changed).sum()),
        "decoys": decoys,
        "cells_changed": 0,
        "seconds": {"hide": round(time.perf_counter() - begun, 3)},
        "job": about_job(file),
    }
    shown = _release(file, columns, items, changed, unknown)
    result["cells_changed"] = sum(
        int((np.array(shown[n].values)[shown[n].codes] != np.array(c.values)[c.codes]).sum())
        for n, c in columns.items()
    )
    if done.failures:
        raise DataError(f"{file.source}: {len(done.failures)} rules cannot be hidden by {file.by}")
    return Hidden(file, result, shown)


def _changed(
    file: HideFile,
    items: _Items,
    rules: list[Rule],
    least: int,
    found: dict[Items, int],
    source: Bytewise,
) -> tuple[Mask, Mask, int, list[Rule]]:
    """The table after hiding, its unknowns, how many hide nothing, and the rules that are found."""
    sensitive = [set(rule.whole) for rule in rules]
    kept = [one for one in found if not any(part <= set(one) for part in sensitive)]
    none = np.zeros_like(items.table)
    if file.by == "blocking":
        unknown = block(
            items.table, rules, file.support, file.confidence, file.margin, file.decoys, source
        )
        # A cell of another value that becomes unknown is no longer certain, either.
        gone = unknown.copy()
        for at, (name, _) in enumerate(items.names):
            same = [i for i, (other, _) in enumerate(items.names) if other == name]
            gone[at] = unknown[same].any(axis=0)
        certain = items.table & ~gone
        sets = frequent_sets(certain, least, file.longest)
        after = [
            rule
            for rule in rules_of(sets, file.confidence)
            if certain_confidence(items.table, gone, rule)[1] >= file.confidence - 1e-9
        ]
        return certain, gone, int((unknown & ~items.table).sum()), after
    if file.by == "exact":
        try:
            table = hide_exactly(items.table, rules, least, kept)
        except ImportError:
            raise EnvironmentFaultError(
                "'by: exact' needs a solver: pip install 'coterie[exact]'"
            ) from None
        except TooLargeError as error:
            raise DataError(
                f"{file.source}: too large for 'by: exact' ({error}); take 'by: border'"
            ) from None
    else:
        table = hide(items.table, rules, least, file.confidence, file.by, kept)
    sets = frequent_sets(table, least, file.longest)
    return table, none, 0, list(rules_of(sets, file.confidence))


def _effects_listed(done: Effects, items: _Items) -> dict[str, Any]:
    return {
        "rules_before": done.before,
        "rules_after": done.after,
        "failures": len(done.failures),
        "lost": len(done.lost),
        "ghosts": len(done.ghosts),
        "lost_rules": items.listed(done.lost),
        "ghost_rules": items.listed(done.ghosts),
    }


def _release(
    file: HideFile, columns: dict[str, Released], items: _Items, changed: Mask, unknown: Mask
) -> dict[str, Coded]:
    """The columns with empty cells for removed items, or `?` for unknown ones."""
    shown = {}
    for name in file.columns:
        column = columns[name]
        own = [at for at, (other, _) in enumerate(items.names) if other == name]
        values = [*column.values, "", UNKNOWN]
        removed = (items.table[own] & ~changed[own]).any(axis=0)
        hidden = unknown[own].any(axis=0)
        codes = np.where(removed, len(values) - 2, column.codes)
        shown[name] = Coded(*_compact(np.where(hidden, len(values) - 1, codes), values))
    return shown


def _compact(codes: Any, values: list[str]) -> tuple[Any, list[str]]:
    """The column with every value once, and only those that occur."""
    texts = np.array(values, object)[codes]
    found, numbers = np.unique(texts.astype(str), return_inverse=True)
    return numbers, found.tolist()


def lines(result: dict[str, Any], out: Path) -> list[str]:
    """The result in a few lines for a person."""
    return [
        f"hide-rules by {result['by']}: {numbered(result['hidden'], 'rule')} hidden in "
        f"{numbered(result['records'], 'record')}, {result['failures']} not",
        f"  {numbered(result['cells_changed'], 'cell')} changed"
        + (f", {result['decoys']:,} of them hide nothing" if result["decoys"] else ""),
        f"  of {numbered(result['rules_before'], 'rule')} {result['lost']:,} are lost besides, and "
        f"{result['ghosts']:,} are new",
        f"release: {out / RELEASE}",
        f"result: {out / RESULT}",
    ]
