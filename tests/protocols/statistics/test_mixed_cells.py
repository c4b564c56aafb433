"""The check that every cell lies at exactly one party."""

import numpy as np

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.mixed_cells import held_once, pattern_rows
from coterie.protocols.statistics.shared_counts import Transfers

NAMES, SERVERS, RECORDS = ("a", "b", "c"), ("b", "c"), 90


def test_columns_with_a_cell_at_two_parties_or_none_are_found():
    held = np.zeros((3, 4, RECORDS), bool)  # party, column, record
    held[np.arange(RECORDS) % 3, :, np.arange(RECORDS)] = True
    held[:, 1, 5] = False
    held[:, 2, 5] = [True, True, False]
    held[:, 3, 5] = True

    def party(channel):
        group = HiddenCounts(channel, NAMES, SERVERS, Random(channel.me))
        mine = list(held[NAMES.index(channel.me)])
        return held_once(group, mine, Random(f"check {channel.me}"))

    found = run_same(NAMES, party)
    assert list(found.values()) == [[True, False, False, False]] * 3


def test_a_record_fits_a_pattern_if_no_partys_cells_forbid_it():
    bits = np.random.default_rng(3).integers(0, 2, (3, RECORDS, 4)).astype(np.uint8)

    def party(channel):
        mine = bits[NAMES.index(channel.me)]
        transfers = Transfers(channel, Random(channel.me))
        found = pattern_rows(transfers, NAMES, RECORDS, 4, lambda part: mine[part])
        return np.concatenate([rows for _, rows in found])

    found = sum(run_same(NAMES, party).values())
    assert found.tolist() == bits.prod(axis=0).tolist()
