"""The streaming condenser against plain Python, and what it keeps."""

import numpy as np
import pytest

from coterie.anonymity.condensation.mdav import mdav
from coterie.anonymity.condensation.streaming import Condenser


def some(records, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(records, 3)) @ rng.normal(size=(3, 3)) * [1, 10, 0.1] + [0, 50, -1]


def plain(points, k):
    """Sizes, means and covariances of the groups, by the description."""
    first = points[: 2 * k]
    centre, scale = first.mean(axis=0), first.std(axis=0)
    scaled = (points - centre) / scale
    labels = mdav(scaled[: 2 * k], k)
    groups = []
    for g in range(labels.max() + 1):
        own = scaled[: 2 * k][labels == g]
        groups.append([len(own), own.sum(axis=0), own.T @ own])
    for x in scaled[2 * k :]:
        chosen = min(groups, key=lambda g: float(((g[1] / g[0] - x) ** 2).sum()))
        chosen[0] += 1
        chosen[1] = chosen[1] + x
        chosen[2] = chosen[2] + np.outer(x, x)
        if chosen[0] == 2 * k:
            mean = chosen[1] / chosen[0]
            spread = chosen[2] / chosen[0] - np.outer(mean, mean)
            values, vectors = np.linalg.eigh(spread)
            step = np.sqrt(12 * values[-1]) / 4 * vectors[:, -1]
            values[-1] /= 4
            spread = vectors @ np.diag(values) @ vectors.T
            halves = [[k, k * m, k * (spread + np.outer(m, m))] for m in (mean - step, mean + step)]
            at = next(i for i, g in enumerate(groups) if g is chosen)
            groups[at] = halves[0]
            groups.append(halves[1])
    return groups


def test_the_groups_are_those_of_the_description():
    points = some(400)
    condenser = Condenser(8)
    condenser.add(points)
    expected = plain(points, 8)
    moments = condenser.moments
    assert moments.sizes.tolist() == [g[0] for g in expected]
    assert np.allclose(moments.sums, [g[1] for g in expected])
    assert np.allclose(moments.products, [g[2] for g in expected])


def test_a_stream_may_come_in_any_pieces():
    points = some(300)
    whole, pieces = Condenser(5), Condenser(5)
    whole.add(points)
    for part in np.array_split(points, 23):
        pieces.add(part)
    assert np.array_equal(whole.moments.products, pieces.moments.products)
    assert whole.records == pieces.records == 300


def test_a_stream_goes_on_from_its_sums():
    points = some(300)
    whole, first, second = Condenser(5), Condenser(5), Condenser(5)
    whole.add(points)
    first.add(points[:200])
    second.resume(first.centre, first.scale, first.moments)
    second.add(points[200:])
    assert np.array_equal(whole.moments.sums, second.moments.sums)


@pytest.mark.parametrize("k", [2, 7, 40])
def test_groups_have_k_to_2k_less_one_records(k):
    condenser = Condenser(k)
    condenser.add(some(1_000, seed=k))
    sizes = condenser.moments.sizes
    assert sizes.sum() == 1_000
    assert k <= sizes.min() <= sizes.max() < 2 * k


def test_nothing_is_kept_or_released_before_2k_records():
    condenser = Condenser(10)
    condenser.add(some(19))
    assert (condenser.waiting, condenser.moments) == (19, None)
    with pytest.raises(ValueError, match="19 records have come; there must be 20"):
        condenser.release()
    condenser.add(some(1))
    assert condenser.waiting == 0
    assert not any(len(part) for part in condenser._waiting)


def test_a_release_has_the_statistics_of_the_stream():
    points = some(4_000)
    condenser = Condenser(20)
    condenser.add(points)
    made = condenser.release(np.random.default_rng(5).bytes)
    assert made.shape == points.shape
    scale = points.std(axis=0)
    assert np.allclose(made.mean(axis=0) / scale, points.mean(axis=0) / scale, atol=0.05)
    pairs = [np.cov(table / scale, rowvar=False) for table in (points, made)]
    assert np.allclose(*pairs, atol=0.06)


def test_a_constant_column_stays_constant():
    points = some(60)
    points[:, 1] = 7.25
    condenser = Condenser(4)
    condenser.add(points)
    assert np.allclose(condenser.release()[:, 1], 7.25)
