"""A punctured tree gives all pads but one, with and without AES instructions."""

import numpy as np
import pytest

from coterie.protocols.primitives import punctured_trees
from coterie.protocols.primitives.punctured_trees import depth, grow, regrow


def both(size, width, dtype, each, seed=0, records=7):
    """What the two parties get, for random vectors and leaves."""
    rng = np.random.default_rng([size, width, seed])
    roots = rng.integers(0, 2**64, (records, 2), dtype=np.uint64)
    rows = rng.integers(0, 2**32, (records, width)).astype(dtype)
    codes = rng.integers(0, size, records)
    sums, sealed, mine = grow(roots, size, rows, 3, each)
    other = 1 - (codes[:, None] >> np.arange(depth(size)) & 1)
    received = sums[np.arange(records)[:, None], np.arange(depth(size)), other]
    return rows, codes, sealed, mine, regrow(received, codes, size, sealed, 3, each)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 100])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_vectors_of_both_add_up_to_the_rows_at_their_leaves(size, width, dtype):
    rows, codes, _, mine, theirs = both(size, width, dtype, True)
    expected = np.zeros((len(rows), size, width), dtype)
    expected[np.arange(len(rows)), codes] = rows
    assert (mine + theirs == expected).all()
    _, _, _, mine, theirs = both(size, width, dtype, False)
    assert (mine + theirs == expected.sum(axis=0, dtype=dtype)).all()


@pytest.mark.parametrize("each", [False, True])
def test_processors_without_aes_instructions_get_the_same_bytes(monkeypatch, each):
    fast = both(13, 3, np.uint64, each)
    monkeypatch.setattr(punctured_trees, "accelerated", lambda: False)
    for a, b in zip(fast, both(13, 3, np.uint64, each), strict=True):
        assert (a == b).all()


def test_without_the_sums_the_pad_of_the_leaf_is_not_found():
    rng = np.random.default_rng(1)
    roots = rng.integers(0, 2**64, (200, 2), dtype=np.uint64)
    rows, codes = np.zeros((200, 1), np.uint64), rng.integers(0, 8, 200)
    sums, sealed, mine = grow(roots, 8, rows, 0, True)
    own = codes[:, None] >> np.arange(3) & 1  # the sums of the sides that the paths take
    wrong = sums[np.arange(200)[:, None], np.arange(3), own]
    assert (mine + regrow(wrong, codes, 8, sealed, 0, True) != 0).any(axis=(1, 2)).all()


def test_a_tree_has_a_limited_number_of_leaves():
    assert [depth(size) for size in (1, 2, 3, 4, 5, 65536)] == [0, 1, 2, 2, 3, 16]
    for size in (0, 65537):
        with pytest.raises(ValueError, match="leaves"):
            depth(size)
