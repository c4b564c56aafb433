"""Paillier on vectors, beside phe's one number at a time."""

from __future__ import annotations

import numpy as np
import phe
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.numbers.paillier import (
    PrivateKey,
    PublicKey,
    announce_key,
    generate,
    receive_key,
)
from coterie.protocols.numbers.randomizers import Randomizers
from coterie.protocols.primitives.randomness import Random

BITS = 512
KEY = generate(Random("paillier tests"), BITS)
N = int(KEY.n)
METHODS = ("exact", "full", "half", "short")
plaintexts = st.lists(st.integers(0, N - 1), min_size=1, max_size=20)


def randomizers(key: PublicKey = KEY, method: str = "full", seed: int = 1) -> Randomizers:
    return Randomizers(key, Random(seed), method)  # type: ignore[arg-type]


def encrypt(values: list[int], key: PublicKey = KEY, method: str = "full") -> list:
    return key.encrypt(values, randomizers(key, method).take(len(values)))


@settings(max_examples=20, deadline=None)
@given(plaintexts)
def test_decryption_inverts_encryption(values: list[int]) -> None:
    assert KEY.decrypt(encrypt(values)) == values


@pytest.mark.parametrize("key", [KEY, KEY.public], ids=["owner", "public"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [3, 40], ids=["without-table", "with-table"])
def test_phe_decrypts_what_we_encrypt(key: PublicKey, method: str, count: int) -> None:
    values = list(range(-count, count, 2))
    numbers = key.to_phe(encrypt(values, key, method))
    assert [KEY.phe_private.decrypt(number) for number in numbers] == values


def test_we_decrypt_what_phe_encrypts() -> None:
    public, private = phe.generate_paillier_keypair(n_length=BITS)
    values = [0, 1, -1, 123456789, -(2**60)]
    ours = PrivateKey(private)
    ciphertexts = ours.from_phe([public.encrypt(value) for value in values])
    assert ours.decrypt_signed(ciphertexts) == values


@settings(max_examples=15, deadline=None)
@given(plaintexts, st.integers(0, 2**70 - 1), st.randoms(use_true_random=False))
def test_sums_and_multiples_follow_the_plaintexts(values: list[int], scalar: int, random) -> None:
    others = [random.randrange(N) for _ in values]
    c, d = encrypt(values), KEY.encrypt(others, randomizers(seed=2).take(len(values)))
    assert KEY.decrypt(KEY.add(c, d)) == [(a + b) % N for a, b in zip(values, others, strict=True)]
    assert KEY.decrypt(KEY.multiply(c, [scalar] * len(c))) == [v * scalar % N for v in values]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 70), st.integers(1, 60), st.randoms(use_true_random=False))
def test_a_weighted_sum_is_the_sum_of_products(bits: int, count: int, random) -> None:
    values = [random.randrange(N) for _ in range(count)]
    weights = [random.randrange(1 << bits) for _ in range(count)]
    total = KEY.weighted_sum(encrypt(values), weights, bits)
    expected = sum(v * w for v, w in zip(values, weights, strict=True)) % N
    assert KEY.decrypt([total]) == [expected]


def test_a_generated_key_is_what_half_length_exponents_need() -> None:
    assert KEY.n.bit_length() == BITS
    assert KEY.p % 4 == 3
    assert KEY.q % 4 == 3
    assert KEY.phe.n == N


def test_a_key_of_3072_bits_is_the_default_and_works_with_phe() -> None:
    key = generate(Random("a full-size key"))
    assert key.bits == 3072
    [c] = key.encrypt([-42], Randomizers(key, Random(1)).take(1))
    assert key.phe_private.decrypt(key.to_phe([c])[0]) == -42
    assert key.decrypt_signed(key.from_phe([key.phe.encrypt(77)])) == [77]


@pytest.mark.parametrize("value", [N, -N, N + 5])
def test_a_value_outside_the_modulus_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        encrypt([value])


def exchange(send, receive):
    """What `receive` returns at one party after `send` at the other."""

    def sender(channel: Channel) -> None:
        with channel.step("test"):
            send(channel)

    def receiver(channel: Channel):
        with channel.step("test"):
            return receive(channel)

    return run_parties({"alice": sender, "bob": receiver})["bob"]


def test_ciphertexts_and_keys_survive_the_wire() -> None:
    ciphertexts = encrypt([1, 2, 3])

    def send(channel: Channel) -> None:
        announce_key(channel, "bob", KEY)
        channel.send("bob", KEY.to_wire(ciphertexts))

    def receive(channel: Channel) -> list:
        key = receive_key(channel, "alice", BITS)
        return key.from_wire(channel, "alice", channel.recv("alice"), 3)

    assert exchange(send, receive) == ciphertexts


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (KEY.to_wire([1, 2]), "sent no 3 ciphertexts"),
        (KEY.to_wire([1, 2, 3])[:, :-1].copy(), "sent no 3 ciphertexts"),
        (KEY.to_wire([1, 2, 3]).astype(np.int64), "sent no 3 ciphertexts"),
        (b"no array", "sent no 3 ciphertexts"),
        (KEY.to_wire([1, 0, 3]), "ciphertext 2, which is outside the group"),
        (KEY.to_wire([1, 2, KEY.n2]), "ciphertext 3, which is outside the group"),
        (KEY.to_wire([5 * KEY.p, 2, 3]), "ciphertext 1, which is outside the group"),
    ],
    ids=["too-few", "too-narrow", "wrong-type", "bytes", "zero", "too-large", "not-a-unit"],
)
def test_ciphertexts_that_are_none_are_the_peers_fault(rows, reason: str) -> None:
    with pytest.raises(PeerFaultError, match=reason):
        exchange(
            lambda channel: channel.send("bob", rows),
            lambda channel: KEY.public.from_wire(channel, "alice", channel.recv("alice"), 3),
        )


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((N, 4), "at least 3072 are asked"),
        ((3 << 16383, 4), "of 16385 bits, over 16384"),
        ((b"key",), "sent no Paillier key"),
        ((2**3072 + 4, 4), "not a product of two primes"),
        ((3 ** (2 * 970), 4), "not a product of two primes"),
        (((2**1279 - 1) * (2**2203 - 1), 2**1279 - 1), "base that is outside the group"),
    ],
    ids=["small", "huge", "bytes", "even", "a-power", "base-not-a-unit"],
)
def test_a_bad_key_is_the_peers_fault(values, reason: str) -> None:
    with pytest.raises(PeerFaultError, match=reason):
        exchange(
            lambda channel: channel.send("bob", *values),
            lambda channel: receive_key(channel, "alice"),
        )
