"""A recipient's check of a release against the part of the table that it knew beforehand.

Each party knows the generalized columns of all, the class, and its own columns in no QID, row by
row. Sorted, so that the joint order of the records is not kept, these columns of the release must
be the same table, with the same number of records and the same counts of every value and every
group. A recipient cannot check another party's column in no QID; so recipients compare digests of
the whole table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from coterie.base.errors import VerificationError
from coterie.jobs.data.release_file import read_release
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.release_table import Coded, write_release
from coterie.jobs.kinds.integrate.verify_release import RELEASE, released_columns

EXPECTED = "expected.json"
_MOST_VALUES = 1000  # of a column whose counts are kept, to say what differs


def keep_expected(columns: Mapping[str, Coded], kept: Path) -> None:
    """Stores at the party what the release must contain: a digest, and counts for a clear error."""
    expected = {
        "columns": list(columns),
        "records": len(next(iter(columns.values())).codes) if columns else 0,
        "digest": _sorted_digest(columns),
        "counts": {
            name: _counts(column)
            for name, column in columns.items()
            if len(column.values) <= _MOST_VALUES
        },
    }
    (kept / EXPECTED).write_text(json.dumps(expected, indent=1))


def check_expected(job: IntegrateJob, kept: Path, folder: Path) -> Sequence[str]:
    """Checks the release in `folder`; raises a `VerificationError` for any difference."""
    try:
        expected = json.loads((kept / EXPECTED).read_text())
    except (OSError, ValueError):
        raise VerificationError(
            "what this party knew of the release is missing, so nothing can be checked"
        ) from None
    released = {
        name: Coded(column.codes, column.values)
        for name, column in read_release(folder / RELEASE, released_columns(job), "the job").items()
    }
    names = expected["columns"]
    records = len(next(iter(released.values())).codes)
    if records != expected["records"]:
        raise VerificationError(
            f"the release has {records} records, and this party knows of {expected['records']}"
        )
    for name, counts in expected["counts"].items():
        found = _counts(released[name])
        differing = sorted(v for v in {*found, *counts} if found.get(v, 0) != counts.get(v, 0))
        if differing:
            raise VerificationError(
                f"column '{name}' of the release has other counts than this party knows: "
                f"{len(differing)} values differ"
            )
    if _sorted_digest({name: released[name] for name in names}) != expected["digest"]:
        raise VerificationError(
            f"the columns {', '.join(names)} of the release are not the table that this party knows"
        )
    return [f"{records:,} records; {', '.join(names)} as this party knows them, row for row"]


def _counts(column: Coded) -> dict[str, int]:
    counted = np.bincount(column.codes, minlength=len(column.values))
    return {value: int(n) for value, n in zip(column.values, counted, strict=True) if n}


class _Digest:
    """A file that is hashed and not kept."""

    closed = False

    def __init__(self) -> None:
        self.total = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.total.update(data)
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...


def _sorted_digest(columns: Mapping[str, Coded]) -> str:
    digest = _Digest()
    write_release(columns, digest)
    return digest.total.hexdigest()
