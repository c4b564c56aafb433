"""An `aggregate` job with `noise`: differential privacy for what columns say of a person.

    noise: {epsilon: 1}                  discrete Laplace noise
    noise: {epsilon: 1, delta: 1e-9}     discrete Gaussian noise

Queries are the number of records of every group (unless there is one group, whose number is known),
the sum of each column's distances from the middle of its range, and for a variance the sum of their
squares. From the noisy answers follow, as the middle and the unit are public,

    sum = distances + records * middle       mean = middle + distances / records, within the range
    variance = (squares - distances^2 / records) / (records - 1), at least 0

A sum has less noise in this way than if the numbers themselves were added up, since a distance is
at most half of the range. Distances are rounded to 15 bits before they are squared, which is far
finer than the noise.

`protocols.aggregates.noisy_sums` says what is opened, and against whom the noise protects.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Ints
from coterie.base.errors import DataError
from coterie.jobs.kinds.aggregate.job import AggregateJob, Measure
from coterie.jobs.kinds.aggregate.tables import COARSE, Numbers, coarse_range, coarseness
from coterie.protocols.aggregates.discrete_noise import LARGEST, Scale
from coterie.protocols.aggregates.noise import Noise, Query
from coterie.protocols.aggregates.noisy_sums import noisy_sums
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

Key = tuple[str, str]  # a column and what is added up of it
RECORDS = ("", "records")
_ROOM = 1 << 62
_MOST_RECORDS = 1 << 30  # with their noise, so that a comparison of 32 bits sees the sign


def queries(job: AggregateJob, groups: int) -> dict[Key, Query]:
    """What is asked with noise, and what a record can add to each."""
    found: dict[Key, Query] = {} if groups == 1 else {RECORDS: Query(1, 1)}
    for name, item in job.measured.items():
        low, high = item.ends
        found[name, "sum"] = Query(low - item.middle, high - item.middle)
        if job.asks(name, "variance"):
            found[name, COARSE] = Query(*coarse_range(item))
    return found


def check_room(job: AggregateJob, records: int, groups: int, source: str) -> dict[Key, Scale]:
    """The scales of the noise; refuses numbers that with their noise would not fit a word."""
    noise = _noise(job)
    asked = queries(job, groups)
    try:
        scales = dict(zip(asked, noise.scales(list(asked.values()), groups), strict=True))
    except ValueError as error:
        raise DataError(f"{source}: {error}; declare narrower ranges or a larger epsilon") from None
    for key, query in asked.items():
        most = max(abs(query.low), abs(query.high))
        room = _MOST_RECORDS if key == RECORDS else _ROOM
        if records * most + 2 * LARGEST * (scales[key].top // scales[key].bottom + 1) >= room:
            raise DataError(
                f"{source}: the sums of {records} numbers of '{key[0] or 'records'}' with their noise "
                "can be too large; declare a narrower 'range', fewer 'decimals' or a larger epsilon"
            )
    return scales


def noisy_groups(
    job: AggregateJob,
    group: HiddenCounts,
    sums: Numbers,
    records: int,
    groups: int,
    rng: Random,
) -> tuple[Ints, dict[Key, list[int]]]:
    """The numbers of the shown groups, and the noisy sums of these."""
    noise = _noise(job)
    if groups == 1 and records < job.minimum:
        return np.zeros(0, np.int64), {}
    scales = check_room(job, records, groups, "all parties together")
    shares = [_share(sums, key) for key in scales]
    shown, found = noisy_sums(
        group, shares, noise, list(scales.values()), groups, job.minimum, rng.fork("noise")
    )
    columns = {key: column.tolist() for key, column in zip(scales, found, strict=False)}
    if groups == 1:
        columns[RECORDS] = [records]
    return shown, columns


def measured(
    job: AggregateJob, measure: Measure, found: Mapping[Key, int | None]
) -> int | float | None:
    """One measure of one shown group, from its noisy sums."""
    numbers = {key: number or 0 for key, number in found.items()}
    records = numbers[RECORDS]
    if measure.what == "count":
        return records
    item = job.measured[measure.column]
    distances = numbers[measure.column, "sum"]
    if measure.what == "sum":
        return item.number(distances + records * item.middle)
    if records < 1:
        return None
    if measure.what == "mean":
        low, high = map(Fraction, item.ends)
        return item.number(min(max(item.middle + Fraction(distances, records), low), high))
    if records < 2:
        return None
    coarse = numbers[measure.column, COARSE] - records * coarse_range(item)[0]
    squares = Fraction(coarse << 2 * coarseness(item))
    spread = squares - Fraction(distances**2, records)
    return item.number(max(spread / (records - 1), Fraction(0)) / item.unit)


def described(job: AggregateJob, records: int, groups: int) -> dict[str, Any]:
    """The promise as `result.json` has it, with the deviations of the numbers of records and sums.

    Deviations are those of both servers' noise together.
    """
    noise = _noise(job)
    scales = check_room(job, records, groups, "all parties together")
    spread = {key: noise.deviation(scale) * 2**0.5 for key, scale in scales.items()}
    counts = spread.get(RECORDS, 0.0)
    sums = {
        name: (spread[name, "sum"] ** 2 + (counts * item.middle) ** 2) ** 0.5 / item.unit
        for name, item in job.measured.items()
    }
    return {
        "epsilon": float(noise.epsilon),
        "delta": float(noise.delta),
        "mechanism": noise.mechanism,
        "deviation": {"count": counts, "sum": sums},
    }


def _noise(job: AggregateJob) -> Noise:
    if job.noise is None:
        raise AssertionError("the job has no noise")
    return job.noise


def _share(sums: Numbers, key: Key) -> Array | None:
    name, part = key
    if key == RECORDS:
        return sums.records
    return sums.sums[name] if part == "sum" else sums.parts[name][part]
