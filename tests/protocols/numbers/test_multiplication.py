"""Products by oblivious transfer against Python's integers, for moduli of every kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.numbers import multiplication
from coterie.protocols.numbers.multiplication import (
    STEP,
    multiply_shares,
    receive_products,
    send_products,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.protocols.transfer.sizes import transfer_bytes

MODULI = [2, 3, 255, 256, 2**31 - 1, 2**61 - 1, 2**62, 2**63, 2**63 + 29, 2**64, 2**64 - 59]
MODULI += [2**64 + 13, 2**65, 2**100 - 15, 2**127 - 1, 2**128, 2**130, 2**200, 3**120]


def pair(sender, receiver, **options):
    result = run_parties(
        {
            "anna": lambda channel: sender(Sender(channel, "bela", Random("a"))),
            "bela": lambda channel: receiver(Receiver(channel, "anna", Random("b"))),
        },
        **options,
    )
    return result["anna"], result["bela"]


def joined(left, right, modulus):
    """The values that two arrays of shares stand for."""
    left, right = np.asarray(left, object), np.asarray(right, object)
    for share in (left, right):
        assert all(0 <= int(v) < modulus for v in share.reshape(-1))
    return [int(v) % modulus for v in (left + right).reshape(-1)]


def numbers(modulus, count, seed):
    return [0, modulus - 1, *Random(seed).integers(modulus, count - 2)]


@pytest.mark.parametrize("modulus", MODULI)
def test_shares_add_up_to_the_products(modulus):
    bits = (modulus - 1).bit_length()
    x, y = numbers(modulus, 12, "x"), numbers(modulus, 12, "y")[::-1]
    left, right = pair(
        lambda s: send_products(s, x, modulus, bits),
        lambda r: receive_products(r, y, modulus, bits),
    )
    assert joined(left, right, modulus) == [a * b % modulus for a, b in zip(x, y, strict=True)]
    kind = np.uint64 if modulus <= 2**64 else object
    assert left.dtype == right.dtype == kind


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 2**140),
    st.integers(0, 9),
    st.integers(1, 4),
    st.integers(1, 70),
    st.sampled_from([1, 100, 1 << 17]),
    st.randoms(use_true_random=False),
)
def test_several_numbers_share_the_transfers_of_one(modulus, count, several, bits, chunk, random):
    bits = min(bits, (modulus - 1).bit_length())
    x = [[random.randrange(modulus) for _ in range(several)] for _ in range(count)]
    y = [random.randrange(min(modulus, 1 << bits)) for _ in range(count)]
    matrix = np.empty((count, several), object)
    matrix[:] = np.array(x, object).reshape(count, several)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiplication, "CHUNK", chunk)
        left, right = pair(
            lambda s: send_products(s, matrix, modulus, bits),
            lambda r: receive_products(r, y, modulus, bits, several),
        )
    assert left.shape == right.shape == (count, several)
    expected = [a * b % modulus for row, b in zip(x, y, strict=True) for a in row]
    assert joined(left, right, modulus) == expected


@pytest.mark.parametrize("modulus", MODULI)
def test_products_of_shares_are_shares_of_products(modulus):
    """All four terms of (x1 + x2)(y1 + y2)."""
    x1, x2, y1, y2 = (numbers(modulus, 6, seed) for seed in ("x1", "x2", "y1", "y2"))
    if modulus <= 2**64:
        x1, x2, y1, y2 = (np.array(v, np.uint64) for v in (x1, x2, y1, y2))
    left, right = pair(
        lambda s: multiply_shares(s, x1, y1, modulus),
        lambda r: multiply_shares(r, x2, y2, modulus),
    )
    expected = [
        (int(a) + int(b)) * (int(c) + int(d)) % modulus
        for a, b, c, d in zip(x1, x2, y1, y2, strict=True)
    ]
    assert joined(left, right, modulus) == expected


@pytest.mark.parametrize("modulus", [2**32, 1_000_003])
def test_a_share_alone_is_uniform(modulus):
    """The same product many times: shares fall evenly into 16 bins (chi-square below 1e-9)."""
    count = 4000
    x, y = np.full(count, 7, np.uint64), np.full(count, 5, np.uint64)
    left, right = pair(
        lambda s: send_products(s, x, modulus, 3),
        lambda r: receive_products(r, y, modulus, 3),
    )
    for share in (left, right):
        bins = np.bincount((share * np.uint64(16) // np.uint64(modulus)).astype(int), minlength=16)
        assert ((bins - count / 16) ** 2 / (count / 16)).sum() < 80
    assert joined(left, right, modulus) == [35] * count


def test_it_sends_what_the_docstring_says():
    meters = {}

    def wrap(transport):
        meters[transport.me] = Metered(transport)
        return meters[transport.me]

    x = np.arange(100, dtype=np.uint64)
    pair(
        lambda s: send_products(s, x, 2**40, 7),
        lambda r: receive_products(r, x, 2**40, 7),
        wrap=wrap,
    )
    sent = meters["anna"].by_step[STEP].sent_bytes
    assert 700 * 5 <= sent <= 700 * 5 + 100
    transfers = meters["bela"].by_step[f"{STEP}/transfers"].sent_bytes
    assert 0 <= transfers - transfer_bytes(700) <= 100


@pytest.mark.parametrize(
    ("x", "y", "modulus", "bits", "match"),
    [
        ([5], [1], 5, 3, "outside the ring"),
        ([-1], [1], 5, 3, "outside the ring"),
        (np.array([-1]), [1], 5, 3, "outside the ring"),
        (np.array([9], np.uint8), [1], 5, 3, "outside the ring"),
        ([1], [4], 5, 2, "more than 2 bits"),
        ([1], [2**70], 2**80, 70, "more than 70 bits"),
        ([1], [1], 1, 1, "no products modulo 1"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(x, y, modulus, bits, match):
    with pytest.raises(ValueError, match=match):
        pair(
            lambda s: send_products(s, x, modulus, bits),
            lambda r: receive_products(r, y, modulus, bits),
        )


def test_parties_with_different_moduli_are_told():
    with pytest.raises(PeerFaultError, match=r"anna: multiplies \[16, 3\] .*, not 8, 3"):
        pair(
            lambda s: send_products(s, [1], 16, 3),
            lambda r: receive_products(r, [1], 8, 3),
        )


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (([8, 3], np.zeros((3, 1, 2), np.uint8)), "no corrections of shape"),
        (([8, 3], np.zeros((3, 1, 1), np.int8)), "no corrections of shape"),
        (([8, 3], b""), "no corrections of shape"),
        (([np.zeros(3), 3], np.zeros((3, 1, 1), np.uint8)), "multiplies"),
        ((5,), "sent no corrections"),
        (([8, 3],), "multiplies|sent no corrections"),
    ],
)
def test_corrections_of_the_wrong_form_are_refused(values, match):
    def cheat(session):
        with session.channel.step(STEP):
            session.random(3, 1)
            session.channel.send("bela", *values)

    with pytest.raises(PeerFaultError, match=match) as caught:
        pair(cheat, lambda r: receive_products(r, [1], 8, 3))
    assert caught.value.peer == "anna"
