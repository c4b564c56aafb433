"""`kind: cluster` of columns at different parties: their numbers as steps, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from coterie.base.arrays import Floats, Ints, Mask, UInt32s
from coterie.base.errors import DataError
from coterie.jobs.kinds.models.common import (
    JoinedNumbers,
    ModelJob,
    few_in_cluster,
    few_records,
)
from coterie.jobs.kinds.models.noisy import cluster_scales
from coterie.protocols.aggregates.noise import Noise
from coterie.protocols.aggregates.noisy_kmeans import ROOM, NoisyClusters, cluster_with_noise
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.joint_kmeans import REACH, Work, cluster_columns
from coterie.protocols.models.joint_products import STEPS, in_steps
from coterie.protocols.models.kmeans import Clusters, large_shares, public_centres
from coterie.protocols.models.scale import SCALE, Scale
from coterie.protocols.models.small_support import all_large, all_shares_large, supported
from coterie.protocols.models.symmetric import Vector
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers


def cluster_vertically(
    job: ModelJob,
    clusters: int,
    iterations: int,
    standardise: bool,
    joined: JoinedNumbers,
    channel: Channel,
    rng: Random,
    seed: str,
) -> Clusters:
    """The clusters in the columns' own units; `seed` is public."""
    names = list(job.attributes)
    limits = [job.attributes[name].limits or (0.0, 1.0) for name in names]
    held = {
        party: [at for at, name in enumerate(names) if job.attributes[name].party == party]
        for party in job.party_names
    }
    mine = held[channel.me]
    own = [names[at] for at in mine]
    columns = joined.matrix(own) if own else np.zeros((joined.records, 0))
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
    if job.noise:
        scale = _public_scale(limits)
    else:
        counts = np.zeros(len(names), np.uint32)
        counts[mine] = _least_counts(columns, [limits[at] for at in mine])
        with channel.step("small sums"):
            fork = rng.fork("counts")
            if not all_large(hidden, job.party_names, counts, job.minimum, fork):
                raise few_records(job.minimum)
        sums = ExactSums(channel, job.party_names, rng.fork("sums"))
        scale = _told_scale(sums, columns, mine, joined.records, names)
    origins, units = _steps(scale, limits, standardise)
    offset, unit = np.array(origins)[mine], np.array(units)[mine]
    steps: Ints = np.rint((columns - offset) / unit).astype(np.int64)
    within = Scale([0.0] * len(names), [1.0] * len(names)) if standardise else scale
    start = [
        [_step(value, at, origins, units, scale, standardise) for at, value in enumerate(row)]
        for row in public_centres(within, clusters, seed)
    ]
    transfers = Transfers(channel, rng.fork("transfers"))
    if job.noise:
        work = Work(transfers, hidden, job.party_names, held, steps, clusters, rng.fork("products"))
        found = _with_noise(job, job.noise, work, start, limits, units, iterations, rng)
        if not found.sizes:
            raise DataError("no cluster has, with noise, `minimum` records: ask for fewer clusters")
        return _sorted(
            [
                ([_in_range(o + u * at, *ends) for o, u, at, ends in zip(origins, units, centre, limits, strict=True)], size)
                for centre, size in zip(found.centres, found.sizes, strict=True)
            ],
            iterations,
            False,
        )  # fmt: skip

    def large(share: UInt32s | None, cells: int) -> Mask:
        with channel.step("cells"):
            return large_shares(hidden, share, cells, job.minimum)

    def none_few(share: UInt32s | None, size: int) -> None:
        with channel.step("small sums"):
            if job.minimum > 1 and not all_shares_large(hidden, share, size, job.minimum):
                raise few_in_cluster(job.minimum)

    with channel.step("fit"):
        told = cluster_columns(
            transfers,
            hidden,
            job.party_names,
            held,
            steps,
            supported(columns, steps)[0],
            start,
            iterations,
            large,
            none_few,
            rng.fork("products"),
        )
    rows = [
        ([o + u * total / size for o, u, total in zip(origins, units, totals, strict=True)], size)
        for totals, size in zip(told.sums, told.sizes, strict=True)
    ]
    return _sorted(rows, iterations, told.settled)


def _sorted(rows: list[tuple[Vector, int]], iterations: int, settled: bool) -> Clusters:
    rows.sort()
    return Clusters([row for row, _ in rows], [size for _, size in rows], iterations, settled)


def _in_range(value: float, low: float, high: float) -> float:
    """A centre with noise lies within the steps of a range, which may end beyond the range itself."""
    return min(max(value, low), high)


def _with_noise(
    job: ModelJob,
    noise: Noise,
    work: Work,
    start: Sequence[Sequence[int]],
    limits: Sequence[tuple[float, float]],
    units: Vector,
    iterations: int,
    rng: Random,
) -> NoisyClusters:
    reaches = [
        math.ceil((high - low) / 2 / unit) for (low, high), unit in zip(limits, units, strict=True)
    ]
    scales = cluster_scales(noise, reaches, len(start), iterations, work.records, ROOM)
    with work.channel.step("fit"):
        return cluster_with_noise(
            work, start, reaches, job.minimum, noise, scales, iterations, rng.fork("noise")
        )


def _public_scale(limits: Sequence[tuple[float, float]]) -> Scale:
    """What the ranges say of means and deviations, where those of the records must not be told."""
    return Scale([(low + high) / 2 for low, high in limits], [(high - low) / 4 for low, high in limits])  # fmt: skip


def _least_counts(columns: Floats, limits: Sequence[tuple[float, float]]) -> UInt32s:
    """Of each column its least count, of values as means have them and as coarse as sums do."""
    if not limits:
        return np.zeros(0, np.uint32)
    fine = in_steps(columns, limits)
    found: UInt32s = np.minimum(
        supported(columns, fine)[1], supported(columns, np.rint(fine / (STEPS // REACH)).astype(np.int64))[1]
    )  # fmt: skip
    return found


def _told_scale(
    sums: ExactSums, columns: Floats, mine: Sequence[int], records: int, names: Sequence[str]
) -> Scale:
    """Mean and deviation of every column, which its holder knows; a constant column is an error."""
    told = np.zeros(2 * len(names))
    told[mine] = columns.mean(axis=0)
    told[[len(names) + at for at in mine]] = columns.std(axis=0)
    with sums.channel.step("scale"):
        found = sums.channel.once("scale", partial(_opened_scale, sums, told)).tolist()
    means, deviations = found[: len(names)], found[len(names) :]
    for name, mean, deviation in zip(names, means, deviations, strict=True):
        if not deviation > 1e-12 * max(1.0, abs(mean)):
            raise DataError(
                f"the attribute '{name}' has the same value in all {records} records: leave it out"
            )
    return Scale(means, deviations)


def _opened_scale(sums: ExactSums, told: Floats) -> Floats:
    return np.array(sums.channel.open(SCALE, sums.totals(told)))


def _steps(
    scale: Scale, limits: Sequence[tuple[float, float]], standardise: bool
) -> tuple[Vector, Vector]:
    """The zero of each column's steps, and their length: the same for all, or in deviations."""
    if not standardise:
        longest = max(high - low for low, high in limits) / 2
        return [(low + high) / 2 for low, high in limits], [longest / REACH] * len(limits)
    reaches = [
        max(mean - low, high - mean) / deviation
        for (low, high), mean, deviation in zip(limits, scale.means, scale.deviations, strict=True)
    ]
    return scale.means, [max(reaches) / REACH * deviation for deviation in scale.deviations]


def _step(
    value: float, at: int, origins: Vector, units: Vector, scale: Scale, standardise: bool
) -> int:
    """A number of a starting centre as a whole step."""
    if standardise:
        value = scale.means[at] + scale.deviations[at] * value
    return max(-REACH, min(REACH, math.floor((value - origins[at]) / units[at] + 0.5)))
