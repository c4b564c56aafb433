"""Paillier on vectors, beside phe's one number at a time."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import gmpy2
import numpy as np
import phe
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import PeerFaultError
from protocols.channel import Channel
from protocols.memory import run_parties
from protocols.packing import Slots
from protocols.paillier import (
    KeySizeError,
    PrivateKey,
    PublicKey,
    adopt,
    announce_key,
    generate,
    receive_key,
)
from protocols.randomizers import FixedBase, Randomizers, random_powers
from protocols.randomness import Random

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
    assert KEY.decrypt(KEY.add_plain(c, others)) == KEY.decrypt(KEY.add(c, d))
    assert KEY.decrypt(KEY.multiply(c, [scalar] * len(c))) == [v * scalar % N for v in values]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 70), st.integers(1, 60), st.randoms(use_true_random=False))
def test_a_weighted_sum_is_the_sum_of_products(bits: int, count: int, random) -> None:
    values = [random.randrange(N) for _ in range(count)]
    weights = [random.randrange(1 << bits) for _ in range(count)]
    total = KEY.weighted_sum(encrypt(values), weights, bits)
    expected = sum(v * w for v, w in zip(values, weights, strict=True)) % N
    assert KEY.decrypt([total]) == [expected]


@pytest.mark.parametrize("seed", range(4))
def test_owners_randomizers_and_masks_lie_in_one_cyclic_group(seed: int) -> None:
    """What makes an answer to the owner independent of the exponents it was made with.

    Every power of the base has Jacobi symbol 1. Exponents drawn independently for the two primes
    would reach symbol -1 half of the time, and an answer's symbol would be a parity of exponents.
    """
    for key in (KEY, KEY.public):
        for residue in randomizers(key, seed=seed).take(20):
            assert gmpy2.jacobi(residue % N, N) == 1


def test_all_of_the_bases_group_is_reached_and_nothing_else() -> None:
    """p-1 = 12 and q-1 = 36 have much in common; the group is small enough to list."""
    key = adopt(
        phe.PaillierPrivateKey(phe.PaillierPublicKey(13 * 37), 13, 37), Random("a small group")
    )
    start = pow(key.base, key.n, key.n2)
    group, element = {1}, start
    while element != 1:
        group.add(element)
        element = element * start % key.n2
    for holder in (key, key.public):
        for count in (3, 400):
            reached = set(randomizers(holder).take(count))
            assert reached <= group
        assert reached == group


def test_exponents_have_the_promised_lengths() -> None:
    lengths = {
        method: randomizers(KEY.public, method)._powers[0].bits
        for method in ("full", "half", "short")
    }
    assert lengths == {"full": BITS + 64, "half": BITS // 2, "short": 512}
    assert [fixed.bits for fixed in randomizers(KEY, "full")._powers] == [BITS // 2 + 64] * 2


@pytest.mark.parametrize("count", [5, 16, 300])
def test_table_powers_are_powers_of_the_base(count: int) -> None:
    """Of order 101 modulo 607²: every power must lie in the group, and most of it be reached."""
    element = pow(3, 6 * 607, 607**2)
    group = {pow(element, e, 607**2) for e in range(101)}
    assert len(group) == 101
    powers = FixedBase(gmpy2.mpz(element), gmpy2.mpz(607), 40).random_powers(count, Random(3))
    assert set(powers) <= group
    assert len(set(powers)) > min(count, 101) // 2


def test_no_randomizer_is_handed_out_twice() -> None:
    pool = randomizers()
    pool.prepare(30)
    assert pool.prepared == 30
    taken = pool.take(20) + pool.take(20)
    assert pool.prepared == 0
    assert len(set(taken)) == 40


@pytest.mark.parametrize("key", [KEY, KEY.public], ids=["owner", "public"])
def test_randomizers_can_be_made_by_an_executor(key: PublicKey) -> None:
    """By threads here; that processes can do it too shows the pickled call."""
    pool = randomizers(key)
    with ThreadPoolExecutor(2) as executor:
        pool.prepare(31, executor)
    assert pool.prepared == 31
    taken = pool.take(31)
    assert len(set(taken)) == 31
    assert KEY.decrypt(key.encrypt(list(range(31)), taken)) == list(range(31))
    fixed = pool._powers[0]
    call = (random_powers, (fixed.base, fixed.root, fixed.bits, 3, bytes(32)))
    function, arguments = pickle.loads(pickle.dumps(call))
    assert function(*arguments) == random_powers(*call[1])


def test_two_pools_from_one_generator_share_nothing() -> None:
    rng = Random(9)
    one, two = Randomizers(KEY, rng), Randomizers(KEY, rng)
    assert not set(one.take(5)) & set(two.take(5))


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


def test_half_length_exponents_refuse_a_modulus_that_they_are_not_proved_for() -> None:
    with pytest.raises(KeySizeError, match="3 modulo 4"):
        Randomizers(PublicKey(phe.PaillierPublicKey(13 * 7)), Random(1), "half")


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
        (KEY.to_wire([1, 2]), "something else than 3 ciphertexts"),
        (KEY.to_wire([1, 2, 3])[:, :-1].copy(), "something else than 3 ciphertexts"),
        (KEY.to_wire([1, 2, 3]).astype(np.int64), "something else than 3 ciphertexts"),
        (b"no array", "something else than 3 ciphertexts"),
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
        ((b"key",), "something else than a Paillier key"),
        ((2**3072 + 4, 4), "not a product of two primes"),
        ((3 ** (2 * 970), 4), "not a product of two primes"),
        (((2**1279 - 1) * (2**2203 - 1), 2**1279 - 1), "base that is outside the group"),
    ],
    ids=["small", "bytes", "even", "a-power", "base-not-a-unit"],
)
def test_a_bad_key_is_the_peers_fault(values, reason: str) -> None:
    with pytest.raises(PeerFaultError, match=reason):
        exchange(
            lambda channel: channel.send("bob", *values),
            lambda channel: receive_key(channel, "alice"),
        )


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 100), st.integers(1, 12), st.randoms(use_true_random=False))
def test_packing_and_unpacking_are_inverse(bits: int, columns: int, random) -> None:
    slots = Slots.fitting((1 << bits) - 1, 3071, "a test")
    columns = min(columns, slots.count)
    values = np.array(
        [[random.randrange(1 << bits) for _ in range(columns)] for _ in range(4)],
        object if bits > 63 else np.uint64,
    )
    packed = slots.pack(values)
    assert max(packed).bit_length() <= 3071
    for j in range(columns):  # the definition
        assert [int(p) // slots.shift(j) % slots.shift(1) for p in packed] == values[:, j].tolist()
    assert slots.unpack(packed, columns).tolist() == values.tolist()


def test_packing_that_cannot_hold_its_values_is_refused() -> None:
    with pytest.raises(KeySizeError, match=r"one product needs 520 bits.*leaves 511"):
        Slots.fitting(1 << 513, 511, "one product")
    slots = Slots.fitting(255, 511, "a test")
    with pytest.raises(ValueError, match="256 does not fit a slot of 1 byte"):
        slots.pack(np.array([[256]]))
    with pytest.raises(ValueError, match="non-negative"):
        slots.pack(np.array([[-1]]))
    with pytest.raises(ValueError, match="64 values do not fit 63 slots"):
        slots.pack(np.zeros((1, 64), np.uint8))
