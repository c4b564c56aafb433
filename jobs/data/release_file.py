"""A released table as `coterie verify` reads it again: its columns, its order, what was promised of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.models.audit import Released, audit
from coterie.anonymity.specialization.generalized import Requirement
from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.base.text import first_names, numbered
from coterie.jobs.data.sources import read_table
from coterie.jobs.data.text_form import filled
from coterie.jobs.file.result_file import RESULT


def read_release(path: Path, expected: Sequence[str], whose: str) -> dict[str, Released]:
    """The columns of the file, which must be `expected`; `whose` ("the job") says so in errors."""
    check_header(path, expected, whose)
    try:
        text = read_table(path, list(expected))
    except DataError as error:
        raise VerificationError(str(error)) from None
    return coded_columns(text)


def check_header(path: Path, expected: Sequence[str], whose: str) -> None:
    """Checks that the file has these columns, in this order, and no others."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            header = next(csv.reader(lines), [])
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, csv.Error):
        raise VerificationError(f"{path}: not a CSV file") from None
    if header != list(expected):
        raise VerificationError(
            f"{path}: has the columns {', '.join(header) or 'none'}; "
            f"{whose} releases {', '.join(expected)}"
        )


def coded_columns(table: pa.Table) -> dict[str, Released]:
    """The columns of a table of texts, each as codes and the different texts; null is the empty text."""
    found = {}
    for name in table.column_names:
        column = filled(table.column(name)).combine_chunks().dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        # Not `to_numpy`, which imports pandas where that is installed.
        codes = np.from_dlpack(column.indices).astype(np.int64)
        found[name] = Released(codes, tuple(column.dictionary.to_pylist()))
    return found


def check_order(table: Mapping[str, Released], path: Path) -> None:
    """Checks that rows are sorted by their values, so that their order reveals nothing."""
    undecided = np.ones(max(len(next(iter(table.values())).codes) - 1, 0), bool)
    for column in table.values():
        place = {value: rank for rank, value in enumerate(sorted(column.values))}
        rank = np.array([place[value] for value in column.values], np.int64)[column.codes]
        wrong = undecided & (rank[1:] < rank[:-1])
        if wrong.any():
            raise VerificationError(f"{path}: row {int(wrong.argmax()) + 2} is out of order")
        undecided &= rank[1:] == rank[:-1]


def check_requirements(
    requirements: Sequence[Requirement], claimed: Any, table: Mapping[str, Released], whose: str
) -> list[dict[str, Any]]:
    """Checks that every requirement holds, and that the claims about it are true."""

    def audited(one: Requirement) -> dict[str, Any]:
        return audit(table, one.qid, one.k, one.sensitive, one.model)

    return check_claims(requirements, claimed, audited, whose)


def in_words(held: Mapping[str, Any]) -> str:
    """What `check_requirements` found of one requirement, as a clause of a verdict."""
    promised = f" (promised: {held['k']:,})" if held["k"] > 1 else ""
    reached = "".join(
        f", {model}" if value is None else f", {model} at {value:g}"
        for model, value in held.get("models", {}).items()
    )
    least = numbered(held["smallest"], "record")
    alike = f"every group with equal {first_names(held['qid'])}"
    return f"{alike} has at least {least}{promised}{reached}"


def check_claims(
    requirements: Sequence[Requirement],
    claimed: Any,
    audited: Callable[[Requirement], dict[str, Any]],
    whose: str,
) -> list[dict[str, Any]]:
    """As `check_requirements`; `audited` counts the groups of a requirement, and says what it found."""
    if len(claimed) != len(requirements):
        raise VerificationError(f"{RESULT} has another number of requirements than {whose}")
    found = []
    for number, requirement in enumerate(requirements):
        name = f"requirement {number + 1} ({', '.join(requirement.qid)})"
        try:
            held = audited(requirement)
        except VerificationError as error:
            raise VerificationError(f"{name}: {error}") from None
        for key in ("qid", "k", "smallest"):
            if claimed[number][key] != held[key]:
                raise VerificationError(
                    f"{name}: {RESULT} says {key} = {claimed[number][key]}, the release {held[key]}"
                )
        found.append(held)
    return found
