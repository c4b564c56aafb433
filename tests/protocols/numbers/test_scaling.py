"""Non-integer multiples and conversion of shares, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError, UsageError
from coterie.protocols.circuits.arithmetic import evaluate, from_bits, to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.scaling import (
    carry_circuit,
    error_bound,
    multiple,
    scale_autonomously,
    scale_exactly,
)
from coterie.protocols.numbers.shares import Ring, split
from coterie.protocols.primitives.randomness import Random
from tests.protocols.pairs import run_pair

fractions = st.builds(Fraction, st.integers(0, 2**70), st.integers(1, 2**70))
moduli = st.one_of(st.integers(2, 2**70), st.integers(1, 70).map(lambda bits: 1 << bits))


def run_exact(source: Ring, target: Ring, shares, call, seed: int = 0):
    """call(garbling, share, rng) at both; the sum of what they return."""

    def party(first: bool):
        def run(channel: Channel):
            rng = Random(f"{seed} {first}")
            garbling = (Garbler if first else Evaluator)(channel, channel.peers[0], rng)
            return call(garbling, shares[0 if first else 1], rng)

        return run

    return target.add(*run_pair(party(True), party(False)))


def adversarial_shares(ring: Ring, values, seed: int):
    """Random shares, but some at the very ends of the ring."""
    mine = ring.random(len(values), Random(seed))
    ends = ring.array([0, ring.modulus - 1, ring.modulus // 2])
    mine[: min(3, len(mine))] = ends[: len(mine)]
    return mine, ring.subtract(ring.array(values), mine)


@settings(max_examples=12, deadline=None)
@given(moduli, moduli, fractions, st.integers(0, 2**32))
def test_exact_scaling_is_within_its_bound(m: int, n: int, factor: Fraction, seed: int) -> None:
    source, target = Ring(m), Ring(n)
    values = source.random(9, Random(seed))
    shares = adversarial_shares(source, values, seed)
    got = run_exact(
        source,
        target,
        shares,
        lambda garbling, share, rng: scale_exactly(garbling, source, target, share, factor, rng),
        seed,
    )
    for value, result in zip(values, got, strict=True):
        off = (int(result) - factor * int(value)) % n
        assert min(off, n - off) <= error_bound(factor)


@settings(max_examples=10, deadline=None)
@given(moduli, moduli, st.booleans(), st.integers(0, 2**32))
def test_conversion_between_moduli_is_exact(m: int, n: int, signed: bool, seed: int) -> None:
    source, target = Ring(m), Ring(n)
    values = source.random(9, Random(seed))
    shares = adversarial_shares(source, values, seed)
    got = run_exact(
        source,
        target,
        shares,
        lambda garbling, share, rng: scale_exactly(
            garbling, source, target, share, Fraction(1), rng, m // 2 if signed else 0
        ),
        seed,
    )
    read = source.signed(values) if signed else values
    assert got.tolist() == [int(value) % n for value in read]


@settings(max_examples=40, deadline=None)
@given(moduli, moduli, st.integers(0, 2**70), st.integers(0, 2**32))
def test_the_carry_circuit_compares_the_sum_with_the_modulus(
    m: int, n: int, correction: int, seed: int
) -> None:
    source, target, rng = Ring(m), Ring(n), Random(seed)
    one, two, first = source.random(20, rng), source.random(20, rng), target.random(20, rng)
    bits = {
        "g1": to_bits(one, source.bits),
        "g2": to_bits(two, source.bits),
        "first": to_bits(first, target.bits),
    }
    got = from_bits(evaluate(carry_circuit(m, n, correction), bits)["share"])
    expected = [
        ((correction if int(a) + int(b) >= m else 0) - int(f)) % n
        for a, b, f in zip(one, two, first, strict=True)
    ]
    assert got.tolist() == expected


def run_autonomous(source: Ring, target: Ring, values, factor: Fraction, largest: int, seed=0):
    shares = split(source, values, Random(seed))

    def party(first: bool):
        def run(channel: Channel):
            return scale_autonomously(
                channel,
                channel.peers[0],
                first,
                source,
                target,
                shares[0 if first else 1],
                factor,
                Random(f"{seed} {first}"),
                largest,
            )

        return run

    return target.add(*run_pair(party(True), party(False)))


@settings(max_examples=30, deadline=None)
@given(st.integers(50, 120), moduli, fractions, st.integers(0, 2**32))
def test_autonomous_scaling_is_within_its_bound(
    bits: int, n: int, factor: Fraction, seed: int
) -> None:
    source, target = Ring(1 << bits), Ring(n)
    largest = (1 << (bits - 42)) - 1
    values = [0, largest, *Random(seed).integers(largest + 1, 8)]
    got = run_autonomous(source, target, values, factor, largest, seed)
    for value, result in zip(values, got, strict=True):
        off = (int(result) - factor * value) % n
        assert min(off, n - off) <= error_bound(factor)


def test_scaling_each_share_without_knowing_the_carry_is_wrong() -> None:
    """What both ways exist for: multiplication by a fraction does not distribute (§4)."""
    ring, factor = Ring(1 << 64), Fraction(1, 1000)
    one, two = split(ring, [10**9] * 100, Random(1))
    naive = ring.add(multiple(one, factor), multiple(two, factor))
    assert all(abs(int(v) - 10**6) > 10**6 for v in naive[one != 0])


def test_autonomous_scaling_refuses_a_modulus_that_would_leak() -> None:
    with pytest.raises(UsageError, match="less than 40 bits of secrecy"):
        run_autonomous(Ring(1 << 64), Ring(1 << 64), [1], Fraction(1, 3), 1 << 25)


def test_the_new_share_is_always_excessive_and_spread_over_its_interval() -> None:
    """The first party's new share is what it adds to the multiple; factor 1 shows it."""
    source, largest = Ring(1 << 64), 1000
    values = [0, 1000] * 500
    shares = split(source, values, Random(2))
    seen = {}

    def party(first: bool):
        def run(channel: Channel):
            out = scale_autonomously(
                channel,
                channel.peers[0],
                first,
                source,
                Ring(1 << 80),
                shares[0 if first else 1],
                Fraction(1),
                Random(f"spread {first}"),
                largest,
            )
            seen[first] = [int(v) + (source.modulus if first else 0) for v in out]
            return out

        return run

    run_pair(party(True), party(False))
    mine = [v % (1 << 80) for v in seen[True]]
    sums = [a + b for a, b in zip(mine, seen[False], strict=True)]
    assert [s - source.modulus for s in sums] == values  # never γ itself, always γ + m
    assert all(largest < v < source.modulus for v in mine)
    assert abs(sum(mine) / 1000 / source.modulus - 0.5) < 5 * (1 / 12) ** 0.5 / 1000**0.5


@settings(max_examples=50, deadline=None)
@given(fractions, st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_a_multiple_is_rounded_to_the_nearest(factor: Fraction, values: list[int]) -> None:
    for array in (np.array(values, np.uint64), np.array(values, object)):
        for f in (factor, Fraction(1, factor.denominator)):
            got = multiple(array, f)
            assert all(
                abs(int(g) - f * v) <= Fraction(1, 2) for g, v in zip(got, values, strict=True)
            )


def test_a_correction_of_wrong_length_is_the_peers_fault() -> None:
    def alice(channel: Channel) -> None:
        with channel.step("excess"):
            channel.send("bob", np.zeros((3, 8), np.uint8))

    def bob(channel: Channel) -> None:
        ring = Ring(1 << 64)
        scale_autonomously(
            channel, "alice", False, ring, ring, ring.zeros(2), Fraction(1, 3), Random(1), 10
        )

    with pytest.raises(PeerFaultError, match="alice: sent no shares"):
        run_pair(alice, bob)
