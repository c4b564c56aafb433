"""Sets larger than memory."""

import contextlib

import pytest
from scipy.stats import binom

import coterie.protocols.intersection.intersect as module
from coterie.protocols.intersection import buckets
from coterie.protocols.intersection.buckets import MOST_BUCKETS, buckets_for, capacity, room_for
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives.store import MemoryStore
from tests.protocols.intersection.intersections import NAMES, check, run
from tests.protocols.intersection.sets import WAYS, drawn, shapes, watched
from tests.protocols.wrappers import Fault, Faulty, KilledError


@pytest.mark.parametrize("buckets", [2, 3, 16, 1000])
@pytest.mark.parametrize("size", [100, 10_000, 10_000_000])
def test_no_bucket_exceeds_its_capacity(size, buckets):
    assert buckets * binom.sf(capacity(size, buckets), size, 1 / buckets) < 2.0**-40
    assert capacity(size, buckets) <= size


def test_the_number_of_buckets_follows_from_the_largest_set_and_the_least_memory():
    assert buckets_for(10**9, room_for(None, 0)) == 1
    assert buckets_for(10**6, room_for(10**9, 20 * 10**6)) == 1
    assert 8 <= buckets_for(10**7, room_for(10**9, 200 * 10**6)) <= 48
    assert buckets_for(2**32, room_for(16 * 10**6, 0)) == MOST_BUCKETS
    room = room_for(10**9, 0)
    assert room & (room - 1) == 0


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_buckets_give_the_same_records(protocol, reveal, parties, monkeypatch):
    monkeypatch.setattr(module, "room_for", lambda memory, held: memory)
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 12 - room)
    stores = {name: MemoryStore() for name in NAMES}
    own = {name: {"memory": 10 - i, "store": stores[name]} for i, name in enumerate(NAMES)}
    sets = drawn(parties, 500, 4)
    steps = set()
    check(
        sets,
        protocol=protocol,
        reveal=reveal,
        own=own,
        on_progress=lambda name: (
            lambda step, done, total: steps.add(step.split("/")[1:2][0] if "/" in step else "")
        ),
    )
    assert f"bucket {parties + 1} of {parties + 1}" in steps
    assert not any(store.values for store in stores.values())


def test_every_bucket_of_every_set_of_one_size_has_one_size_on_the_wire(monkeypatch):
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 3)
    one, other = (
        [(step, size) for _, _, step, size in shapes(watched(drawn(2, 300, seed), protocol="ring"))]
        for seed in (1, 2)
    )
    assert sorted(one) == sorted(other)


@pytest.mark.parametrize("protocol", ["ring", "oprf"])
def test_an_interrupted_run_resumes_from_the_last_finished_bucket(protocol, monkeypatch):
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 4)
    sets = drawn(2, 400, 9)
    stores = {name: MemoryStore() for name in NAMES[:2]}
    own = {name: {"store": stores[name]} for name in stores}
    meters: dict[str, Metered] = {}
    run(sets, protocol=protocol, wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    messages = meters[NAMES[1]].total
    at = (messages.sent_messages + messages.received_messages) * 6 // 10

    def killed(transport):
        return Faulty(transport, Fault("kill-after", at)) if transport.me == NAMES[1] else transport

    with pytest.raises(KilledError):
        run(sets, protocol=protocol, own=own, wrap=killed)
    assert all("common-0" in store.values for store in stores.values())

    steps: list[str] = []
    found = run(
        sets,
        seed="again",
        protocol=protocol,
        own=own,
        on_progress=lambda name: lambda step, done, total: steps.append(step),
    )
    assert not any("bucket 1 of 4" in step for step in steps)
    assert any("bucket 4 of 4" in step for step in steps)
    values = [[own_set[row] for row in rows] for own_set, rows in zip(sets, found, strict=True)]
    assert values[0] == values[1]
    assert set(values[0]) == set(sets[0]) & set(sets[1])


def test_other_data_or_another_partner_without_its_part_begins_anew(monkeypatch):
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 3)
    sets = drawn(2, 200, 9)
    stores = {name: MemoryStore() for name in NAMES[:2]}
    own = {name: {"store": stores[name]} for name in stores}

    def killed(transport):
        return Faulty(transport, Fault("kill-after", 12)) if transport.me == NAMES[1] else transport

    with pytest.raises(KilledError):
        run(sets, protocol="ring", own=own, wrap=killed)
    check([sets[0], [*sets[1][:-1], b"new"]], protocol="ring", own=own)
    with pytest.raises(KilledError):
        run(sets, protocol="ring", own=own, wrap=killed)
    check(sets, protocol="ring", own={NAMES[0]: own[NAMES[0]]})


class FragileStore(MemoryStore):
    """Falls, as the process might, just before its n-th change."""

    def __init__(self, changes):
        super().__init__()
        self.left = changes

    def _change(self):
        if not self.left:
            raise KilledError("fell")
        self.left -= 1

    def append(self, name, data):
        self._change()
        super().append(name, data)

    def replace(self, name, data):
        self._change()
        super().replace(name, data)

    def remove(self, name):
        self._change()
        super().remove(name)


@pytest.mark.parametrize("changes", range(0, 40, 3))
def test_a_run_that_fell_between_any_two_changes_is_resumed_and_leaves_nothing(
    changes, monkeypatch
):
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 3)
    sets = drawn(2, 120, 9)
    stores = {NAMES[0]: MemoryStore(), NAMES[1]: FragileStore(changes)}
    own = {name: {"store": store} for name, store in stores.items()}
    with contextlib.suppress(KilledError):
        run(sets, protocol="ring", own=own)
    stores[NAMES[1]].left = -1
    check(sets, protocol="ring", own=own)
    assert not any(store.values for store in stores.values())


def test_what_an_earlier_run_with_less_memory_left_is_removed(monkeypatch):
    sets = drawn(2, 120, 9)
    stores = {NAMES[0]: MemoryStore(), NAMES[1]: FragileStore(12)}
    own = {name: {"store": store} for name, store in stores.items()}
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 6)
    with pytest.raises(KilledError):
        run(sets, protocol="ring", own=own)
    assert stores[NAMES[1]].values
    stores[NAMES[1]].left = -1
    monkeypatch.setattr(module, "buckets_for", lambda size, room: 1)
    check([sets[0], [*sets[1][:-1], b"new"]], protocol="ring", own=own)
    assert not any(store.values for store in stores.values())


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_sets_padded_to_one_size_have_one_traffic(protocol, reveal, parties, monkeypatch):
    """Few short identifiers or many long ones: messages, steps and their lengths are the same."""
    monkeypatch.setattr(buckets, "BASE_MEMORY", 0)
    monkeypatch.setattr(buckets, "BYTES_PER_ELEMENT", 16)

    def traffic(count, length):
        common = [b"c%d" % i for i in range(20)]
        sets = [
            [*common, *(b"%d-%0*d" % (p, length, i) for i in range(count))] for p in range(parties)
        ]
        return shapes(watched(sets, protocol=protocol, reveal=reveal, pad_to=200, memory=22_000))

    few, many = traffic(5, 3), traffic(170, 60)
    assert few == many
    assert any("bucket 2 of" in step for _, _, step, _ in few)
