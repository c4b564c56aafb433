"""Shares of everything that an aggregate job adds up, for all groups, at the servers.

For each measured column these are its sum and, for a variance, three sums that make up the sum of
its squares: the distance from the middle of the range is a 2^h + b, and a^2, a b and b^2 are added
up apart, so that each sum stays below 2^63. With noise it is the sum of the distances, and for a
variance that of coarse squares (`noisy`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from coterie.base.arrays import Array, Ints, Mask, Words
from coterie.jobs.data.measured import MeasuredAttribute
from coterie.jobs.kinds.aggregate.job import AggregateJob
from coterie.jobs.kinds.statistics.joining import Joined
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers, kept_share
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    group_shares,
    horizontal_shares,
    mixed_sums,
)

PARTS = ("high", "both", "low")  # of a square, as the circuits call them
COARSE = "coarse"  # squares with noise
_COARSE_BITS = 15  # of a distance that is squared with noise


@dataclass(frozen=True)
class Numbers:
    """The shares of one party; None where the party is no server."""

    records: Array | None
    sums: Mapping[str, Array | None]
    parts: Mapping[str, Mapping[str, Array | None]]


def sum_up(
    job: AggregateJob,
    joined: Joined,
    numbers: Mapping[str, Ints],
    held: Mapping[str, Mask],
    channel: Channel,
    rng: Random,
) -> Numbers:
    """Sums of all groups as shares at the servers; `held`, with mixed partition, are the own cells."""
    axes = [joined.axes[name] for name in job.by]
    cells = math.prod(axis.size for axis in axes)
    transfers = Transfers(channel, rng.fork("transfers"))
    found: dict[tuple[str, str], Array | None] = {}
    parts = (COARSE,) if job.noise else PARTS
    with channel.step("aggregate"):
        for at, (owner, wanted) in enumerate(_owners(job, axes)):
            rows = None
            if job.everywhere or channel.me == owner:
                rows = np.stack([_word(job, key, joined, numbers) for key in wanted], axis=1)
            if rows is not None and job.mixed:
                for column, (name, _) in enumerate(wanted):
                    # A record counts once; a number is added up where it lies.
                    own = held[name] if name else np.full(len(rows), channel.me == owner)
                    rows[~own, column] = 0
            share = kept_share(
                channel,
                "sums of groups",
                partial(
                    _table, job, joined, transfers, owner, axes, rows, len(wanted),
                    rng.fork(f"owner {at}"),
                ),
            )  # fmt: skip
            for column, key in enumerate(wanted):
                table = None if share is None else share.reshape(cells, len(wanted))
                found[key] = None if table is None else table[:, column]
    return Numbers(
        found["", "records"],
        {name: found[name, "sum"] for name in job.measured if (name, "sum") in found},
        {
            name: {part: found[name, part] for part in parts}
            for name in job.measured
            if (name, parts[0]) in found
        },
    )


def _table(
    job: AggregateJob,
    joined: Joined,
    transfers: Transfers,
    owner: str,
    axes: Sequence[Axis],
    rows: Array | None,
    width: int,
    rng: Random,
) -> Array | None:
    """Shares of the sums of the rows by groups, however the records are divided."""
    table = JointTable(job.party_names, job.servers, axes, joined.codes, joined.records)
    if rows is not None and job.mixed:
        return mixed_sums(transfers, table, rows, rng)
    if rows is not None and job.horizontal:
        return horizontal_shares(transfers.channel, table, rng.fork("out"), rows, np.uint64)
    return group_shares(transfers, table, owner, rows, width, rng)


def histogram(
    job: AggregateJob,
    joined: Joined,
    numbers: Mapping[str, Ints],
    name: str,
    ends: Sequence[int],
    channel: Channel,
    rng: Random,
) -> Array | None:
    """Shares at the servers, modulo 2^32, of the records of every group in every bucket of a column.

    `ends` are the buckets' lower ends.
    """
    axes = [joined.axes[by] for by in job.by]
    cells = math.prod(axis.size for axis in axes)
    owner = job.measured[name].party or job.party_names[0]
    bucket = Axis(f"bucket of {name}", None if job.horizontal else owner, len(ends))
    codes = dict(joined.codes)
    rows = None
    if name in numbers:
        codes[bucket.name] = np.searchsorted(np.array(ends), numbers[name], side="right") - 1
        rows = np.ones((joined.records, 1), np.uint32)
    table = JointTable(job.party_names, job.servers, [*axes, bucket], codes, joined.records)
    with channel.step("buckets"):
        if rows is not None and job.horizontal:
            share = horizontal_shares(channel, table, rng.fork("out"), rows)
        else:
            transfers = Transfers(channel, rng.fork("transfers"))
            share = group_shares(transfers, table, owner, rows, 1, rng, np.uint32)
    return None if share is None else share.reshape(cells, len(ends))


def _owners(job: AggregateJob, axes: list[Axis]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Who adds up what: each party with measured columns; the first also counts the records."""
    names = job.party_names
    holders = [name for name in names if any(job.measured[m].party == name for m in job.measured)]
    if job.everywhere:
        holders = [names[0]]
    if not holders:
        holders = [next((axis.owner for axis in axes if axis.owner), names[0])]
    wanted = []
    for at, holder in enumerate(holders):
        keys = [("", "records")] if at == 0 else []
        for name, item in job.measured.items():
            if job.everywhere or item.party == holder:
                keys += [(name, part) for part in needed_parts(job, name)]
        if keys:
            wanted.append((holder, keys))
    return wanted


def needed_parts(job: AggregateJob, name: str) -> tuple[str, ...]:
    """What is added up of a column."""
    parts: tuple[str, ...] = ()
    if job.asks(name, "sum", "mean", "variance") or job.dominance:
        parts += ("sum",)
    if job.asks(name, "variance"):
        parts += (COARSE,) if job.noise else PARTS
    return parts


def _word(
    job: AggregateJob, key: tuple[str, str], joined: Joined, numbers: Mapping[str, Ints]
) -> Words:
    """What one party adds up for each of its records."""
    name, part = key
    if part == "records":
        return np.ones(joined.records, np.uint64)
    item = job.measured[name]
    if part == "sum":
        return (numbers[name] - (item.middle if job.noise else 0)).astype(np.uint64)
    if part == COARSE:
        return coarse_squares(item, numbers[name]).astype(np.uint64)
    return square_parts(item, numbers[name])[part].astype(np.uint64)


def square_parts(item: MeasuredAttribute, units: Ints) -> dict[str, Ints]:
    """The three parts of the squared distances from the middle of the range."""
    distance = np.abs(units - item.middle)
    a, b = distance >> item.half, distance & ((1 << item.half) - 1)
    return dict(zip(PARTS, (a * a, a * b, b * b), strict=True))


def coarseness(item: MeasuredAttribute) -> int:
    """How many of the lower bits of a distance from the middle do not count with noise."""
    return max(0, item.longest.bit_length() - _COARSE_BITS)


def coarse_range(item: MeasuredAttribute) -> tuple[int, int]:
    """The least and the greatest of `coarse_squares`: zero is about their middle."""
    most = int(_coarse(item, np.array([item.longest]))[0]) ** 2
    return -(most // 2), most - most // 2


def coarse_squares(item: MeasuredAttribute, units: Ints) -> Ints:
    """Squares of distances from the middle, of 15 bits each, moved so that they are about zero."""
    return _coarse(item, np.abs(units - item.middle)) ** 2 + coarse_range(item)[0]


def _coarse(item: MeasuredAttribute, distance: Ints) -> Ints:
    shift = coarseness(item)
    return (distance + (1 << shift >> 1)) >> shift
