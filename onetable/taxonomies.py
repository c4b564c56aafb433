"""`coterie taxonomy`: draws a taxonomy, or builds one from the values of a column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc

from coterie.anonymity.table.builders import (
    code_paths,
    cut_paths,
    date_paths,
    equal_paths,
    prefix_paths,
    quantile_paths,
)
from coterie.anonymity.table.taxonomy import Taxonomy, read_taxonomy, taxonomy_of
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.sources import read_table


def build(data: Path, column: str, how: str, detail: str) -> list[list[str]]:
    """Leaf-to-root paths for the values of a column, which are checked as a taxonomy."""
    read = read_table(data, [column]).column(column)
    values = pc.drop_null(read).to_pylist()
    if not values:
        raise DataError(f"{data}: column '{column}' has no value")
    try:
        if how == "prefix":
            paths = prefix_paths(values, [int(part) for part in detail.split(",")])
        elif how == "codes":
            paths = code_paths(values, _catalogue(Path(detail)))
        elif how == "dates":
            paths = date_paths(values)
        elif how == "equal":
            paths = equal_paths(values, [float(part) for part in detail.split(",")])
        elif how == "quantile":
            paths = quantile_paths(values, [int(part) for part in detail.split(",")])
        else:
            levels = [[float(part) for part in level.split(",")] for level in detail.split("/")]
            paths = cut_paths(values, levels)
    except ValueError:
        raise UsageError(f"--{how}: '{detail}' is not a list of numbers") from None
    except DataError as error:
        if error.value is None:
            raise DataError(f"{data}: column '{column}': {error}") from None
        row = pc.index(read, str(error.value)).as_py()
        raise DataError(
            "{column}: " + error.what,
            file=str(data),
            column=column,
            rows=[row + 1],
            value=error.value,
        ) from None
    taxonomy_of(paths, f"{data}: column '{column}'")
    return paths


def as_csv(paths: list[list[str]]) -> str:
    """One path per line, all of one length, the format that ARX reads: a short one repeats its leaf."""
    longest = max(map(len, paths))
    rows = [[path[0]] * (longest - len(path)) + path for path in paths]
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(rows)
    return out.getvalue()


def _catalogue(path: Path) -> dict[str, str]:
    """What stands above each code: a file of code and parent, separated by `;`."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig")), delimiter=";"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise UsageError(f"{path}: not UTF-8 text of codes and parents separated by ';'") from None
    parents: dict[str, str] = {}
    for line, row in enumerate(rows, 1):
        if not row:
            continue
        if len(row) != 2 or not row[0]:
            raise UsageError(f"{path}:{line}: not a code and its parent, separated by ';'")
        if parents.setdefault(row[0], row[1]) != row[1]:
            raise UsageError(f"{path}:{line}: '{row[0]}' has two parents")
    return parents


def load(path: Path) -> Taxonomy:
    try:
        return read_taxonomy(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def drawn(taxonomy: Taxonomy) -> Iterator[str]:
    """The tree with one line per node, the children of a node indented below it."""

    def below(node: int, indent: str) -> Iterator[str]:
        children = taxonomy.children[node]
        for number, child in enumerate(children, 1):
            last = number == len(children)
            yield f"{indent}{'└─' if last else '├─'} {taxonomy.labels[child]}"
            yield from below(child, indent + ("   " if last else "│  "))

    yield taxonomy.root
    yield from below(0, "")
