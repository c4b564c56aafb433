"""The most revealing rules of a table into its sensitive columns, for `coterie inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.rules.revealing import revealing_rules
from coterie.base.errors import UsageError
from coterie.onetable.coded import CodedTable

SHOWN = 10
_MOST_VALUES = 1_000  # of a column; one with more values identifies people


def revealing(
    table: CodedTable, sensitive: Sequence[str], notes: list[str]
) -> list[dict[str, Any]]:
    """The rules with the most information about each sensitive column, ten in all."""
    names = [column.name for column in table.columns]
    for name in sensitive:
        if name not in names:
            raise UsageError(
                f"{table.source}: the sensitive '{name}' is not among its columns that are looked "
                f"at: {', '.join(names)}"
            )
    premises = [c for c in table.columns if c.name not in sensitive and c.distinct <= _MOST_VALUES]
    large = [c.name for c in table.columns if c.name not in sensitive and c not in premises]
    if large:
        notes.append(
            f"revealing rules leave out {', '.join(large)}: more than {_MOST_VALUES:,} values"
        )
    found: list[dict[str, Any]] = []
    for name in dict.fromkeys(sensitive):
        column = table.column(name)
        if column.distinct > _MOST_VALUES:
            notes.append(f"'{name}' has more than {_MOST_VALUES:,} values, too many for rules")
            continue
        rules = revealing_rules(
            [np.asarray(c.codes) for c in premises],
            [c.distinct for c in premises],
            np.asarray(column.codes),
            column.distinct,
            most=SHOWN,
        )
        found += [
            {
                "if": {
                    premises[j].name: premises[j].values[code].as_py() for j, code in rule.premise
                },
                "then": {name: column.values[rule.value].as_py()},
                "people": rule.people,
                "confidence": rule.confidence,
                "share": rule.share,
                "information": rule.information,
            }
            for rule in rules
        ]
    found.sort(key=lambda rule: -rule["information"])
    return found[:SHOWN]


def revealing_lines(rules: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each rule."""
    found = []
    for rule in rules:
        premise = " and ".join(f"{name} = {value}" for name, value in rule["if"].items())
        ((name, value),) = rule["then"].items()
        found.append(
            f"{premise}: {name} = {value} for {rule['confidence']:.0%} of {rule['people']:,} people "
            f"({rule['share']:.0%} of all)"
        )
    return found
