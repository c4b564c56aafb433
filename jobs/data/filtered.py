"""A table without the people who objected, and with the rows of a fixed filter alone.

    exclude: {data: objections.csv, on: ID}        people who objected, by identifier
    where: {Country: [DE, AT], Year: {at_least: 2020}, Status: {not: closed}}

Both are the steward's, in the party file, and no job can change them. They are applied as the table
is read, before anything else looks at it: `exclude` first. The metadata of the table have the
number of rows that they leave out, for the steward alone. In a simulation, which has no party file,
a party's entry in the job file may have both keys, and so may each of its named `tables`.

An identifier of the list excludes every row with the same text. Spaces at the ends, capital letters
and Unicode forms make no difference: a person who objected must not be included because of a space.
A list that cannot be read is an error, and the table is not used without it.
"""

from __future__ import annotations

import json
import logging
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.require import MissingColumnsError
from coterie.jobs.data.sources import Source, parse_source
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import PartyEntry

log = logging.getLogger("coterie.party")
_LEFT_OUT = b"coterie.left_out"


@dataclass(frozen=True)
class Condition:
    """What the values of one column must be. An empty value satisfies no condition."""

    column: str
    values: tuple[str, ...] | None = None
    refused: tuple[str, ...] = ()
    lowest: str | None = None
    highest: str | None = None

    def holds(self, column: pa.ChunkedArray, source: str) -> pa.ChunkedArray:
        kept = pc.is_valid(column)
        if self.values is not None:
            kept = pc.and_(kept, pc.is_in(column, pa.array(self.values, pa.string())))
        if self.refused:
            kept = pc.and_(kept, pc.invert(pc.is_in(column, pa.array(self.refused, pa.string()))))
        for bound, compare in ((self.lowest, pc.greater_equal), (self.highest, pc.less_equal)):
            if bound is not None:
                kept = pc.and_(kept, self._compared(column, bound, compare, source))
        return kept

    def _compared(
        self, column: pa.ChunkedArray, bound: str, compare: object, source: str
    ) -> pa.Array:
        """Numbers as numbers; anything else, such as dates of ISO 8601, as text."""
        number = _number(bound)
        if number is None:
            found = compare(column, bound)  # type: ignore[operator]
        else:
            try:
                found = compare(pc.cast(column, pa.float64()), number)  # type: ignore[operator]
            except pa.ArrowInvalid:
                raise DataError(
                    "{column} has a value that is not a number, and 'where' compares it with one",
                    file=source,
                    column=self.column,
                ) from None
        return pc.fill_null(found, False)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True)
class Objections:
    """People who objected: a table with a row for each, and the columns that identify them."""

    source: Source
    columns: tuple[str, ...]

    def keys(self) -> set[tuple[str, ...]]:
        try:
            table = self.source.read(self.columns)
        except DataError as error:
            log.error("the list of people who objected cannot be read: %s", error)
            raise DataError("the list of people who objected cannot be read") from None
        return {key for key in _keys(table, self.columns) if all(key)}


def _keys(table: pa.Table, columns: Sequence[str]) -> list[tuple[str, ...]]:
    texts = [[_plain(value) for value in table.column(name).to_pylist()] for name in columns]
    return list(zip(*texts, strict=True))


def _plain(value: str | None) -> str:
    return unicodedata.normalize("NFKC", value or "").strip().casefold()


@dataclass(frozen=True)
class Filtered:
    """A source without the rows that are left out. Errors name it like the source itself."""

    source: Source
    where: tuple[Condition, ...] = ()
    exclude: Objections | None = None

    def __str__(self) -> str:
        return str(self.source)

    def names(self) -> list[str]:
        return self.source.names()

    def read(self, columns: Sequence[str]) -> pa.Table:
        wanted = list(dict.fromkeys(columns))
        conditions = [condition.column for condition in self.where]
        keys = self.exclude.columns if self.exclude else ()
        try:
            table = self.source.read(list(dict.fromkeys([*wanted, *conditions, *keys])))
        except MissingColumnsError as error:
            if set(error.missing) <= set(wanted):
                raise
            own = sorted(set(error.missing) - set(wanted))  # no job names these: only the log does
            log.error(
                "%s: 'where' or 'exclude' names the column '%s', which is not there", self, own[0]
            )
            raise DataError("the party's own filter cannot be applied", file=str(self)) from None
        left_out = {}
        if self.exclude is not None:
            objected = self.exclude.keys()
            found = _keys(table, keys)
            kept = np.fromiter((key not in objected for key in found), bool, len(found))
            left_out["objections"] = int(len(kept) - kept.sum())
            left_out["unknown"] = len(objected - set(found))
            table = table.filter(pa.array(kept))
        before = table.num_rows
        for condition in self.where:
            table = table.filter(condition.holds(table.column(condition.column), str(self)))
        if self.where:
            left_out["where"] = before - table.num_rows
        kept_notes = table.schema.metadata or {}
        notes = {**kept_notes, _LEFT_OUT: json.dumps(left_out)}
        return table.select(wanted).replace_schema_metadata(notes)


def left_out(table: pa.Table) -> dict[str, int]:
    """How many rows of a table were left out, and why; empty for one that is not filtered."""
    told = (table.schema.metadata or {}).get(_LEFT_OUT)
    counts: dict[str, int] = json.loads(told) if told else {}
    return counts


def filtered(source: Source, where: Node | None, exclude: Node | None, folder: Path) -> Source:
    """The source behind the keys `where` and `exclude` of a party file."""
    if where is None and exclude is None:
        return source
    conditions = () if where is None else _conditions(where)
    return Filtered(source, conditions, None if exclude is None else _objections(exclude, folder))


def told(counts: dict[str, int]) -> str:
    """The numbers of `left_out` in words."""
    words = {
        "objections": "rows of people who objected",
        "unknown": "entries of 'exclude' that are of nobody",
        "where": "rows that 'where' leaves out",
    }
    return ", ".join(f"{counts[key]:,} {text}" for key, text in words.items() if key in counts)


def source_of(party: PartyEntry, folder: Path) -> Source:
    """The source that a simulation reads for a party, by the same keys as in a party file."""
    where = f"parties.{party.name}"
    if party.table is not None and party.tables is not None:
        return _named(party.table, party.tables, folder)
    if party.data is None and party.tables is not None:
        names = ", ".join(party.tables.section().keys())
        raise party.tables.error(f"'{where}.table' must say which of them is meant: {names}")
    if party.data is None:
        raise UsageError(f"{where}: the key 'data' is missing; a simulation reads it")
    return filtered(parse_source(party.data, folder), party.where, party.exclude, folder)


def _named(name: str, tables: Node, folder: Path) -> Source:
    """The named table; the keys of the others are checked, too, so that a mistake is found."""
    found = {}
    for key, entry in tables.section().entries():
        section: Section = entry.section()
        data = parse_source(section.required("data"), folder)
        where, exclude = section.optional("where"), section.optional("exclude")
        found[key] = filtered(data, where, exclude, folder)
        section.close()
    if name not in found:
        raise tables.error(f"has no table '{name}'; there are: {', '.join(found) or 'none'}")
    return found[name]


def _objections(node: Node, folder: Path) -> Objections:
    section = node.section()
    source = parse_source(section.required("data"), folder)
    on = section.required("on")
    columns = tuple(on.texts()) if on.is_list else (on.text(),)
    if not columns:
        raise on.error("must name the column, or the columns, that identify a person")
    section.close()
    return Objections(source, columns)


def _conditions(node: Node) -> tuple[Condition, ...]:
    return tuple(_condition(column, value) for column, value in node.section().entries())


def _condition(column: str, node: Node) -> Condition:
    if node.is_list:
        return Condition(column, tuple(node.texts()))
    if not node.is_mapping:
        return Condition(column, (node.text(),))
    section = node.section()
    lowest, highest, refused = (section.optional(key) for key in ("at_least", "at_most", "not"))
    section.close()
    if lowest is None and highest is None and refused is None:
        raise node.error("must have one of the keys at_least, at_most, not")
    values: tuple[str, ...] = ()
    if refused is not None:
        values = tuple(refused.texts()) if refused.is_list else (refused.text(),)
    return Condition(
        column,
        None,
        values,
        lowest.text() if lowest is not None else None,
        highest.text() if highest is not None else None,
    )
