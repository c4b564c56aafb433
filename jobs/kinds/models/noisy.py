"""`regress` and `cluster` with `noise`: differential privacy for what columns say of a person.

    noise: {epsilon: 1}                  discrete Laplace noise
    noise: {epsilon: 1, delta: 1e-9}     discrete Gaussian noise

Two tables are neighbours if one record has other values, in any of its columns at whichever party
(`protocols.aggregates.noise`); a column is a number from -`reach` to `reach` steps. Queries are

    regress   the sum of each column and of the products of any two; a product of two columns lies
              within reach^2, a square from 0 to reach^2. Columns of zeros and ones have squares that
              are known.
    cluster   in each iteration the sizes of the clusters, and the sum of each column by cluster. The
              centres follow from the noisy numbers of the iteration before, and so cost nothing.

Each server draws noise that is enough by itself (`protocols.aggregates.noisy_sums`), and nothing is
opened, or decided, without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Words
from coterie.base.errors import UsageError
from coterie.jobs.file.document import Node, Section
from coterie.jobs.kinds.aggregate.job import read_noise
from coterie.jobs.kinds.kind import Json
from coterie.protocols.aggregates.discrete_noise import LARGEST, Scale
from coterie.protocols.aggregates.noise import Noise, Query
from coterie.protocols.aggregates.noisy_sums import draw_noise
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

REACH = 1 << 12  # steps on either side of the middle of a range: far finer than the noise


def read_model_noise(section: Section, vertical: bool) -> Noise | None:
    """The key `noise`, where columns lie at different parties."""
    node = section.optional("noise")
    if node is None:
        return None
    if not vertical:
        raise node.error("is only for 'partition: vertical': leave it out")
    return read_noise(node)


def check_noise_model(node: Node | None, model: str) -> None:
    if node is not None and model not in ("linear", "ridge"):
        raise node.error(
            f"a '{model}' model has no noise: take 'linear' or 'ridge', or leave it out"
        )


def product_queries(signs: Sequence[bool]) -> list[Query | None]:
    """Of every two columns, and of each with the constant, in the order of a lower triangle.

    `signs` says which columns are known to be -reach or reach. None: the sum is public.
    """
    found: list[Query | None] = []
    for i, sign in enumerate(signs):
        found += [Query(-(REACH**2), REACH**2)] * i
        found.append(None if sign else Query(0, REACH**2))
    return [*found, *[Query(-REACH, REACH)] * len(signs), None]


class ProductNoise:
    """The noise of sums of products."""

    def __init__(self, noise: Noise, signs: Sequence[bool]) -> None:
        self._noise = noise
        self._queries = product_queries(signs)
        asked = [query for query in self._queries if query is not None]
        self._scales = noise.scales(asked, 1)

    @property
    def deviation(self) -> float:
        """That of both servers' noise in a sum of products of columns from -1 to 1, at most."""
        widest = max(self._noise.deviation(scale) for scale in self._scales)
        return widest * 2**0.5 / REACH**2

    def drawn(self, group: HiddenCounts, rng: Random) -> Words | None:
        """This server's own noise for every sum; None at other parties."""
        if not group.is_server:
            return None
        drawn = iter(draw_noise(group, self._noise, self._scales, 1, rng))
        found = [np.uint64(0) if query is None else next(drawn)[0] for query in self._queries]
        return np.array(found, np.uint64)


def cluster_scales(
    noise: Noise, reaches: Sequence[int], clusters: int, iterations: int, records: int, room: int
) -> list[Scale]:
    """The scales of one iteration's noise: of the sizes, and of the sum of each column."""
    queries = [Query(1, 1), *(Query(-reach, reach) for reach in reaches)]
    try:
        scales = noise.scales(queries * iterations, clusters)[: len(queries)]
    except ValueError as error:
        raise UsageError(f"{error}; ask with a larger epsilon or fewer iterations") from None
    for query, scale in zip(queries, scales, strict=True):
        if records * query.high + 2 * LARGEST * (scale.top // scale.bottom + 1) >= room:
            raise UsageError(
                "the sums with their noise can be too large; ask with a larger epsilon or fewer "
                "iterations"
            )
    return scales


def described(noise: Noise, **more: Any) -> dict[str, Any]:
    """The promise as `result.json` has it."""
    return {
        "epsilon": float(noise.epsilon),
        "delta": float(noise.delta),
        "mechanism": noise.mechanism,
        **more,
    }


def noise_unchecked(noise: Noise | None) -> tuple[list[str], dict[str, Json]]:
    """What `verify` cannot check of a result with noise, and the facts of its noise."""
    if noise is None:
        return [], {}
    facts: dict[str, Json] = {"epsilon": float(noise.epsilon), "delta": float(noise.delta)}
    return ["that the servers drew the noise, and what the numbers are without it"], facts
