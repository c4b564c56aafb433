"""The secure logarithm against math.log, the paper's bounds, and its own proof of error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie.protocols.numbers.logarithm
from coterie.base.errors import CoterieError
from coterie.protocols.circuits.arithmetic import evaluate, from_bits, to_bits
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.numbers.logarithm import (
    OutOfDomainError,
    Session,
    Settings,
    error_bound,
    logarithms,
    logarithms_with_x,
    quick_error,
    quick_logarithms,
    x_times_logarithms,
)
from coterie.protocols.numbers.logarithm_circuits import phase_one, quick
from coterie.protocols.numbers.logarithm_settings import remainder_range, taylor_coefficients
from coterie.protocols.numbers.polynomial import (
    evaluate_coefficients,
    evaluate_points,
    shift_argument,
)
from coterie.protocols.numbers.shares import Ring, split
from coterie.protocols.primitives.randomness import Random
from tests.protocols.numbers.logarithms import run
from tests.protocols.pairs import run_engines, run_pair
from tests.protocols.wrappers import Fault, Faulty, Traced

PAPER = [(17, 3, 0.0112), (13, 4, 0.0044), (10, 5, 0.0018)]


def largest_error(values, xs) -> float:
    """Less what floating point may add: the bound is reached to fifteen digits."""
    return float(np.abs(values - np.log(np.array(xs, float))).max(initial=0)) - 1e-14


@pytest.mark.parametrize(("bits", "terms", "stated"), PAPER)
def test_the_proven_bound_is_below_what_the_paper_states(
    bits: int, terms: int, stated: float
) -> None:
    assert error_bound(bits, terms) <= stated
    assert error_bound(bits, terms, "none") <= stated


@pytest.mark.parametrize(("bits", "terms", "stated"), PAPER)
def test_without_the_middle_the_taylor_error_is_the_papers_figure(
    bits: int, terms: int, stated: float
) -> None:
    worst = max(abs(end) for end in remainder_range(bits, terms))
    assert round(float(worst), 4) == stated


@pytest.mark.parametrize("scaling", ["none", "exact"])
@pytest.mark.parametrize(
    ("bits", "terms"), [(10, 5), (8, 3), (6, 2), (3, 4), (2, 2), (1, 1), (1, 3)]
)
def test_every_number_of_few_bits_is_within_the_bound(bits: int, terms: int, scaling) -> None:
    agreed = Settings(bits, terms, scaling)
    xs = list(range(1, 1 << bits))
    values, result = run(logarithms, agreed, xs)
    assert largest_error(values, xs) <= result.error_bound == agreed.error_bound


@pytest.mark.parametrize(("bits", "terms", "stated"), PAPER)
def test_all_numbers_of_the_papers_settings_are_within_the_bound_in_the_plain(
    bits: int, terms: int, stated: float
) -> None:
    """The circuit by its plain evaluator and the polynomial on its outputs; the bound is tight."""
    agreed = Settings(bits, terms, "none")
    ring = agreed.ring
    xs = np.arange(1, 1 << bits, dtype=np.uint64)
    zeros = np.zeros((len(xs), 64), np.uint8)
    inputs = {"x1": to_bits(xs, 32), "x2": zeros[:, :32], "first eps": zeros, "first n": zeros}
    out = evaluate(phase_one(1 << 32, bits, 64, False), inputs)
    eps, n = from_bits(out["eps"]), from_bits(out["n"])
    scaled = ring.scale(n, agreed.main_factor)
    power = ring.array(np.ones(len(xs), np.uint64))
    for coefficient in agreed.coefficients()[1:]:
        power = ring.multiply(power, eps)
        scaled = ring.add(scaled, ring.scale(power, coefficient))
    values = (ring.signed(scaled) + agreed.centre) / agreed.sigma
    worst = float(np.abs(values - np.log(xs.astype(float))).max())
    assert worst <= agreed.error_bound + 1e-12 <= stated
    assert worst >= agreed.error_bound * 0.9999


@pytest.mark.parametrize(("bits", "terms", "stated"), PAPER)
def test_random_numbers_of_the_papers_settings_are_within_its_figure(
    bits: int, terms: int, stated: float
) -> None:
    xs = [1, 2, 3, (1 << bits) - 1, 1 << (bits - 1), 3 << (bits - 2), (3 << (bits - 2)) - 1]
    xs += [1 + x for x in Random(bits).integers((1 << bits) - 1, 2000)]
    values, result = run(logarithms, Settings(bits, terms), xs)
    assert largest_error(values, xs) <= result.error_bound <= stated


@pytest.mark.parametrize("evaluation", ["transfer", "paillier"])
@pytest.mark.parametrize("scaling", ["none", "exact", "autonomous"])
@pytest.mark.parametrize(("bits", "terms"), [(17, 3), (13, 4), (24, 3), (32, 5)])
def test_every_way_of_computing_is_within_the_bound(
    bits: int, terms: int, scaling, evaluation: str
) -> None:
    agreed = Settings(bits, terms, scaling)
    xs = [1, (1 << bits) - 1] + [1 + x for x in Random(bits).integers((1 << bits) - 1, 20)]
    values, result = run(logarithms, agreed, xs, evaluation)
    assert largest_error(values, xs) <= result.error_bound


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 20), st.integers(1, 4), st.integers(2, 2**70), st.integers(0, 2**32))
def test_any_modulus_of_the_input_will_do(bits: int, terms: int, modulus: int, seed: int) -> None:
    agreed = Settings(bits, terms, input_modulus=modulus)
    top = min(modulus, 1 << bits)
    xs = [1 + x for x in Random(seed).integers(top - 1, 10)] if top > 2 else [1]
    values, result = run(logarithms, agreed, xs, seed=seed)
    assert largest_error(values, xs) <= result.error_bound


def test_both_evaluations_give_the_same_logarithms() -> None:
    """Before scaling down they are equal to the last bit: the polynomial is exact."""
    agreed, xs = Settings(17, 3, "none"), [1, 7, 99999, 131071]
    one, _ = run(logarithms, agreed, xs, "transfer")
    two, _ = run(logarithms, agreed, xs, "paillier")
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(("bits", "terms", "stated"), PAPER)
def test_the_uncorrected_scaling_gives_wrong_results(bits: int, terms: int, stated: float) -> None:
    """§3: with σ = 2^N lcm, dividing by 2^(N(i-1)) modulo m is not division of integers."""
    modulus = (1 << (bits * terms + 2 * terms + 6)) - 59  # odd, so that the inverses exist
    ring = Ring(modulus)
    lcm = math.lcm(*range(1, terms + 1))
    uncorrected = [0] + [
        (-1) ** (i - 1) * (lcm // i) * pow(2, -bits * (i - 1), modulus) for i in range(1, terms + 1)
    ]
    xs = Random(bits).integers(1 << (bits - 2), 30)
    xs = [x + (1 << (bits - 1)) for x in xs]  # eps = x / 2^(N-1) - 1, in [0, 1/2)
    eps = [2 * x - (1 << bits) for x in xs]
    one, two = split(ring, eps, Random(1))

    def evaluated(coefficients):
        mine, theirs = run_engines(
            "paillier",
            lambda engine, rng: evaluate_coefficients(
                engine, ring, shift_argument(ring, coefficients, one), rng
            ),
            lambda engine, rng: evaluate_points(engine, ring, two, terms, rng),
        )
        return ring.signed(ring.add(mine, theirs))

    truth = [math.log1p(e / (1 << bits)) for e in eps]
    wrong = [int(v) / ((1 << bits) * lcm) for v in evaluated(uncorrected)]
    right = [
        int(v) / ((1 << (bits * terms)) * lcm) for v in evaluated(taylor_coefficients(bits, terms))
    ]
    assert max(abs(v - t) for v, t in zip(right, truth, strict=True)) < 1.02 * stated
    off = [abs(v - t) > 1 for v, t in zip(wrong, truth, strict=True)]
    assert sum(off) > len(xs) * 0.9


@pytest.mark.parametrize(("bits", "terms", "_stated"), PAPER)
def test_the_ring_has_the_size_that_section_3_asks_for(bits: int, terms: int, _stated) -> None:
    least = 2 ** (bits * terms + 2 * terms + math.log2(bits))
    assert Settings(bits, terms).ring.modulus >= least
    assert Settings(bits, terms).sigma == 2 ** (bits * terms) * math.lcm(*range(2, terms + 1))


@pytest.mark.parametrize("bits", range(1, 12))
def test_phase_one_splits_every_number(bits: int) -> None:
    xs = list(range(1, 1 << bits))
    ring = Ring(1 << 40)
    zeros = np.zeros(len(xs), np.uint64)
    inputs = {
        "x1": to_bits(ring.array(xs), 20),
        "x2": to_bits(zeros, 20),
        "first eps": to_bits(zeros, 40),
        "first n": to_bits(zeros, 40),
    }
    out = evaluate(phase_one(1 << 20, bits, 40, False), inputs)
    assert not out["flag"].any()
    for x, n, eps in zip(xs, from_bits(out["n"]), ring.signed(from_bits(out["eps"])), strict=True):
        fraction = Fraction(int(eps), 1 << bits)
        assert Fraction(-1, 4) <= fraction < Fraction(1, 2)
        assert x == 2 ** int(n) * (1 + fraction)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 2**40), st.integers(1, 30), st.booleans(), st.data())
def test_the_flag_is_up_exactly_outside_the_domain(
    modulus: int, bits: int, zero_as_one: bool, data
) -> None:
    xs = [0, *data.draw(st.lists(st.integers(0, modulus - 1), min_size=1, max_size=6))]
    ring = Ring(modulus)
    one, two = split(ring, xs, Random(1))
    zeros = to_bits(np.zeros(len(xs), np.uint64), 64)
    inputs = {"x1": to_bits(one, ring.bits), "x2": to_bits(two, ring.bits)}
    circuit = phase_one(modulus, bits, 64, zero_as_one)
    out = evaluate(circuit, {**inputs, "first eps": zeros, "first n": zeros})
    assert out["flag"][:, 0].tolist() == [x >> bits > 0 or (x == 0 and not zero_as_one) for x in xs]
    fast = evaluate(quick(modulus, bits, 64, zero_as_one, 4), {**inputs, "first log2": zeros})
    assert fast["flag"].tolist() == out["flag"].tolist()


@pytest.mark.parametrize("bad", [0, 1 << 10, (1 << 32) - 1], ids=["zero", "too-long", "negative"])
@pytest.mark.parametrize("count", [1, 300], ids=["alone", "among-many"])
@pytest.mark.parametrize("function", [logarithms, quick_logarithms])
def test_a_number_without_a_logarithm_is_refused_by_name(bad: int, count: int, function) -> None:
    xs = [5] * (count - 1) + [bad]
    with pytest.raises(OutOfDomainError, match="at least one number is 0 or longer than agreed"):
        run(function, Settings(10, 2), xs)


def test_a_zero_may_be_taken_for_a_one() -> None:
    values, result = run(logarithms, Settings(10, 5, zero_as_one=True), [0, 1, 2])
    assert largest_error(values, [1, 1, 2]) <= result.error_bound


@pytest.mark.parametrize("evaluation", ["transfer", "paillier"])
@pytest.mark.parametrize("scaling", ["exact", "autonomous"])
def test_x_times_its_logarithm(evaluation: str, scaling) -> None:
    agreed = Settings(17, 3, scaling, zero_as_one=True)
    xs = [0, 1, 2, 3, 1000, 131071]
    values, result = run(x_times_logarithms, agreed, xs, evaluation)
    for x, value in zip(xs, values, strict=True):
        assert abs(value - (x * math.log(x) if x else 0)) <= x * agreed.error_bound
    assert result.error_bound == agreed.error_bound * 131071


@pytest.mark.parametrize("scaling", ["exact", "autonomous"])
def test_x_times_its_logarithm_for_few_bits(scaling) -> None:
    agreed, xs = Settings(4, 1, scaling), list(range(1, 16))
    values, _ = run(x_times_logarithms, agreed, xs)
    assert all(
        abs(value - x * math.log(x)) <= x * agreed.error_bound
        for x, value in zip(xs, values, strict=True)
    )


@pytest.mark.parametrize("function", [logarithms, x_times_logarithms])
def test_what_is_prepared_is_what_is_used(function) -> None:
    left = []

    def prepared(session, agreed, x, rng):
        session.prepare(agreed, len(x), with_product=function is x_times_logarithms)
        before = session.engine.randomizers.prepared
        result = function(session, agreed, x, rng)
        left.append((before > 0, session.engine.randomizers.prepared))
        return result

    run(prepared, Settings(10, 3), [5] * 20, "paillier")
    assert left == [(True, 0)] * 2


def test_logarithms_with_x_share_the_number_whose_logarithm_it_is() -> None:
    again = []

    def both(*arguments):
        result, x = logarithms_with_x(*arguments)
        again.append(x)
        return result

    agreed = Settings(17, 3, zero_as_one=True)
    values, result = run(both, agreed, [0, 1, 99])
    assert largest_error(values, [1, 1, 99]) <= result.error_bound
    assert result.ring.add(*again).tolist() == [1, 1, 99]


@pytest.mark.parametrize("fraction", [0, 1, 4, 9, 12])
def test_the_quick_base_2_logarithm_is_within_its_bounds(fraction: int) -> None:
    xs = list(range(1, 1024))
    values, result = run(
        lambda *arguments: quick_logarithms(*arguments, fraction=fraction), Settings(10, 1), xs
    )
    errors = np.log2(np.array(xs, float)) - values
    low, high = quick_error(10, fraction)
    assert low <= errors.min()
    assert errors.max() <= high == result.error_bound
    if fraction == 4:
        assert round(high, 4) == 0.1486


def test_results_are_printed_with_their_bound() -> None:
    _, result = run(logarithms, Settings(17, 3), [1])
    opened = result.ring.array([round(math.log(1000) * result.scale)])
    assert result.texts(opened) == ["6.90776 ± 0.0056"]


def test_no_numbers_have_no_logarithms() -> None:
    values, _ = run(logarithms, Settings(10, 2), [])
    assert values.tolist() == []


def test_more_numbers_than_a_batch_are_done_in_several(monkeypatch) -> None:
    monkeypatch.setattr(coterie.protocols.numbers.logarithm, "BATCH", 70)
    xs = list(range(1, 301))
    values, result = run(logarithms, Settings(10, 3), xs)
    assert largest_error(values, xs) <= result.error_bound
    with pytest.raises(OutOfDomainError):
        run(logarithms, Settings(10, 3), [*xs, 0, *xs])


def test_rounds_do_not_depend_on_the_number_of_values() -> None:
    rounds = []
    for count in (1, 200):
        meters = []

        def wrap(transport, meters=meters):
            meters.append(Metered(transport))
            return meters[-1]

        run(logarithms, Settings(10, 3), [3] * count, wrap=wrap)
        rounds.append(
            max(
                sum(t.rounds for step, t in meter.by_step.items() if step.startswith("logarithm"))
                for meter in meters
            )
        )
    assert rounds == [6, 6]


def test_shares_of_equal_numbers_are_spread_and_differ() -> None:
    """Each party's 1,500 shares have the mean of a uniform distribution within 5 standard errors."""
    results = []

    def keep(*arguments):
        results.append(logarithms(*arguments))
        return results[-1]

    run(keep, Settings(10, 3), [77] * 1500)
    for result in results:
        shares = [int(s) for s in result.share]
        assert len(set(shares)) == 1500
        mean = sum(shares) / 1500 / result.ring.modulus
        assert abs(mean - 0.5) < 5 * (1 / 12) ** 0.5 / 1500**0.5


def test_two_sessions_of_one_generator_share_no_secret() -> None:
    def party(first: bool):
        def work(channel: Channel):
            rng = Random(first)
            one, two = (Session(channel, channel.peers[0], first, rng) for _ in range(2))
            return [s.garbling.transfers.delta.tolist() for s in (one, two)] if first else None

        return work

    (one, two), _ = run_pair(party(True), party(False))
    assert one != two


@pytest.mark.parametrize("evaluation", ["transfer", "paillier"])
def test_a_seeded_run_repeats_itself_to_the_byte(evaluation: str) -> None:
    def chains(seed: int) -> set[str]:
        traced = []

        def wrap(transport):
            traced.append(Traced(transport))
            return traced[-1]

        run(logarithms, Settings(10, 3), [7, 9], evaluation, seed, wrap=wrap)
        return {t.chain for t in traced}

    assert chains(5) == chains(5)
    assert chains(5).isdisjoint(chains(6))


@pytest.mark.parametrize("evaluation", ["transfer", "paillier"])
@pytest.mark.parametrize("culprit", ["alice", "bob"])
def test_a_garbled_message_ends_in_a_named_error_or_a_result(evaluation: str, culprit: str) -> None:
    """Whatever message is changed: no other exception than a named one, at neither party.

    A changed ciphertext or share cannot be noticed by a semi-honest protocol; then there are results.
    """
    meters = []

    def count(transport):
        meters.append(Metered(transport))
        return meters[-1]

    agreed = Settings(6, 2)
    run(logarithms, agreed, [5, 9], evaluation, wrap=count)
    messages = next(
        m.total.sent_messages + m.total.received_messages for m in meters if m.me == culprit
    )
    named = 0
    for at in range(messages):

        def wrap(transport, at=at):
            return Faulty(transport, Fault("garble", at)) if transport.me == culprit else transport

        try:
            run(logarithms, agreed, [5, 9], evaluation, wrap=wrap)
        except CoterieError:
            named += 1
    assert named >= 3
