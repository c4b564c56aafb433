"""Clusters from noisy sums: the numbers that are opened, and what each server does not know of them."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest, laplace

from coterie.protocols.aggregates.noise import Noise, Query
from coterie.protocols.aggregates.noisy_kmeans import NOISY, cluster_with_noise
from coterie.protocols.aggregates.noisy_sums import draw_noise
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.joint_kmeans import Work
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers
from tests.protocols.models.test_joint_kmeans import START, THREE, N, nearest, points

REACHES = [8192, 8192, 5000]


def jointly(table, iterations, noise, minimum=1, seed="x", watch=None):
    names = list(THREE)
    queries = [Query(1, 1), *(Query(-reach, reach) for reach in REACHES)]

    def party(channel):
        rng = Random(f"{channel.me} {seed}")
        hidden = HiddenCounts(channel, names, ("a", "b"), rng.fork("hidden"))
        mine = table[:, THREE[channel.me]]
        transfers = Transfers(channel, rng.fork("transfers"))
        work = Work(transfers, hidden, names, THREE, mine, len(START), rng.fork("products"))
        scales = noise.scales(queries * iterations, len(START))
        plain = channel.open

        def opened(opening, value, to=None):
            if watch is not None and channel.me == "c" and opening is NOISY:
                watch.append(value)
            return plain(opening, value, to)

        channel.open = opened
        fork, each = rng.fork("noise"), scales[: len(queries)]
        found = cluster_with_noise(work, START, REACHES, minimum, noise, each, iterations, fork)
        drawn = draw_noise(hidden, noise, scales, len(START), fork) if hidden.is_server else None
        return found, drawn

    return run_same(names, party)


def exact(table, centres):
    home = nearest(table, centres)
    here = [home == at for at in range(len(centres))]
    return np.array([[rows.sum(), *table[rows].sum(axis=0)] for rows in here])


@pytest.mark.parametrize("epsilon", [2, Fraction(1, 50)])
def test_opened_numbers_are_the_sums_with_the_noise_of_both_servers(epsilon):
    table, watch = points().clip(-5000, 5000), []
    found = jointly(table, 1, Noise(Fraction(epsilon), Fraction(0)), watch=watch)
    a, b = (np.stack(found[server][1], axis=1).astype(np.int64) for server in "ab")
    [numbers] = watch
    assert (numbers == exact(table, START) + a + b).all()
    assert found["c"][1] is None
    clusters, _ = found["c"]
    kept = numbers[numbers[:, 0] >= 1]
    assert clusters.sizes == kept[:, 0].tolist()
    due = (kept[:, 1:] / kept[:, :1]).clip(-np.array(REACHES), REACHES)
    np.testing.assert_allclose(clusters.centres, due)


def test_each_server_draws_the_whole_noise_of_every_iteration():
    noise = Noise(Fraction(2), Fraction(0))
    table, iterations, drawn = points()[:6].clip(-5000, 5000), 12, {"a": [], "b": []}
    for seed in range(2):
        found = jointly(table, iterations, noise, seed=seed)
        for server, numbers in drawn.items():
            numbers.append(np.stack(found[server][1]).astype(np.int64).reshape(iterations, 4, -1))
    for numbers in drawn.values():
        sums = np.concatenate([part[:, 1:3].reshape(-1) for part in numbers])
        assert kstest(sums / (4 * iterations * 2 * 8192 / 2), laplace.cdf).pvalue > 1e-4
        sizes = np.concatenate([part[:, 0].reshape(-1) for part in numbers])
        assert kstest(sizes / (4 * iterations * 2 / 2), laplace.cdf).pvalue > 1e-4


def test_centres_move_by_noisy_numbers_and_a_small_cluster_begins_anew_beside_the_largest():
    """With hardly any noise the second iteration is that of plain sums at the new centres."""
    table, watch = points().clip(-5000, 5000), []
    jointly(table, 2, Noise(Fraction(10**9), Fraction(0)), 3, watch=watch)
    first = exact(table, START)
    assert (watch[0] == first).all()
    centres = [(row[1:] * 2 + row[0]) // (2 * row[0]) if row[0] else None for row in first]
    largest = centres[int(first[:, 0].argmax())]
    assert first[3, 0] == 0
    sides = np.array([1, 1, -1])  # the bits of 3
    centres[3] = (largest + sides * (np.array(REACHES) // 8)).clip(-np.array(REACHES), REACHES)
    assert (watch[1] == exact(table, centres)).all()
    assert watch[1][:, 0].sum() == N
