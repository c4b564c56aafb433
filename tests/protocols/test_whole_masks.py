"""Masks have all of their randomness, whatever the secrets are.

Each test reads what is drawn where it is used: from messages under inputs of zero, where nothing but the
mask is left, or from the state of a session. `tests/strength.py` has the criteria.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from coterie.base.errors import UsageError
from coterie.bench._paillier_products import PaillierProducts
from coterie.protocols.aggregates.noise import Noise, Query
from coterie.protocols.aggregates.noisy_sums import draw_noise
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minimum
from coterie.protocols.models import time_grid
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.numbers.inner_product import PaillierEngine
from coterie.protocols.numbers.logarithm import Session, Settings, logarithms
from coterie.protocols.numbers.scalar_product import Sizes, scalar_products
from coterie.protocols.numbers.scaling import scale_autonomously, scale_exactly
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.patterns.separation import _levels
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics import grouped_sums
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers, share_out
from coterie.protocols.statistics.small_factorials import corrections
from coterie.protocols.statistics.tree_predictions import _zero_share
from tests.protocols.pairs import KEY
from tests.strength import assert_whole, numbers
from tests.views import watch

TWO, THREE = ("alice", "bob"), ("ann", "bob", "cat")
R64 = Ring(1 << 64)


def both(work):
    """The same work at alice, as the first of two, and at bob."""
    return dict.fromkeys(TWO, work)


def garbling(channel, rng):
    return (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)


def zeros(count, dtype=np.uint64):
    return np.zeros(count, dtype)


# Masks of numbers


def slots_of(view, width):
    """The slots of all ciphertexts that the owner of `KEY` received, as numbers."""
    sent = [v for _, step, values in view.received for v in values if "key" not in step]
    rows = np.concatenate([v for v in sent if isinstance(v, np.ndarray) and v.ndim == 2])
    plain = KEY.decrypt([int.from_bytes(row.tobytes(), "little") for row in rows])
    count = KEY.plaintext_bits // (8 * width)
    return [
        int(one) >> 8 * width * at & ((1 << 8 * width) - 1) for one in plain for at in range(count)
    ]


def test_a_masked_inner_product_hides_its_sum_by_64_bits():
    """Of weights 0 the owner of the key sees the masks alone."""
    ring = Ring(1 << 16)

    def party(channel, rng):
        first = channel.me == "alice"
        key = None if first else KEY
        engine = PaillierEngine(channel, channel.peers[0], first, rng, KEY.bits, key)
        engine.inner_products(
            ring, zeros((150, 1)) if first else zeros((150, 1)) + np.uint64(3), rng
        )

    bits = 32 + 64  # of the largest sum, and beyond it
    found = slots_of(watch(both(party), "inner")["bob"], bits // 8 + 1)[:150]
    assert_whole(found, bits)


def test_a_masked_scalar_product_hides_its_sum_by_64_bits():
    sizes = Sizes(200, 3, 60)  # sums of up to 8 bits

    def party(channel, rng):
        many = channel.me == "alice"
        ways = PaillierProducts(
            channel, channel.peers[0], many, rng, KEY.bits, KEY if many else None
        )
        values = np.ones((200, 3), np.int64) if many else np.zeros((200, 60), np.int64)
        scalar_products(ways, sizes, values, rng)

    found = slots_of(watch(both(party), "scalar")["alice"], 10)
    found = [one for at, one in enumerate(found) if at % (KEY.plaintext_bits // 80) < 3]
    assert_whole(found, 8 + 64)


@pytest.mark.parametrize("bits", [8, 32, 64])
def test_shares_modulo_a_power_of_two_fill_it(bits):
    assert_whole(numbers(Ring(1 << bits).random(200, Random(1))), bits)


@pytest.mark.parametrize("modulus", [(1 << 61) - 1, (1 << 127) - 1])
def test_shares_modulo_a_prime_fill_it(modulus):
    found = [int(one) for one in Ring(modulus).random(300, Random(1))]
    assert_whole(found, modulus.bit_length())


def test_the_masks_of_exact_scaling_fill_the_ring():
    def party(channel, rng):
        return scale_exactly(
            garbling(channel, rng), Ring(1 << 16), R64, zeros(120), Fraction(1), rng
        )

    for view in watch(both(party), "exact").values():
        assert_whole(numbers(view.result), 64)


def test_the_masks_of_autonomous_scaling_fill_the_ring_but_for_the_values():
    def party(channel, rng):
        first = channel.me == "alice"
        scale_autonomously(
            channel, channel.peers[0], first, R64, R64, zeros(120), Fraction(1, 4), rng, 1 << 20
        )

    [sent] = watch(both(party), "autonomous")["bob"].values("alice", "excess")
    assert_whole(numbers(sent), 64)


def test_autonomous_scaling_refuses_values_that_40_bits_do_not_hide():
    def party(largest, channel, rng):
        peer, first = channel.peers[0], channel.me == "alice"
        scale_autonomously(channel, peer, first, R64, R64, zeros(1), Fraction(1), rng, largest)

    watch(both(partial(party, (1 << 24) - 1)), "hidden")
    with pytest.raises(UsageError, match="less than 40 bits of secrecy"):
        watch(both(partial(party, 1 << 24)), "hidden")


def test_each_part_of_a_logarithm_has_a_mask_of_its_own_that_fills_the_ring():
    settings = Settings(8, 3, "none", 12, 1 << 16)

    def party(channel, rng):
        first = channel.me == "alice"
        session = Session(channel, channel.peers[0], first, rng, "transfer")
        x = np.full(200, 5 if first else 0, np.uint64)
        return logarithms(session, settings, x, rng).share

    shown = next(
        values
        for _, step, values in watch(both(party), "logarithm")["bob"].received
        if step == "decoded" and len(values) == 3
    )
    eps, n = (one for one in shown if one.shape[1] > 1)
    width = eps.shape[1]
    masks = [numbers(np.packbits(one, axis=1, bitorder="little")) for one in (eps, n)]
    for one in masks:
        assert_whole(one, width)
    assert_whole([(a - b) % (1 << width) for a, b in zip(*masks, strict=True)], width)


@pytest.mark.parametrize("modulus", [1 << 32, (1 << 31) - 1])
def test_the_masks_of_a_shared_minimum_fill_the_ring(modulus):
    def party(channel, rng):
        return minimum(garbling(channel, rng), np.zeros((100, 2), np.uint64), modulus, rng)

    bits = (modulus - 1).bit_length()
    for view in watch(both(party), "minimum").values():
        for share in view.result:
            assert_whole(numbers(share.astype(np.uint64)), bits)


@pytest.mark.parametrize("modulus", [1 << 64, (1 << 61) - 1])
def test_the_masks_of_a_sum_fill_the_ring(modulus):
    def party(channel, rng):
        SecureSum(channel, THREE, rng).modular(zeros(200), modulus)

    view = watch(dict.fromkeys(THREE, party), "sum")["ann"]
    for peer in ("bob", "cat"):
        _, part = view.values(peer, "sum")
        assert_whole(numbers(part), (modulus - 1).bit_length())


def test_the_masks_of_a_sum_of_big_numbers_fill_the_ring():
    modulus = (1 << 127) - 1

    def party(channel, rng):
        SecureSum(channel, THREE, rng).big([0] * 300, modulus)

    _, part = watch(dict.fromkeys(THREE, party), "sum")["ann"].values("bob", "sum")
    assert_whole(numbers(part), 127)


@pytest.mark.parametrize("big", [False, True])
def test_no_mask_of_a_sum_is_likelier_than_another(big):
    """Of the remainders of a number that is not much larger small ones would come twice as often."""
    modulus = 192 if big else 3 << 62

    def party(channel, rng):
        total = SecureSum(channel, TWO, rng)
        total.big([0] * 3000, modulus) if big else total.modular(zeros(3000), modulus)

    _, part = watch(both(party), "even")["bob"].values("alice", "sum")
    for third in range(3):
        inside = sum(
            third * modulus // 3 <= one < (third + 1) * modulus // 3 for one in numbers(part)
        )
        assert 750 < inside < 1250  # ten standard deviations


def test_masks_of_shared_strings_and_bits_are_drawn_for_each_of_them():
    product = Product(TWO, TWO, 64)

    def party(channel, rng):
        session = Gmw(channel, TWO, rng)
        session.prepare([(product, 200)])
        return session._pool[product].a, session._pool[product].b

    for view in watch(both(party), "products").values():
        strings, bits = view.result
        assert_whole(numbers(strings), 64)
        assert 40 < int(bits.sum()) < 160  # more than eight standard deviations


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_what_a_server_is_given_fills_the_ring(dtype):
    def party(channel, rng):
        mine = np.full(200, 7, dtype) if channel.me == "cat" else None
        share_out(channel, ("ann", "bob"), ["cat"], 200, mine, rng, dtype)

    views = watch(dict.fromkeys(THREE, party), "servers")
    for server in ("ann", "bob"):
        [part] = views[server].values("cat", "share out")
        assert_whole(numbers(part), 8 * np.dtype(dtype).itemsize)


def test_the_masks_of_small_factorials_fill_the_ring():
    def party(channel, rng):
        return corrections(garbling(channel, rng), zeros(120, np.uint32), 1 << 25, rng)

    for view in watch(both(party), "factorials").values():
        assert_whole(numbers(view.result), 64)


def test_shares_of_zero_in_a_prediction_fill_the_ring():
    def party(channel, rng):
        return _zero_share(channel, THREE, 200, rng)

    views = watch(dict.fromkeys(THREE, party), "zero")
    for name in THREE:
        assert_whole(numbers(views[name].result), 32)
        for peer in set(THREE) - {name}:
            assert_whole(numbers(views[name].values(peer, "")[0]), 32)


def test_what_is_added_for_powers_of_time_fills_the_ring(monkeypatch):
    seen = []
    modular = time_grid.SecureSum.modular

    def noted(self, values, modulus):
        seen.extend(values.tolist())
        return modular(self, values, modulus)

    monkeypatch.setattr(time_grid.SecureSum, "modular", noted)

    def party(channel, rng):
        time_grid.longest_power(channel, THREE, 2.0**32, rng)

    watch(dict.fromkeys(THREE, party), "times")
    assert_whole([one for one in seen if one], 61)


def test_each_number_of_alike_pairs_has_an_offset_of_its_own():
    """Else two sets that are alike in equally many pairs would always be on one level."""

    def party(channel, rng):
        servers = HiddenCounts(channel, THREE, ("ann", "bob"), rng.fork("decide"))
        share = zeros(400, np.uint32) if channel.me in servers.servers else None
        if channel.me == "ann":
            share[:200], share[200:] = 40, 100
        return _levels(servers, share, 200, [[200 + at] for at in range(200)], 1000, 16, rng)

    levels = watch(dict.fromkeys(THREE, party), "offsets")["cat"].result
    assert len(set(levels.tolist())) == 2
    assert 40 < int((levels == levels.min()).sum()) < 160


def test_every_record_has_a_root_of_128_bits(monkeypatch):
    seen = []
    grow = grouped_sums.grow
    monkeypatch.setattr(
        grouped_sums, "grow", lambda roots, *rest: seen.append(roots) or grow(roots, *rest)
    )

    def party(channel, rng):
        rows = np.ones((200, 1), np.uint64) if channel.me == "ann" else None
        codes = np.zeros(200, np.int64) if channel.me == "bob" else None
        grouped_sums.grouped_sums(
            Transfers(channel, rng.fork("t")), "ann", [grouped_sums.Grouper("bob", 3)], 200, rows, 1,
            codes, rng, np.uint64,
        )  # fmt: skip

    watch(dict.fromkeys(THREE, party), "roots")
    assert_whole(numbers(np.concatenate(seen)), 128)


def test_each_group_and_each_sum_has_noise_of_its_own():
    class Drawing:
        def drawn(self, what, draw):
            return draw()

    class Server:
        channel = Drawing()

    noise = Noise(Fraction(1), Fraction(0))
    scales = noise.scales([Query(-(10**9), 10**9)] * 2, 1)
    one, two = draw_noise(Server(), noise, scales, 100, Random(1))
    for drawn in (one, two, one - two):
        assert len(set(drawn.tolist())) > 90
