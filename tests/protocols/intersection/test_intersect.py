"""The intersection equals set arithmetic, at every party in one order, and shows no more than it says."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import protocols.intersection.intersect as module
from protocols.bulk import cipher
from protocols.bulk.executor import LocalPool
from protocols.bulk.shuffle import shuffled
from protocols.bulk.store import MemoryStore
from protocols.intersection.buckets import MOST_BUCKETS, buckets_for, capacity, room_for
from protocols.intersection.identifiers import Identifiers
from protocols.randomness import Random
from protocols.wire import decode
from protocols.wrappers import Fault, Faulty, KilledError, Metered, Traced
from tests.protocols.intersection.intersections import NAMES, check, run

WAYS = [("ring", "intersection"), ("oprf", "intersection"), ("ring", "pairwise")]
QUICK = settings(max_examples=5, deadline=None)


def numbered(*groups) -> list[list[bytes]]:
    return [[str(value).encode() for value in group] for group in groups]


def drawn(parties: int, size: int, seed: int) -> list[list[bytes]]:
    rng = random.Random(seed)
    return numbered(*(rng.sample(range(int(size * 1.3)), size) for _ in range(parties)))


@st.composite
def families(draw) -> list[list[bytes]]:
    """Sets of 2 to 5 parties with a common part, parts shared by some, and parts of their own."""
    parties = draw(st.integers(2, 5))
    universe = draw(st.lists(st.binary(max_size=6), unique=True, max_size=40))
    owners = draw(
        st.lists(st.integers(0, 2**parties - 1), min_size=len(universe), max_size=len(universe))
    )
    return [
        [value for value, mask in zip(universe, owners, strict=True) if mask >> party & 1]
        for party in range(parties)
    ]


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@QUICK
@given(families())
def test_any_family_of_sets_gives_what_set_arithmetic_gives(protocol, reveal, sets):
    check(sets, protocol=protocol, reveal=reveal)


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize(
    "sets",
    [
        numbered([], []),
        numbered([], [1, 2]),
        numbered([1], [1]),
        numbered(range(50), range(50)),
        numbered(range(50), range(50, 90)),
        numbered(range(3), range(700)),
        numbered(range(400), range(300, 700), range(350, 360)),
        numbered([1, 2], [2, 3], [3, 1]),
        numbered(*[range(20)] * 5),
        [
            ["\u00e9".encode(), "e\u0301".encode(), "stra\u00dfe".encode(), "日本".encode()],
            [b"strasse", "日本".encode(), "e\u0301".encode()],
        ],
        [[b"", b"\0", b"\0\0", b"a\0"], [b"\0\0", b"a", b""]],
    ],
    ids=[
        "both empty",
        "one empty",
        "single",
        "full overlap",
        "no overlap",
        "skewed",
        "three",
        "pairs only",
        "five alike",
        "unicode",
        "zeros",
    ],
)
def test_named_cases(protocol, reveal, sets):
    check(sets, protocol=protocol, reveal=reveal)


@pytest.mark.parametrize("parties", range(2, 11))
def test_the_ring_takes_two_to_ten_parties(parties):
    assert check(drawn(parties, 60, parties), protocol="ring", reveal="pairwise")


@pytest.mark.parametrize("parties", [6, 10])
def test_hints_take_many_parties(parties):
    assert check(drawn(parties, 60, parties), protocol="ring")


def test_the_order_is_that_of_neither_party_and_changes_with_the_keys():
    sets = numbered(range(300), range(300))
    for protocol in ("ring", "oprf"):
        one = check(sets, protocol=protocol)
        other = check(sets, protocol=protocol, seed="t")
        assert one != sorted(one)
        assert one != other


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_how_messages_are_cut_changes_nothing(protocol, reveal, parties):
    sets = drawn(parties, 150, 7)
    results, contents = [], []
    for piece in (1, 64, 2048):
        traced = {}
        found = run(
            sets,
            protocol=protocol,
            reveal=reveal,
            piece=piece,
            wrap=lambda t, traced=traced: traced.setdefault(t.me, Traced(t, capture=True)),
        )
        results.append([rows.tolist() for rows in found])
        contents.append(joined(traced))
    assert all(one == other for one, other in pairwise(results))
    assert all(one == other for one, other in pairwise(contents))


def joined(traced: dict[str, Traced]) -> dict:
    """What was sent in each step to each peer, arrays put together again."""
    out: dict = {}
    for name, trace in traced.items():
        for item in trace.captured:
            if item.direction == "sent":
                data = b"".join(
                    value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
                    for value in decode(bytearray(item.body))
                )
                key = (name, item.peer, item.step)
                out[key] = out.get(key, b"") + data
    return out


def test_parties_may_cut_differently():
    sets = drawn(3, 100, 3)
    own = {NAMES[0]: {"piece": 3}, NAMES[1]: {"piece": 50}, NAMES[2]: {"piece": 1000}}
    for protocol, reveal in WAYS:
        check(sets, protocol=protocol, reveal=reveal, own=own)


def test_auto_takes_the_ring_for_small_sets_and_transfers_for_large_ones():
    small, large = {"a": 10, "b": module.SMALL}, {"a": 10, "b": module.SMALL + 1}
    assert module.choose("auto", "intersection", small) == "ring"
    assert module.choose("auto", "intersection", large) == "oprf"
    assert module.choose("auto", "intersection", {**small, "c": 1}) == "hints by group"
    assert module.choose("auto", "intersection", {**large, "c": 1}) == "hints by transfer"
    assert module.choose("auto", "pairwise", {**large, "c": 1}) == "ring"


def test_a_seeded_run_repeats_to_the_byte():
    for protocol, reveal in WAYS:
        chains = []
        for _ in range(2):
            traced = {}
            run(
                drawn(3, 40, 1),
                protocol=protocol,
                reveal=reveal,
                executor=LocalPool(1),
                wrap=lambda t, traced=traced: traced.setdefault(t.me, Traced(t)),
            )
            chains.append({name: trace.chain for name, trace in traced.items()})
        assert chains[0] == chains[1]


# What the messages show.


def watched(sets, **options) -> dict[str, Traced]:
    traced: dict[str, Traced] = {}
    run(sets, wrap=lambda t: traced.setdefault(t.me, Traced(t, capture=True)), **options)
    return traced


def sent(traced: dict[str, Traced], *without: str) -> dict[str, list[bytes]]:
    """The bodies each party sent, but for some steps."""
    return {
        name: [
            item.body
            for item in trace.captured
            if item.direction == "sent" and item.step.split("/")[-1] not in without
        ]
        for name, trace in traced.items()
    }


def words(bodies: list[bytes], size: int) -> set[bytes]:
    """Every `size` bytes that stand at a multiple of 8 in an array that was sent."""
    found = set()
    for body in bodies:
        for value in decode(bytearray(body)):
            if isinstance(value, np.ndarray):
                data = value.tobytes()
                found |= {data[at : at + size] for at in range(0, len(data) - size + 1, 8)}
    return found


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_no_identifier_digest_or_hashed_point_is_on_the_wire(
    protocol, reveal, parties, monkeypatch
):
    salts = []
    digests = Identifiers.digests
    monkeypatch.setattr(
        Identifiers,
        "digests",
        lambda self, salt, *rest: salts.append(salt) or digests(self, salt, *rest),
    )
    sets = [
        [b"patient %d" % i for i in range(start, start + 40)] for start in (0, 30, 35)[:parties]
    ]
    traced = watched(sets, protocol=protocol, reveal=reveal)
    bodies = [body for own in sent(traced, "confirm").values() for body in own]
    everything = b"".join(bodies)
    assert len(set(salts)) == 1
    for values in sets:
        hashed = digests(Identifiers.pack(values), salts[0])
        for identifier, digest, point in zip(
            values, hashed, cipher.hash_to_curve(hashed), strict=True
        ):
            assert identifier not in everything
            assert digest.tobytes() not in everything
            assert point.tobytes()[:16] not in everything


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_two_runs_on_the_same_sets_have_no_word_in_common(protocol, reveal, parties):
    sets = drawn(parties, 40, 2)
    seen = [
        words(
            [
                b
                for own in sent(watched(sets, seed=seed, protocol=protocol, reveal=reveal)).values()
                for b in own
            ],
            16,
        )
        for seed in ("one", "two")
    ]
    assert len(seen[0]) > 100
    assert not seen[0] & seen[1]


@pytest.mark.parametrize("protocol", ["ring", "oprf"])
def test_of_three_parties_no_two_send_the_same_word_though_two_of_them_hold_the_same_set(protocol):
    sets = numbered(range(40), range(40), range(100, 140))
    own = sent(watched(sets, protocol=protocol), "confirm")
    for first, second in ((0, 1), (0, 2), (1, 2)):
        shared = words(own[NAMES[first]], 8) & words(own[NAMES[second]], 8)
        # The leader tells every peer the same blinded elements, and hints hold nothing of these.
        assert not shared


def test_the_plain_ring_does_show_pairwise_overlaps():
    """The leak that `reveal: pairwise` accepts: a test that the test above can fail."""
    sets = numbered(range(40), range(40), range(100, 140))
    own = sent(watched(sets, protocol="ring", reveal="pairwise"), "ring")
    assert len(words(own[NAMES[0]], 16) & words(own[NAMES[1]], 16)) >= 40


def shapes(traced: dict[str, Traced], *without: str) -> list:
    return [
        (name, item.direction, item.peer, item.step, len(item.body))
        for name, trace in sorted(traced.items())
        for item in trace.captured
        if item.direction == "sent" and item.step.split("/")[-1] not in without
    ]


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
@pytest.mark.parametrize("parties", [2, 3])
def test_the_sizes_of_messages_depend_on_the_sizes_of_sets_alone(protocol, reveal, parties):
    alike = numbered(range(60), range(60), range(60))[:parties]
    apart = numbered(range(60), range(100, 160), range(200, 260))[:parties]
    one, other = (
        shapes(watched(s, protocol=protocol, reveal=reveal), "confirm") for s in (alike, apart)
    )
    assert sorted(one) == sorted(other)


@pytest.mark.parametrize(("protocol", "reveal"), WAYS)
def test_padding_hides_the_sizes(protocol, reveal):
    few = numbered(range(3), range(2, 5), [2])
    many = numbered(range(60), range(59, 120), [59])
    one, other = (
        shapes(watched(s, protocol=protocol, reveal=reveal, pad_to=64)) for s in (few, many)
    )
    assert sorted(one) == sorted(other)
    assert check(few, protocol=protocol, reveal=reveal, pad_to=64) == [b"2"]


@pytest.mark.parametrize(
    ("parties", "protocol", "reveal"), [(2, "ring", "intersection"), (3, "ring", "pairwise")]
)
def test_the_ring_sends_what_its_docstring_says(parties, protocol, reveal):
    meters: dict[str, Metered] = {}
    sets = numbered(*[range(2000)] * parties)
    run(sets, protocol=protocol, reveal=reveal, wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    each = 32 * (parties - 1) + 16 + (16 * (parties - 1) if parties > 2 else 0)
    for meter in meters.values():
        assert each * 2000 < meter.total.sent_bytes < each * 2000 * 1.02


def test_the_transfers_send_what_their_docstrings_say():
    meters: dict[str, Metered] = {}
    run(
        numbered(range(4000), range(5000)),
        protocol="oprf",
        wrap=lambda t: meters.setdefault(t.me, Metered(t)),
    )
    receiver, sender = (
        {step.split("/")[-1]: traffic.sent_bytes for step, traffic in meters[name].by_step.items()}
        for name in NAMES[:2]
    )
    assert 56 * 1.3 * 4000 < receiver["function"] < 56 * (1.3 * 4000 + 460)
    assert 48 * 5000 < sender["compare"] < 48 * 5000 * 1.01
    assert 16 * 4000 < receiver["confirm"] < 16 * 4000 * 1.01


# Sets larger than memory.


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
        [
            (step, size)
            for _, _, _, step, size in shapes(watched(drawn(2, 300, seed), protocol="ring"))
        ]
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


def test_a_shuffle_is_a_permutation_and_uniform():
    assert sorted(shuffled(1000, Random(1)).tolist()) == list(range(1000))
    counts = np.zeros((4, 4), int)
    for seed in range(2000):
        counts[np.arange(4), shuffled(4, Random(seed))] += 1
    assert (abs(counts - 500) < 110).all()  # five standard deviations


def test_progress_counts_the_elements():
    seen: dict[str, list] = {}
    run(
        drawn(2, 100, 1),
        protocol="ring",
        piece=10,
        on_progress=lambda name: (
            lambda step, done, total: seen.setdefault(name, []).append((done, total))
        ),
    )
    for steps in seen.values():
        done = [d for d, t in steps if t]
        assert done == sorted(done)
        assert steps.count((200, 200)) == 1
