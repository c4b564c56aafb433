"""Cells that a spreadsheet runs as formulas when it opens a CSV file, and a copy in which they are text.

A release has values as they were read, so that `=HYPERLINK(…)` that somebody wrote into a table reaches
whoever opens the release. Cells that begin with = + - @, a tab or a line break and are no plain numbers
count as formulas, as the OWASP guide on CSV injection has it. The release itself is not changed: it is
what is verified and what recipients compare. A copy has an apostrophe before such cells, which
spreadsheets take for a mark of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from coterie.jobs.data.batches import batches, column_names
from coterie.jobs.data.sources import file_source
from coterie.jobs.data.text_form import filled

COPY = ".spreadsheet.csv"  # the end of a copy's name, in place of .csv
_BEGINS = r"\A[=+\-@\t\r\n]"
_NUMBER = r"[+-]?([0-9][0-9.,]*|[.,][0-9]+)([eE][+-]?[0-9]+)?"


def _formulas(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which texts a spreadsheet would run."""
    begins = pc.match_substring_regex(texts, _BEGINS)
    return pc.and_not(begins, pc.match_substring_regex(texts, rf"\A{_NUMBER}\z"))


def _marked(names: list[str]) -> list[bool]:
    """As `_formulas`, without an Arrow array, whose making imports pandas where it is installed."""
    return [bool(re.match(_BEGINS, name)) and not re.fullmatch(_NUMBER, name) for name in names]


def _pieces(path: Path) -> Iterator[pa.Table]:
    source = file_source(path)
    names = column_names(source)
    for piece in batches(source, names, memory=1 << 20):
        yield pa.table([filled(column) for column in piece.columns], names=names)


def released_tables(folder: Path) -> list[Path]:
    """The tables of a result folder that people open: the release, and what anatomy puts beside it."""
    paths = [folder / "release.csv", *sorted(folder.glob("sensitive/*.csv"))]
    return [path for path in paths if path.is_file() and not path.name.endswith(COPY)]


def formulas_in(path: Path) -> dict[str, int]:
    """How many cells of each column, its name among them, a spreadsheet would run; none: left out."""
    names = column_names(file_source(path))
    found = {name: 1 for name, mark in zip(names, _marked(names), strict=True) if mark}
    for piece in _pieces(path):
        for name, column in zip(piece.column_names, piece.columns, strict=True):
            if number := pc.sum(_formulas(column)).as_py():
                found[name] = found.get(name, 0) + number
    return found


def write_copy(release: Path, copy: Path) -> None:
    """Writes the release again, with an apostrophe before every cell and name that would be run."""
    names = column_names(file_source(release))
    shown = [f"'{name}" if mark else name for name, mark in zip(names, _marked(names), strict=True)]
    schema = pa.schema([(name, pa.string()) for name in shown])
    options = pacsv.WriteOptions(quoting_style="needed", quoting_header="needed")
    with pacsv.CSVWriter(str(copy), schema, write_options=options) as out:
        for piece in _pieces(release):
            cells = [
                pc.if_else(_formulas(column), pc.binary_join_element_wise("'", column, ""), column)
                for column in piece.columns
            ]
            out.write_table(pa.table(cells, schema=schema))
