"""Scenes of models of columns at different parties."""

from __future__ import annotations

import numpy as np

from coterie.protocols.models.joint_kmeans import cluster_columns
from coterie.protocols.models.joint_logistic import Columns, fit_logistic
from coterie.protocols.models.joint_products import Moments
from coterie.protocols.models.kmeans import large_shares
from coterie.protocols.models.server_products import ServerProducts
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
    "models/joint_logistic",
    THREE,
    drawn=(  # the last digits of which are random roundings
        "regress: coefficients after steps on shares",
        "regress: gradient and second derivatives of columns at different parties",
    ),
)
def logistic_model_of_columns(watched, world):
    """In the second world the others' records are exchanged among people alike in what is watched."""
    draw = np.random.default_rng(4)
    table = (draw.random((RECORDS, 4)) < [0.5, 0.4, 0.5, 0.5]).astype(float)
    table[:, 3] = np.where(draw.random(RECORDS) < 0.7, table[:, 0], table[:, 3])
    place = THREE.index(watched)
    others = [at for at in range(3) if at != place]
    means = table.mean(axis=0)
    centred = (table - means).T @ (table - means)
    moments = Moments(RECORDS, [(0.0, 1.0)] * 4, means.tolist(), centred.tolist())
    if world:
        kinds = 2 * table[:, place] + table[:, 3]
        for kind in range(4):
            alike = np.flatnonzero(kinds == kind)
            table[np.ix_(np.roll(alike, 1), others)] = table[np.ix_(alike, others)]

    def party(channel, rng):
        mine = THREE.index(channel.me)
        held = {name: [at] for at, name in enumerate(THREE)}
        hidden = HiddenCounts(channel, THREE, SERVERS, rng.fork("hidden"))
        transfers = Transfers(channel, rng.fork("transfers"))
        columns = Columns(held, table[:, [mine]])
        names = ("x", "y", "z", "ill")
        fit_logistic(transfers, hidden, THREE, columns, moments, names, 4.0, 1, rng.fork("fit"))

    return dict.fromkeys(THREE, party)


@scene("models/joint_kmeans", THREE)
def clusters_of_columns(watched, world):
    """In the second world the others' records are exchanged among people alike in what is watched."""
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
        return cluster_columns(
            Transfers(channel, rng.fork("transfers")),
            hidden,
            THREE,
            held,
            table[:, [THREE.index(channel.me)]],
            [[-3000, -3000, 0], [3000, 3000, 0]],
            2,
            lambda share, cells: large_shares(hidden, share, cells, 3),
            rng.fork("products"),
        )

    return dict.fromkeys(THREE, party)
