"""The number of unique people, and nothing else of a table."""

from functools import partial

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.patterns.unique_cells import unique_cells
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from tests.views import assert_alike

NAMES = ("ann", "bob", "cat")
SERVERS = ("ann", "bob")


@pytest.mark.parametrize(
    "counts", [[0], [1], [1] * 64, [1, 2, 0, 1, 7] * 40, [0] * 65, [1] * 130, [2**31, 1]]
)
def test_cells_of_one_record_are_counted(counts):
    def party(channel):
        group = HiddenCounts(channel, NAMES, SERVERS, Random(channel.me))
        mask = np.random.default_rng(1).integers(0, 2**32, len(counts), np.uint32)
        share = {"ann": mask, "bob": np.array(counts, np.uint32) - mask}.get(channel.me)
        return unique_cells(group, share, len(counts))

    assert set(run_same(NAMES, party).values()) == {counts.count(1)}


def tables(watched, world):
    """Forty unique people, who stand in other cells, among large cells or empty ones."""
    counts = np.array([[*[1] * 40, *[0] * 60], [*[90] * 60, *[1] * 40]][world], np.uint32)

    def party(channel, rng):
        group = HiddenCounts(channel, NAMES, SERVERS, rng)
        mask = np.random.default_rng(3).integers(0, 2**32, 100, np.uint32)
        fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
        share = mask if channel.me == fixed else counts - mask
        return unique_cells(group, share if channel.me in SERVERS else None, 100)

    return dict.fromkeys(NAMES, party)


@pytest.mark.parametrize("watched", NAMES)
def test_nobody_learns_where_the_unique_people_are(watched):
    assert_alike(partial(tables, watched), watched, 2)
