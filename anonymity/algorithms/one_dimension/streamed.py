"""`method: quantiles` with `clusters: sampled` of a stream: two passes, and no value kept in memory.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 4.3. The first pass keeps a sample of
fixed size and the ends of the column (`Drawn`); the cuts follow from the sample. The second pass counts
the numbers between the cuts exactly (`Counted`), and leaves them in a file, eight bytes each. Groups
that the count finds too small, or that violate a model, are merged with a neighbour.

What a result says about the groups (medians, costs, entropy loss, errors of random counts) needs the
numbers in order: they are sorted in their file, which the system pages in and out, and are passed
over slice by slice.

Guarantee: the release of `recoding.quantiles`, record by record, since one table has one sample. Every
group has k records by the count, whatever was drawn. In memory: the sample, a few numbers for each
interval between cuts (fewer than the sample), a count for each interval and label that a model bounds,
and a slice; nothing for each record or for each different number. Cost: O(n log n), the sorting.
Not offered: sensitive columns that are bounded together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.local_recoding import shown_regions
from coterie.anonymity.algorithms.one_dimension.groups import merged_groups, rank_difference
from coterie.anonymity.algorithms.one_dimension.recoding import SEED, Options, check_qid
from coterie.anonymity.algorithms.one_dimension.sampled import Reservoir, sample_size
from coterie.anonymity.algorithms.stored_recoding import StoredRelease, judged_stored
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn, place_of_gaps
from coterie.anonymity.table.scales import Scale
from coterie.anonymity.table.stored import SLICE, Grouped, Stored, StoredTable
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.memory import let_go, read_part


class Drawn:
    """The first pass over a column: a sample and the ends. A record without a value is nan."""

    def __init__(self, options: Options) -> None:
        size = sample_size(options.epsilon, options.delta)
        self._sample = Reservoir(size, np.random.default_rng(SEED))
        self._low, self._high = np.inf, -np.inf
        self.gap = False  # whether a record without a value was seen

    @property
    def records(self) -> int:
        return self._sample.seen

    def add(self, numbers: Array) -> None:
        absent = np.isnan(numbers)
        self.gap = self.gap or bool(absent.any())
        self._low = min(self._low, float(numbers[~absent].min(initial=np.inf)))
        self._high = max(self._high, float(numbers[~absent].max(initial=-np.inf)))
        self._sample.add(np.where(absent, np.inf, numbers))

    @property
    def place(self) -> float:
        """Where records without a value lie: above all numbers."""
        return place_of_gaps(self._low, self._high) if self._low <= self._high else 0.0

    def cuts(self, k: int) -> Array:
        return self._sample.cuts(k, self.place)


class Counted:
    """The second pass over a column: how many numbers lie between the cuts; all go to a file."""

    def __init__(self, drawn: Drawn, k: int, file: Path) -> None:
        self.cuts, self.place, self.gap, self.seen = drawn.cuts(k), drawn.place, drawn.gap, 0
        self.sizes = np.zeros(len(self.cuts) + 1, np.int64)
        self.file, self.numbers = file, np.memmap(file, np.float64, "w+", shape=(drawn.records,))

    def add(self, numbers: Array) -> None:
        """Adds numbers; the caller ensures that there are no more than in the first pass."""
        placed = np.where(np.isnan(numbers), self.place, numbers)
        self.sizes += np.bincount(self._between(placed), minlength=len(self.sizes))
        self.numbers[self.seen : self.seen + len(placed)] = placed
        let_go(self.numbers)
        self.seen += len(placed)

    def finish(self) -> None:
        """Drops the first interval if it has no number; every other one begins with a number."""
        if len(self.cuts) and not self.sizes[0]:
            self.cuts, self.sizes = self.cuts[1:], self.sizes[1:]

    def _between(self, numbers: Array) -> Array:
        return np.searchsorted(self.cuts, numbers, "right")

    def intervals(self, rows: slice) -> Array:
        """The interval of each of these records."""
        return self._between(read_part(self.numbers, rows))


class Ranked(Stored):
    """A column of numbers in a file: `texts` are the numbers, `codes` the different ones in order."""

    def part(self, rows: slice | Array) -> Array:
        found = np.searchsorted(self.codes, read_part(self.texts, rows))
        let_go(self.codes)
        return found


@dataclass(frozen=True)
class Shape:
    """What a table file says of a column of numbers."""

    scale: Scale
    limits: tuple[float, float] | None


@dataclass(frozen=True)
class Streamed:
    """A release of a stream, and the share of its bits that each column loses."""

    release: StoredRelease
    losses: Mapping[str, float]


def quantiles_streamed(
    counted: Mapping[str, Counted],
    shapes: Mapping[str, Shape],
    labels: Mapping[str, tuple[Labels, Stored]],
    requirements: Sequence[Requirement],
    options: Options,
    memory: int,
    folder: Path,
) -> Streamed:
    """Every column in groups that satisfy its requirements; `labels` are what conditions bound."""
    for requirement in requirements:
        check_qid(requirement.qid)
    ordered = {name: _ordered(one) for name, one in counted.items()}
    columns = {
        name: _column(name, shapes[name], ordered[name], one) for name, one in counted.items()
    }
    stored: dict[str, Stored] = {
        name: Ranked(counted[name].numbers, column.places) for name, column in columns.items()
    }
    table = StoredTable(
        next(iter(counted.values())).seen,
        columns,
        {name: label for name, (label, _) in labels.items()},
        {**stored, **{name: one for name, (_, one) in labels.items()}},
    )
    table, conditions = judged_stored(table, requirements)
    groups, described, losses = [], {}, {}
    for at, condition in enumerate(conditions):
        name = condition.attributes[0]
        made, losses[name] = _grouped(
            table, columns[name], condition, counted[name], ordered[name], folder / f"groups{at}"
        )
        groups.append(made)
        described[name] = _described(ordered[name], made.sizes, made.columns[name].labels, options)
    details: dict[str, Any] = {
        "parts": sum(len(group.sizes) for group in groups),
        "quantiles": {name: described[name] for name in columns if name in described},
    }
    return Streamed(StoredRelease(table, groups, 0, memory, details), losses)


def _slices(records: int) -> Iterator[slice]:
    for start in range(0, records, SLICE):
        yield slice(start, min(start + SLICE, records))


def _ordered(counted: Counted) -> Array:
    """The numbers in order, in a file of their own; sorting takes place in the file."""
    file = counted.file.with_suffix(".ordered")
    ordered = np.memmap(file, np.float64, "w+", shape=counted.numbers.shape)
    for rows in _slices(len(ordered)):
        ordered[rows] = read_part(counted.numbers, rows)
        let_go(ordered)
    ordered.sort()
    let_go(ordered)
    return ordered


def _runs(ordered: Array) -> Iterator[tuple[Array, Array]]:
    """The different numbers in order and how often each occurs, some at a time."""
    value, times = np.zeros(0), np.zeros(0, np.int64)  # the last run, which may go on
    for rows in _slices(len(ordered)):
        part = read_part(ordered, rows)
        starts = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
        values, lengths = part[starts], np.diff(np.append(starts, len(part)))
        if len(value) and value[0] == values[0]:
            lengths[0] += times[0]
        else:
            values, lengths = np.append(value, values), np.append(times, lengths)
        yield values[:-1], lengths[:-1]
        value, times = values[-1:], lengths[-1:]
    yield value, times


def _column(name: str, shape: Shape, ordered: Array, counted: Counted) -> ContinuousColumn:
    """The column with its different numbers in a file, and without records."""
    different = sum(len(values) for values, _ in _runs(ordered))
    places = np.memmap(counted.file.with_suffix(".places"), np.float64, "w+", shape=(different,))
    done = 0
    for values, _ in _runs(ordered):
        places[done : done + len(values)] = values
        done += len(values)
        let_go(places)
    values = places[:-1] if counted.gap else places  # the highest place is that of gaps
    none = np.zeros(0, np.int64)
    return ContinuousColumn(name, none, values, shape.limits, shape.scale, counted.gap, places)


def _grouped(
    table: StoredTable,
    column: ContinuousColumn,
    condition: Condition,
    counted: Counted,
    ordered: Array,
    file: Path,
) -> tuple[Grouped, float]:
    """The groups of one column, with sizes counted from the records, and the share of bits lost."""
    intervals = len(counted.sizes)
    labelled = [_label_counts(table, counted, label, intervals) for _, label in condition.models]
    into = merged_groups(counted.sizes.copy(), labelled, condition)
    number = int(into.max(initial=-1)) + 1
    part = np.memmap(file, np.int32, "w+", shape=(table.records,))
    sizes = np.zeros(number, np.int64)
    for rows in table.slices():
        own = into[counted.intervals(rows)]
        sizes += np.bincount(own, minlength=number)
        part[rows] = own
        let_go(part)
    different, kept, most = np.zeros(number, np.int64), 0.0, 0.0
    for values, times in _runs(ordered):
        own = into[np.searchsorted(counted.cuts, values, "right")]
        different += np.bincount(own, minlength=number)
        kept += float(times @ np.log2(times))
        most += float(times @ np.log2(table.records / times))
    last = np.cumsum(different)
    shown = shown_regions(column, last - different, last, np.arange(number))
    lost = float(sizes @ np.log2(sizes)) - kept
    return Grouped(part, sizes, {column.name: shown}), lost / most if most else 0.0


def _label_counts(table: StoredTable, counted: Counted, label: str, intervals: int) -> Array:
    """How often each label occurs in each interval."""
    values = table.size(label)
    counts = np.zeros(intervals * values, np.int64)
    for rows in table.slices():
        key = counted.intervals(rows) * values + table.stored[label].part(rows)
        np.add.at(counts, key, 1)
    return counts.reshape(intervals, values)


def _described(
    ordered: Array, sizes: Array, labels: Sequence[str], options: Options
) -> dict[str, Any]:
    """What `recoding.described_groups` says of the groups, by slices of the numbers in order."""
    ends = np.cumsum(sizes)
    begins = ends - sizes

    def at(place: Array) -> Array:
        return read_part(ordered, place)

    lowest, highest, middle = at(begins), at(ends - 1), at(begins + (sizes - 1) // 2)
    records = len(ordered)
    mean = sum(float(read_part(ordered, rows).sum()) for rows in _slices(records)) / records
    distance = square = whole = 0.0
    for rows in _slices(records):
        numbers = read_part(ordered, rows)
        own = middle[np.searchsorted(ends, np.arange(rows.start, rows.stop), "right")]
        distance += float(np.abs(numbers - own).sum())
        square += float(((numbers - own) ** 2).sum())
        whole += float(((numbers - mean) ** 2).sum())
    radius = (highest - lowest) / 2
    return {
        "clusters": options.clusters,
        "by": options.by,
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "rank_difference": rank_difference(sizes),
        "costs": {
            "median": distance,
            "centre": float(radius.max()),
            "cellular": float((radius * sizes).sum()),
        },
        "error": square / whole if whole else 0.0,
        "representatives": dict(zip(labels, middle.tolist(), strict=True)),
    }
