"""The generator: the stream it claims to be, the same again from a seed, uniform."""

import hashlib
import itertools

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.primitives.randomness import Random


def reference(seed: bytes, count: int) -> bytes:
    """AES-256 of 0, 1, 2, …, block by block, under the digest of the seed."""
    key = hashlib.sha256(b"coterie seed\0" + seed).digest()
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # one block at a time
    stream = b"".join(block.update(i.to_bytes(16, "big")) for i in range(-(-count // 16)))
    return stream[:count]


def test_the_stream_is_aes_in_counter_mode_however_it_is_asked_for():
    rng = Random(b"seed")
    taken = rng.bytes(5) + rng.array(3, np.uint32).tobytes() + rng.bytes(0) + rng.bytes(100)
    taken += rng.array((2, 5), np.uint64).tobytes()
    assert taken == reference(b"seed", len(taken))


def test_a_seed_gives_the_same_stream_again_and_no_seed_never_does():
    assert Random("x").bytes(32) == Random("x").bytes(32)
    assert Random("x").bytes(32) != Random("y").bytes(32)
    assert Random(12).bytes(32) == Random("12").bytes(32)
    assert Random().bytes(32) != Random().bytes(32)


def test_a_fork_depends_on_the_seed_and_the_label_alone():
    one, two = Random(1), Random(1)
    two.bytes(1000)
    assert one.fork("a").bytes(32) == two.fork("a").bytes(32)
    streams = [Random(1).bytes(32), one.fork("a").bytes(32), one.fork("b").bytes(32)]
    streams += [one.fork("a").fork("b").bytes(32), Random(2).fork("a").bytes(32)]
    assert len(set(streams)) == len(streams)


@given(st.integers(1, 2**200), st.integers(0, 2**32))
def test_below_stays_below(bound, seed):
    assert 0 <= Random(seed).below(bound) < bound


@pytest.mark.parametrize("bound", [0, -1])
def test_below_refuses_a_bound_that_leaves_nothing(bound):
    with pytest.raises(ValueError, match="positive"):
        Random(1).below(bound)


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_values_are_uniform():
    """Chi-square of fixed seeds; each limit is beyond the 1 - 10^-6 quantile."""
    rng = Random("uniform")
    assert chi_square(np.bincount(rng.integers(10, 20_000), minlength=10)) < 46
    assert chi_square(np.bincount(rng.array(50_000, np.uint8), minlength=256)) < 380
    bits = rng.bits(100_003)
    assert bits.shape == (100_003,)
    assert chi_square(np.bincount(bits, minlength=2)) < 25


def test_every_order_of_four_is_equally_likely():
    rng = Random("orders")
    number = {order: i for i, order in enumerate(itertools.permutations(range(4)))}
    seen = [number[tuple(rng.permutation(4).tolist())] for _ in range(6000)]
    assert chi_square(np.bincount(seen, minlength=24)) < 76


@given(st.integers(0, 500), st.integers(0, 2**32))
def test_a_permutation_has_everything_once(count, seed):
    assert sorted(Random(seed).permutation(count).tolist()) == list(range(count))


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i8"])
@pytest.mark.parametrize("shape", [0, 5, (3, 4), (0, 2), ()])
def test_arrays_have_the_shape_and_type_asked_for(dtype, shape):
    array = Random(1).array(shape, dtype)
    assert array.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert array.dtype == np.dtype(dtype)
    assert array.flags.writeable
