"""Secure set union: the union, and no trace of who held what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import decode
from coterie.protocols.messaging.wrappers import Traced, Wrapper
from coterie.protocols.multiparty.set_union import key_pair, mix, place_on_curve, union, unmix
from coterie.protocols.primitives.cipher import encrypt
from coterie.protocols.primitives.randomness import Random


def run(sets, seed=0, wrap=lambda t: t, **options):
    names = [f"p{i}" for i in range(len(sets))]

    def party(name, own):
        return lambda channel: union(channel, names, own, Random(f"{seed} {name}"), **options)

    return run_parties(
        {name: party(name, own) for name, own in zip(names, sets, strict=True)}, wrap=wrap
    )


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.sets(st.binary(max_size=60), max_size=4), min_size=2, max_size=4),
    st.booleans(),
)
def test_the_union_is_pythons_union(sets, padded):
    results = run(sets, longest=60, pad_to=5 if padded else None)
    for result in results.values():
        assert result == sorted(set().union(*sets))


def test_keys_undo_each_other_in_any_order():
    pairs = [key_pair(Random(i)) for i in range(3)]
    points = place_on_curve(*pairs[0], Random(9).array((20, 29), np.uint8))
    hidden = points
    for key, _ in pairs:
        hidden = encrypt(key, hidden)
    assert (hidden != points).any(axis=1).all()
    for _, inverse in (pairs[1], pairs[0], pairs[2]):
        hidden = encrypt(inverse, hidden)
    assert (hidden == points).all()


@given(st.binary(min_size=29, max_size=90))
def test_mixing_is_undone_and_changes_every_part(block):
    mixed = mix(block)
    assert unmix(mixed) == block
    other = mix(block[:-1] + bytes([block[-1] ^ 1]))
    assert all(mixed[i : i + 8] != other[i : i + 8] for i in range(0, len(block) - 8, 8))


def views(sets, seed):
    """What p0, which merges, and p2 receive from the honest p1, less sizes, as points."""
    traced = {}
    run(sets, seed, wrap=lambda t: traced.setdefault(t.me, Traced(t, capture=True)), pad_to=3)
    return {
        (name, c.step): decode(c.body)[0]
        for name in ("p0", "p2")
        for c in traced[name].captured
        if c.direction == "received" and c.peer == "p1"
    }


def test_what_accomplices_receive_looks_the_same_whoever_holds_an_element():
    """Honest p1 holds x, or an accomplice does: same union, same sizes, same distribution."""
    scenes = ([[b"x"], [b"y"], [b"z"]], [[b"x"], [b"x", b"y"], [b"z"]])
    ones = []
    for sets in scenes:
        bits = []
        for seed in range(40):
            view = views(sets, seed)
            assert {key: value.shape[1:] for key, value in view.items()} == {
                ("p2", "encrypt"): (2, 32),
                ("p0", "merge"): (2, 32),
                ("p2", "decrypt"): (2, 32),
            }
            points = np.concatenate([value.reshape(-1, 32)[:, :31] for value in view.values()])
            bits.append(np.unpackbits(points, axis=1).mean())
        ones.append(bits)
    count = 40 * 2 * (3 + 3 + 8) * 248
    for bits in ones:
        assert abs(np.mean(bits) - 0.5) < 5 * 0.5 / np.sqrt(count)


def test_the_order_in_which_the_last_party_decrypts_tells_nothing():
    """Each party shuffles: every element is equally often at every place."""
    places = np.zeros((3, 3))
    sets = [[b"a"], [b"b"], [b"c"]]
    for seed in range(90):
        traced = {}
        run(sets, seed, wrap=lambda t, k=traced: k.setdefault(t.me, Traced(t, capture=True)))
        plain = next(decode(c.body)[0] for c in traced["p0"].captured if c.step == "union")
        items = [unmix(row[:, :29].tobytes())[4:5] for row in plain]
        for place, item in enumerate(items):
            places[place, b"abc".index(item)] += 1
    assert ((places - 30) ** 2 / 30).sum() < 20  # 4 degrees of freedom: one in 2,000


def test_an_element_that_is_too_long_names_the_party():
    with pytest.raises(DataError, match="p1: set union: an item has more than"):
        run([[b"a"], [b"b" * 50]])


def test_more_elements_than_the_padding_names_the_party():
    with pytest.raises(DataError, match="p0: set union: 3 items, where 2 is the most"):
        run([[b"a", b"b", b"c"], [b"b"]], pad_to=2)


class Twisting(Wrapper):
    """Sends bytes that are no point of the curve."""

    def transmit(self, peer, message):
        if message.step == "encrypt":
            body = bytearray().join(message.body)
            body[-32:] = bytes([2]) + bytes(31)  # its square root does not exist
            message = type(message)(message.session, message.step, message.sequence, [body])
        self.inner.transmit(peer, message)


def test_points_off_the_curve_name_the_party():
    with pytest.raises(PeerFaultError, match="p1: sent an invalid point"):
        run(
            [[b"a"], [b"b"], [b"c"]],
            wrap=lambda t: Twisting(t) if t.me == "p1" else t,
        )
