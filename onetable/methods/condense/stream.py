"""`coterie condense TABLE.yaml --state FILE`: condenses records as they come, and keeps sums only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from coterie.anonymity.table.table import Labels
from coterie.base.errors import DataError, UsageError
from coterie.base.randomness import SYSTEM, Bytewise
from coterie.base.text import numbered
from coterie.jobs.data.batches import batches
from coterie.onetable.methods.condense.numbers import csv_lines, read_numbers
from coterie.onetable.methods.condense.run import Release, coded, described, place
from coterie.onetable.methods.condense.state import State, load_state
from coterie.onetable.methods.reading import load_table_file
from coterie.onetable.released import about_job
from coterie.onetable.table_file import TableFile

_FOLLOWED = "standard input"


class Stream:
    """A table file with `method: condense`, its state, and the records that are added to it."""

    def __init__(self, table: Path, state: Path) -> None:
        self.file: TableFile = load_table_file(table)
        if self.file.method != "condense":
            raise UsageError(f"{table}: is for 'coterie anonymise'; say 'method: condense'")
        self.path = state
        self.state: State = load_state(state, self.file)
        self.earlier, self.dropped = self.state.read, 0

    def read(self) -> None:
        """Adds the table's records; the state is written when all of them are in it."""
        for _ in self._added(batches(self.file.source, self.file.columns), str(self.file.source)):
            pass
        self._finish()

    def follow(self, stream: BinaryIO, every: int) -> None:
        """Adds CSV lines as they come; the state is written after `every` records, and at the end."""
        saved = self.state.read
        try:
            for _ in self._added(csv_lines(stream, self.file, _FOLLOWED), _FOLLOWED):
                if self.state.read - saved >= every and self.state.kept:
                    self.state.save(self.path)
                    saved = self.state.read
        except DataError as error:
            kept = f"{self.path} has the first {saved - self.earlier:,} records of these lines"
            raise DataError(
                f"{error}; {kept if saved > self.earlier else 'nothing was kept'}"
            ) from None
        self._finish()

    def _added(self, pieces: Iterator[pa.Table], source: str) -> Iterator[None]:
        rows = 0
        for piece in pieces:
            points, classes, dropped = read_numbers(self.file, piece, source, rows)
            self.state.add(points, classes)
            rows += piece.num_rows
            self.dropped += dropped
            yield
        if not rows:
            raise DataError(f"{source}: the table has no records")

    def _finish(self) -> None:
        """Writes the state; a state without any group is an error."""
        if not self.state.kept:
            most = max(self.state.waiting.values(), default=0)
            raise DataError(
                f"{self.file.source}: {most:,} records of one class at most; nothing is kept or "
                f"released before 2k = {2 * self.state.k:,}"
            )
        self.state.save(self.path)

    def summary(self) -> dict[str, Any]:
        """What the state has now."""
        none = np.zeros(0, np.int64)
        sizes = np.concatenate([none, *(moments.sizes for moments in self.state.kept.values())])
        return {
            "k": self.state.k,
            "added": self.state.read - self.earlier,
            "dropped": self.dropped,
            "records": int(sizes.sum()),
            "groups": len(sizes),
            "smallest": int(sizes.min()) if len(sizes) else 0,
            "waiting": self.state.waiting,
            "state": str(self.path),
        }

    def release(self, source: Bytewise = SYSTEM) -> Release:
        """Synthetic records from the sums; nothing else is known of the stream."""
        begun = time.perf_counter()
        kept = self.state.kept
        if not kept:
            raise UsageError(f"{self.path}: has no group yet, so that nothing can be released")
        parts = [self.state.condensers[name].release(source) for name in kept]
        codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        grids = self.state.grids
        spans = [attribute.limits for attribute in self.file.attributes]
        placed = place(np.concatenate(parts), self.file, grids, spans)
        result = {
            **described(self.file, {n: m.sizes for n, m in kept.items()}, placed, grids),
            "streamed": True,
            "suppressed": 0,
            "dropped": self.dropped,
            "waiting": self.state.waiting,
            "seconds": {"release": round(time.perf_counter() - begun, 3)},
            "job": about_job(self.file),
        }
        columns = coded(self.file, placed.points, Labels(codes, tuple(kept)))
        return Release(self.file, result, columns)


def lines(summary: dict[str, Any]) -> list[str]:
    """The state in a few lines for a person."""
    found = [
        f"condense: {numbered(summary['added'], 'record')} added, {summary['records']:,} in "
        f"{numbered(summary['groups'], 'group')} of at least {summary['smallest']} (k = {summary['k']})"
    ]
    if summary["dropped"]:
        found.append(f"  {numbered(summary['dropped'], 'row')} left out for a missing value")
    for name, number in summary["waiting"].items():
        of = f" of class '{name}'" if name else ""
        found.append(
            f"  {numbered(number, 'record')}{of} {'was' if number == 1 else 'were'} not kept: fewer than 2k = {2 * summary['k']}, and no "
            "record is stored"
        )
    return [*found, f"state: {summary['state']}"]
