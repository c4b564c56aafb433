"""The criteria of strength: random words pass, short, repeated and related ones do not."""

import numpy as np
import pytest

from coterie.protocols.primitives.randomness import Random
from tests.strength import assert_all_drawn, assert_different, assert_whole, numbers, rank

WORDS = numbers(Random("words").array(200))


@pytest.mark.parametrize(("dtype", "bits"), [(np.uint8, 8), (np.uint32, 32), (np.uint64, 64)])
def test_random_words_are_whole_under_any_seed(dtype, bits):
    for seed in range(50):
        assert_whole(numbers(Random(seed).array(200, dtype)), bits)


@pytest.mark.parametrize(
    "weak",
    [
        [word & 255 for word in WORDS],  # a short mask
        [-(word & 255) % 2**64 for word in WORDS],  # its negative
        [word | 1 << 20 for word in WORDS],  # a constant bit
        [(word & ~2) | (word >> 9 & 2) for word in WORDS],  # a bit twice
        [*WORDS[:100], *WORDS[:100]],  # a pad used twice
        numbers(np.concatenate([Random(word & 255).array(1) for word in WORDS])),  # a short key
    ],
)
def test_weak_words_are_not(weak):
    with pytest.raises(AssertionError):
        assert_whole(weak, 64)


def test_the_rank_is_that_of_the_bits():
    assert rank([0b110, 0b011, 0b101, 0]) == 2
    assert rank([1, 2, 4]) == 3


def test_words_that_come_again_are_found():
    assert_different(WORDS)
    with pytest.raises(AssertionError, match="come again"):
        assert_different([*WORDS, WORDS[7]])


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.bytes(1) * 16,
        lambda rng: rng.bytes(16)[:8],
        lambda rng: rng.bytes(17),
    ],
)
def test_what_draws_too_little_or_too_much_is_found(draw):
    assert_all_drawn(lambda rng: rng.bytes(16), 16)
    with pytest.raises(AssertionError):
        assert_all_drawn(draw, 16)
