"""Scenes of transfers and circuits of two parties."""

from __future__ import annotations

from functools import partial

import numpy as np

from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minimum, minindex
from coterie.protocols.primitives.local_code import Size
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.protocols.scenes.form import TWO, scene, secret, two


@scene("transfer/base_transfer", ("alice",), runs=8, shares=True)
def choices_of_base_transfers(watched, world):
    choices = np.full(32, world, np.uint8)
    return two(
        lambda channel, rng: send_keys(channel, "bob", 32, rng),
        lambda channel, rng: receive_keys(channel, "alice", choices, rng),
    )


@scene("transfer/oblivious_transfer transfer/small_field transfer/punctured_leaves", TWO)
def transferred_messages(watched, world):
    """Alice does not learn the choices; Bob, who chooses the first, nothing of the second."""
    choices = np.full(512, world if watched == "alice" else 0, np.uint8)
    first = np.zeros((512, 16), np.uint8)
    second = np.full((512, 16), 255 * world if watched == "bob" else 7, np.uint8)

    def receive(channel, rng):
        got = Receiver(channel, "alice", rng).receive(choices, 16)
        return None if watched == "alice" else got

    return two(lambda channel, rng: Sender(channel, "bob", rng).send(first, second), receive)


@scene("transfer/silent transfer/single_points", TWO)
def silently_transferred_messages(watched, world):
    """As `transferred_messages`, in small rounds that are silent from the first transfer on."""
    choices = np.full(512, world if watched == "alice" else 0, np.uint8)
    first = np.zeros((512, 16), np.uint8)
    second = np.full((512, 16), 255 * world if watched == "bob" else 7, np.uint8)

    def small(session):
        source = session._source
        source._fewest, source._size, source._later = 1, Size(3, 320), Size(4, 160)
        return session

    def receive(channel, rng):
        got = small(Receiver(channel, "alice", rng)).receive(choices, 16)
        return None if watched == "alice" else got

    return two(lambda channel, rng: small(Sender(channel, "bob", rng)).send(first, second), receive)


@scene("transfer/oblivious_transfer", TWO, shares=True)
def products_of_bits(watched, world):
    def work(role, me):
        def party(channel, rng):
            session = role(channel, channel.peers[0], rng)
            bit = secret(watched, me, world, 0, 1, 1)
            return session.multiply_bits(np.full(250, 255 * bit, np.uint8), 2000)

        return party

    return two(work(Sender, "alice"), work(Receiver, "bob"))


@scene("circuits/garbling circuits/minindex", TWO)
def positions_of_the_least(watched, world):
    """Rows of shares whose least number stands first in both worlds."""

    def party(channel, rng):
        role = Garbler if channel.me == "alice" else Evaluator
        mine = np.array([[3, 3]] * 60, np.uint64)
        if channel.me != watched:
            mine = np.array([[1, 2] if world else [0, 5000]] * 60, np.uint64)
        return minindex(role(channel, channel.peers[0], rng), mine, 1 << 16)

    return two(party, party)


def shares_of_the_least(modulus, watched, world):
    def party(channel, rng):
        role = Garbler if channel.me == "alice" else Evaluator
        mine = np.array([[3, 3]] * 60, np.uint64)
        if channel.me != watched:
            mine = np.array([[0, 40] if world else [700, 900]] * 60, np.uint64)
        return list(minimum(role(channel, channel.peers[0], rng), mine, modulus, rng))

    return two(party, party)


for modulus in (1 << 16, 1009):
    scene("circuits/minindex", TWO, shares=True, name=f"shares of the least modulo {modulus}")(
        partial(shares_of_the_least, modulus)
    )
