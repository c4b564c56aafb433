"""What a table at hand looks like, and which part each of its columns may take in a first file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coterie.anonymity.table.scales import PLAIN
from coterie.base.errors import UsageError
from coterie.base.text import numbered
from coterie.jobs.data.batches import batches, column_names
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.sources import Source, remarks
from coterie.onetable.coded import CodedColumn, CodedTable, coded_table
from coterie.onetable.starting.place import Place, find_place
from coterie.onetable.starting.spelling import guess_spelling, keys_of

_NAMED_SO = re.compile(
    r"(^|[^a-z])(id|ids|nr|no|number|nummer|key|code|ssn|mrn|uuid)([^a-z]|$)|id$", re.I
)
_NEARLY_ALL = 0.95  # the share of different values from which a column may identify people
_OWN_TEXT = 0.5  # the share of different texts from which a column says little about groups


@dataclass(frozen=True)
class Looked:
    """A table, its place as a `data` key, and what was guessed."""

    place: Place
    source: Source
    table: CodedTable
    remarks: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.table.columns]

    def data(self, folder: Path) -> str:
        return self.place.key(folder)

    def described(self) -> str:
        records = numbered(self.table.records, "record")
        return f"{records}, {numbered(len(self.names), 'column')}"


@dataclass
class Roles:
    """The columns that jobs and releases may use, and why others are left out."""

    identifiers: tuple[str, ...]
    usable: list[CodedColumn] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def look(text: str, table: str | None = None) -> Looked:
    """Reads a table, and guesses how it is written."""
    place = find_place(text, table)
    source = place.source()
    coded = _coded(source)
    spelling, unsure = guess_spelling(coded)
    if spelling != PLAIN:
        place = place.with_keys(**keys_of(spelling))
        source = place.source()
        coded = _coded(source)
    return Looked(place, source, coded, (*unsure, *remarks(source)))


def _coded(source: Source) -> CodedTable:
    names = column_names(source)
    return coded_table(batches(source, names), names, str(source))


def candidates_for_id(looked: Looked) -> list[str]:
    """The columns that may identify people, the likeliest first."""
    records = looked.table.records
    near = [
        c for c in looked.table.columns if not c.missing and c.distinct >= _NEARLY_ALL * records
    ]
    order = sorted(near, key=lambda c: (not _NAMED_SO.search(c.name), c.distinct < records))
    return [column.name for column in order]


def common_id(tables: Sequence[Looked]) -> str:
    """The column by which all tables probably name people."""
    first, *others = (candidates_for_id(one) for one in tables)
    for name in first:
        if all(name in found for found in others):
            return name
    shown = "; ".join(
        f"{one.place.where}: {', '.join(candidates_for_id(one)) or 'no column'}" for one in tables
    )
    raise UsageError(
        "no column that identifies people has the same name in all tables; name it with --id, and "
        f"rename it where it is called otherwise. Columns with different values: {shown}"
    )


def roles(looked: Looked, identifiers: Sequence[str], apart: Sequence[str] = ()) -> Roles:
    """Who may do what: `apart` are columns with a part of their own, such as the class."""
    require_columns([*identifiers, *apart], looked.names, str(looked.source))
    found, records = Roles(tuple(identifiers)), looked.table.records
    for column in looked.table.columns:
        if column.name in (*identifiers, *apart):
            continue
        if column.distinct == records > 1:
            found.left_out[column.name] = "a different value in every record"
        elif column.distinct == 1:
            found.left_out[column.name] = "only one value"
        elif column.kind in ("text", "mixed") and column.distinct > _OWN_TEXT * records:
            found.left_out[column.name] = "texts of which most people have one of their own"
        else:
            found.usable.append(column)
    return found
