"""`coterie taxonomy`: draws a taxonomy, or builds one from the values of a column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc

from coterie.anonymity.table.builders import (
    cut_paths,
    date_paths,
    equal_paths,
    prefix_paths,
    quantile_paths,
)
from coterie.anonymity.table.taxonomy import Taxonomy, read_taxonomy, taxonomy_of
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.sources import read_table

BUILDERS = ("prefix", "dates", "equal", "quantile", "cuts")


def build(data: Path, column: str, how: str, detail: str) -> list[list[str]]:
    """Leaf-to-root paths for the values of a column, which are checked as a taxonomy."""
    values = pc.drop_null(read_table(data, [column]).column(column)).to_pylist()
    if not values:
        raise DataError(f"{data}: column '{column}' has no value")
    try:
        if how == "prefix":
            paths = prefix_paths(values, [int(part) for part in detail.split(",")])
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
        raise DataError(f"{data}: column '{column}': {error}") from None
    taxonomy_of(paths, f"{data}: column '{column}'")
    return paths


def as_csv(paths: list[list[str]]) -> str:
    """One path per line, the format that ARX reads."""
    out = io.StringIO()
    csv.writer(out, delimiter=";", lineterminator="\n").writerows(paths)
    return out.getvalue()


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
