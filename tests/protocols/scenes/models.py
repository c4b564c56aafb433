"""Scenes of models of columns at different parties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from coterie.base.errors import DataError
from coterie.protocols.aggregates.discrete_noise import scale_of
from coterie.protocols.aggregates.noise import Noise
from coterie.protocols.aggregates.noisy_kmeans import cluster_with_noise
from coterie.protocols.aggregates.noisy_sums import draw_noise
from coterie.protocols.models.joint_concordance import ranked_columns
from coterie.protocols.models.joint_kmeans import Work, cluster_columns
from coterie.protocols.models.joint_logistic import fit_logistic
from coterie.protocols.models.joint_products import Moments, joint_sums
from coterie.protocols.models.kmeans import large_shares
from coterie.protocols.models.server_products import ServerProducts
from coterie.protocols.models.shared_logistic import Columns
from coterie.protocols.models.small_support import all_shares_large, supported
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers
from tests.protocols.scenes.form import SERVERS, THREE, scene, secret

RECORDS = 24


@scene("models/server_products", SERVERS, shares=True)
def columns_by_shared_numbers(watched, world):
    """Everybody's columns, and the other server's shares, are others in the second world."""

    def party(channel, rng):
        held = dict.fromkeys(THREE, 1)
        products = ServerProducts(Transfers(channel, rng), THREE, SERVERS, held, rng.fork("moved"))
        value = secret(watched, channel.me, world, 1, 900_001, 7)
        columns = np.full((RECORDS, 1), value, np.int64)
        number = np.uint64(secret(watched, channel.me, world, 0, 2**63, 5))
        share = np.full(RECORDS, number) if channel.me in SERVERS else None
        found = []
        for holder in THREE:
            mine = columns if channel.me == holder else None
            found.append(products.columns_by_shares(holder, 1, mine, share, True))
        weights = None if share is None else share[:3]
        found.append(products.rows_by_weights(columns, weights, RECORDS, 1 << 40))
        return [part for part in found if part is not None]

    return dict.fromkeys(THREE, party)


@scene(
    "models/joint_logistic models/shared_logistic",
    THREE,
    drawn=(  # the last digits of which are random roundings
        "regress: coefficients after steps on shares",
        "regress: gradient and second derivatives of columns at different parties",
    ),
)
def logistic_model_of_columns(watched, world):
    """In the second world the others' records change places among people who look the same to the watched."""
    draw = np.random.default_rng(4)
    table = (draw.random((RECORDS, 4)) < [0.5, 0.4, 0.5, 0.5]).astype(float)
    table[:, 3] = np.where(draw.random(RECORDS) < 0.7, table[:, 0], table[:, 3])
    place = THREE.index(watched)
    others = [at for at in range(3) if at != place]
    means = table.mean(axis=0)
    centred = (table - means).T @ (table - means)
    moments = Moments(RECORDS, [(0.0, 1.0)] * 4, means.tolist(), centred.tolist())
    if world:
        # Cat has the outcomes as well.
        kinds = table[:, place] + (2 * table[:, 3] if watched == "cat" else 0)
        for kind in np.unique(kinds):
            alike = np.flatnonzero(kinds == kind)
            moved = [*others, 3]
            table[np.ix_(np.roll(alike, 1), moved)] = table[np.ix_(alike, moved)]

    def party(channel, rng):
        mine = THREE.index(channel.me)
        held = {name: [at] for at, name in enumerate(THREE)}
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        transfers = Transfers(channel, rng.fork("transfers"))
        outcomes = table[:, 3].astype(np.uint8) if channel.me == "cat" else None
        columns = Columns(held, table[:, [mine]], "cat", outcomes)
        names = ("x", "y", "z", "ill")
        fit_logistic(transfers, hidden, THREE, columns, moments, names, 4.0, 1, rng.fork("fit"))

    return dict.fromkeys(THREE, party)


@scene("models/joint_concordance models/concordance", THREE)
def pairs_ranked_by_scores_in_parts(watched, world):
    """In the second world the others' parts change places among people who look the same to the watched."""
    draw = np.random.default_rng(6)
    table = draw.choice([-1.0, 1.0], (RECORDS, 4)) * [1.0, 2.0, 4.0, 1.0]
    table -= [*table[:, :3].mean(axis=0), 0]
    place = THREE.index(watched)
    deviation = float(table[:, :3].sum(axis=1).std())
    if world:
        # Bob has the outcomes as well.
        kinds = table[:, place] + (100 * table[:, 3] if watched == "bob" else 0)
        moved = [at for at in range(4) if at != place and (at < 3 or watched != "bob")]
        for kind in np.unique(kinds):
            alike = np.flatnonzero(kinds == kind)
            table[np.ix_(np.roll(alike, 1), moved)] = table[np.ix_(alike, moved)]

    def party(channel, rng):
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        part = table[:, THREE.index(channel.me)]
        outcomes = (table[:, 3] > 0).astype(np.uint8) if channel.me == "bob" else None
        ranked_columns(hidden, THREE, part, deviation, "bob", outcomes, rng.fork("ranked"))

    return dict.fromkeys(THREE, party)


@scene("models/joint_kmeans", THREE)
def clusters_of_columns(watched, world):
    """In the second world the others' records change places among people who look the same to the watched."""
    draw = np.random.default_rng(5)
    table = draw.choice([-4000, 4000], (RECORDS, 3)) + draw.choice([-900, 900], (RECORDS, 3))
    place = THREE.index(watched)
    others = [at for at in range(3) if at != place]
    if world:
        for kind in np.unique(table[:, place]):
            alike = np.flatnonzero(table[:, place] == kind)
            table[np.ix_(np.roll(alike, 1), others)] = table[np.ix_(alike, others)]

    def party(channel, rng):
        held = {name: [at] for at, name in enumerate(THREE)}
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        mine = table[:, [THREE.index(channel.me)]]
        return cluster_columns(
            Transfers(channel, rng.fork("transfers")),
            hidden,
            THREE,
            held,
            mine,
            supported(mine.astype(float), mine)[0],
            [[-3000, -3000, 0], [3000, 3000, 0]],
            2,
            lambda share, cells: large_shares(hidden, share, cells, 3),
            lambda share, size: all_shares_large(hidden, share, size, 1),
            rng.fork("products"),
        )

    return dict.fromkeys(THREE, party)


WIDE = [scale_of(Fraction(1 << 31))] * 4  # noise beside which sums are nothing


@scene(
    "aggregates/noisy_kmeans", THREE, shares=True,
    drawn=("cluster: sums and sizes with noise",),
)  # fmt: skip
def clusters_with_noise(watched, world):
    """The others' columns are others in the second world, by as much as their ranges allow."""

    def party(channel, rng):
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        value = secret(watched, channel.me, world, -8000, 8000, 7)
        mine = np.full((RECORDS, 1), value, np.int64)
        held = {name: [at] for at, name in enumerate(THREE)}
        transfers = Transfers(channel, rng.fork("transfers"))
        work = Work(transfers, hidden, THREE, held, mine, 12, rng.fork("products"))
        start = [[at, -at, 5 * at] for at in range(12)]
        promise = Noise(Fraction(1), Fraction(0))
        cluster_with_noise(work, start, [8000] * 3, 1, promise, WIDE, 1, rng.fork("noise"))

    return dict.fromkeys(THREE, party)


@scene(
    "models/joint_products", THREE, shares=True, name="products_with_noise",
    drawn=("regress: sums of products with noise",),
)  # fmt: skip
def products_with_noise(watched, world):
    """The others' columns are others in the second world; each party has three."""

    def party(channel, rng):
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        value = secret(watched, channel.me, world, -4000, 4000, 7)
        mine = np.full((RECORDS, 3), value, np.int64)
        held = {name: [3 * at, 3 * at + 1, 3 * at + 2] for at, name in enumerate(THREE)}
        noise = None
        if hidden.is_server:
            promise = Noise(Fraction(1), Fraction(0))
            noise = np.concatenate(draw_noise(hidden, promise, WIDE[:1] * 55, 1, rng.fork("noise")))
        joint_sums(
            Transfers(channel, rng.fork("transfers")), THREE, held, mine.astype(float), mine, RECORDS,
            None, lambda: DataError("few"), rng.fork("products"), lambda: noise, 4096,
        )  # fmt: skip

    return dict.fromkeys(THREE, party)
