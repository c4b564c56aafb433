"""The helper of view tests finds what it is made to find."""

from functools import partial

import numpy as np
import pytest

from coterie.protocols.messaging.opening import declare
from tests.views import assert_alike

TOLD = declare("test: told", what="A number.", to="bob", why="The test wants to know it.")


def scene(secret, message, to="bob"):
    """Alice sends Bob what `message` makes of her secret, which `secret` gives for each world."""

    def world(number):
        return {
            "alice": lambda channel, rng: channel.send(to, message(secret[number], channel, rng)),
            "bob": lambda channel, rng: channel.recv("alice") is None,
        }

    return world


SECRETS = np.zeros(300, np.uint32), np.full(300, 2**32 - 1, np.uint32)


def test_uniform_masks_hide_everything():
    assert_alike(scene(SECRETS, lambda x, c, rng: x + rng.array(300, np.uint32)), "bob")


@pytest.mark.parametrize(
    "message",
    [
        lambda x, c, rng: x,
        lambda x, c, rng: x + np.uint32(5),
        lambda x, c, rng: x ^ (rng.array(300, np.uint32) & np.uint32(0x7FFFFFFF)),
        lambda x, c, rng: x.tobytes(),
        lambda x, c, rng: x[: 100 + x[0] % 2],
    ],
)
def test_what_is_not_masked_is_found(message):
    with pytest.raises(AssertionError, match="can tell the worlds apart"):
        assert_alike(scene(SECRETS, message), "bob")


def test_a_single_bit_shows_in_many_runs():
    def message(x, channel, rng):
        return int(x) ^ (rng.below(2**40) << 1)

    with pytest.raises(AssertionError, match="standard deviations"):
        assert_alike(scene((0, 1), message), "bob", runs=40)
    assert_alike(scene((0, 2), lambda x, c, rng: x ^ rng.below(2**40)), "bob", runs=40)


def test_a_short_message_without_a_mask_is_found_in_two_runs():
    with pytest.raises(AssertionError, match="the same in all runs of a world"):
        assert_alike(scene((1, 65534), lambda x, channel, rng: x), "bob")
    assert_alike(scene((1, 65534), lambda x, c, rng: (x + rng.below(2**64)) % 2**64), "bob")


def test_what_comes_again_in_another_order_is_recognized():
    rows = [np.random.default_rng(world).integers(0, 256, (20, 16), np.uint8) for world in (0, 1)]
    with pytest.raises(AssertionError, match="a word that comes in one world alone"):
        assert_alike(scene(rows, lambda x, c, rng: x[rng.permutation(20)]), "bob")


def test_a_mask_that_the_watched_party_has_drawn_hides_nothing():
    def world(number):
        def alice(channel, rng):
            channel.send("bob", SECRETS[number][:40] + channel.recv("bob"))

        def bob(channel, rng):
            channel.send("alice", rng.array(40, np.uint32))
            return channel.recv("alice") is None

        return {"alice": alice, "bob": bob}

    with pytest.raises(AssertionError, match="the same in all runs of a world"):
        assert_alike(world, "bob")


def test_the_opening_of_a_value_that_differs_is_found_at_whoever_learns_it():
    def world(number):
        def party(channel, rng):
            channel.open(TOLD, number, to="bob")

        return {"alice": party, "bob": party}

    assert_alike(world, "alice")
    with pytest.raises(AssertionError, match=r"opened: .*test: told"):
        assert_alike(world, "bob")


def test_two_streams_that_are_the_same_are_found():
    def world(labels, number):
        def party(channel, rng):
            masks = [rng.fork(label).array(300, np.uint32) for label in labels]
            channel.broadcast(*[SECRETS[number] + mask for mask in masks])
            channel.gather()

        return {"alice": party, "bob": party}

    assert_alike(partial(world, ("one", "two")), "bob")
    with pytest.raises(AssertionError, match="two streams are the same: both are the fork 'one'"):
        assert_alike(partial(world, ("one", "one")), "bob")
