"""Half-trees: every leaf is what a plain computation says, and the other party's leaves but one."""

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.protocols.primitives import half_trees
from coterie.protocols.primitives.half_trees import at_missing, grow, missing, regrow
from coterie.protocols.primitives.randomness import Random

DELTA = Random("delta").array(2) | np.array([1, 0], np.uint64)
CIPHER = Cipher(
    algorithms.AES(hashlib.sha256(b"coterie: fixed key of the public permutation").digest()[:16]),
    modes.ECB(),
)


@pytest.fixture(params=["of this processor", "portable"])
def implementation(request, monkeypatch):
    if request.param == "portable":
        monkeypatch.setattr(half_trees, "accelerated", lambda: False)


def integer(block):
    return int(block[0]) | int(block[1]) << 64


def permuted(x):
    encryptor = CIPHER.encryptor()
    return int.from_bytes(encryptor.update(x.to_bytes(16, "little")), "little")


def plain_hash(x, number, domain):
    once = permuted(x)
    return permuted(once ^ (number | domain << 64)) ^ once


def plain_tree(root, delta, depth, tree, field):
    """The leaves by their places, and the levels, one node after the other."""
    levels = [{(): delta}, {(0,): root, (1,): root ^ delta}]
    for level in range(1, depth):
        children = {}
        for path, node in levels[-1].items():
            at = sum(bit << i for i, bit in enumerate(path))
            left = plain_hash(node, (tree << 17) + (1 << level) + at, 8 if field else 7)
            children[(*path, 0)], children[(*path, 1)] = left, node ^ left
        levels.append(children)
    leaves = {}
    for path, node in levels[-1].items():
        at = sum(bit << i for i, bit in enumerate(path))
        leaves[at] = plain_hash(node, (tree << 17) + at, 9) if field else node >> 1 << 1
    return [leaves[at] for at in range(1 << depth)], levels


def both(depth, field, trees=9, first=5):
    rng = Random(f"{depth} {field}")
    roots, sides = rng.array((trees, 2)), rng.bits(trees * depth).reshape(trees, depth)
    values = rng.array((trees, 2))
    leaves, sums, totals = grow(roots, DELTA, depth, first, field)
    opened = sums ^ sides[..., None].astype(np.uint64) * DELTA
    found = regrow(opened, sides, first, totals ^ values if field else None)
    return roots, sides, values, leaves, sums, totals, found


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("field", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3, 6])
def test_every_leaf_and_sum_is_that_of_a_plain_tree(depth, field):
    roots, _, _, leaves, sums, totals, _ = both(depth, field)
    for tree, root in enumerate(roots):
        plain, levels = plain_tree(integer(root), integer(DELTA), depth, 5 + tree, field)
        assert [integer(leaf) for leaf in leaves[tree]] == plain
        total = 0
        for leaf in plain:
            total ^= leaf
        assert integer(totals[tree]) == total
        for level in range(1, depth + 1):
            left = right = 0
            for path, node in levels[level].items():
                left, right = (left, right ^ node) if path[-1] else (left ^ node, right)
            assert integer(sums[tree, level - 1]) == left
            assert left ^ right == integer(DELTA)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_bits_differ_by_delta_at_the_missing_leaf_alone(depth):
    _, sides, _, leaves, _, _, found = both(depth, False)
    places = missing(sides)
    for tree, (mine, theirs) in enumerate(zip(leaves, found, strict=True)):
        assert np.flatnonzero((mine ^ theirs).any(axis=1)).tolist() == [places[tree]]
        assert (mine[places[tree]] ^ theirs[places[tree]] == DELTA).all()
        assert np.flatnonzero(theirs[:, 0] & np.uint64(1)).tolist() == [places[tree]]
        assert not (mine[:, 0] & np.uint64(1)).any()


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_field_leaves_differ_by_the_given_value_at_the_missing_leaf(depth):
    _, sides, values, leaves, _, _, found = both(depth, True)
    assert (leaves ^ found == at_missing(values, sides)).all()
    places = missing(sides)
    assert (at_missing(values, sides)[np.arange(len(sides)), places] == values).all()


def test_each_bit_of_the_sides_is_a_turn_of_the_path():
    assert missing(np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1], [0, 0, 0]], np.uint8)).tolist() == [
        0,
        1,
        2,
        7,
    ]


def test_a_wrong_sum_on_any_level_leaves_the_missing_leaf_wrong():
    for level in range(6):
        rng = Random(f"wrong {level}")
        roots, sides = rng.array((4, 2)), rng.bits(24).reshape(4, 6)
        leaves, sums, _ = grow(roots, DELTA, 6, 0)
        opened = sums ^ sides[..., None].astype(np.uint64) * DELTA
        opened[:, level, 1] ^= np.uint64(4)
        wrong = leaves ^ regrow(opened, sides, 0)
        assert (wrong.any(axis=2).sum(axis=1) > 1).all()


def test_trees_of_other_numbers_and_kinds_have_other_leaves():
    roots = Random("roots").array((1, 2))
    found = [
        grow(roots, DELTA, 4, number, field)[0] for number in (0, 1) for field in (False, True)
    ]
    low = np.concatenate(found).reshape(-1, 2)[:, 1]
    assert len(set(low.tolist())) == 64


def test_depths_beyond_the_tweaks_are_refused():
    for depth in (0, 17):
        with pytest.raises(ValueError, match="1 to 16 levels"):
            grow(np.zeros((1, 2), np.uint64), DELTA, depth, 0)
