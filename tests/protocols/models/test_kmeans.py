"""k-means over the records of several parties beside a plain one, and what it does not open."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.kmeans import large_cells, lloyd, nearest, start_centres
from coterie.protocols.models.scale import Scale
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES = ("a", "b", "c")


def jointly(points, centres, iterations=20, large=None, unlike=lambda counts: True):
    parts = dict(zip(NAMES, np.array_split(points, 3), strict=True))

    def party(name):
        def run(channel):
            sums = ExactSums(channel, NAMES, Random(name))
            keep = large or (lambda counts: np.ones(len(counts), bool))
            return lloyd(sums, parts[name], centres, iterations, keep, unlike)

        return run

    found = run_parties({name: party(name) for name in NAMES})
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


def plain(points, centres, iterations):
    centres = np.array(centres, float)
    for _ in range(iterations):
        home = np.array([min(range(len(centres)), key=lambda c: ((p - centres[c]) ** 2).sum()) for p in points])  # fmt: skip
        centres = np.array([points[home == c].mean(axis=0) for c in range(len(centres))])
    return sorted(centres.tolist()), home


def test_each_iteration_is_that_of_one_table():
    points = np.random.default_rng(1).normal(size=(60, 2)) * [3, 1]
    start = [[-3.0, 0.0], [0.0, 1.0], [3.0, 0.0]]
    for iterations in (1, 2, 5):
        found = jointly(points, start, iterations)
        np.testing.assert_allclose(found.centres, plain(points, start, iterations)[0], atol=1e-12)
    assert jointly(points, start, 50).settled


def test_sums_that_differ_by_a_few_records_are_not_opened():
    points = np.random.default_rng(1).normal(size=(60, 2))
    start = [[-3.0, 0.0], [3.0, 0.0]]
    found = jointly(points, start, unlike=lambda counts: False)
    assert found.iterations == 1
    assert not found.settled
    np.testing.assert_allclose(found.centres, plain(points, start, 1)[0])


def test_a_small_cluster_goes_and_its_records_go_to_the_next_nearest_centre():
    points = np.random.default_rng(2).normal(size=(60, 2))
    start = [[-1.0, 0.0], [1.0, 0.0], [0.0, 9.0]]
    found = jointly(points, start, 1, large=lambda counts: np.arange(len(counts)) < 2)
    assert sum(found.sizes) == 60
    np.testing.assert_allclose(found.centres, plain(points, start[:2], 1)[0])


def test_a_party_without_a_record_in_some_cluster_counts_as_many_moves_as_the_others():
    """Each party's records lie in one cluster alone, and in the last one only the last party's."""
    points = np.repeat([[-5.0], [0.0], [5.0]], 20, axis=0) + np.arange(60)[:, None] % 7 / 100
    lengths = []
    found = jointly(
        points, [[-4.0], [1.0], [4.0]], unlike=lambda counts: lengths.append(len(counts)) or True
    )
    assert set(lengths) == {9}
    assert found.settled
    assert found.sizes == [20, 20, 20]


def test_small_clusters_that_are_large_together_are_joined_and_not_both_given_up():
    points = np.repeat([[-5.0], [-4.0], [9.0]], [15, 15, 30], axis=0)
    spread = np.random.default_rng(1).permutation(60)
    large = {3: [False, False, True], 2: [True, True]}
    found = jointly(
        points[spread], [[-5.0], [-4.0], [9.0]], 1, large=lambda c: np.array(large[len(c)])
    )
    assert found.sizes == [30, 30]
    assert [centre[0] for centre in found.centres] == [-4.5, 9.0]


@pytest.mark.parametrize(("dense", "due"), [(0, 4), (2, 4), (4, 4), (9, 4)])
def test_a_search_begins_with_as_many_centres_as_clusters_however_few_candidates_have_records(
    dense, due
):
    seen = []

    def large(counts, minimum):
        seen.append(len(counts))
        return np.arange(len(counts)) < dense

    scale = Scale([0.0, 0.0], [1.0, 2.0])
    points = np.random.default_rng(1).normal(size=(50, 2))
    centres = start_centres(scale, 4, 50, points, large, 5, "seed")
    assert len({tuple(centre) for centre in centres}) == due
    assert seen == [64]


def test_which_cells_are_large_is_that_of_a_plain_count():
    counts = np.random.default_rng(3).integers(0, 4, (3, 12)).astype(np.uint32)
    parts = dict(zip(NAMES, counts, strict=True))

    def party(name):
        def run(channel):
            hidden = HiddenCounts(channel, NAMES, ("a", "b"), Random(name))
            return large_cells(hidden, NAMES, parts[name], 5, Random(f"{name} cells")).tolist()

        return run

    for found in run_parties({name: party(name) for name in NAMES}).values():
        assert found == (counts.sum(axis=0) >= 5).tolist()


def test_the_nearest_centre_is_the_first_of_several():
    assert nearest(np.array([[0.0], [5.0]]), [[-1.0], [1.0], [6.0]]).tolist() == [0, 2]
