"""The oblivious function: equal at the receiver's tags, unrelated elsewhere, and fixed by one store."""

from unittest import mock

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.intersection import vole_function
from coterie.protocols.intersection.binned_store import Places, shape_for
from coterie.protocols.intersection.vole_function import (
    FunctionReceiver,
    FunctionSender,
    hashed,
    store_of,
)
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.strength import assert_all_drawn, assert_whole, numbers

SALT = b"salt" * 8


def tags(count, seed=1):
    return Random(seed).array((count, 2))


def evaluate(ours, theirs, seed="s", change=lambda words: words, lie=None):
    """F at the receiver's tags, and at the sender's."""

    def receive(channel):
        function = FunctionReceiver(channel, "sender", Random(seed + "r"))
        function.set_up()
        places, words = store_of(ours, SALT, Random("store"))
        function.fix(places, change(words))
        return function.outputs(ours)

    def send(channel):
        if lie:
            honest = channel.send
            channel.send = lambda peer, *values: honest(peer, *lie(channel.current_step, values))
        function = FunctionSender(channel, "receiver", Random(seed + "s"))
        function.set_up()
        function.fix(theirs, len(ours))
        return np.concatenate([*function.outputs(SALT), np.empty((0, 4), np.uint64)])

    found = run_parties({"receiver": receive, "sender": send})
    return found["receiver"], found["sender"]


@pytest.mark.parametrize("count", [0, 1, 2, 300, 70_000])
def test_both_have_the_same_outputs_at_common_tags_and_no_others(count):
    ours = tags(count)
    theirs = np.concatenate([ours[::-1], tags(500, 2)])
    mine, other = evaluate(ours, theirs)
    assert (mine[::-1] == other[:count]).all()
    known = {row.tobytes() for row in mine}
    assert len(known) == count
    assert len({row.tobytes() for row in other} | known) == count + 500


def test_outputs_fill_all_of_their_bits_at_either_side():
    ours, theirs = tags(400), tags(400, 2)
    for outputs in evaluate(ours, theirs):
        assert_whole(numbers(outputs), 256)


def test_all_outputs_depend_on_the_joint_number_at_either_side():
    ours, found = tags(40), []
    for number in (1, 2):
        joint = np.array([number, 0], np.uint64)
        with mock.patch.object(
            vole_function, "_joint", lambda sender, receiver, joint=joint: joint
        ):
            found.append(evaluate(ours, ours))
    for one, other in zip(*found, strict=True):
        assert not (one == other).any()


def test_a_receiver_with_other_words_loses_outputs_and_gains_none():
    ours = tags(200)

    def change(words):
        words = words.copy()
        words[:10] ^= np.uint64(1)
        return words

    mine, other = evaluate(ours, ours, change=change)
    same = (mine == other).all(axis=1)
    assert 0 < same.sum() < 200
    elsewhere = tags(200, 2)
    mine, other = evaluate(ours, elsewhere, change=change)
    assert not {row.tobytes() for row in mine} & {row.tobytes() for row in other}


def test_the_hash_of_tags_depends_on_the_salt_and_is_no_linear_function():
    found = hashed(tags(300), SALT)
    assert not (found == hashed(tags(300), b"other" * 4)).any()
    assert_whole(numbers(found), 128)
    pair = tags(2)
    both = np.concatenate([pair, pair[:1] ^ pair[1:]])
    made = hashed(both, SALT)
    assert (made[0] ^ made[1] ^ made[2]).any()


def test_the_words_that_a_sender_receives_say_nothing_of_the_tags():
    """Without the products they would give each tag its hash, and a sender could try any tag."""
    ours, seen, kept = tags(400), [], []
    honest, fix = vole_function.receive_pieces, FunctionReceiver.fix

    def noted(*arguments):
        for piece in honest(*arguments):
            seen.append(piece.copy())
            yield piece

    def fixed(self, places, words):
        kept.append(places)
        fix(self, places, words)

    with (
        mock.patch.object(vole_function, "receive_pieces", noted),
        mock.patch.object(FunctionReceiver, "fix", fixed),
    ):
        evaluate(ours, ours)
    words = np.concatenate(seen)
    assert_whole(numbers(words), 128)
    assert_whole(numbers(kept[0].decode(words) ^ hashed(ours, SALT)), 128)


def test_every_word_is_sent_under_a_product_of_its_own():
    """Two runs with one store, to the word, send no word in common."""
    sent, honest = [], vole_function.receive_pieces

    def noted(*arguments):
        for piece in honest(*arguments):
            sent.append(piece.copy())
            yield piece

    with mock.patch.object(vole_function, "receive_pieces", noted):
        for seed in ("one", "two"):
            evaluate(tags(100), tags(1), seed)
    assert len(sent) == 2
    assert (sent[0] != sent[1]).any(axis=1).all()


def test_a_store_has_the_shape_of_the_announced_number():
    places, words = store_of(tags(100), SALT, Random(1))
    assert places.shape == shape_for(100)
    assert len(words) == shape_for(100).words
    assert (
        Places(shape_for(100), places.seed, tags(100)).decode(words) == hashed(tags(100), SALT)
    ).all()


@pytest.mark.parametrize("at", [0, 15, 16, 31])
def test_every_byte_of_the_commitment_is_compared(at):
    sent = []

    def lie(step, values):
        if step == "function":
            sent.append(values)
            if len(sent) == 1:
                data = values[0]
                return (data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :],)
        return values

    with pytest.raises(PeerFaultError, match="sender: showed another part of a joint number"):
        evaluate(tags(5), tags(5), lie=lie)


def test_the_joint_number_depends_on_every_byte_of_both_parts():
    assert_all_drawn(lambda rng: vole_function._joint(rng.bytes(32), rng.bytes(32)).tolist(), 64)


def test_false_products_of_a_sender_are_named():
    """4,200 tags, whose words take a round of trees."""

    def lie(step, values):
        if step == "transfers" and isinstance(values[0], np.ndarray):
            changed = values[0].copy()
            changed[0, 1] ^= np.uint64(4)
            return (changed,)
        return values

    with pytest.raises(PeerFaultError, match="sender: sent inconsistent trees"):
        evaluate(tags(4200), tags(10), lie=lie)
