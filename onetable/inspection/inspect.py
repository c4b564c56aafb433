"""`coterie inspect TABLE`: what in a table identifies people.

Every figure is that of a module in `anonymity.risk`, which has the paper and the guarantee. Tables
with more than `_CELLS` values get some figures from a sample, and the notes say which.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.risk.dimensions import costs
from coterie.anonymity.risk.duplicates import likely_duplicates
from coterie.anonymity.risk.grouping import counted_sizes
from coterie.anonymity.risk.masks import (
    published,
    published_by_pairs,
    published_by_records,
)
from coterie.anonymity.risk.quasi_identifiers import possible, values_in_population
from coterie.anonymity.risk.ratios import Ratios, ratios_of, ratios_of_sizes
from coterie.anonymity.risk.reidentification import known_at_random, risk_of
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.arrays import Codes
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.batches import batches, column_names
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.sources import file_source
from coterie.onetable.coded import CodedColumn, CodedTable, coded_table
from coterie.onetable.inspection.keys import keys_of
from coterie.onetable.inspection.revealing import revealing
from coterie.onetable.inspection.settings import Settings, check
from coterie.onetable.methods.reading import load_table_file
from coterie.onetable.methods.registry import table_method
from coterie.onetable.table_file import TableFile

_CELLS = 50_000_000  # larger tables are sampled where all sets of columns would be looked at
_SAMPLE = 200_000
_PAIRS = 50_000
_MEASURED = 300_000  # records up to which the cost of columns is measured
_LISTED = 20


def inspect_path(path: Path, wanted: Sequence[str], settings: Settings) -> dict[str, Any]:
    """A data file, or a table file by its suffix."""
    check(settings)
    for name in wanted:
        if wanted.count(name) > 1:
            raise UsageError(f"--columns names '{name}' twice")
    if path.suffix.lower() in (".yaml", ".yml"):
        file = load_table_file(path)
        names = list(wanted) or file.columns
        pieces = batches(file.source, names, settings.budget)
        table = coded_table(pieces, names, str(file.source), settings.budget // 2)
        return inspect_table(table, settings, file)
    source = file_source(path)
    present = column_names(source)
    names = list(wanted) or present
    require_columns(names, present, str(source))
    table = coded_table(
        batches(source, names, settings.budget), names, str(source), settings.budget // 2
    )
    return inspect_table(table, settings, qid=wanted)


def inspect_table(
    table: CodedTable, settings: Settings, file: TableFile | None = None, qid: Sequence[str] = ()
) -> dict[str, Any]:
    """All that is known of the table; `qid` are columns whose cost is measured."""
    check(settings)
    if settings.population is not None and settings.population < table.records:
        raise UsageError(
            f"a population of {settings.population:,} is smaller than the table, "
            f"which has {table.records:,} records"
        )
    rng = np.random.default_rng(settings.seed)
    names = [column.name for column in table.columns]
    codes = table.codes(names)
    most = settings.most
    every = counted_sizes(codes, table.records, most)
    groups = ratios_of_sizes(every, table.records)
    notes = [note for column in table.columns for note in column.notes()]
    large = table.records * len(names) > _CELLS or table.records > most
    found: dict[str, Any] = {
        "records": table.records,
        "duplicates": table.records - groups.groups,
        "columns": _columns(table, codes, groups, large, notes, rng),
        **keys_of(table, names, every, settings, large, notes, rng),
        "risk": risk_of(every, settings.population).as_dict(),
        "known": _known(codes, table.records, rng, most),
    }
    if not large:
        found["likely_duplicates"] = _likely(codes, names, table.records, found["keys"])
    alone = [c["name"] for c in found["columns"] if c["distinct"] == table.records > 1]
    found["identifiers"] = alone
    if alone and len(alone) < len(names):
        rest = [name for name in names if name not in alone]
        sizes = counted_sizes(table.codes(rest), table.records, most)
        found["besides"] = {
            "columns": rest,
            "duplicates": table.records - len(sizes),
            **keys_of(table, rest, sizes, settings, large, [], rng),
            "risk": risk_of(sizes, settings.population).as_dict(),
            "known": _known(table.codes(rest), table.records, rng, most),
        }
    if settings.population is not None:
        found |= _quasi_identifiers(table, settings)
    if settings.mask is not None:
        found |= _mask(codes, names, table.records, settings, large, rng)
    found["qids"] = _qids(table, settings, file, qid, notes)
    secret = [*settings.sensitive, *(_sensitive(file, names) if file else ())]
    if secret:
        found["revealing"] = revealing(table, list(dict.fromkeys(secret)), notes)
    found["notes"] = notes
    return found


def _sensitive(file: TableFile, names: Sequence[str]) -> list[str]:
    """The sensitive columns of a table file that are looked at."""
    found = (name for r in file.requirements for name in r.sensitive_columns)
    return [name for name in found if name in names]


def _columns(
    table: CodedTable,
    codes: Sequence[Codes],
    groups: Ratios,
    large: bool,
    notes: list[str],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Each column alone, and how many records are unique only because of it."""
    part, records, uniques = list(codes), table.records, groups.uniques
    if large and records > _SAMPLE:
        rows = np.sort(rng.choice(records, _SAMPLE, replace=False))
        part, records = [column[rows] for column in codes], _SAMPLE
        uniques = ratios_of(part, records).uniques
        notes.append(f"'adds' was counted among {_SAMPLE:,} records drawn at random")
    found = []
    for at, column in enumerate(table.columns):
        counts = column.counts()
        alone = ratios_of_sizes(counts[counts > 0], table.records)
        rest = ratios_of([c for i, c in enumerate(part) if i != at], records)
        found.append(
            {
                "name": column.name,
                "type": column.kind,
                "distinct": column.distinct,
                "missing": column.missing,
                "separation": alone.separation,
                "uniques": alone.uniques,
                "adds": uniques - rest.uniques,
            }
        )
    return found


def _known(
    codes: Sequence[Codes], records: int, rng: np.random.Generator, most: int
) -> list[dict[str, float]]:
    """The share of unique records for somebody who knows this many columns, drawn at random."""
    draws = min(max(20_000_000 // (records * 8), 1), 20)
    sizes = [b for b in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20) if b <= len(codes)]
    found = []
    for known in sizes:
        possible_sets = math.comb(len(codes), known)
        shares = known_at_random(codes, records, known, min(draws, possible_sets), rng, most)
        found.append(
            {
                "columns": known,
                "uniques": float(shares.mean()),
                "least": float(shares.min()),
                "most": float(shares.max()),
            }
        )
    return found


def _likely(
    codes: Sequence[Codes], names: Sequence[str], records: int, keys: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Pairs that are equal in all columns but at most one.

    Columns that the minimum key spares follow from the others, and are not counted twice.
    """
    needed: list[str] = next((entry["columns"] for entry in keys if entry["how"] == "minimum"), [])
    return [
        {
            "rows": [pair.one + 1, pair.other + 1],
            "differ": None if pair.differs is None else names[pair.differs],
            "expected": pair.expected,
        }
        for pair in likely_duplicates(
            codes, records, _LISTED, [j for j, name in enumerate(names) if name in needed]
        )
    ]


def _quasi_identifiers(table: CodedTable, settings: Settings) -> dict[str, Any]:
    """The sets that may single people out, and how far the search came."""
    population = settings.population or table.records
    records = table.records
    sizes = {
        c.name: values_in_population(
            c.distinct, c.once / records, records, population, settings.alpha
        )
        for c in table.columns
    }
    search = possible(sizes, population, settings.alpha)
    found = []
    for at, finding in enumerate(search.sets):
        entry: dict[str, Any] = {
            "columns": list(finding.columns),
            "cells": finding.cells,
            "bound": finding.bound,
            "crowd": finding.crowd,
        }
        if at < _LISTED:
            entry["uniques"] = ratios_of(
                table.codes(finding.columns), table.records, settings.most
            ).uniques
        found.append(entry)
    return {"quasi_identifiers": found, "searched": search.as_dict()}


def _mask(
    codes: Sequence[Codes],
    names: Sequence[str],
    records: int,
    settings: Settings,
    large: bool,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """The columns to withhold, and those that may be shown, in the order of choice."""
    assert settings.mask is not None  # noqa: S101
    measure, beta = settings.mask
    if large and measure == "separation":
        shown = published_by_pairs(codes, records, beta, settings.delta, _PAIRS, rng)
    elif records > settings.most:
        shown = published_by_records(codes, records, beta, settings.delta, _PAIRS, rng)
    else:
        shown = published(codes, records, beta, measure)
    ratios = ratios_of([codes[j] for j in shown], records, settings.most)
    return {
        "mask": [name for j, name in enumerate(names) if j not in shown],
        "publish": [names[j] for j in shown],
        "published_ratio": ratios.separation if measure == "separation" else ratios.distinct,
    }


def _qids(
    table: CodedTable,
    settings: Settings,
    file: TableFile | None,
    qid: Sequence[str],
    notes: list[str],
) -> list[dict[str, Any]]:
    """The risk of the raw table on each qid, and what each of its columns costs the others."""
    wanted = [(tuple(qid), settings.k)] if qid else []
    prepared: Table | None = None
    if file is not None:
        wanted = [(r.qid, r.k) for r in file.requirements]
    found = []
    for names, k in wanted:
        if any(name not in {c.name for c in table.columns} for name in names):
            continue
        sizes = counted_sizes(table.codes(names), table.records, settings.most)
        entry: dict[str, Any] = {
            "qid": list(names),
            "k": k,
            "risk": risk_of(sizes, settings.population).as_dict(),
            "costs": None,
        }
        try:
            if table.records > _MEASURED:
                raise DataError(f"the table has more than {_MEASURED:,} records")
            if file is not None:
                prepared = prepared or table_method(file.method).prepared(file).table
            else:
                prepared = _flat_table(table, names)
            entry["costs"] = [
                {"column": step.column, "groups": step.groups, "width": step.width}
                for step in costs(prepared, names, k)
            ]
        except DataError as error:
            notes.append(f"what each column of {', '.join(names)} costs was not measured: {error}")
        found.append(entry)
    return found


def _flat_table(table: CodedTable, names: Sequence[str]) -> Table:
    """Numbers as numbers, everything else as the value or `*`."""
    return Table(tuple(_typed(table.column(name), table.source) for name in names))


def _typed(column: CodedColumn, source: str) -> Any:
    text = column.values.take(np.asarray(column.codes))
    if column.kind == "number" and not column.missing:
        return continuous_column(column.name, text, None, source)
    values = sorted(column.values.to_pylist())
    top = "*"
    while top in values:  # the top is another value than all others
        top += "*"
    tree = taxonomy_of([[value, top] for value in values])
    return categorical_column(column.name, text, tree, source)
