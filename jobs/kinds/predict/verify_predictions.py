"""Checks of the result of `kind: predict`, by its form and by the lists that recipients keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim, read_rows

PREDICTIONS = "predictions.csv"  # kept by a recipient
PREDICTED = "predicted"  # its last column


def verify_form(result: Claim, model: str, recipients: Sequence[str]) -> int:
    """The number of people; raises if the result says something else than the job asks for."""
    if result.entry("model").text() != model:
        raise result.entry("model").error(f"must be the job's model, '{model}'")
    if result.entry("predicted_for").texts() != list(recipients):
        raise result.entry("predicted_for").error("must be the recipients of the job")
    return result.entry("records").integer(minimum=1)


def verify_lists(
    lists: Path,
    parties: Sequence[str],
    recipients: Sequence[str],
    ids: Sequence[str],
    records: int,
) -> None:
    """Checks that every recipient has one class for each person, the same ones, and nobody else."""
    counts: dict[str, Counter[str]] = {}
    for party in parties:
        path = lists / party / PREDICTIONS
        if party in recipients:
            counts[party] = _verify_list(path, ids, records)
        elif path.exists():
            raise VerificationError(f"{path}: {party} is not a recipient of the classes")
    first, *others = counts
    for other in others:
        if counts[other] != counts[first]:
            raise VerificationError(f"{lists}: {first} and {other} have different classes")


def _verify_list(path: Path, ids: Sequence[str], records: int) -> Counter[str]:
    """How often each class occurs in a recipient's list, which must name each person once."""
    header, *rows = read_rows(path)
    if header != [*ids, PREDICTED] or any(len(row) != len(header) for row in rows):
        raise VerificationError(f"{path}: must have the columns {', '.join([*ids, PREDICTED])}")
    if len(rows) != records:
        raise VerificationError(f"{path}: has {len(rows)} rows for {records} people")
    if len({tuple(row[:-1]) for row in rows}) < len(rows):
        raise VerificationError(f"{path}: names a person twice")
    return Counter(row[-1] for row in rows)
