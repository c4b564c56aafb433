"""`kind: regress` of columns at different parties: sums of products, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Floats, Ints, UInt32s, Words
from coterie.jobs.kinds.models.common import JoinedNumbers, few_records, rounded
from coterie.jobs.kinds.models.noisy import REACH, ProductNoise, described
from coterie.jobs.kinds.models.regress_job import RegressJob
from coterie.protocols.aggregates.noisy_fit import fit_noisy
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import Value
from coterie.protocols.models.joint_logistic import fit_logistic
from coterie.protocols.models.joint_products import (
    STEPS,
    fit_linear,
    in_steps,
    joint_sums,
    moments_of,
)
from coterie.protocols.models.regression import Fit
from coterie.protocols.models.shared_logistic import Columns
from coterie.protocols.models.small_support import all_large
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers


def fit_vertically(
    job: RegressJob, joined: JoinedNumbers, channel: Channel, rng: Random
) -> tuple[Fit, dict[str, Any]]:
    """From scalar products of the parties' columns; a logistic model by steps on shares, too.

    Beside the model what the result has to say of its noise, if the job asks for noise.
    """
    limits: list[tuple[float, float]] = []
    held: dict[str, list[int]] = {name: [] for name in job.party_names}
    own: list[str] = []
    signs: list[bool] = []
    for name in [*job.features, job.outcome]:
        item = job.attributes[name]
        for _ in item.columns:
            held[item.party or ""].append(len(limits))
            limits.append(item.limits or (0.0, 1.0))
            signs.append(item.limits is None)
        if item.party == channel.me:
            own.append(name)
    mine = joined.matrix(own) if own else np.zeros((joined.records, 0))
    ranges = [limits[place] for place in held[channel.me]]
    reach = REACH if job.noise else STEPS
    steps = in_steps(mine, ranges, reach) if own else np.zeros((joined.records, 0), np.int64)
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))

    def large(counts: UInt32s) -> bool:
        with channel.step("small sums"):
            return all_large(hidden, job.party_names, counts, job.minimum, rng.fork("counts"))

    transfers = Transfers(channel, rng.fork("transfers"))
    noise = ProductNoise(job.noise, signs) if job.noise else None

    def drawn() -> Words | None:
        return noise.drawn(hidden, rng.fork("noise")) if noise else None

    def multiplied() -> list[Value]:
        rows = joint_sums(
            transfers,
            job.party_names,
            held,
            mine,
            steps,
            joined.records,
            None if noise else large,
            lambda: few_records(job.minimum),
            rng.fork("products"),
            drawn,
            reach,
        )
        return [[*row] for row in rows]

    with channel.step("products"):
        sums = channel.once("sums of products", multiplied)
    if noise and job.noise:
        fit, added = fit_noisy(sums, limits, job.penalty, reach, noise.deviation)
        more = {"deviation": rounded(noise.deviation), "added": rounded(added)}
        return fit, {"noise": described(job.noise, **more)}
    names = [*job.columns, job.outcome]
    moments = moments_of(sums, limits, names)
    if job.model != "logistic":
        return fit_linear(moments, names, job.penalty), {}
    size = len(job.columns)
    features = {name: [at for at in places if at < size] for name, places in held.items()}
    kept = [at for at, place in enumerate(held[channel.me]) if place < size]
    holder = job.attributes[job.outcome].party or ""
    # The outcome is the last of its holder's columns, in steps on either side of the middle.
    outcomes = (steps[:, -1] > 0).astype(np.uint8) if holder == channel.me else None
    columns = Columns(features, _as_rounded(steps, ranges)[:, kept], holder, outcomes)
    with channel.step("fit"):
        fit = fit_logistic(
            transfers,
            hidden,
            job.party_names,
            columns,
            moments,
            names,
            job.penalty,
            job.iterations,
            rng.fork("fit"),
        )
    return fit, {}


def _as_rounded(steps: Ints, limits: Sequence[tuple[float, float]]) -> Floats:
    """Columns in their own units, rounded as the sums of products have them."""
    if not limits:
        return steps.astype(np.float64)
    low, high = (np.array(ends) for ends in zip(*limits, strict=True))
    found: Floats = (low + high) / 2 + steps * ((high - low) / 2 / STEPS)
    return found
