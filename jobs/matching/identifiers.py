"""Identifiers of records: the job's keys about them, and a party's columns in their form.

    id: ID                                   one column, or several: [Name, Born]
    normalise: [trim, lower]                 for every column of `id`, in this order; or by column:
    normalise:
      Name: [trim, lower, nfkc]
      Born: [{date: ["%d.%m.%Y", "%Y-%m-%d"]}]
    deduplicate: error                       or first: later rows with the same identifier are left out
    reveal: intersection                     or pairwise (more than two parties, ring): see docs/intersect.md
    protocol: auto                           or ring, oprf
    pad_to: 100000                           hides how many records a party has, up to this number
    compute: local                           or dask://HOST:PORT, where a party permits it

Rules: `trim` removes white space at both ends; `lower`, `upper`; `nfc`, `nfkc` (Unicode forms);
`digits` keeps only 0 to 9 and refuses a decimal point; `number` writes a decimal number in one
way (1 for 1.0 and 01); `date` reads the formats given (ISO 8601 without any) and writes ISO
8601.

Several columns become one byte string in which each value is preceded by its length, so that no two
different rows of values give the same one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import no_value
from coterie.base.arrays import Ints
from coterie.base.errors import DataError
from coterie.jobs.file.document import Node, Section
from coterie.jobs.matching.hygiene import Finding, profile
from coterie.jobs.matching.rules import Rule
from coterie.protocols.intersection.identifiers import Identifiers

_PLAIN = ("trim", "lower", "upper", "nfc", "nfkc", "digits", "number", "date")
_ISO = "%Y-%m-%d"


@dataclass(frozen=True)
class Matching:
    """The keys of a job about identifiers and their intersection."""

    columns: tuple[str, ...]
    normalise: Mapping[str, tuple[Rule, ...]]
    deduplicate: str = "error"
    reveal: str = "intersection"
    protocol: str = "auto"
    pad_to: int | None = None
    compute: str = "local"


@dataclass(frozen=True)
class PreparedIdentifiers:
    """The identifiers of the records that take part; `rows` are their rows in the table."""

    identifiers: Identifiers
    rows: Ints
    findings: tuple[Finding, ...] = ()  # what may keep them from matching

    def __len__(self) -> int:
        return len(self.rows)


@runtime_checkable
class _Matched(Protocol):
    @property
    def matching(self) -> Matching | None: ...


@runtime_checkable
class _Identified(Protocol):
    @property
    def identifiers(self) -> PreparedIdentifiers | None: ...


def matching_of(job: object) -> Matching | None:
    """How a job matches records; not all kinds do."""
    return job.matching if isinstance(job, _Matched) else None


def identifiers_of(prepared: object) -> PreparedIdentifiers | None:
    """The identifiers in what a kind has prepared; not all kinds have any."""
    return prepared.identifiers if isinstance(prepared, _Identified) else None


def read_matching(section: Section) -> Matching:
    """Reads the keys about identifiers from a job's section."""
    node = section.required("id")
    columns = tuple(node.texts())
    if len(set(columns)) != len(columns) or not columns:
        raise node.error("must name one column or several different ones")
    reveal_node = section.optional("reveal")
    reveal = reveal_node.choice("intersection", "pairwise") if reveal_node else "intersection"
    protocol = section.read("protocol", lambda n: n.choice("auto", "ring", "oprf"), "auto")
    if reveal_node and reveal == "pairwise" and protocol == "oprf":
        raise reveal_node.error("'pairwise' belongs to the ring; 'oprf' reveals the intersection")
    return Matching(
        columns,
        section.read("normalise", lambda n: _normalisation(n, columns), {}),
        section.read("deduplicate", lambda n: n.choice("error", "first"), "error"),
        reveal,
        protocol,
        section.read("pad_to", lambda n: n.integer(minimum=1, maximum=2**40), None),
        section.read("compute", read_compute, "local"),
    )


def read_compute(node: Node) -> str:
    """Where bulk operations run; also a key of the party file, where it is a permission."""
    value = node.text()
    if value != "local" and not re.fullmatch(r"dask://[^\s/:]+:[0-9]{1,5}", value):
        raise node.error(f"must be local or dask://HOST:PORT, not '{value}'")
    return value


def _normalisation(node: Node, columns: Sequence[str]) -> dict[str, tuple[Rule, ...]]:
    if not node.is_mapping:
        rules = _rules(node)
        return dict.fromkeys(columns, rules)
    by_column: dict[str, tuple[Rule, ...]] = {}
    for column, entry in node.section().entries():
        if column not in columns:
            raise entry.error(f"'{column}' is not among the columns of 'id'")
        by_column[column] = _rules(entry)
    return by_column


def _rules(node: Node) -> tuple[Rule, ...]:
    return tuple(map(_rule, node.items() if node.is_list else [node]))


def _rule(node: Node) -> Rule:
    if not node.is_mapping:
        return Rule(node.choice(*_PLAIN))
    section = node.section()
    formats_node = section.required("date")
    formats = tuple(formats_node.texts())
    section.close()
    for text in formats:
        if not all(re.search(f"%[{letters}]", text) for letters in ("Yy", "mbB", "de")):
            raise formats_node.error(f"'{text}' lacks a year (%Y), a month (%m) or a day (%d)")
    return Rule("date", formats)


def prepare_identifiers(matching: Matching, table: pa.Table, source: str) -> PreparedIdentifiers:
    """The identifiers of a party's table; errors name the rows, counted from 1."""
    joined = identifier_texts(matching, table, source)
    packed = _packed(joined)
    rows = _distinct(joined, packed.suspects(), matching, source)
    if len(rows) < len(joined):
        packed = _packed(joined.take(pa.array(rows)))
    if matching.pad_to is not None and len(rows) > matching.pad_to:
        raise DataError(
            "has {value} records" + f", more than the {matching.pad_to} of 'pad_to'",
            file=source,
            value=len(rows),
        )
    findings = profile(table, matching.columns, matching.normalise)
    return PreparedIdentifiers(packed, rows, tuple(findings))


def identifier_texts(matching: Matching, table: pa.Table, source: str) -> pa.ChunkedArray:
    """The identifier of every row, normalised, several columns joined to one text."""
    # Arrow's plain strings are limited to 2 GB; joined columns take more than their own bytes.
    kind = pa.string() if table.nbytes < 1 << 30 else pa.large_string()
    columns = [
        _normalised(table.column(name).cast(kind), matching.normalise.get(name, ()), name, source)
        for name in matching.columns
    ]
    return columns[0] if len(columns) == 1 else _join(columns)


def _normalised(
    column: pa.ChunkedArray, rules: Sequence[Rule], name: str, source: str
) -> pa.ChunkedArray:
    if column.null_count:
        gaps = np.asarray(pc.is_null(column).to_numpy())
        raise no_value(
            name, gaps, source, "people are matched by it: fill it in, or remove the rows"
        )
    for rule in rules:
        if rule.name == "date":
            column = _dates(column, rule.formats or (_ISO,), name, source)
        elif rule.name == "number":
            column = _numbers(column, name, source)
        elif rule.name == "digits":
            column = _digits(column, name, source)
        else:
            column = _SIMPLE[rule.name](column)
    if rules:
        emptied = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
        _refuse_nulls(emptied, "nothing is left of {column} by 'normalise'", name, source)
    return column


_SIMPLE = {
    "trim": pc.utf8_trim_whitespace,
    "lower": pc.utf8_lower,
    "upper": pc.utf8_upper,
    "nfc": lambda column: pc.utf8_normalize(column, form="NFC"),
    "nfkc": lambda column: pc.utf8_normalize(column, form="NFKC"),
}


def _digits(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    """Only the digits; a decimal point is refused, because 1.0 would become 10."""
    _refuse(
        pc.match_substring_regex(column, r"^[^0-9]*[0-9]+\.[0-9]+[^0-9]*$"),
        column,
        "{column} has a decimal point, of which 'digits' would make another number; "
        "use the rule 'number'",
        name,
        source,
    )
    return pc.replace_substring_regex(column, "[^0-9]", "")


def _numbers(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    """One text for each number: 1 for 1, 1.0, +1 and 01."""
    column = pc.utf8_trim_whitespace(column)
    _refuse(
        pc.invert(pc.match_substring_regex(column, r"^[+-]?[0-9]+(\.[0-9]+)?$")),
        column,
        "{column} is not a number",
        name,
        source,
    )
    for pattern, text in (
        (r"^\+", ""),
        (r"^(-?)0+([0-9])", r"\1\2"),
        (r"(\.[0-9]*?)0+$", r"\1"),
        (r"\.$", ""),
        (r"^-0$", "0"),
    ):
        column = pc.replace_substring_regex(column, pattern, text)
    return column


def _refuse(wrong: Any, column: pa.ChunkedArray, complaint: str, name: str, source: str) -> None:
    """An error that names the rows that are wrong, if there are any."""
    _refuse_nulls(pc.if_else(wrong, pa.scalar(None, column.type), column), complaint, name, source)


def _dates(
    column: pa.ChunkedArray, formats: Sequence[str], name: str, source: str
) -> pa.ChunkedArray:
    """The dates of a column, by the first format that matches a value."""
    read = None
    for text in formats:
        found = pc.strptime(column, format=text, unit="s", error_is_null=True)
        read = found if read is None else pc.coalesce(read, found)
    if read is None or read.null_count:
        shown = " or ".join(f"'{text}'" for text in formats)
        _refuse_nulls(read, "{column} is no date of the form " + shown, name, source)
    return pc.strftime(read, format=_ISO).cast(column.type)


def _refuse_nulls(column: Any, complaint: str, name: str, source: str) -> None:
    """An error about the rows without a value; `{column}` in the complaint is the column's name."""
    if column.null_count:
        rows = np.flatnonzero(pc.is_null(column).to_numpy())
        raise DataError(complaint, file=source, column=name, rows=(rows + 1).tolist())


def _join(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Each value preceded by its length in bytes and a colon."""
    parts: list[Any] = []
    for column in columns:
        kind = column.type
        parts += [pc.binary_length(column).cast(kind), pa.scalar(":", kind), column]
    return pc.binary_join_element_wise(*parts, pa.scalar("", columns[0].type))


def _distinct(
    column: pa.ChunkedArray,
    suspects: Ints,
    matching: Matching,
    source: str,
) -> Ints:
    """The rows with the first occurrence of an identifier; only suspects can be repeats."""
    count = len(column)
    encoded = pa.concat_arrays(_chunks(column.take(pa.array(suspects)))).dictionary_encode()
    if len(encoded.dictionary) == len(suspects):
        return np.arange(count, dtype=np.int64)
    codes = encoded.indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    again = np.ones(len(suspects), np.bool_)
    again[first] = False
    repeats = np.flatnonzero(again)
    if matching.deduplicate == "first":
        return np.delete(np.arange(count, dtype=np.int64), suspects[repeats])
    raise DataError(
        "{column}: {rows}; remove the repeats or set 'deduplicate: first'",
        file=source,
        column=matching.columns,
        rows=[
            (int(suspects[at]) + 1, int(suspects[first[codes[at]]]) + 1) for at in repeats.tolist()
        ],
    )


def _packed(column: pa.ChunkedArray) -> Identifiers:
    """The column's bytes, which are not copied if the column is one chunk."""
    array = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(_chunks(column))
    count, start = len(array), array.offset
    _, offsets, data = array.buffers()
    if count == 0 or data is None:
        return Identifiers(np.empty(0, np.uint8), np.zeros(count + 1, np.int64))
    width: Any = np.int64 if pa.types.is_large_string(array.type) else np.int32
    positions = np.frombuffer(offsets, width)[start : start + count + 1]
    return Identifiers(np.frombuffer(data, np.uint8), positions)


def _chunks(column: pa.ChunkedArray) -> list[Any]:
    return column.chunks or [pa.array([], column.type)]
