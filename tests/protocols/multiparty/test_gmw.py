"""Products on shares: correct for any groups, masked by values nobody else knows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.messaging.wire import decode, encode
from coterie.protocols.messaging.wrappers import Metered, Wrapper
from coterie.protocols.multiparty.gmw import Gmw, Product, pack_words, unpack_words
from coterie.protocols.primitives.randomness import Random
from tests.protocols.wrappers import Traced

NAMES = ("a", "b", "c")
PRODUCTS = [
    Product(("a",), ("b",)),
    Product(("c",), ("a", "b"), 2),
    Product(("a", "b"), ("c",), 5),
    Product(NAMES, NAMES, 1),
    Product(NAMES, NAMES, 2),
    Product(NAMES, NAMES, 37),
    Product(NAMES, NAMES, 64),
    Product(("b", "c"), ("b", "c"), 64),
]
COUNT = 300


def share(values, group, rng, width):
    """Uniform shares of the values for every member, zero for the others."""
    shares = {name: np.zeros(len(values), values.dtype) for name in NAMES}
    rest = values.copy()
    for name in group[1:]:
        drawn = rng.array(len(values), values.dtype)
        if width < 8 * values.dtype.itemsize:
            drawn &= values.dtype.type((1 << width) - 1)
        shares[name] = drawn
        rest ^= drawn
    shares[group[0]] = rest
    return shares


def test_products_of_shared_strings_with_shared_bits_are_right_in_every_group():
    rng = Random(1)
    cases = []
    for product in PRODUCTS:
        strings = rng.array(COUNT, product.dtype)
        if product.width < 8 * strings.dtype.itemsize:
            strings &= strings.dtype.type((1 << product.width) - 1)
        bits = rng.bits(COUNT)
        cases.append(
            (
                strings * bits,
                share(strings, product.left, rng, product.width),
                share(bits, product.right, rng, 1),
            )
        )

    def party(channel):
        session = Gmw(channel, NAMES, Random(channel.me))
        session.prepare((product, COUNT) for product in PRODUCTS)
        out = []
        for product, (_, strings, bits) in zip(PRODUCTS, cases, strict=True):
            result = np.zeros(COUNT, product.dtype)
            with channel.step("work"):
                if channel.me in product.group:
                    result = session.multiply(product, strings[channel.me], bits[channel.me])
                out.append(session.reveal(result, product.width, product.group))
        return out

    for results in run_same(NAMES, party).values():
        for result, (expected, _, _) in zip(results, cases, strict=True):
            assert (result == expected).all()


def test_prepared_products_hold_and_no_single_party_can_tell_them():
    """The shares of c = a * b; each party's c is balanced, and so is it given a and b."""
    product, count = Product(NAMES, NAMES, 1), 6000

    def party(channel):
        session = Gmw(channel, NAMES, Random(channel.me))
        session.prepare([(product, count)])
        own = session._pool[product]
        return own.a, own.b, own.c

    shares = run_same(NAMES, party)
    a, b, c = (np.bitwise_xor.reduce([s[i] for s in shares.values()]) for i in range(3))
    assert (c == (a & b)).all()
    for own in shares.values():
        cells = np.bincount(own[0] | own[1] << 1 | own[2] << 2, minlength=8)
        # 7 degrees of freedom: one honest run in 2,000 exceeds it
        assert ((cells - count / 8) ** 2 / (count / 8)).sum() < 26
    # The third party's a and b are hidden from the two others, whatever these hold.
    seen = sum(
        shares[name][j].astype(int) << 3 * i + j for i, name in enumerate("ab") for j in range(3)
    )
    table = np.zeros((64, 4))
    np.add.at(table, (seen, shares["c"][0] | shares["c"][1] << 1), 1)
    expected = table.sum(axis=1, keepdims=True) / 4
    # 192 degrees of freedom: mean 192, deviation 19.6
    assert ((table - expected) ** 2 / expected).sum() < 275


def test_a_seeded_session_sends_the_same_bytes_again():
    chains = []
    for _ in range(2):
        traced = {}

        def party(channel):
            session = Gmw(channel, NAMES, Random(channel.me))
            session.prepare([(Product(NAMES, NAMES, 2), 10)])

        run_same(NAMES, party, wrap=lambda t, kept=traced: kept.setdefault(t.me, Traced(t)))
        chains.append({name: kept.chain for name, kept in traced.items()})
    assert chains[0] == chains[1]


def test_a_product_takes_one_round_and_the_openings_stated():
    meters = {}
    product = Product(NAMES, NAMES, 2)

    def party(channel):
        session = Gmw(channel, NAMES, Random(channel.me))
        session.prepare([(product, 800)])
        with channel.step("work"):
            session.multiply(product, np.zeros(800, np.uint8), np.zeros(800, np.uint8))

    run_same(NAMES, party, wrap=lambda t: meters.setdefault(t.me, Metered(t)))
    work = meters["a"].by_step["work"]
    assert work.rounds == 1
    assert work.sent_messages == 2
    assert 2 * 300 <= work.sent_bytes < 2 * 300 + 200  # three bits a product, to each of two


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 64), st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_packed_words_come_back(width, numbers):
    dtype = np.uint8 if width <= 8 else np.uint64
    words = np.array([n & ((1 << width) - 1) for n in numbers], dtype)
    again = unpack_words(pack_words(words, width), width, len(words))
    assert again is not None
    assert (again == words).all()


@pytest.mark.parametrize(
    ("packed", "width", "count"),
    [
        (np.zeros(2, np.uint8), 1, 8),
        (np.zeros(1, np.uint16), 1, 8),
        (np.zeros((3, 2), np.uint8), 12, 2),
        (np.full((2, 2), 255, np.uint8), 12, 2),
        ([1, 2], 1, 2),
        (b"\0", 1, 8),
    ],
)
def test_what_packing_never_makes_is_refused(packed, width, count):
    assert unpack_words(packed, width, count) is None


class Shortening(Wrapper):
    """Sends the openings or corrections of one step with a value too few."""

    step = ""

    def transmit(self, peer, message):
        if message.step == self.step:
            [first, *rest] = decode(b"".join(message.body))
            first = first[1:] if isinstance(first, np.ndarray) else first[:-1]
            message = replace(message, body=encode([first, *rest]))
        self.inner.transmit(peer, message)


@pytest.mark.parametrize("step", ["work", "corrections"])
def test_wrong_lengths_name_the_party(step):
    product = Product(NAMES, NAMES)

    def wrap(transport):
        wrapped = Shortening(transport)
        wrapped.step = step if transport.me == "c" else "none"
        return wrapped

    def party(channel):
        session = Gmw(channel, NAMES, Random(channel.me))
        session.prepare([(product, 24)])
        with channel.step("work"):
            session.multiply(product, np.zeros(24, np.uint8), np.zeros(24, np.uint8))

    with pytest.raises(PeerFaultError, match=f"c: sent .*'{step}'"):
        run_same(NAMES, party, wrap=wrap)
