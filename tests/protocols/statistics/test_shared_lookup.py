"""Tables that two servers share, looked up at places of which each party knows a part."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics import shared_lookup
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_lookup import looked_up, looked_up_anywhere
from coterie.protocols.statistics.shared_tables import Axis

NAMES = ("a", "b", "c", "d")
SERVERS = ("b", "c")
RECORDS = 25


class Case:
    """A table of random axes at random parties, its shares, and the codes of every record."""

    def __init__(self, seed, owners=NAMES):
        draw = np.random.default_rng(seed)
        sizes = draw.integers(1, 5, int(draw.integers(1, 5))).tolist()
        self.width, self.dtype = int(draw.integers(1, 4)), (np.uint32, np.uint64)[seed % 2]
        self.axes = [
            Axis(f"x{at}", str(draw.choice(owners)), size) for at, size in enumerate(sizes)
        ]
        self.table = draw.integers(0, 1 << 30, (*sizes, self.width))
        mask = draw.integers(0, 1 << 40, self.table.size, np.uint64)
        rest = (self.table.reshape(-1).astype(np.uint64) - mask) % np.uint64(1 << 40)
        self.shares = {"b": mask, "c": rest}
        self.codes = {axis.name: draw.integers(0, axis.size, RECORDS) for axis in self.axes}
        self.holders = {axis.name: draw.integers(0, len(NAMES), RECORDS) for axis in self.axes}

    def looked_up(self, transfers):
        me = transfers.channel.me
        own = {axis.name: self.codes[axis.name] for axis in self.axes if axis.owner == me}
        return looked_up(
            transfers, SERVERS, self.axes, self.width, self.shares.get(me), own, RECORDS,
            self.dtype,
        )  # fmt: skip

    def looked_up_anywhere(self, transfers):
        me = transfers.channel.me
        own = {
            name: np.where(self.holders[name] == NAMES.index(me), codes, -1)
            for name, codes in self.codes.items()
        }
        return looked_up_anywhere(
            transfers, NAMES, SERVERS, self.axes, self.width, self.shares.get(me), own, RECORDS,
            self.dtype,
        )  # fmt: skip

    def check(self, found):
        due = self.table[tuple(self.codes.values())]
        shares = [share for share in found.values() if share is not None]
        assert all(share.shape == due.shape and share.dtype == self.dtype for share in shares)
        total = np.sum(np.stack(shares), axis=0, dtype=self.dtype).astype(np.uint64)
        assert (total % np.uint64(1 << 32)).tolist() == due.tolist()


def found_by(cases, work):
    """What each party gets in each of the cases, one after the other in one session."""

    def party(channel):
        transfers = Transfers(channel, Random(channel.me))
        return [work(case, transfers) for case in cases]

    found = run_same(NAMES, party)
    return [{name: found[name][at] for name in NAMES} for at in range(len(cases))]


def test_shares_add_up_to_the_numbers_of_each_records_cell():
    cases = [Case(seed) for seed in range(12)]
    for case, found in zip(cases, found_by(cases, Case.looked_up), strict=True):
        case.check(found)
        for name in NAMES:
            involved = name in SERVERS or any(axis.owner == name for axis in case.axes)
            assert (found[name] is not None) == involved


def test_shares_add_up_wherever_the_cells_lie():
    cases = [Case(seed) for seed in range(4)]
    for case, found in zip(cases, found_by(cases, Case.looked_up_anywhere), strict=True):
        case.check(found)


def test_few_records_at_a_time_give_the_same(monkeypatch):
    monkeypatch.setattr(shared_lookup, "_ELEMENTS", 100)
    case = Case(1, owners=("a", "b"))
    assert case.table.size > 4  # otherwise all records are held together
    [found] = found_by([case], Case.looked_up)
    case.check(found)


def test_a_server_without_its_share_is_a_mistake_of_the_caller():
    case = Case(0)
    case.shares = {}
    with pytest.raises(ValueError, match="a server has a share"):
        found_by([case], Case.looked_up)
