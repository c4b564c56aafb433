"""Clusters (k-means) of people whose columns several parties hold, from sums with noise.

Vertical partition, after the intersection; Lloyd's iteration with noise in its sums, after Blum,
Dwork, McSherry and Nissim ("Practical privacy: the SuLQ framework", PODS 2005, section 3). Columns and
distances are those of `joint_kmeans`, and so is an iteration up to the shares of the sizes and the
sums of the clusters. There each server adds its own noise to its shares (`protocols.aggregates.noise`
says how much), and the noisy numbers are opened. Their quotients, moved into the ranges of the
columns, are the public centres of the next iteration. A cluster whose noisy size is below `minimum`
begins anew beside the centre of the largest, since nobody knows where records are many; after the
last iteration, whose numbers are the result, it is left out.

In: at every party its own columns. Out, at every party: the noisy sizes and centres. What each party learns: the noisy numbers of every iteration,
which all have a part of the promise; nothing else is opened, in particular not the mean and deviation
of a column: the start is drawn from the ranges.

Adversary: semi-honest; the two servers must not collude. Cost: that of `joint_kmeans`, without the
circuit of the means.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from coterie.base.arrays import Array, Words
from coterie.protocols.aggregates.discrete_noise import Scale
from coterie.protocols.aggregates.noise import Noise
from coterie.protocols.aggregates.noisy_sums import draw_noise
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.joint_kmeans import REACH, SUM_BITS, Work
from coterie.protocols.primitives.randomness import Random

_MASK = np.uint64((1 << SUM_BITS) - 1)
ROOM = 1 << (SUM_BITS - 1)  # numbers with their noise must be below it

NOISY = declare(
    "cluster: sums and sizes with noise",
    what="With `noise`, for each cluster of an iteration the number of its records and the sum of each attribute, each with the noise of both servers.",
    to="every party",
    why="Their quotients are the centres; the last ones are the result.",
)


@dataclass(frozen=True)
class NoisyClusters:
    """Centres in steps, by column, and noisy numbers of records; small clusters are left out."""

    centres: list[list[float]]
    sizes: list[int]


def cluster_with_noise(
    work: Work,
    start: Sequence[Sequence[int]],
    reaches: Sequence[int],
    minimum: int,
    noise: Noise,
    scales: Sequence[Scale],
    iterations: int,
    rng: Random,
) -> NoisyClusters:
    """Lloyd's iteration from public centres. A column is from -`reaches` to `reaches` steps.

    `scales` are those of an iteration's noise: of the sizes, then of each column's sums.
    """
    channel = work.channel

    @functools.cache
    def drawn() -> list[Words]:
        return draw_noise(work.hidden, noise, [*scales] * iterations, len(start), rng)

    def of_iteration(done: int) -> Array | None:
        """This server's noise; drawn when it is needed, since an attempt may go on after all of it."""
        if not work.hidden.is_server:
            return None
        return np.stack(drawn()[done * width : (done + 1) * width], axis=1)

    centres = [list(centre) for centre in start]
    width = 1 + len(reaches)
    table = np.zeros((len(start), width), np.int64)
    for done in range(iterations):
        with channel.step(f"iteration {done + 1}"):
            table = channel.once(
                "clusters with noise", partial(_opened, work, centres, partial(of_iteration, done))
            )
        channel.progress(done + 1, iterations)
        for at, (size, *sums) in enumerate(table.tolist()):
            if size >= minimum:
                means = zip(sums, reaches, strict=True)
                centres[at] = [max(-r, min(r, (2 * s + size) // (2 * size))) for s, r in means]
        sizes = table[:, 0].tolist()
        largest = centres[sizes.index(max(sizes))]
        for at in [at for at, size in enumerate(sizes) if size < minimum]:
            sides = [1 if (done + at) >> column & 1 else -1 for column in range(len(reaches))]
            near = zip(largest, sides, reaches, strict=True)
            centres[at] = [max(-r, min(r, c + side * (r // 8))) for c, side, r in near]
    shown = [row for row in table.tolist() if row[0] >= minimum]
    return NoisyClusters(
        [
            [max(-r, min(r, total / size)) for total, r in zip(sums, reaches, strict=True)]
            for size, *sums in shown
        ],
        [size for size, *_ in shown],
    )


def _opened(work: Work, centres: list[list[int]], drawn: Callable[[], Array | None]) -> Array:
    """The noisy sizes and sums of the clusters with these centres, at every party."""
    share = work.sums(work.homes(work.started(centres)))
    noise = drawn()
    if share is not None:
        share[:, 1:] -= np.uint64(REACH) * share[:, :1]  # sums were moved up
        share = (share if noise is None else share + noise) & _MASK
    count = len(centres) * (1 + work.columns)
    found = work.hidden.added(None if share is None else share.reshape(-1), count, np.uint64)
    signed = found & int(_MASK)
    signed -= (signed >= ROOM) * (2 * ROOM)
    return work.channel.open(NOISY, signed.reshape(len(centres), -1))
