"""Class error: what a release is worth to a classifier, compared with the table it was made from.

A tree (`learner`) is learned from two thirds of the records and tried on the others: once on the
released values of the quasi-identifiers, once on the raw ones. A suppressed record is not there to be
learned from, and counts as an error where it would have been tried. `none` is the error of always
predicting the most frequent class. Of up to 10,000 records all are means over several divisions, each
third of the records in turn, at most 30 divisions and as many as 100,000 records in all allow; a
larger table is divided once, of a very large one 100,000 records are drawn. Divisions come from a fixed
seed, so that one table has one figure. An interval is read as a number, its lower end, and a generalized
category as one more label; of a local recoding, where regions overlap, that is a rough reading, so its
figure is an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.classifier.decision_tree import Feature, Numbers
from coterie.anonymity.classifier.decision_tree import Labels as Categories
from coterie.anonymity.classifier.learner import learn
from coterie.anonymity.classifier.released import coded_attribute
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Generalized, Labels, Table
from coterie.base.arrays import Array

_MOST = 100_000
_DIVISIONS = 30  # at most
_ONCE = 10_000  # a larger table is divided once: its figure moves little, and a tree takes long
_SEED = 20_082
_SHUFFLED = 5_000_000  # records of which all are put into a random order; of more, some are drawn


@dataclass(frozen=True)
class ClassError:
    """Shares of records whose class is predicted wrongly."""

    release: float
    raw: float
    none: float


def class_error(
    table: Table, columns: Mapping[str, Generalized], kept: Array, classes: Labels
) -> ClassError:
    """The errors of trees on the released and on the raw values."""
    return class_error_in_order(table, columns, kept, classes, drawn(table.records))


def drawn(records: int) -> Array:
    """The records that are learned from and tried, in the order in which they are divided."""
    rng = np.random.default_rng(_SEED)
    if records <= _SHUFFLED:
        return rng.permutation(records)[:_MOST]
    return rng.choice(records, _MOST, replace=False)


def class_error_in_order(
    table: Table, columns: Mapping[str, Generalized], kept: Array, classes: Labels, order: Array
) -> ClassError:
    """The mean errors over all divisions of the records in `order`."""
    found = [
        _divided(table, columns, kept, classes, train, test) for train, test in _divisions(order)
    ]
    if not found:
        return ClassError(0.0, 0.0, 0.0)
    return ClassError(*(float(np.mean(errors)) for errors in zip(*found, strict=True)))


def _divisions(order: Array) -> Iterator[tuple[Array, Array]]:
    """Two thirds of the records to learn from, the others to be tried; none of fewer than two records."""
    cut = 2 * len(order) // 3
    if not cut:
        return
    times = min(_MOST // len(order), _DIVISIONS) if len(order) <= _ONCE else 1
    for at in range(times):
        if at and at % 3 == 0:
            order = order[np.random.default_rng([_SEED, at]).permutation(len(order))]
        turned = np.roll(order, at % 3 * (len(order) - cut))
        yield turned[:cut], turned[cut:]


def _divided(
    table: Table,
    columns: Mapping[str, Generalized],
    kept: Array,
    classes: Labels,
    train: Array,
    test: Array,
) -> tuple[float, float, float]:
    """The errors on the released values, on the raw ones and without any."""
    target, number = classes.codes.astype(np.int64), len(classes.values)
    common = np.bincount(target[train], minlength=number).argmax()
    place = np.full(table.records, -1, np.int64)
    place[kept] = np.arange(len(kept))
    raw = _raw(table, columns)
    shown = [coded_attribute(name, c.codes, c.labels) for name, c in columns.items()]
    seen, tried = place[train], place[test]
    there, tried_there = seen >= 0, tried >= 0
    wrong = _wrong(
        shown, seen[there], tried[tried_there], target[train][there], target[test][tried_there],
        number,
    )  # fmt: skip
    return (
        (wrong + int((~tried_there).sum())) / len(test),
        _wrong(raw, train, test, target[train], target[test], number) / len(test),
        float((target[test] != common).mean()),
    )


def raw_class_error(table: Table, classes: Labels) -> float:
    """The mean error of trees on all columns of a table as they are."""
    target = classes.codes.astype(np.int64)
    features = _raw(table, [column.name for column in table.columns])
    number = len(classes.values)
    found = [
        _wrong(features, train, test, target[train], target[test], number) / len(test)
        for train, test in _divisions(drawn(table.records))
    ]
    return float(np.mean(found)) if found else 0.0


def _raw(table: Table, names: Iterable[str]) -> list[Feature]:
    raw: list[Feature] = []
    for name in names:
        column = table.column(name)
        if isinstance(column, ContinuousColumn):
            raw.append(Numbers(name, column.places[column.codes]))
        else:
            raw.append(Categories(name, column.codes.astype(np.int64), column.size))
    return raw


def _wrong(
    attributes: Sequence[Feature],
    train: Array,
    test: Array,
    learned: Array,
    true: Array,
    classes: int,
) -> int:
    """How many test records a tree of the training records gets wrong."""
    if not len(train):
        return len(test)
    tree = learn([attribute[train] for attribute in attributes], learned, classes)
    found = tree.predict([attribute[test] for attribute in attributes])
    return int((found != true).sum())
