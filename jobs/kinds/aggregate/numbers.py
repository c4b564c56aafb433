"""The exact numbers of an `aggregate` job's shown groups: opened or rounded, and made into measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from coterie.base.arrays import Array, Ints
from coterie.jobs.data.measured import MeasuredAttribute, steps
from coterie.jobs.kinds.aggregate.job import PLACED, AggregateJob, Measure
from coterie.jobs.kinds.aggregate.tables import Numbers, histogram
from coterie.jobs.kinds.statistics.joining import Joined
from coterie.protocols.aggregates.aggregate_circuits import Spread
from coterie.protocols.aggregates.aggregates import Aggregates, Rank
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

MOST_BUCKETS, LEAST_BUCKETS = 1024, 16
WORK = 1 << 31  # records times groups times buckets up to which buckets are made finer


class Histograms:
    """Shares of the numbers of records in buckets of columns, made when first asked for.

    `described` has the lower ends of the buckets, as the result names them.
    """

    def __init__(
        self,
        job: AggregateJob,
        joined: Joined,
        numbers: Mapping[str, Ints],
        channel: Channel,
        rng: Random,
        work: int,
    ) -> None:
        self._job, self._joined, self._numbers = job, joined, numbers
        self._channel, self._rng = channel, rng
        self._most = min(MOST_BUCKETS, max(LEAST_BUCKETS, WORK // max(work, 1)))
        self._kept: dict[tuple[str, str], tuple[Array | None, list[int]]] = {}
        self.described: dict[str, list[int | float]] = {}

    def of(
        self, name: str, divide: Callable[[MeasuredAttribute, int, int | None], list[int]]
    ) -> tuple[Array | None, list[int]]:
        """Shares of the records of every group in every bucket, and the buckets' lower ends."""
        key = name, divide.__name__
        if key not in self._kept:
            ends = divide(self._job.measured[name], self._most, self._job.base)
            share = histogram(
                self._job, self._joined, self._numbers, name, ends, self._channel,
                self._rng.fork(f"buckets {' '.join(key)}"),
            )  # fmt: skip
            self._kept[key] = share, ends
        return self._kept[key]


def places(
    job: AggregateJob, servers: Aggregates, tables: Histograms, shown: Ints
) -> dict[tuple[str, str], Sequence[int | None]]:
    """The lower ends of the buckets of quantiles, in units, of the shown groups."""
    found: dict[tuple[str, str], Sequence[int | None]] = {}
    earlier: dict[str, list[Rank]] = {}
    for measure in job.measures:
        if measure.what not in PLACED:
            continue
        item = job.measured[measure.column]
        share, ends = tables.of(item.name, steps)
        tables.described[item.name] = [item.number(end) for end in ends]
        if len(shown):
            others = earlier.setdefault(item.name, [])
            rank = Rank(measure.share, measure.what == "largest").apart_from(others, job.minimum)
            others.append(rank)
            mine = None if share is None else share[shown]
            places = servers.places(mine, len(ends), rank, job.minimum, len(shown))
            found[measure.column, measure.title] = [None if p is None else ends[p] for p in places]
    return found


def opened(
    job: AggregateJob, servers: Aggregates, sums: Numbers, shown: Ints, records: int
) -> dict[tuple[str, str], Sequence[int | None]]:
    """The numbers that the measures need, of the shown groups."""

    def taken(share: Array | None) -> Array | None:
        return None if share is None else share[shown]

    found: dict[tuple[str, str], Sequence[int | None]] = {}
    if not len(shown):
        return found
    count = len(shown)
    if job.base is not None:
        return _rounded(job, servers, sums, shown, records, job.base)
    with servers.channel.step("reveal"):
        if any(measure.what in ("count", "mean", "variance") for measure in job.measures):
            found["", "records"] = servers.records(taken(sums.records), count).tolist()
        for name, share in sums.sums.items():
            if not job.asks(name, "sum", "mean", "variance"):
                continue  # it was needed for dominance alone
            found[name, "sum"] = servers.sums(taken(share), count).tolist()
        for name, parts in sums.parts.items():
            wanted = {part: taken(share) for part, share in parts.items()}
            found[name, "square"] = servers.squares(wanted, job.measured[name].half, count)
    return found


def _rounded(
    job: AggregateJob, servers: Aggregates, sums: Numbers, shown: Ints, records: int, base: int
) -> dict[tuple[str, str], Sequence[int | None]]:
    """The numbers of the measures themselves, rounded before they are opened."""

    def taken(share: Array | None) -> Array | None:
        return None if share is None else share[shown]

    found: dict[tuple[str, str], Sequence[int | None]] = {}
    counts, number = taken(sums.records), len(shown)
    with servers.channel.step("reveal"):
        for measure in job.measures:
            key = measure.column, measure.title
            if measure.what == "count":
                found[key] = servers.rounded(counts, base, 0, number)
            elif measure.what in ("sum", "mean"):
                item = job.measured[measure.column]
                units, total = base * item.unit, taken(sums.sums[measure.column])
                if measure.what == "sum":
                    found[key] = servers.rounded(total, units, records * item.bound, number)
                else:
                    found[key] = servers.rounded_means(total, counts, units, item.bound, number)
            elif measure.what == "variance":
                item = job.measured[measure.column]
                parts = {n: taken(share) for n, share in sums.parts[measure.column].items()}
                total = taken(sums.sums[measure.column])
                found[key] = _rounded_variances(
                    item, servers, parts, total, counts, records, base, number
                )
    return found


def _rounded_variances(
    item: MeasuredAttribute,
    servers: Aggregates,
    parts: Mapping[str, Array | None],
    total: Array | None,
    counts: Array | None,
    records: int,
    base: int,
    number: int,
) -> list[int | None]:
    """Variances rounded to multiples of the base, in units as all other numbers are."""
    distance = None
    if total is not None and counts is not None:
        distance = total - counts * np.uint64(item.middle % (1 << 64))
    form = Spread(item.half, records, item.longest, base * item.unit**2)
    multiples = servers.rounded_variances(form, parts, distance, counts, number)
    return [None if m is None else m * base * item.unit for m in multiples]


def measured(
    job: AggregateJob, measure: Measure, found: Mapping[tuple[str, str], int | None]
) -> int | float | None:
    """One measure of one group; None where it is not defined (the mean of no records)."""
    key = measure.column, measure.title
    if key in found:  # a bucket, or a rounded number
        number = found[key]
        if number is None or not measure.column:
            return number
        return job.measured[measure.column].number(number)
    records = found.get(("", "records"))
    if measure.what == "count":
        return records
    item = job.measured[measure.column]
    total, square = found[measure.column, "sum"], found.get((measure.column, "square"))
    if total is None or measure.what == "sum":
        return None if total is None else item.number(total)
    if records is None:
        raise AssertionError("a mean has a number of records")
    if measure.what == "mean":
        return item.number(Fraction(total, records)) if records else None
    if records < 2 or square is None:
        return None
    distance = total - records * item.middle
    spread = Fraction(square * records - distance**2)
    return item.number(spread / (records * (records - 1)) / item.unit)
