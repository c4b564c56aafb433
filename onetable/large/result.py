"""What is left of a table that the memory does not hold: its release, and the content of `result.json`."""

from __future__ import annotations

import contextlib
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from coterie.anonymity.algorithms.stored_recoding import StoredRelease
from coterie.anonymity.models.audit import Released, group_numbers
from coterie.anonymity.risk.grouping import Sizes, counted_sizes
from coterie.anonymity.risk.reidentification import risk_of
from coterie.anonymity.table.stored import Grouped
from coterie.anonymity.utility.stored import measured_stored
from coterie.base.arrays import Array
from coterie.base.memory import give_back, let_go
from coterie.onetable.released import PARQUET, RELEASE, Made, generalized_lines
from coterie.onetable.table_file import TableFile


@dataclass(frozen=True)
class Large(Made[TableFile]):
    """An audited release that is still on disk."""

    def lines(self, out: Path) -> list[str]:
        return generalized_lines(self.result, out)

    @abstractmethod
    def rows(self, schema: pa.Schema) -> Iterator[pa.Table]:
        """The rows of the release in their order, some at a time."""

    def write_tables(self, out: Path, parquet: bool) -> None:
        schema = pa.schema([(name, pa.string()) for name in self.file.columns])
        options = pacsv.WriteOptions(quoting_style="needed", quoting_header="needed")
        with contextlib.ExitStack() as files:
            writers: list[Any] = [
                files.enter_context(
                    pacsv.CSVWriter(str(out / RELEASE), schema, write_options=options)
                )
            ]
            if parquet:
                writers.append(
                    files.enter_context(
                        pq.ParquetWriter(str(out / PARQUET), schema, compression="zstd")
                    )
                )
            for part in self.rows(schema):
                for writer in writers:
                    writer.write_table(part)
        give_back()


def result_of(
    file: TableFile,
    dropped: int,
    release: StoredRelease,
    folder: Path,
    lost_of: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The content of `result.json`; `lost_of` has entropy losses that are known already."""
    shown, table = release.columns, release.table
    anonymity = release.anonymity(file.requirements)
    every = _sizes(release, list(shown), folder)
    priorities = dict(table.priority)
    utility = measured_stored(
        table, shown, release.suppressed, every.squares, file.class_name, lost_of
    )
    return {
        "method": file.method,
        "records": table.records - release.suppressed,
        "suppressed": release.suppressed,
        "dropped": dropped,
        "anonymity": anonymity,
        "risk": {
            **risk_of(every).as_dict(),
            "by_qid": [
                {"qid": list(qid), **risk_of(_sizes(release, qid, folder)).as_dict()}
                for qid in dict.fromkeys(tuple(r.qid) for r in file.requirements)
            ],
        },
        "utility": utility.as_dict(),
        **release.details,
        "on_disk": True,
        **({"priorities": priorities} if len(set(priorities.values())) > 1 else {}),
    }


def _sizes(release: StoredRelease, names: Sequence[str], folder: Path) -> Sizes:
    """The sizes of the groups of released records that are equal in these columns."""
    chosen: Mapping[int, tuple[Grouped, list[str]]] = {
        id(group): (group, [name for name in names if name in group.columns])
        for group in release.groups
    }
    parts: list[tuple[Grouped, Array]] = []
    for group, own in chosen.values():
        if own:
            shown = [group.columns[name] for name in own]
            released = [Released(c.codes.astype(np.int64), c.labels) for c in shown]
            parts.append((group, group_numbers(released)))
    if len(parts) == 1:
        group, numbers = parts[0]
        return Sizes.of(np.bincount(numbers, weights=group.sizes).astype(np.int64))
    kept = release.table.records - release.suppressed
    columns = []
    with tempfile.TemporaryDirectory(prefix="groups-", dir=folder) as place:
        for at, (group, numbers) in enumerate(parts):
            file = np.memmap(Path(place, str(at)), np.uint32, "w+", shape=(max(kept, 1),))
            done = 0
            for rows in release.table.slices():
                part = group.parts(rows)
                own_groups = numbers[part[part >= 0]]
                file[done : done + len(own_groups)] = own_groups
                done += len(own_groups)
                let_go(file)
            columns.append(file[:kept])
        return counted_sizes(columns, kept, max(release.memory // 256, 1))
