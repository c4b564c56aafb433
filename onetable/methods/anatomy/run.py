"""`coterie anonymise` with `method: anatomy`: two tables in place of one, linked by groups.

`release.csv` is the quasi-identifier table: the attributes of the qids as they are, then the number
of the record's group. `sensitive/joint.csv` has the joint sensitive table; or `sensitive/1.csv`,
`sensitive/2.csv`, … one for each sensitive column. What anatomy promises and what not:
`anonymity.anatomy.anatomy`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.anatomy.anatomy import (
    COUNT,
    GROUP,
    Anatomised,
    SensitiveTable,
    anatomise,
)
from coterie.anonymity.anatomy.estimate import query_error
from coterie.anonymity.risk.released import release_risk
from coterie.base.text import first_names, numbered
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.release_table import Coded, write_parquet, write_release
from coterie.onetable.prepare import Prepared, named_in_errors, prepare
from coterie.onetable.released import PARQUET, RELEASE, Made, about_job
from coterie.onetable.table_file import TableFile

FOLDER = "sensitive"  # of the sensitive tables


@dataclass(frozen=True)
class Release(Made[TableFile]):
    """The tables of an anatomised table."""

    answer: Anatomised

    def lines(self, out: Path) -> list[str]:
        return lines(self.result, out)

    def write_tables(self, out: Path, parquet: bool) -> None:
        columns = identifier_table(self.answer)
        write_release(columns, out / RELEASE)
        if parquet:
            write_parquet(columns, out / PARQUET)
        tables = self.answer.sensitive_tables()
        (out / FOLDER).mkdir()
        for entry, table in zip(self.result["sensitive_tables"], tables, strict=True):
            write_release(sensitive_columns(table), out / entry["file"])


def anatomise_file(file: TableFile, rng: random.Random | None = None) -> Release:
    """Reads, divides and measures a table; writes nothing."""
    begun = time.perf_counter()
    prepared = prepare(file)
    read = time.perf_counter()
    with named_in_errors(file.source):
        made = anatomise_prepared(file, prepared, rng)
    done = time.perf_counter()
    made.result["seconds"] = {"read": round(read - begun, 3), "anonymise": round(done - read, 3)}
    made.result["job"] = about_job(file)
    return made


def anatomise_prepared(
    file: TableFile, prepared: Prepared, rng: random.Random | None = None
) -> Release:
    """The release of a table that has been read, audited."""
    answer = anatomise(prepared.table, file.requirements, file.options, rng)
    exact = answer.columns()
    qids = [requirement.qid for requirement in file.requirements]
    tables = answer.sensitive_tables()
    return Release(
        file,
        {
            "method": file.method,
            "records": prepared.table.records,
            "suppressed": 0,
            "dropped": prepared.dropped,
            "anonymity": answer.anonymity(file.requirements),
            "raw": list(exact),
            "sensitive_tables": [
                {"file": name, "columns": list(table.columns)}
                for name, table in zip(file_names(len(tables), file.options), tables, strict=True)
            ],
            "risk": release_risk({name: column.codes for name, column in exact.items()}, qids),
            "utility": {
                "discernibility": answer.discernibility,
                "query_error": vars(query_error(answer)),
            },
        },
        answer,
    )


def file_names(number: int, joint: bool) -> list[str]:
    return [f"{FOLDER}/{name}.csv" for name in (["joint"] if joint else range(1, number + 1))]


def identifier_table(answer: Anatomised) -> dict[str, Coded]:
    """The quasi-identifier table: exact values, and the number of the record's group."""
    numbers = [str(at) for at in range(len(answer.sizes) + 1)]
    shown = {name: Coded(c.codes, c.labels) for name, c in answer.columns().items()}
    return {**shown, GROUP: Coded(answer.groups, numbers)}


def sensitive_columns(table: SensitiveTable) -> dict[str, Coded]:
    """A sensitive table: the group, the values, and how often they occur in it."""
    numbers = [str(at) for at in range(int(table.groups.max(initial=0)) + 1)]
    counts, codes = np.unique(table.counts, return_inverse=True)
    shown = {
        name: Coded(labels.codes, labels.values)
        for name, labels in zip(table.columns, table.values, strict=True)
    }
    return {
        GROUP: Coded(table.groups, numbers),
        **shown,
        COUNT: Coded(codes, [str(count) for count in counts.tolist()]),
    }


def lines(result: Mapping[str, Any], out: Path) -> list[str]:
    """The result in a few lines for a person."""
    dropped = f", {result['dropped']:,} dropped for missing values" if result["dropped"] else ""
    found = [f"{result['method']}: {numbered(result['records'], 'record')}{dropped}"]
    found += [
        f"  k={entry['k']} on {first_names(entry['qid'])}: smallest group {entry['smallest']} "
        f"of {entry['groups']:,}; {', '.join(entry['models'])}"
        for entry in result["anonymity"]
    ]
    error = result["utility"]["query_error"]
    found += [
        f"  RAW: {', '.join(result['raw'])} are published unchanged: anybody who knows a person sees "
        f"whether the person is in the table ({numbered(result['risk']['uniques'], 'unique record')})",
        f"  discernibility {result['utility']['discernibility']:,}",
        f"  random counts are off by {error['mean']:.1%} on average, half of them by at most "
        f"{error['median']:.1%}",
        f"release: {out / RELEASE}",
    ]
    found += [f"sensitive: {out / entry['file']}" for entry in result["sensitive_tables"]]
    return [*found, f"result: {out / RESULT}"]
