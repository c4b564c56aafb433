"""Small trees: what each side knows, what the owner's lies risk, and what stays hidden."""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer import punctured_leaves
from coterie.protocols.transfer.punctured_leaves import hold_leaves, own_leaves
from tests.protocols.transfer.lies import lying
from tests.strength import assert_whole, numbers

SECRET = Random("secret").bits(128)


def trees(secret=SECRET, lie=None, seed=0):
    def owner(channel):
        return own_leaves(lying(channel, lie) if lie else channel, "holder", Random(f"o{seed}"))

    found = run_parties(
        {
            "owner": owner,
            "holder": lambda c: hold_leaves(c, "owner", secret, Random(f"h{seed}")),
        }
    )
    return found["owner"], found["holder"]


def places(secret):
    """The place that the holder lacks in each tree."""
    return np.packbits(secret.reshape(32, 4), axis=1, bitorder="little")[:, 0].astype(int)


@pytest.mark.parametrize("seed", range(4))
def test_the_holder_knows_every_leaf_but_one_of_each_tree(seed):
    secret = Random(f"secret {seed}").bits(128)
    (leaves, sent), (known, received) = trees(secret, seed=seed)
    assert sent == received
    for tree, place in enumerate(places(secret)):
        for other in range(16):
            same = (known[tree, place ^ other] == leaves[tree, place]).all()
            assert not same
            expected = leaves[tree, place ^ other] if other else np.zeros(16)
            assert (known[tree, other] == expected).all()
    assert_whole(numbers(leaves.reshape(512, 16)), 128)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("tree", [0, 31])
def test_a_false_sum_is_found_where_the_holder_opens_it(tree, level, side):
    """And passes elsewhere: the owner has then guessed the bit, which is what it risks."""

    def lie(values):
        values[0] = values[0].copy()
        values[0][tree, level - 1, side, 7] ^= 1
        return values

    secret = SECRET.copy()
    secret[4 * tree + level] = side  # opens the other side
    (leaves, _), (known, _) = trees(secret, lie)
    place = places(secret)[tree]
    assert (known[tree, 1] == leaves[tree, place ^ 1]).all()
    secret[4 * tree + level] = 1 - side
    with pytest.raises(PeerFaultError, match="inconsistent trees") as caught:
        trees(secret, lie)
    assert caught.value.peer == "owner"


def test_false_sums_in_all_trees_are_found():
    def lie(values):
        values[0] = values[0] ^ np.eye(2, dtype=np.uint8)[0][None, None, :, None]
        return values

    for seed in range(5):
        with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees"):
            trees(Random(f"some {seed}").bits(128), lie)


@pytest.mark.parametrize("tree", [0, 13, 31])
@pytest.mark.parametrize("at", [0, 16, 31])
def test_false_material_is_found_in_every_tree_and_byte(tree, at):
    def lie(values):
        values[1] = values[1].copy()
        values[1][tree, at] ^= 128
        return values

    with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees"):
        trees(lie=lie)


@pytest.mark.parametrize("at", [0, 15, 16, 31])
def test_a_false_digest_is_found_in_every_byte(at):
    def lie(values):
        values[2] = values[2][:at] + bytes([values[2][at] ^ 1]) + values[2][at + 1 :]
        return values

    with pytest.raises(PeerFaultError, match="owner: sent inconsistent trees"):
        trees(lie=lie)


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values[:2],
        lambda values: [values[0][:31], *values[1:]],
        lambda values: [values[0].view(np.int8), *values[1:]],
        lambda values: [values[0], values[1][:, :31], values[2]],
        lambda values: [*values[:2], values[2][:31]],
        lambda values: [*values[:2], 7],
    ],
    ids=["two values", "31 trees", "signed", "short material", "short digest", "a number"],
)
def test_messages_of_another_form_are_refused(change):
    with pytest.raises(PeerFaultError, match="owner: sent no sums of the trees"):
        trees(lie=change)


def test_every_sum_is_under_a_key_of_its_own(monkeypatch):
    """Both sums of a level in the clear would give the holder the leaf that it must not know."""
    totals, sums = [], []
    honest = punctured_leaves._under

    def noted(plain, keys):
        totals.append(plain.copy())
        return honest(plain, keys)

    monkeypatch.setattr(punctured_leaves, "_under", noted)

    def keep(values):
        sums.append(values[0])
        return values

    run_parties(
        {
            "owner": lambda c: own_leaves(lying(c, keep), "holder", Random(1)),
            "holder": lambda c: c.next_instance("") or _points(c),
        }
    )
    plain = np.stack(totals).reshape(3, 2, 32, 16).transpose(2, 0, 1, 3)
    pads = (plain ^ sums[0]).reshape(192, 16)
    assert_whole(numbers(pads), 128)


def _points(channel):
    """A holder that takes part in the base transfers alone."""
    punctured_leaves.receive_keys(channel, "owner", SECRET, Random(2))
    channel.recv("owner")


def test_the_material_of_a_leaf_does_not_have_its_key():
    leaves, material = punctured_leaves._last(Random("nodes").array((32, 16, 16), np.uint8))
    for leaf, part in zip(leaves.reshape(-1, 16), material.reshape(-1, 32), strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(part, 8)
        for half in (leaf[:8], leaf[8:]):
            assert not (windows == half).all(axis=1).any()
