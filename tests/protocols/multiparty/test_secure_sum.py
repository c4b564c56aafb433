"""Secure sum: exact sums, and a view that tells nothing but the sum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, PeerFaultError, PeerLostError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.multiparty.secure_sum import RING, SecureSum, uniform
from coterie.protocols.primitives.randomness import Random
from tests.protocols.wrappers import Fault, Faulty, KilledError
from tests.views import assert_alike, watch

NAMES = ["a", "b", "c", "d"]


def run(inputs, work, seed=0, **options):
    """`work(session, values)` at every party, parties named in order."""
    names = NAMES[: len(inputs)]

    def party(name, values):
        def body(channel: Channel):
            return work(SecureSum(channel, names, Random(f"{seed} {name}")), values)

        return body

    functions = {n: party(n, v) for n, v in zip(names, inputs, strict=True)}
    return run_parties(functions, **options)


def parties(inputs, work):
    """The same for a view test, which draws the random numbers."""
    names = NAMES[: len(inputs)]

    def party(values):
        return lambda channel, rng: work(SecureSum(channel, names, rng), words(values))

    return {name: party(values) for name, values in zip(names, inputs, strict=True)}


def words(values):
    return np.array(values, np.uint64)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_modular_sum_is_exact_for_any_modulus(data):
    modulus = data.draw(st.one_of(st.integers(2, RING), st.sampled_from([RING, RING - 1, 2**63])))
    count, parties = data.draw(st.integers(0, 5)), data.draw(st.integers(2, 4))
    element = st.integers(0, modulus - 1)
    vectors = [data.draw(st.lists(element, min_size=count, max_size=count)) for _ in range(parties)]
    results = run(vectors, lambda session, v: session.modular(words(v), modulus))
    expected = [sum(column) % modulus for column in zip(*vectors, strict=True)]
    for result in results.values():
        assert result.tolist() == expected


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 1 << 300), st.randoms(use_true_random=False))
def test_the_sum_modulo_a_big_number_is_exact(modulus, random):
    vectors = [[random.randrange(modulus) for _ in range(3)] for _ in range(3)]
    results = run(vectors, lambda session, v: session.big(v, modulus))
    assert (
        list(results.values())
        == [[sum(column) % modulus for column in zip(*vectors, strict=True)]] * 3
    )


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_the_fixed_point_sum_is_the_sum_of_the_rounded_numbers(numbers):
    results = run([np.array([x, -x]) for x in numbers], lambda session, v: session.fixed(v, 20))
    rounded = sum(round(x * 2**20) for x in numbers) / 2**20
    for result in results.values():
        assert result.tolist() == [rounded, -rounded]


def test_many_sums_of_one_session_each_use_new_masks():
    def work(session, values):
        return [session.modular(values).tolist() for _ in range(20)]

    view = watch(parties([[5], [6], [7]], work), "many")["a"]
    assert view.result == [[18]] * 20
    shares = [int(share[0]) for share in view.values("b", "sum")[1::2]]
    assert len(set(shares)) == len(shares) == 20


@pytest.mark.parametrize("modulus", [8, 2**63 + 11, RING])
def test_a_coalition_sees_the_same_whatever_the_honest_inputs_with_the_same_sum(modulus):
    """b and c, with all their masks, cannot tell how the sum of a and d is divided."""

    def scene(world):
        one, other = ((0, 5), (7, modulus - 2))[world]
        inputs = [[one] * 40, [1] * 40, [2] * 40, [other] * 40]
        return parties(inputs, lambda session, v: session.modular(v, modulus))

    assert_alike(scene, ("b", "c"), runs=4)


def test_the_honest_shares_seen_add_up_to_the_honest_sum_less_nothing_else():
    """Given the coalition's masks, the two honest shares determine the honest sum only."""
    views = [
        watch(parties(inputs, lambda session, v: session.modular(v)), "x")["b"]
        for inputs in ([[10], [1], [2], [20]], [[25], [1], [2], [5]])  # the same honest sum
    ]
    one, other = ([view.values(name, "sum")[1] for name in ("a", "d")] for view in views)
    assert (sum(one) == sum(other)).all()
    assert (np.array(one) != np.array(other)).any()


@pytest.mark.parametrize("modulus", [3, 2**63 + 11, RING - 1])
def test_masks_are_uniform_below_the_modulus(modulus):
    numbers = uniform(Random(5), 30_000, modulus)
    bins = np.bincount((numbers.astype(object) * 3 // modulus).astype(int), minlength=3)
    assert ((bins - 10_000) ** 2 / 10_000).sum() < 16  # 2 degrees of freedom: one in 3,000


def test_cost_is_one_round_and_one_vector_to_each_peer():
    meters = {}

    def wrap(transport):
        return meters.setdefault(transport.me, Metered(transport))

    run([words(np.arange(1000))] * 3, lambda session, v: session.modular(v), wrap=wrap)
    cost = meters["a"].by_step["sum"]
    assert cost.rounds == 1
    assert cost.sent_messages == 2
    assert 16_000 <= cost.sent_bytes < 16_200


@pytest.mark.parametrize("case", ["length", "modulus", "kind", "range"])
def test_bad_shares_name_the_party(case):
    def bad(session):
        channel = session._channel
        with channel.step("sum"):
            if case == "length":
                channel.broadcast(RING, words([1, 2, 3]))
            elif case == "modulus":
                channel.broadcast(7, words([1, 2]))
            elif case == "kind":
                channel.broadcast("nonsense")
            else:
                channel.broadcast(100, words([1, 100]))
            channel.gather()

    def work(session, values):
        if session._channel.me == "b":
            return bad(session)
        return session.modular(values, 100 if case == "range" else RING)

    with pytest.raises(PeerFaultError, match=r"^b: .*step 'sum'"):
        run([words([1, 2])] * 3, work)


def test_a_party_that_dies_in_a_sum_is_named():
    def wrap(transport):
        return Faulty(transport, Fault("kill-before", 4)) if transport.me == "c" else transport

    with pytest.raises((PeerLostError, KilledError)) as caught:
        run([words([1])] * 3, lambda session, v: session.modular(v), wrap=wrap)
    if isinstance(caught.value, PeerLostError):
        assert caught.value.peer == "c"


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0**40])
def test_a_number_that_cannot_be_summed_names_party_and_entry(value):
    with pytest.raises(DataError, match=r"row 2: b: secure sum 0: an entry is"):
        run([np.zeros(2), np.array([0, value])], lambda session, v: session.fixed(v))


def test_a_value_beyond_the_modulus_names_party_and_entry():
    with pytest.raises(DataError, match=r"row 3: a: secure sum 0: an entry is '9', not in 0 … 6"):
        run([words([1, 2, 9]), words([1, 2, 3])], lambda session, v: session.modular(v, 7))
