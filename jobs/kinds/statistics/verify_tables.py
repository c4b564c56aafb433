"""Checks of tables of counts for `coterie verify`: their form, their minimum and their sums.

The checks share no code with the protocols that count or decide what to hide. From `result.json`
alone:

* the tables are those that the job asks for, each with every combination of values exactly once, and
  an attribute has the same values in all of them, those that the job declares if it does;
* no visible count is below the minimum (or, where zeros are shown, between 1 and minimum-1), and
  none is more than there are records;
* the sums fit: every table has all records, and two tables agree in the sums over the attributes
  that both have;
* no hidden count follows from the visible ones. Each hidden cell is bounded by these sums again and
  again until no bound moves; a cell whose bounds leave only numbers from 1 to minimum-1 is given
  away. A linear programme would find tighter bounds, so a cell may be given away in ways that are
  not found here; but what is found is certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np

from coterie.base.arrays import Ints
from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim, read_rows

_ROUNDS = 100  # after this many rounds the bounds are used as they are


@dataclass(frozen=True)
class ClaimedTable:
    """A table of a result; None is a hidden count."""

    claim: Claim
    names: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...]
    counts: tuple[int | None, ...]

    @property
    def hidden(self) -> int:
        return sum(count is None for count in self.counts)

    def cell(self, at: int) -> str:
        """The name of a cell, for errors."""
        values = list(product(*self.domains))[at]
        return ", ".join(
            f"{name} = {value}" for name, value in zip(self.names, values, strict=True)
        )

    def keys(self, names: Sequence[str]) -> Ints:
        """A number for each cell, the same for cells that agree in these attributes."""
        places = np.indices([len(domain) for domain in self.domains]).reshape(len(self.names), -1)
        key = np.zeros(len(self.counts), np.int64)
        for name in names:
            axis = self.names.index(name)
            key = key * len(self.domains[axis]) + places[axis]
        return key


def verify_tables(
    claim: Claim,
    wanted: Sequence[Sequence[str]],
    declared: Mapping[str, Sequence[str] | None],
    records: int,
    minimum: int,
    zeros_shown: bool,
) -> list[ClaimedTable]:
    """The tables of a result; raises if a check fails. `declared` has the values of attributes.

    With `zeros_shown` empty cells may be shown, but a hidden cell may be empty as well.
    """
    tables = read_tables(claim, wanted, declared)
    for table in tables:
        for at, count in enumerate(table.counts):
            if count is None or count >= minimum or (count == 0 and zeros_shown):
                continue
            raise table.claim.error(
                f"shows the count {count} of {table.cell(at)}; the job hides those below {minimum}"
            )
    check_hidden(tables, records, minimum)
    return tables


def check_hidden(tables: Sequence[ClaimedTable], records: int, minimum: int) -> None:
    """Raises if a hidden count follows from the visible ones, or if these do not fit."""
    low, high = bounds(tables, records)
    for table, least, most in zip(tables, low, high, strict=True):
        # A cell whose lowest possible number is 0 may be empty; so nobody knows that it is small.
        given = (least >= 1) & (most < minimum)
        found = np.flatnonzero(given & [count is None for count in table.counts])
        if len(found):
            at = int(found[0])
            span = f"{least[at]}" if least[at] == most[at] else f"{least[at]} to {most[at]}"
            raise table.claim.error(
                f"the hidden count of {table.cell(at)} follows from the others: it is {span}"
            )


def read_tables(
    claim: Claim, wanted: Sequence[Sequence[str]], declared: Mapping[str, Sequence[str] | None]
) -> list[ClaimedTable]:
    """The tables of a result; raises unless they are the wanted ones."""
    items = claim.items()
    if len(items) != len(wanted):
        raise claim.error(f"has {len(items)} tables, the job asks for {len(wanted)}")
    known = {name: tuple(values) for name, values in declared.items() if values is not None}
    tables = []
    for item, names in zip(items, wanted, strict=True):
        if item.entry("attributes").texts() != list(names):
            raise item.error(f"is not the table of {', '.join(names)} that the job asks for")
        table = _read_table(item, tuple(names))
        for name, domain in zip(table.names, table.domains, strict=True):
            if known.setdefault(name, domain) != domain:
                raise item.error(f"'{name}' has other values than in the job or another table")
        tables.append(table)
    return tables


def _read_table(item: Claim, names: tuple[str, ...]) -> ClaimedTable:
    cells = item.entry("cells")
    rows: list[list[str]] = []
    counts: list[int | None] = []
    for cell in cells.items():
        *values, count = cell.items() or [cell]
        if len(values) != len(names):
            raise cell.error(f"must have {len(names)} values and a count")
        rows.append([value.text() for value in values])
        counts.append(None if count.value is None else count.integer(minimum=0))
    domains = tuple(tuple(dict.fromkeys(column)) for column in zip(*rows, strict=True))
    if rows != [list(values) for values in product(*domains)]:
        raise cells.error("must have every combination of values once, in the order of the values")
    if not rows:
        raise cells.error("must not be empty")
    return ClaimedTable(item, names, domains, tuple(counts))


def bounds(tables: Sequence[ClaimedTable], records: int) -> tuple[list[Ints], list[Ints]]:
    """The lowest and the highest number that each cell can have; raises if there is none."""
    low = [np.array([c or 0 for c in t.counts], np.int64) for t in tables]
    high = [np.array([records if c is None else c for c in t.counts], np.int64) for t in tables]
    pairs = [(a, b, sorted(set(tables[a].names) & set(tables[b].names)))
             for a, b in combinations(range(len(tables)), 2)]  # fmt: skip
    joints = [
        (a, b, tables[a].keys(names), tables[b].keys(names)) for a, b, names in pairs if names
    ]
    for _ in range(_ROUNDS):
        before = [part.copy() for part in (*low, *high)]
        for at, table in enumerate(tables):
            whole = np.zeros(len(table.counts), np.int64)
            total = np.array([records])
            _narrow(table, whole, total, total, low[at], high[at])
        for a, b, keys_a, keys_b in joints:
            first_low, first_high = _sums(keys_a, low[a]), _sums(keys_a, high[a])
            sums_low = np.maximum(first_low, _sums(keys_b, low[b]))
            sums_high = np.minimum(first_high, _sums(keys_b, high[b]))
            _narrow(tables[a], keys_a, sums_low, sums_high, low[a], high[a])
            _narrow(tables[b], keys_b, sums_low, sums_high, low[b], high[b])
        if all((old == new).all() for old, new in zip(before, (*low, *high), strict=True)):
            break
    return low, high


def _sums(keys: Ints, values: Ints) -> Ints:
    sums = np.zeros(int(keys.max()) + 1, np.int64)
    np.add.at(sums, keys, values)
    return sums


def _narrow(
    table: ClaimedTable, keys: Ints, sums_low: Ints, sums_high: Ints, low: Ints, high: Ints
) -> None:
    """Narrows the bounds of cells, in place, by bounds on the sums over cells with the same key."""
    others_low, others_high = _sums(keys, low)[keys] - low, _sums(keys, high)[keys] - high
    np.maximum(low, sums_low[keys] - others_high, out=low)
    np.minimum(high, sums_high[keys] - others_low, out=high)
    wrong = np.flatnonzero(low > high)
    if len(wrong):
        raise table.claim.error(
            f"the sums do not fit the number of records or another table (at {table.cell(int(wrong[0]))})"
        )


def verify_files(tables: Sequence[ClaimedTable], folder: Path, files: Sequence[str]) -> None:
    """Checks that the CSV file of each table equals the table of the result."""
    for table, name in zip(tables, files, strict=True):
        path = folder / name
        shown = ["" if count is None else str(count) for count in table.counts]
        rows = [[*values, count] for values, count in
                zip(product(*table.domains), shown, strict=True)]  # fmt: skip
        if read_rows(path) != [[*table.names, "count"], *rows]:
            raise VerificationError(f"{path}: differs from the table in {table.claim.file}")


def described(tables: Sequence[ClaimedTable]) -> list[str]:
    """A line for a person about each table."""
    lines = []
    for table in tables:
        name, cells = " x ".join(table.names), len(table.counts)
        if table.hidden == cells and len(tables) > 1:
            lines.append(
                f"{name}: all {cells} cells hidden, for few records or because of the tables before it: "
                "ask for it first, or in a job of its own"
            )
        else:
            lines.append(f"{name}: {cells} cells, {table.hidden} of them hidden")
    return lines
