"""What an outsider infers from an anatomised release.

The quasi-identifier table has exact values, so the linkage attack finds a person's record wherever
the values that the outsider knows are rare. The record has the number of its group, and the
sensitive tables say which values the group has how often: a person has a value with the value's
share in the group. If the candidates of a person are in several groups, each group counts with its
share of the candidates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from coterie.anonymity.anatomy.anatomy import COUNT, GROUP
from coterie.anonymity.risk.linkage import Linked
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.result_file import RESULT, Claim


def with_sensitive(folder: Path, targets: list[str], found: Linked) -> tuple[list[str], Linked]:
    """The columns that are inferred, and for each person the shares of the sensitive values, too."""
    tables = _shares(folder)
    inferred = []
    for person in found.inferred:
        groups = person.get(GROUP, {})
        own = {name: shares for name, shares in person.items() if name != GROUP}
        for name, of_group in tables.items():
            mixed: dict[str, float] = {}
            for group, part in groups.items():
                for value, share in of_group.get(group, {}).items():
                    mixed[value] = mixed.get(value, 0.0) + part * share
            if groups:
                own[name] = dict(sorted(mixed.items(), key=lambda entry: -entry[1]))
        inferred.append(own)
    columns = [name for name in targets if name != GROUP]
    return [*columns, *tables], replace(found, inferred=inferred)


def _shares(folder: Path) -> dict[str, dict[str, Mapping[str, float]]]:
    """For each sensitive column and group the shares of the values."""
    try:
        claims = Claim(json.loads((folder / RESULT).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        raise UsageError(f"{folder / RESULT}: cannot be read") from None
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for entry in claims.entry("sensitive_tables").items():
        path = folder / entry.entry("file").text()
        names = entry.entry("columns").texts()
        table = read_table(path, [GROUP, *names, COUNT])
        try:
            counts = [int(text) for text in table.column(COUNT).to_pylist()]
        except (TypeError, ValueError):
            raise DataError(f"{path}: has a count that is not a number") from None
        groups = table.column(GROUP).to_pylist()
        for name in names:
            times: dict[str, Counter[str]] = {}
            for group, value, count in zip(
                groups, table.column(name).to_pylist(), counts, strict=True
            ):
                times.setdefault(group, Counter())[value or ""] += count
            found[name] = {
                group: {value: number / own.total() for value, number in own.items()}
                for group, own in times.items()
            }
    return found
