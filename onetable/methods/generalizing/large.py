"""`coterie anonymise` of a table that the memory does not hold: on disk, or on a cluster.

The source is read once into files of codes (`stored`), cut piece by piece (`stored_recoding`; one
column of numbers by passes over it, `one_dimension.stored`), audited, measured, sorted and written,
each slice by slice. The release is that of the table in memory, to the byte. In memory are the
different values of each column and the boxes of all parts.

With a Dask cluster the pieces lie on its workers (`cluster_pieces`), which count, divide and finish
them; this machine reads the source, keeps the number of each record's part, and writes the release.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from coterie.anonymity.algorithms.stored_recoding import StoredRelease
from coterie.base.memory import give_back
from coterie.jobs.data.sorted_files import SortedRows
from coterie.jobs.data.sources import CsvFile, ParquetFile, Source, Spelt
from coterie.onetable.large.result import Large, result_of
from coterie.onetable.large.spooled import can_be_read_again
from coterie.onetable.large.stored import store
from coterie.onetable.methods.generalizing.method import Room
from coterie.onetable.methods.registry import generalizing
from coterie.onetable.prepare import named_in_errors
from coterie.onetable.released import about_job
from coterie.onetable.table_file import TableFile

# What a table in memory takes, measured: for each byte of a CSV file, and for each value.
_BYTES_OF_CSV, _BYTES_OF_VALUE = 12, 60


def needed(source: Source, columns: int) -> int | None:
    """About how many bytes it takes to anonymise the table in memory; None if that is unknown."""
    if isinstance(source, Spelt):
        return needed(source.source, columns)
    if not can_be_read_again(source):
        return None
    try:
        if isinstance(source, CsvFile):
            return source.path.stat().st_size * _BYTES_OF_CSV
        if isinstance(source, ParquetFile):
            rows = pq.ParquetFile(source.path).metadata.num_rows
            return int(rows) * columns * _BYTES_OF_VALUE
    except (OSError, pa.ArrowException):
        pass  # reading the table says what is wrong with it
    return None


def is_large(file: TableFile, memory: int) -> bool:
    """Whether a table is better not read as a whole; only some methods can do without.

    The size of a source such as a pipe or a database is unknown; such a source is not read whole if a
    sample is enough.
    """
    wanted = needed(file.source, len(file.columns))
    method = generalizing(file.method)
    if wanted is not None and wanted > memory:
        method.check_room(file, wanted, memory)
        return method.in_pieces(file)
    return method.in_pieces(file) and wanted is None and method.streams(file)


@dataclass(frozen=True)
class OnDisk(Large):
    """The release of a table whose records are numbers of texts, in files."""

    release: StoredRelease
    folder: Path

    def rows(self, schema: pa.Schema) -> Iterator[pa.Table]:
        table, shown = self.release.table, self.release.columns
        texts, ranks = {}, {}
        for name in self.file.columns:
            labels: Sequence[str] = (
                shown[name].columns[name].labels if name in shown else table.labels[name].values
            )
            order = sorted(range(len(labels)), key=labels.__getitem__)
            ranks[name] = np.empty(len(order), np.uint32)
            ranks[name][order] = np.arange(len(order))
            texts[name] = pa.array([labels[at] for at in order], pa.string())
        width = len(texts)
        most = max(self.release.memory // (4 * (8 * width + 24)), 1)
        with tempfile.TemporaryDirectory(prefix="sort-", dir=self.folder) as folder:
            rows = SortedRows(Path(folder), [len(text) for text in texts.values()], most)
            for part in table.slices():
                stays = next(iter(shown.values())).parts(part) >= 0
                found = []
                for name in self.file.columns:
                    if name in shown:
                        parts = shown[name].parts(part)[stays]
                        codes = shown[name].columns[name].codes[parts]
                    else:
                        codes = table.stored[name].part(part)[stays]
                    found.append(ranks[name][codes])
                rows.add(np.stack(found, axis=1))
            for sorted_part in rows.read():
                yield pa.table(
                    [
                        text.take(pa.array(np.ascontiguousarray(sorted_part[:, at])))
                        for at, text in enumerate(texts.values())
                    ],
                    schema=schema,
                )


@contextlib.contextmanager
def anonymise_large(
    file: TableFile, memory: int, compute: str | None = None, most: int | None = None
) -> Iterator[Large]:
    """Reads, anonymises and measures a table on disk; temporary files last as long as the context.

    `compute` is the address of a Dask cluster. Pieces of at most `most` records are cut in memory; by
    default `most` follows from the memory, or from the workers'.
    """
    method = generalizing(file.method)
    if not method.in_pieces(file) or (compute is not None and not method.on_clusters):
        raise method.needs_memory()
    if method.streams(file):
        with method.streamed(file, memory) as made:
            yield made
        return
    begun = time.perf_counter()
    with contextlib.ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="coterie-")))
        data = store(file, memory)
        if data.coded.folder is not None:
            opened.callback(data.coded.folder.cleanup)
        give_back()
        read = time.perf_counter()
        with named_in_errors(file.source):
            release = method.stored(file, data.table, Room(memory, folder, compute, most))
        result = result_of(file, data.dropped, release, folder)
        result["seconds"] = {
            "read": round(read - begun, 3),
            "anonymise": round(time.perf_counter() - read, 3),
        }
        result["job"] = about_job(file)
        give_back()
        yield OnDisk(file, result, release, folder)
