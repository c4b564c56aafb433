"""Scenes of arithmetic of two parties."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from coterie.bench._paillier_products import PaillierProducts
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.numbers.inner_product import PaillierEngine, TransferEngine
from coterie.protocols.numbers.logarithm import Session, Settings, logarithms
from coterie.protocols.numbers.multiplication import multiply_shares
from coterie.protocols.numbers.periodic import COARSE_SIGMOID, evaluate
from coterie.protocols.numbers.polynomial import evaluate_coefficients, evaluate_points
from coterie.protocols.numbers.scalar_product import (
    Sizes,
    TransferProducts,
    scalar_products,
)
from coterie.protocols.numbers.scaling import scale_autonomously, scale_exactly
from coterie.protocols.numbers.shares import Ring, open_shares, product, share_in, share_out
from coterie.protocols.statistics.small_factorials import corrections
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.protocols.pairs import KEY
from tests.protocols.scenes.form import R64, TWO, scene, secret, two, words


def a_value_that_is_shared_and_opened(ring, watched, world):
    """The sum of both parties' values is opened; a second value of each stays hidden."""

    def party(channel, rng):
        peer = channel.peers[0]
        mine = share_out(channel, peer, ring, words(5 if channel.me == watched else 9), rng)
        theirs = share_in(channel, peer, ring, (200,))
        share_out(channel, peer, ring, words((0, ring.modulus - 1)[world]), rng)
        share_in(channel, peer, ring, (200,))
        return open_shares(channel, peer, ring, ring.add(mine, theirs))

    return two(party, party)


for ring in (R64, Ring(1009)):
    scene("numbers/shares", TWO, name=f"values shared and opened modulo {ring.modulus}")(
        partial(a_value_that_is_shared_and_opened, ring)
    )


@scene("numbers/multiplication", TWO, shares=True)
def products_of_shares(watched, world):
    def work(role, me):
        def party(channel, rng):
            x = words(secret(watched, me, world, 0, 2**64 - 1, 77), 20)
            return multiply_shares(role(channel, channel.peers[0], rng), x, x, 1 << 64)

        return party

    return two(work(Sender, "alice"), work(Receiver, "bob"))


@scene("numbers/periodic", TWO, shares=True)
def functions_of_shares(watched, world):
    def work(role, me):
        def party(channel, rng):
            share = words(secret(watched, me, world, 0, 2**38, 77), 30)
            return evaluate(role(channel, channel.peers[0], rng), share, [COARSE_SIGMOID], True)

        return party

    return two(work(Sender, "alice"), work(Receiver, "bob"))


def engines(kind):
    def make(channel, rng):
        first = channel.me == "alice"
        if kind == "transfer":
            return TransferEngine(channel, channel.peers[0], first, rng)
        key = None if first else KEY
        return PaillierEngine(channel, channel.peers[0], first, rng, KEY.bits, key)

    return make


def inner(kind, watched, world):
    def party(channel, rng):
        ring = Ring(1 << 32)
        mine = np.full((40, 2), secret(watched, channel.me, world, 0, 2**32 - 1, 9), np.uint64)
        return engines(kind)(channel, rng).inner_products(ring, mine, rng)

    return two(party, party)


def shared_product(kind, watched, world):
    def party(channel, rng):
        ring = Ring(1 << 32)
        mine = words(secret(watched, channel.me, world, 0, 2**32 - 1, 9), 40)
        return product(engines(kind)(channel, rng), ring, mine, mine, rng)

    return two(party, party)


def polynomial(kind, watched, world):
    def party(channel, rng):
        ring, value = Ring(1 << 32), secret(watched, channel.me, world, 0, 2**32 - 1, 9)
        engine = engines(kind)(channel, rng)
        if channel.me == "alice":
            rows = np.full((40, 3), value, np.uint64)
            return evaluate_coefficients(engine, ring, rows, rng)
        return evaluate_points(engine, ring, words(value, 40), 2, rng)

    return two(party, party)


def scalars(kind, watched, world):
    def party(channel, rng):
        many = channel.me == "alice"
        sizes = Sizes(60, 3, 2)
        bit = secret(watched, channel.me, world, 0, 1, 1)
        values = np.full((60, 3 if many else 2), bit, np.int64)
        if kind == "paillier":
            key = KEY if many else None
            ways = PaillierProducts(channel, channel.peers[0], many, rng, KEY.bits, key)
        else:
            ways = TransferProducts(channel, channel.peers[0], many, rng)
        return scalar_products(ways, sizes, values, rng, "shares", Ring(1 << 16))

    return two(party, party)


for kind in ("paillier", "transfer"):
    own = "numbers/paillier " if kind == "paillier" else ""
    for world, modules in (
        (inner, "numbers/inner_product"),
        (shared_product, "numbers/shares numbers/inner_product"),
        (polynomial, "numbers/polynomial"),
        (scalars, "numbers/scalar_product"),
    ):
        scene(
            own + modules, TWO, shares=True, runs=4, name=f"{world.__name__} by {kind}"
        )(partial(world, kind))  # fmt: skip


@scene("numbers/scaling", TWO, shares=True)
def exact_scaling(watched, world):
    def party(channel, rng):
        role = (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)
        mine = words(secret(watched, channel.me, world, 1, 65535, 5))
        return scale_exactly(role, Ring(1 << 16), Ring(1 << 16), mine, Fraction(1, 3), rng)

    return two(party, party)


@scene("numbers/scaling", ("bob",), shares=True, runs=4)
def autonomous_scaling(watched, world):
    """The values are 5 in one world and 900 in the other; Bob's share is zero."""

    def party(channel, rng):
        mine = words((5, 900)[world] if channel.me == "alice" else 0)
        return scale_autonomously(
            channel, channel.peers[0], channel.me == "alice", R64, R64, mine, Fraction(1, 3), rng,
            largest=1000,
        )  # fmt: skip

    return two(party, party)


@scene("numbers/logarithm numbers/inner_product", TWO, shares=True)
def shares_of_logarithms(watched, world):
    agreed = Settings(10, 3, "exact", 16, 1 << 16)

    def party(channel, rng):
        first = channel.me == "alice"
        session = Session(channel, channel.peers[0], first, rng, "transfer")
        mine = words(secret(watched, channel.me, world, 3, 900, 20), 60)
        return logarithms(session, agreed, mine, rng).share

    return two(party, party)


@scene("statistics/small_factorials", TWO, shares=True)
def corrections_of_small_factorials(watched, world):
    def party(channel, rng):
        role = (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)
        share = np.full(100, secret(watched, channel.me, world, 2**32 - 5, 900, 5), np.uint32)
        return corrections(role, share, 1 << 40, rng)

    return two(party, party)
