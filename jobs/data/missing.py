"""Rows without a value: what the key `missing` of an attribute, or of a whole job, does about them.

    missing: error    they are an error that counts them and names the first (the default)
    missing: value    `?` is shown for them: a leaf under a taxonomy's root, a value beside intervals
    missing: drop     these rows take no part; they are left out before anything is exchanged

A value is missing where the table has none, and where it is written `?` and nothing that the job
declares has a `?`. Only the steward learns which rows were left out: `Dropped.write` lists them in
the folder that stays with the party. The class and identifiers do not have this key.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import no_value
from coterie.anonymity.table.intervals import GAP
from coterie.base.arrays import Ints, Mask
from coterie.base.errors import DataError
from coterie.jobs.file.document import Section

MISSING = ("error", "value", "drop")
DROPPED = "dropped.csv"  # the rows that took no part, for the party's own steward
CURE = "say 'missing: value' to show them as ?, or 'missing: drop' to leave such rows out"
DROP = "say 'missing: drop' to leave such rows out"


ELSEWHERE = "elsewhere"  # with mixed partition, another party has the value; no key says so


def read_missing(section: Section, default: str | None) -> str | None:
    """The key `missing`; None where neither it nor a default says anything."""
    return section.read("missing", lambda node: node.choice(*MISSING), default)


def gaps_of(column: pa.ChunkedArray, known: Sequence[str] = ()) -> Mask:
    """Which rows have no value; `known` are the values that are declared, `?` perhaps among them."""
    gaps = pc.is_null(column)
    if GAP not in known:
        gaps = pc.or_(gaps, pc.fill_null(pc.equal(column, GAP), False))
    return np.asarray(gaps.to_numpy(), bool)


def filled(column: pa.ChunkedArray, gaps: Mask, value: str) -> pa.ChunkedArray:
    """The column with a value in place of the gaps."""
    if not gaps.any():
        return column
    return pc.if_else(pa.array(gaps), pa.scalar(value, column.type), column)


def refuse_gaps(
    column: pa.ChunkedArray, known: Sequence[str], name: str, source: str, cure: str = CURE
) -> None:
    """Raises an error if a value is missing."""
    gaps = gaps_of(column, known)
    if gaps.any():
        raise no_value(name, gaps, source, cure)


@dataclass(frozen=True)
class Dropped:
    """The rows of a table that take no part, by the columns in which a value is missing."""

    stays: Ints | None = None  # the rows that are left, None if all are
    gaps: Mapping[str, Mask] = field(default_factory=dict)

    @property
    def rows(self) -> Ints:
        """The rows that were left out, counted from 1."""
        masks = list(self.gaps.values())
        found: Ints = np.flatnonzero(np.logical_or.reduce(masks)) + 1 if masks else np.zeros(0, int)
        return found

    @property
    def number(self) -> int:
        return len(self.rows)

    @contextlib.contextmanager
    def counted_as_read(self) -> Iterator[None]:
        """Errors inside name rows of the table that is left; outside, those of the table as read."""
        try:
            yield
        except DataError as error:
            if self.stays is None or not error.rows:
                raise
            stays = self.stays
            rows = [
                int(stays[row - 1]) + 1
                if isinstance(row, int)
                else (int(stays[row[0] - 1]) + 1, int(stays[row[1] - 1]) + 1)
                for row in error.rows
            ]
            raise error.at(rows) from None

    def write(self, folder: Path) -> None:
        """Leaves the list of these rows in the folder that stays with the party."""
        if self.stays is None:
            return
        with (folder / DROPPED).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["row", "columns without a value"])
            for row in self.rows.tolist():
                writer.writerow(
                    [row, ", ".join(n for n, gaps in self.gaps.items() if gaps[row - 1])]
                )


@runtime_checkable
class WithoutGaps(Protocol):
    """A party's prepared data of which rows may have been left out."""

    dropped: Dropped


def without_gaps(
    table: pa.Table, dropping: Mapping[str, Sequence[str]], source: str
) -> tuple[pa.Table, Dropped]:
    """The rows with a value in all columns of `dropping`, which has each column's declared values."""
    gaps = {name: gaps_of(table.column(name), known) for name, known in dropping.items()}
    gaps = {name: mask for name, mask in gaps.items() if mask.any()}
    if not gaps:
        return table, Dropped()
    stays = ~np.logical_or.reduce(list(gaps.values()))
    if not stays.any():
        names = list(gaps)
        raise DataError(
            "every row lacks a value in {column}, so that none is left", file=source, column=names
        )
    return table.filter(pa.array(stays)), Dropped(np.flatnonzero(stays), gaps)
