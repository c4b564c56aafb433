"""Shares modulo any m, products and polynomials on them, against plain integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import PeerFaultError, UsageError
from protocols import shares
from protocols.channel import Channel
from protocols.inner_product import MASK_BITS, PaillierEngine, mask_bound, sum_bound
from protocols.paillier import KeySizeError, generate
from protocols.polynomial import (
    evaluate_coefficients,
    evaluate_points,
    powers,
    shift_argument,
)
from protocols.randomness import Random
from protocols.shares import Ring
from protocols.wrappers import Metered, Traced
from tests.protocols.pairs import ENGINES, KEY, run_engines, run_pair

moduli = st.one_of(
    st.integers(2, 2**70),
    st.integers(1, 64).map(lambda bits: 1 << bits),
    st.sampled_from([2**32, 2**32 + 1, 2**64, 2**65, 97, 2**61 - 1]),
)
RINGS = [Ring(2**64), Ring(2**62), Ring(2**17), Ring(2**32 - 5), Ring(2**61 - 1)]


@settings(max_examples=100, deadline=None)
@given(moduli, st.lists(st.integers(-(2**80), 2**80), min_size=1, max_size=8), st.data())
def test_a_ring_computes_modulo_its_modulus(m: int, values: list[int], data) -> None:
    ring = Ring(m)
    others = data.draw(st.lists(st.integers(0, m - 1), min_size=len(values), max_size=len(values)))
    factor = data.draw(st.integers(0, 2**70))
    a, b = ring.array(values), ring.array(others)
    pairs = list(zip(values, others, strict=True))
    assert ring.add(a, b).tolist() == [(x + y) % m for x, y in pairs]
    assert ring.subtract(a, b).tolist() == [(x - y) % m for x, y in pairs]
    assert ring.multiply(a, b).tolist() == [x * y % m for x, y in pairs]
    assert ring.negate(a).tolist() == [-x % m for x in values]
    assert ring.scale(a, factor).tolist() == [x * factor % m for x in values]
    assert int(ring.sum(a, axis=0)) == sum(values) % m
    signed = ring.signed(a).tolist()
    assert [x % m for x in signed] == a.tolist()
    assert all(-(m // 2) <= x < (m + 1) // 2 for x in signed)


@settings(max_examples=50, deadline=None)
@given(moduli, st.integers(0, 20))
def test_shares_add_up_to_the_value_and_elements_stay_in_range(m: int, count: int) -> None:
    ring, rng = Ring(m), Random(m)
    values = ring.random(count, rng)
    one, two = shares.split(ring, values, rng)
    assert ring.add(one, two).tolist() == values.tolist()
    assert all(0 <= x < m for x in [*one.tolist(), *two.tolist()])


def test_random_elements_are_spread_over_the_ring() -> None:
    """The means of 4,000 uniform elements lie within five standard errors of the middle."""
    for ring in RINGS:
        drawn = ring.random(4000, Random("spread"))
        mean = sum(int(x) for x in drawn) / 4000 / ring.modulus
        assert abs(mean - 0.5) < 5 * (1 / 12) ** 0.5 / 4000**0.5


@pytest.mark.parametrize("ring", RINGS, ids=str)
def test_sharing_and_opening_return_the_values(ring: Ring) -> None:
    values = ring.random((3, 4), Random(1))

    def alice(channel: Channel) -> list:
        mine = shares.share_out(channel, "bob", ring, values, Random(2))
        both = shares.open_shares(channel, "bob", ring, mine)
        shares.open_to(channel, "bob", ring, mine)
        return both.tolist()

    def bob(channel: Channel) -> tuple[list, list]:
        mine = shares.share_in(channel, "alice", ring, (3, 4))
        both = shares.open_shares(channel, "alice", ring, mine)
        return both.tolist(), shares.open_from(channel, "alice", ring, mine).tolist()

    wanted = values.tolist()
    assert run_pair(alice, bob) == (wanted, (wanted, wanted))


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (Ring(97).to_wire(np.arange(3, dtype=np.uint64)), "no shares of shape"),
        (np.full((4, 1), 97, np.uint8), "not below the modulus 97"),
        (np.zeros((4, 2), np.uint8), "no shares of shape"),
        ([1, 2, 3, 4], "no shares of shape"),
    ],
    ids=["too-few", "out-of-range", "too-wide", "a-list"],
)
def test_shares_that_are_none_are_the_peers_fault(sent, reason: str) -> None:
    def alice(channel: Channel) -> None:
        with channel.step("share"):
            channel.send("bob", sent)

    with pytest.raises(PeerFaultError, match=f"alice: sent.*{reason}"):
        run_pair(alice, lambda channel: shares.share_in(channel, "alice", Ring(97), (4,)))


def test_a_modulus_below_two_is_refused() -> None:
    with pytest.raises(UsageError, match="modulo 1"):
        Ring(1)


def shared_product(kind: str, ring: Ring, x, y, seed: int):
    x1, x2 = shares.split(ring, x, Random(seed))
    y1, y2 = shares.split(ring, y, Random(seed + 1))
    one, two = run_engines(
        kind,
        lambda engine, rng: shares.product(engine, ring, x1, y1, rng),
        lambda engine, rng: shares.product(engine, ring, x2, y2, rng),
        seed,
    )
    return ring.add(one, two)


@pytest.mark.parametrize("kind", ENGINES)
@settings(max_examples=8, deadline=None)
@given(m=moduli, count=st.integers(1, 12), seed=st.integers(0, 1000))
def test_products_of_shares_are_products(kind: str, m: int, count: int, seed: int) -> None:
    ring = Ring(m)
    x, y = (ring.random(count, Random(f"{seed} {name}")) for name in "xy")
    assert shared_product(kind, ring, x, y, seed).tolist() == ring.multiply(x, y).tolist()


def test_a_product_of_extreme_shares_does_not_overflow_its_slots() -> None:
    """All elements at their largest, and enough rows to fill several plaintexts."""
    ring = Ring(2**64)
    full = np.full((9, 3), 2**64 - 1, np.uint64)
    one, two = run_engines(
        "paillier",
        lambda engine, rng: engine.inner_products(ring, full, rng),
        lambda engine, rng: engine.inner_products(ring, full, rng),
    )
    assert ring.add(one, two).tolist() == [3] * 9


def test_the_mask_of_a_sum_is_64_bits_longer_than_the_sum() -> None:
    for ring in RINGS:
        largest = sum_bound(ring, 5)
        assert mask_bound(largest) >= largest << (MASK_BITS - 1)
        assert MASK_BITS >= 40
        assert mask_bound(largest) & (mask_bound(largest) - 1) == 0


def test_what_the_key_owner_decrypts_is_spread_over_the_masks_range() -> None:
    """With all inputs zero the owner's plaintexts are the masks alone: uniform below the bound."""
    ring = Ring(2**16)
    zeros = np.zeros((2000, 1), np.uint64)
    decrypted = []
    original = type(KEY).decrypt

    class Watched(type(KEY)):  # type: ignore[misc]
        def decrypt(self, ciphertexts):
            decrypted.extend(plain := original(self, ciphertexts))
            return plain

    key = Watched(KEY.phe_private, int(KEY.base))

    def second(engine, rng):
        engine.inner_products(ring, zeros, rng)
        return engine.slots(ring, 1)

    _, slots = run_engines(
        "paillier", lambda engine, rng: engine.inner_products(ring, zeros, rng), second, key=key
    )
    masks = slots.unpack(decrypted, slots.count).reshape(-1)[:2000]
    bound = mask_bound(sum_bound(ring, 1))
    assert abs(sum(int(m) for m in masks) / 2000 / bound - 0.5) < 5 * (1 / 12) ** 0.5 / 2000**0.5
    assert max(int(m) for m in masks) > bound * 0.99


def test_equal_inputs_are_never_sent_twice_alike() -> None:
    ring = Ring(2**16)
    same = np.full((4, 1), 7, np.uint64)
    tracers = {}

    def wrap(transport):
        tracers[transport.me] = Traced(transport, capture=True)
        return tracers[transport.me]

    def work(engine, rng):
        return engine.inner_products(ring, same, rng)

    run_engines("paillier", work, work, wrap=wrap)
    bodies = [c.body for t in tracers.values() for c in t.captured if c.direction == "sent"]
    chunks = [
        body[at : at + KEY.width] for body in bodies for at in range(16, len(body), KEY.width)
    ]
    assert len(set(chunks)) == len(chunks)


def test_a_key_too_small_for_the_ring_is_refused_before_any_work() -> None:
    small = generate(Random("small"), 256)

    def first(engine: PaillierEngine, rng: Random) -> None:
        engine.prepare(Ring(2**100), 10, 3)

    with pytest.raises(
        KeySizeError, match=r"3 products modulo a number of 100 bits needs 280 bits"
    ):
        run_engines("paillier", first, lambda engine, rng: None, key=small)


@pytest.mark.parametrize("kind", ENGINES)
def test_rows_that_differ_between_the_parties_are_a_named_fault(kind: str) -> None:
    def work(rows: int):
        return lambda engine, rng: engine.inner_products(
            Ring(2**32), np.ones((rows, 2), np.uint64), rng
        )

    with pytest.raises(PeerFaultError, match="sent"):
        run_engines(kind, work(3), work(5))


@settings(max_examples=60, deadline=None)
@given(moduli, st.integers(0, 5), st.integers(0, 2**32))
def test_a_shifted_argument_gives_the_same_values(m: int, degree: int, seed: int) -> None:
    ring, rng = Ring(m), Random(seed)
    coefficients = rng.integers(m, degree + 1)
    a, y = ring.random(4, rng), ring.random(4, rng)
    rows = shift_argument(ring, coefficients, a)
    terms = np.concatenate([ring.array([[1]] * 4), powers(ring, y, degree)], axis=1)[
        :, : degree + 1
    ]
    got = ring.sum(ring.multiply(rows, terms), axis=1).tolist()
    expected = [
        sum(c * pow(int(u) + int(v), i, m) for i, c in enumerate(coefficients)) % m
        for u, v in zip(a, y, strict=True)
    ]
    assert got == expected


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("degree", [0, 1, 3, 5])
def test_oblivious_evaluation_is_evaluation(kind: str, degree: int) -> None:
    ring, rng = Ring(2**62 - 57), Random(degree)
    rows, points = ring.random((20, degree + 1), rng), ring.random(20, rng)
    one, two = run_engines(
        kind,
        lambda engine, rng: evaluate_coefficients(engine, ring, rows, rng),
        lambda engine, rng: evaluate_points(engine, ring, points, degree, rng),
    )
    expected = [
        sum(int(c) * int(y) ** i for i, c in enumerate(row)) % ring.modulus
        for row, y in zip(rows, points, strict=True)
    ]
    assert ring.add(one, two).tolist() == expected


def test_inner_products_cost_what_the_module_says() -> None:
    ring, rows, columns = Ring(2**64), 20, 2
    meters = {}

    def wrap(transport):
        meters[transport.me] = Metered(transport)
        return meters[transport.me]

    def work(engine, rng):
        engine.inner_products(ring, ring.random((rows, columns), rng), rng)
        return engine.slots(ring, columns) if isinstance(engine, PaillierEngine) else None

    slots, _ = run_engines("paillier", work, work, wrap=wrap)
    traffic = {name: meter.by_step["inner products"] for name, meter in meters.items()}
    frame = 128  # of the encoding, for a message
    assert 0 <= traffic["bob"].sent_bytes - rows * columns * KEY.width < frame
    messages = traffic["alice"].sent_messages
    answers = slots.plaintexts(rows) * KEY.width
    assert 0 <= traffic["alice"].sent_bytes - answers < frame * messages
    assert traffic["bob"].rounds == 1

    run_engines("transfer", work, work, wrap=wrap)
    sent = {
        name: sum(t.sent_bytes for step, t in meter.by_step.items() if "inner" in step)
        for name, meter in meters.items()
    }
    transfers = rows * columns * 64
    assert 0 <= sent["bob"] - 16 * transfers < frame
    assert 0 <= sent["alice"] - 8 * transfers < frame
