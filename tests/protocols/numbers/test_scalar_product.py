"""Scalar products over vertically held columns, against NumPy and against phe."""

from __future__ import annotations

import numpy as np
import phe
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import CoterieError, DataError, PeerFaultError, UsageError
from coterie.bench._paillier_products import PaillierProducts
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.numbers.paillier import KeySizeError, adopt, generate
from coterie.protocols.numbers.scalar_product import (
    Sizes,
    TransferProducts,
    scalar_products,
)
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from tests.protocols.pairs import KEY, run_pair
from tests.protocols.transfer.sizes import transfer_bytes
from tests.protocols.wrappers import Fault, Faulty

KINDS = ("paillier", "transfer")


def run(kind: str, sizes: Sizes, many, few, output="shares", ring=None, key=KEY, **options):
    """What the party with many columns gets, and what the one with few gets."""
    other = options.pop("other", sizes)

    def party(is_many: bool, agreed: Sizes, values):
        def work(channel: Channel):
            rng = Random(f"{is_many}")
            peer = channel.peers[0]
            if kind == "paillier":
                products = PaillierProducts(
                    channel, peer, is_many, rng, key.bits, key if is_many else None
                )
            else:
                products = TransferProducts(channel, peer, is_many, rng)
            return scalar_products(products, agreed, values, rng, output, ring)

        return work

    return run_pair(party(True, sizes, many), party(False, other, few), **options)


def columns(sizes: Sizes, seed: int):
    rng = np.random.default_rng(seed)
    (a, b), (c, d) = sizes.many_range, sizes.few_range
    many = rng.integers(a, b, (sizes.records, sizes.many), endpoint=True)
    few = rng.integers(c, d, (sizes.records, sizes.few), endpoint=True)
    return many, few, many.T.astype(object) @ few.astype(object)


ranges = st.tuples(st.integers(-300, 5), st.integers(6, 5000))
shapes = st.builds(Sizes, st.integers(1, 40), st.integers(1, 9), st.integers(1, 3), ranges, ranges)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", ["shares", "many", "few"])
@settings(max_examples=7, deadline=None)
@given(sizes=shapes, seed=st.integers(0, 2**32))
def test_scalar_products_are_those_of_the_joined_columns(
    kind: str, output: str, sizes: Sizes, seed: int
) -> None:
    many, few, expected = columns(sizes, seed)
    ring = Ring(1 << 48)
    mine, theirs = run(kind, sizes, many, few, output, ring)
    if output == "shares":
        got = ring.signed(ring.add(mine, theirs))
    else:
        got, nothing = (mine, theirs) if output == "many" else (theirs, mine)
        assert nothing is None
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", ["shares", "many", "few"])
def test_counts_of_0_and_1_vectors(kind: str, output: str) -> None:
    sizes = Sizes(5000, 30, 2)
    many, few, expected = columns(sizes, 1)
    mine, theirs = run(kind, sizes, many.astype(bool), few.astype(np.uint8), output)
    got = {"shares": lambda: mine + theirs, "many": lambda: mine, "few": lambda: theirs}[output]()
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("modulus", [97_000_003, 1 << 24, 1 << 70])
def test_paillier_shares_can_have_any_modulus(modulus: int) -> None:
    sizes, ring = Sizes(50, 4, 2, (0, 255), (0, 255)), Ring(modulus)
    many, few, expected = columns(sizes, 2)
    mine, theirs = run("paillier", sizes, many, few, "shares", ring)
    assert ring.add(mine, theirs).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_all_values_at_their_largest_do_not_overflow(kind: str) -> None:
    sizes = Sizes(200, 40, 1, (0, 1023), (0, 1023))
    many = np.full((200, 40), 1023)
    few = np.full((200, 1), 1023)
    mine, _ = run(kind, sizes, many, few, "many")
    assert mine.tolist() == [[200 * 1023 * 1023]] * 40


def test_plain_phe_reads_the_packed_answer() -> None:
    """A few-side made of phe alone, on the ciphertexts that our many-side sends."""
    sizes = Sizes(8, 3, 1, (0, 9), (0, 9))
    many, few, expected = columns(sizes, 3)

    def many_side(channel: Channel):
        products = PaillierProducts(channel, "bob", True, Random(1), KEY.bits, KEY)
        return scalar_products(products, sizes, many, Random(2), "many")

    def few_side(channel: Channel) -> None:
        with channel.step("paillier key"):
            n, _ = channel.recv("alice")
        public = phe.PaillierPublicKey(n)
        with channel.step("scalar products"):
            channel.send("alice", channel.recv("alice"))  # whatever it expects, agreed
            rows = channel.recv("alice")
            total = public.encrypt(0)
            for row, weight in zip(rows, few[:, 0], strict=True):
                number = phe.EncryptedNumber(public, int.from_bytes(row.tobytes(), "little"))
                total = total + number * int(weight)
            answer = total.ciphertext().to_bytes(rows.shape[1], "little")
            channel.send("alice", np.frombuffer(answer, np.uint8).reshape(1, -1).copy())

    got, _ = run_pair(many_side, few_side)
    assert got.tolist() == expected.tolist()


def test_a_key_of_phe_can_be_brought() -> None:
    """phe's primes are any; full-length randomizers ask for nothing else."""
    key = adopt(phe.generate_paillier_keypair(n_length=512)[1], Random(1))
    sizes = Sizes(20, 3, 1)
    many, few, expected = columns(sizes, 4)
    got, _ = run("paillier", sizes, many, few, "many", key=key)
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.zeros((9, 2), int), r"shape \(9, 2\) where 10 records of 2 columns"),
        (np.zeros((10, 3), int), r"10 records of 2 columns"),
        (np.full((10, 2), 8), "outside the agreed 0 to 7"),
        (np.full((10, 2), -1), "outside the agreed 0 to 7"),
        (np.zeros((10, 2)), "float64, not integers"),
    ],
    ids=["records", "columns", "too-large", "negative", "floats"],
)
def test_values_that_are_not_as_agreed_are_named(kind: str, values, reason: str) -> None:
    sizes = Sizes(10, 2, 1, (0, 7), (0, 7))
    with pytest.raises(DataError, match=reason):
        run(kind, sizes, values, np.zeros((10, 1), int))


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_that_differ_between_the_parties_are_a_named_fault(kind: str) -> None:
    sizes, other = Sizes(10, 2, 1), Sizes(11, 2, 1)
    with pytest.raises(PeerFaultError, match=r"expects records 1[01] where 1[01] was agreed"):
        run(kind, sizes, np.zeros((10, 2), int), np.zeros((11, 1), int), other=other)


def test_what_overflows_is_refused_before_anything_is_sent() -> None:
    small = generate(Random("small"), 64)
    huge = Sizes(1 << 20, 1, 1, (0, 1 << 30), (0, 1 << 30))
    zeros = np.zeros((1 << 20, 1), int)
    with pytest.raises(UsageError, match="overflow shares modulo"):
        run("transfer", huge, zeros, zeros)
    sent = []

    def wrap(transport):
        sent.append(Metered(transport))
        return sent[-1]

    sizes = Sizes(10, 1, 1)
    with pytest.raises(KeySizeError, match="scalar product of up to 10 and its mask needs 80 bits"):
        run("paillier", sizes, zeros[:10], zeros[:10], key=small, wrap=wrap)
    assert all("scalar products" not in meter.by_step for meter in sent)
    with pytest.raises(UsageError, match="modulo 2\\^l"):
        run("transfer", sizes, zeros[:10], zeros[:10], ring=Ring(97))


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_answer_is_the_peers_fault(kind: str) -> None:
    sizes = Sizes(4, 2, 1)

    def bad(channel: Channel) -> None:
        if kind == "paillier":
            PaillierProducts(channel, "alice", False, Random(1), KEY.bits)
        else:
            TransferProducts(channel, "alice", False, Random(1))
        with channel.step("scalar products"):
            channel.send("alice", channel.recv("alice"))
            if kind == "paillier":
                channel.recv("alice")
                channel.send("alice", np.zeros((1, KEY.width), np.uint8))
            else:
                with channel.step("transfers"):
                    channel.send("alice", np.zeros((3, 3), np.uint8))

    def good(channel: Channel):
        if kind == "paillier":
            products = PaillierProducts(channel, "bob", True, Random(1), KEY.bits, KEY)
        else:
            products = TransferProducts(channel, "bob", True, Random(1))
        return scalar_products(products, sizes, np.ones((4, 2), int), Random(2))

    with pytest.raises(PeerFaultError, match="bob: sent"):
        run_pair(good, bad)


def test_the_traffic_is_what_the_module_says() -> None:
    sizes = Sizes(100, 7, 2)
    many, few, _ = columns(sizes, 5)
    for kind in KINDS:
        meters = {}

        def wrap(transport, meters=meters):
            meters[transport.me] = Metered(transport)
            return meters[transport.me]

        run(kind, sizes, many, few, ring=Ring(1 << 32), wrap=wrap)
        sent = {
            name: sum(t.sent_bytes for s, t in meter.by_step.items() if "scalar products" in s)
            for name, meter in meters.items()
        }
        if kind == "paillier":  # 96-bit slots: all seven in a plaintext of 768 bits
            assert 0 <= sent["alice"] - 100 * KEY.width < 500
            assert 0 <= sent["bob"] - 2 * KEY.width < 500
        else:
            assert 0 <= sent["alice"] - 100 * 2 * 7 * 4 < 500
            assert 0 <= sent["bob"] - transfer_bytes(100 * 2) < 500


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("culprit", ["alice", "bob"])
def test_a_garbled_message_ends_in_a_named_error_or_a_result(kind: str, culprit: str) -> None:
    sizes = Sizes(30, 4, 2)
    many, few, _ = columns(sizes, 6)
    named = 0
    for at in range(9):

        def wrap(transport, at=at):
            return Faulty(transport, Fault("garble", at)) if transport.me == culprit else transport

        try:
            run(kind, sizes, many, few, "few", wrap=wrap)
        except CoterieError:
            named += 1
    assert named >= 1
