"""Shares modulo any m, products and polynomials on them, against plain integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError, UsageError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers import shares
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from tests.protocols.pairs import ENGINES, run_engines, run_pair

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
