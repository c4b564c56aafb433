"""Products with one secret: the relation, the plan of rounds, what is used once, cheats that are named."""

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives.field128 import multiply
from coterie.protocols.primitives.local_code import LocalCode
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.single_points import PointFinder
from coterie.protocols.transfer.vole import FIRST, VoleReceiver, VoleSender, consumed, plan
from tests.strength import assert_whole, numbers


def lying(channel, lie):
    """The channel of a party that changes what it sends within the vectors."""
    honest, number = channel.send, iter(range(10**6))
    if lie:

        def send(peer, *values):
            if channel.current_step != "transfers":
                return honest(peer, *values)
            return honest(peer, *lie(next(number), values))

        channel.send = send
    return channel


def run(
    counts,
    seed="s",
    sender_lie=None,
    receiver_lie=None,
    wrap=lambda transport: transport,
    silent=True,
):
    """delta and b of the sender, a and c of the receiver, for each count."""

    def sender(channel):
        channel.silent = silent
        side = VoleSender(lying(channel, sender_lie), "receiver", Random(seed + "s"))
        found = []
        for count in counts:
            found.append(side.send(count))
            side.prove()
        return side.delta, found

    def receiver(channel):
        channel.silent = silent
        side = VoleReceiver(lying(channel, receiver_lie), "sender", Random(seed + "r"))
        found = []
        for count in counts:
            found.append(side.receive(count))
            side.check()
        return found

    found = run_parties({"sender": sender, "receiver": receiver}, wrap=wrap)
    delta, blocks = found["sender"]
    return delta, blocks, found["receiver"]


@pytest.mark.parametrize("count", [0, 1, FIRST, FIRST + 1, 13_000, 30_000, 300_000])
def test_every_product_is_right(count):
    delta, [b], [(a, c)] = run([count])
    assert a.shape == b.shape == c.shape == (count, 2)
    assert (c == b ^ multiply(a, np.tile(delta, (count, 1)))).all()
    assert len({tuple(row) for row in a[:9999].tolist()}) == len(a[:9999])


def test_without_silent_transfers_nothing_grows_and_all_products_are_right():
    meters = {}
    delta, [b], [(a, c)] = run(
        [9000], wrap=lambda t: meters.setdefault(t.me, Metered(t)), silent=False
    )
    assert (c == b ^ multiply(a, np.tile(delta, (9000, 1)))).all()
    assert len(np.unique(a, axis=0)) == 9000
    assert 9000 * 128 * 3.875 < meters["receiver"].total.sent_bytes < 9000 * 128 * 4.1 + 10_000
    assert meters["sender"].by_step["transfers"].sent_bytes == 0


def test_two_vectors_of_a_session_are_right_and_have_nothing_in_common():
    delta, b, [(a, c), (other, more)] = run([7000, 7000])
    for ours, theirs, due in ((a, b[0], c), (other, b[1], more)):
        assert (due == theirs ^ multiply(ours, np.tile(delta, (7000, 1)))).all()
    assert not {tuple(row) for row in a.tolist()} & {tuple(row) for row in other.tolist()}
    assert not {tuple(row) for row in b[0].tolist()} & {tuple(row) for row in b[1].tolist()}


def test_products_fill_all_of_their_bits():
    _, [b], [(a, c)] = run([300])
    for blocks in (a, b, c):
        assert_whole(numbers(blocks), 128)
    _, [b], [(a, c)] = run([9000])
    for blocks in (a, b, c):
        assert_whole(numbers(blocks[-2000:]), 128)


def test_secrets_have_127_random_bits():
    found = numbers(np.stack([run([1], seed=f"{n} ")[0] for n in range(200)]))
    assert all(one & 1 for one in found)
    assert_whole([one >> 1 for one in found], 127)


# The plan


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 50_000_000))
def test_every_round_has_what_it_takes_and_the_last_gives_all(count):
    left, rounds = plan(count)
    assert left <= FIRST
    given_out = 0
    for size in rounds:
        assert left >= consumed(size) > size.secret + size.trees
        given_out += left - consumed(size)
        left = size.outputs
    assert given_out + left >= count
    for size in rounds[:-1]:
        assert consumed(size) < size.outputs


@settings(max_examples=200, deadline=None)
@given(st.integers(FIRST + 1, 50_000_000))
def test_no_round_is_easier_than_2_to_the_145_for_the_attack_on_parts_of_the_secret(count):
    """A part of s places holds s rows of ten places; these s outputs must be free of noise."""
    for size in plan(count)[1]:
        n, k = size.outputs, size.secret
        assert n > k
        s = k * min(1.0, (1.02 * k / n) ** (1 / 9))
        assert -size.trees * math.log2(1 - s / n) + math.log2(30 * s * s) > 145


def test_a_million_and_more_are_sent_as_the_docstring_says():
    meters = {}
    run([1_280_000], wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    sent = sum(meter.total.sent_bytes for meter in meters.values())
    assert 1.9e6 < sent < 2.1e6
    first, rounds = plan(1_280_000)
    trees = sum(16 * (size.depth + 1) * size.trees + 32 for size in rounds)
    checks = meters["sender"].by_step["transfers"].sent_bytes
    assert trees < checks < trees + 1000
    assert first == 3272


def test_no_product_serves_twice():
    """As the code's secret, as a tree's value, as a mask or as an output: each product once."""
    used = []
    open_, ask, add = PointFinder.open, PointFinder.ask, LocalCode.add

    def opened(self, t, sides, products):
        used.append(products.copy())
        return open_(self, t, sides, products)

    def asked(self, leaves, place_mask, mask, noise):
        used.append(mask[None].copy())
        return ask(self, leaves, place_mask, mask, noise)

    def added(self, secrets, outputs):
        if len(secrets) == 2:
            used.append(secrets[1].copy())
        add(self, secrets, outputs)

    with (
        mock.patch.object(PointFinder, "open", opened),
        mock.patch.object(PointFinder, "ask", asked),
        mock.patch.object(LocalCode, "add", added),
    ):
        _, _, [(_, first), (_, second)] = run([14_000, 5000])
    rows = np.concatenate([*used, first, second])
    assert len(np.unique(rows, axis=0)) == len(rows)


# Cheats


def flipped(message, *place):
    def lie(number, values):
        if number == message:
            changed = values[0].copy()
            changed[place] ^= np.uint64(4)
            return (changed,)
        return values

    return lie


@pytest.mark.parametrize("round_", range(3))
@pytest.mark.parametrize("level", [1, 4])
def test_a_false_tree_of_any_round_is_named(round_, level):
    """Tree 0 becomes part of the next code's secret, where no later check would see it."""
    assert len(plan(13_400)[1]) == 3
    with pytest.raises(PeerFaultError, match="sender: sent inconsistent trees"):
        run([13_400], sender_lie=flipped(round_, 0, level, 1))


@pytest.mark.parametrize("round_", range(3))
def test_a_false_value_of_a_tree_is_named(round_):
    with pytest.raises(PeerFaultError, match="sender: sent inconsistent trees"):
        run([13_400], sender_lie=flipped(round_, 3, -1, 0))


@pytest.mark.parametrize("message", range(3, 6))
def test_a_false_digest_is_named(message):
    lie = lambda number, values: (bytes(32),) if number == message else values  # noqa: E731
    with pytest.raises(PeerFaultError, match="sender: sent inconsistent trees"):
        run([13_400], sender_lie=lie)


def test_a_receiver_with_a_false_check_value_fails_its_own_check():
    sent = []

    def lie(number, values):
        sent.append(values)
        if len(values) == 1 and isinstance(values[0], np.ndarray) and values[0].shape == (2,):
            return (values[0] ^ np.uint64(1),)
        return values

    with pytest.raises(PeerFaultError, match="sender: sent inconsistent trees"):
        run([5000], receiver_lie=lie)


def test_false_corrections_of_a_receiver_are_named():
    def lie(number, values):
        if number == 0:
            changed = values[0].copy()
            changed[:8, 0] ^= 1
            return changed, values[1]
        return values

    with pytest.raises(PeerFaultError, match="receiver: sent inconsistent corrections"):
        run([100], receiver_lie=lie)


@pytest.mark.parametrize("seed", [b"", bytes(15), bytes(17), 3, "a seed of 16 by."])
def test_a_seed_of_another_form_is_refused(seed):
    def lie(number, values):
        return (seed,) if isinstance(values[0], bytes) else values

    with pytest.raises(PeerFaultError, match="receiver: sent no seed of a code"):
        run([5000], receiver_lie=lie)


def test_seeds_of_codes_are_drawn_with_all_their_bits():
    seeds = []

    def keep(number, values):
        if isinstance(values[0], bytes):
            seeds.append(np.frombuffer(values[0], np.uint8))
        return values

    run([4097] * 200, receiver_lie=keep)
    assert_whole(numbers(np.stack(seeds)), 128)
