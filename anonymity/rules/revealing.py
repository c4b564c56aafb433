"""The rules of a table that reveal most about a sensitive value.

Paper: Smyth and Goodman, An information theoretic approach to rule induction (1992), for the measure;
20.4 of the chapter (paper 3) for the need. Of all rules from values of one or two columns to a
sensitive value, those with the largest J-measure are listed. The J-measure is the share of people whom
the rule is about times the information, in bits, that it gives on whether they have the value. A rule
about few people, or one that says what everybody knows, gives little. Rules that make the value less
likely than it is among all are left out, and a rule of two columns is listed only where it reveals
more than either of its columns alone.

`fewest` people must have the premise: what is known of fewer is a matter of identifying them.
Cost: one count of the sensitive column for each pair of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coterie.base.arrays import Array, Codes, Floats

FEWEST = 5
_MOST_CELLS = 50_000_000  # of a count that is held in memory


@dataclass(frozen=True)
class Revealing:
    """People with these values of these columns have the sensitive value with this confidence."""

    premise: tuple[tuple[int, int], ...]  # numbers of columns and codes of their values
    value: int
    people: int
    confidence: float
    share: float
    information: float


def revealing_rules(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    sensitive: Codes,
    values: int,
    fewest: int = FEWEST,
    most: int = 10,
) -> list[Revealing]:
    """The most revealing rules on the column `sensitive`, which has `values` different values."""
    records = len(sensitive)
    if not records:
        return []
    base = np.bincount(sensitive, minlength=values) / records
    single: list[Array] = []
    found: list[Revealing] = []
    for j, codes in enumerate(columns):
        counts = _counts(codes, sizes[j], sensitive, values)
        single.append(_information(counts, base, records, fewest))
        found += _listed(((j, np.arange(sizes[j])),), counts, base, single[-1], most)
    for i, j in combinations(range(len(columns)), 2):
        if sizes[i] * sizes[j] * values > _MOST_CELLS:
            continue
        codes = columns[i].astype(np.int64) * sizes[j] + columns[j]
        counts = _counts(codes, sizes[i] * sizes[j], sensitive, values)
        score = _information(counts, base, records, fewest)
        first, second = np.divmod(np.arange(sizes[i] * sizes[j]), sizes[j])
        score[score <= np.maximum(single[i][first], single[j][second])] = 0
        found += _listed(((i, first), (j, second)), counts, base, score, most)
    found.sort(key=lambda rule: (-rule.information, len(rule.premise), rule.premise, rule.value))
    return found[:most]


def _counts(codes: Codes, size: int, sensitive: Codes, values: int) -> Array:
    """How many people have each premise (row) and each sensitive value (column)."""
    joint = np.asarray(codes).astype(np.int64) * values + sensitive
    return np.bincount(joint, minlength=size * values).reshape(size, values)


def _information(counts: Array, base: Floats, records: int, fewest: int) -> Floats:
    people = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = counts / people[:, None]
        yes = np.where(p > 0, p * np.log2(p / base), 0.0)
        no = np.where(p < 1, (1 - p) * np.log2((1 - p) / (1 - base)), 0.0)
    bits = people[:, None] / records * (yes + no)
    wanted = (people[:, None] >= fewest) & (p > base)
    return np.where(wanted, bits, 0.0)


def _listed(
    premise: tuple[tuple[int, Array], ...], counts: Array, base: Floats, score: Floats, most: int
) -> list[Revealing]:
    flat = score.ravel()
    best = np.argsort(-flat, kind="stable")[:most]
    found = []
    for place in best[flat[best] > 1e-12].tolist():
        row, value = divmod(place, counts.shape[1])
        people = int(counts[row].sum())
        found.append(
            Revealing(
                tuple((column, int(codes[row])) for column, codes in premise),
                value,
                people,
                float(counts[row, value] / people),
                float(base[value]),
                float(flat[place]),
            )
        )
    return found
