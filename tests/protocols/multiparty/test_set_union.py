"""Secure set union: the union, and no trace of who held what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Wrapper
from coterie.protocols.multiparty.set_union import key_pair, mix, place_on_curve, union, unmix
from coterie.protocols.primitives.cipher import check, encrypt
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random
from tests.views import assert_alike, watch


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
    points = place_on_curve(Random(9).array((20, 29), np.uint8))
    hidden = points
    for key, _ in pairs:
        hidden = encrypt(key, hidden)
    assert (hidden != points).any(axis=1).all()
    for _, inverse in (pairs[1], pairs[0], pairs[2]):
        hidden = encrypt(inverse, hidden)
    assert (hidden == points).all()


def test_items_become_the_first_points_of_the_subgroup():
    """By another test of membership, which computes with a key and its inverse."""
    key, inverse = key_pair(Random(3))
    points = place_on_curve(Random(4).array((40, 29), np.uint8))
    counters = points[:, 29].astype(int)
    assert not points[:, 30:].any()
    assert counters.max() > 16
    for point, counter in zip(points, counters, strict=True):
        tried = np.repeat(point[None, :], counter + 1, axis=0)
        tried[:, 29] = range(counter + 1)
        inside = [on_curve(one) and undone(key, inverse, one) for one in tried]
        assert inside == [False] * counter + [True]


def on_curve(point):
    try:
        check(point[None, :])
    except InvalidElementError:
        return False
    return True


def undone(key, inverse, point):
    return (encrypt(inverse, encrypt(key, point[None, :])) == point).all()


@given(st.binary(min_size=29, max_size=90))
def test_mixing_is_undone_and_changes_every_part(block):
    mixed = mix(block)
    assert unmix(mixed) == block
    other = mix(block[:-1] + bytes([block[-1] ^ 1]))
    assert all(mixed[i : i + 8] != other[i : i + 8] for i in range(0, len(block) - 8, 8))


def parties(sets, **options):
    """The same for a view test, which draws the random numbers."""
    names = [f"p{i}" for i in range(len(sets))]

    def party(own):
        return lambda channel, rng: union(channel, names, own, rng, **options)

    return {name: party(own) for name, own in zip(names, sets, strict=True)}


def test_accomplices_see_the_same_whichever_of_their_elements_the_honest_party_holds():
    """p0 merges and p2 is last: that p1 has one element of p0's is all they learn."""

    def scene(world):
        return parties([[b"a", b"x"], [(b"a", b"x")[world]], [b"z"]], pad_to=3)

    assert_alike(scene, ("p0", "p2"), runs=6)


def test_the_order_in_which_the_last_party_decrypts_tells_nothing():
    """Each party shuffles: every element is equally often at every place."""
    places = np.zeros((3, 3))
    for seed in range(90):
        view = watch(parties([[b"a"], [b"b"], [b"c"]]), str(seed))["p0"]
        plain = next(values[0] for _, step, values in view.received if step == "union")
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
