"""Counts from an anatomised table, and how far they are from the truth.

Paper 5, Experiments. A query counts the records that satisfy conditions on quasi-identifiers and one
on a sensitive column. The quasi-identifier table tells which records of a group satisfy the first,
the sensitive table how many satisfy the last; within a group they are taken to be independent:

    estimate = sum over groups of  rows of the group that match * matching counts / size of the group

Random queries are those of the paper: one to four conditions, one of them on a random sensitive
column, the others on different quasi-identifiers; each is an equality or a range. The paper does not
say how values are drawn: here from records. It does not say what happens where the true count is 0:
here such a query is left out, and `Answers.empty` counts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.anatomy.anatomy import Anatomised, SensitiveTable
from coterie.anonymity.table.table import Labels
from coterie.anonymity.utility.queries import QUERIES, QueryError, error_of
from coterie.base.arrays import Array, Floats, Ints, Mask

MOST_CONDITIONS = 4


def estimate(groups: Ints, matching: Mask, table: SensitiveTable, lines: Mask) -> float:
    """The expected count; `matching` marks rows of the QIT, `lines` those of the sensitive table."""
    most = int(max(groups.max(initial=0), table.groups.max(initial=0))) + 1
    sizes = np.bincount(groups, minlength=most)
    rows = np.bincount(groups[matching], minlength=most)
    counts = np.bincount(table.groups[lines], table.counts[lines], minlength=most)
    return float((rows * counts / np.maximum(sizes, 1)).sum())


@dataclass(frozen=True)
class Answers:
    """The true counts of random queries, and what an anatomised table makes of them."""

    counts: Ints
    estimates: Floats
    empty: int  # queries that no record satisfies, left out

    def relative_errors(self) -> Floats:
        found: Floats = np.abs(self.estimates - self.counts) / self.counts
        return found


def random_answers(
    anatomised: Anatomised, queries: int, rng: np.random.Generator, sensitive: Sequence[str] = ()
) -> Answers:
    """Answers to random queries; their sensitive condition is on one of `sensitive`, or of all."""
    table = anatomised.table
    columns = [(column.codes, column.size) for column in table.columns]
    judged = [ordered(table.labels[name]) for name in sensitive or anatomised.sensitive]
    tables = _by_column(anatomised, sensitive or anatomised.sensitive)
    sizes = np.bincount(anatomised.groups)
    counts, estimates, empty = [], [], 0
    for _ in range(queries):
        known = int(rng.integers(0, min(MOST_CONDITIONS, len(columns) + 1)))
        matching = np.ones(table.records, bool)
        for at in rng.choice(len(columns), known, replace=False).tolist():
            matching &= _within(columns[at][0], *_ends(columns[at][0], rng))
        at = int(rng.integers(len(judged)))
        low, high = _ends(judged[at], rng)
        count = int(np.count_nonzero(matching & _within(judged[at], low, high)))
        if not count:
            empty += 1
            continue
        # tables[at] has a row for each group and a column for each value, cumulated.
        shares = (tables[at][:, high + 1] - tables[at][:, low]) / np.maximum(sizes, 1)
        rows = np.bincount(anatomised.groups[matching], minlength=len(sizes))
        counts.append(count)
        estimates.append(float((rows * shares).sum()))
    return Answers(np.array(counts, np.int64), np.array(estimates), empty)


def query_error(anatomised: Anatomised, queries: int = QUERIES) -> QueryError:
    """The error of random queries as the measures of other releases have it; always the same ones."""
    found = random_answers(anatomised, queries, np.random.default_rng(20_081))
    if not len(found.counts):
        return QueryError(0.0, 0.0, 0)
    return error_of(found.estimates.tolist(), found.counts.tolist(), anatomised.table.records)


def ordered(labels: Labels) -> Ints:
    """Codes in the order of the values: by size where all are numbers, else by their texts."""
    try:
        keys: list[float] | list[str] = [float(value) for value in labels.values]
    except ValueError:
        keys = list(labels.values)
    rank = np.empty(len(keys), np.int64)
    rank[np.argsort(np.array(keys), kind="stable")] = np.arange(len(keys))
    codes: Ints = rank[labels.codes]
    return codes


def _by_column(anatomised: Anatomised, names: Sequence[str]) -> list[Array]:
    """For each column how often each group has values below each code."""
    groups = int(anatomised.groups.max()) + 1
    found = []
    for name in names:
        labels = anatomised.table.labels[name]
        size = len(labels.values)
        key = anatomised.groups * size + ordered(labels)
        counts = np.bincount(key, minlength=groups * size).reshape(groups, size)
        found.append(np.concatenate([np.zeros((groups, 1)), np.cumsum(counts, axis=1)], axis=1))
    return found


def _ends(codes: Array, rng: np.random.Generator) -> tuple[int, int]:
    """An equality or a range, from the values of random records."""
    first, second = codes[rng.integers(0, len(codes), 2)].tolist()
    if rng.integers(2):
        return int(first), int(first)
    return min(first, second), max(first, second)


def _within(codes: Array, low: int, high: int) -> Mask:
    found: Mask = (codes >= low) & (codes <= high)
    return found
