"""Where the randomness of ciphertexts comes from: in which group, how long, and only once."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import gmpy2
import phe
import pytest

from coterie.protocols.numbers.paillier import KeySizeError, PublicKey, adopt, generate
from coterie.protocols.numbers.randomizers import FixedBase, Randomizers, random_powers
from coterie.protocols.primitives.randomness import Random

BITS = 512
KEY = generate(Random("randomizer tests"), BITS)
N = int(KEY.n)


def randomizers(key: PublicKey = KEY, method: str = "full", seed: int = 1) -> Randomizers:
    return Randomizers(key, Random(seed), method)  # type: ignore[arg-type]


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


def test_half_length_exponents_refuse_a_modulus_that_they_are_not_proved_for() -> None:
    with pytest.raises(KeySizeError, match="3 modulo 4"):
        Randomizers(PublicKey(phe.PaillierPublicKey(13 * 7)), Random(1), "half")


@pytest.mark.parametrize("count", [3, 300])
def test_powers_are_drawn_anew_in_every_call(count: int) -> None:
    """By a power each, and by a table for many."""
    square = KEY.n**2
    fixed = FixedBase(gmpy2.powmod(KEY.base, KEY.n, square), KEY.n, 160)
    one, two = (fixed.random_powers(count, Random(seed)) for seed in (1, 2))
    assert len({*map(int, one), *map(int, two)}) == 2 * count


@pytest.mark.parametrize("key", [KEY, KEY.public], ids=["owner", "public"])
@pytest.mark.parametrize("method", ["exact", "full"])
def test_pools_of_different_generators_share_nothing(key: PublicKey, method) -> None:
    one, two = (Randomizers(key, Random(seed), method).take(6) for seed in ("a", "b"))
    assert len({*map(int, one), *map(int, two)}) == 12


def test_what_is_made_elsewhere_is_drawn_anew() -> None:
    pools = [Randomizers(KEY.public, Random(seed)) for seed in ("a", "b")]
    with ThreadPoolExecutor(2) as executor:
        for pool in pools:
            pool.prepare(6, executor)
    assert len({int(power) for pool in pools for power in pool.take(6)}) == 12
    one, two = (pool._elsewhere(pool._powers[0], 3, _Here()) for pool in pools)
    assert not set(one) & set(two)
    again = pools[0]._elsewhere(pools[0]._powers[0], 3, _Here())
    assert not set(one) & set(again)


class _Here:
    """An executor that does at once what it is given, and returns it."""

    def submit(self, function, *arguments):
        return function(*arguments)
