"""The parties' tables of a job joined, where they are all at hand: for advice and simulations alone."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.scales import PLAIN, Spelling
from coterie.base.errors import DataError
from coterie.jobs.data.batches import column_names
from coterie.jobs.data.filtered import source_of
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.kinds.integrate.job import IntegrateJob, ReleasedAttribute
from coterie.jobs.matching.identifiers import identifier_texts


def joined_tables(job: IntegrateJob, folder: Path) -> pa.Table:
    """The parties' tables, joined on equal identifiers; the first holder's class."""
    ids = list(job.matching.columns)
    found: pa.Table | None = None
    for party in job.parties:
        source = source_of(party, folder)
        own = [attribute.name for attribute in job.of_party(party.name)]
        if job.class_name in column_names(source) and (
            found is None or job.class_name not in found.column_names
        ):
            own.append(job.class_name or "")
        table = source.read([*ids, *own])
        columns = {ids[0]: identifier_texts(job.matching, table, str(source))}
        kinds = {attribute.name: attribute for attribute in job.of_party(party.name)}
        for name in own:
            column = table.column(name)
            columns[name] = _plain(column, kinds.get(name), spelling_of(table))
        table = pa.table(columns)
        found = table if found is None else found.join(table, ids[0], join_type="inner")
    assert found is not None  # noqa: S101
    if not found.num_rows:
        raise DataError(f"{folder}: the parties' tables have no identifier in common")
    return found


def _plain(
    column: pa.ChunkedArray, attribute: ReleasedAttribute | None, spelling: Spelling
) -> pa.ChunkedArray:
    """Numbers and dates as every other source writes them; values that are neither stay."""
    if spelling == PLAIN or attribute is None or attribute.flat or attribute.taxonomy is not None:
        return column
    scale, values = attribute.scale, pc.unique(pc.drop_null(column))
    numbers = {value: scale.read_as(value, spelling) for value in values.to_pylist()}
    plain = [
        scale.write(number) if math.isfinite(number) else value for value, number in numbers.items()
    ]
    return pc.take(pa.array(plain, pa.string()), pc.index_in(column, value_set=values))
