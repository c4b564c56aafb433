"""Identifiers in one buffer: their digests are those of each alone, and repeats are suspected."""

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.intersection.identifiers import Identifiers

SALT = bytes(range(32))


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=20))
def test_digests_are_salted_blake2b_of_each_value(values):
    found = Identifiers.pack(values).digests(SALT)
    wanted = [
        hashlib.blake2b(v, digest_size=16, salt=SALT[:16], person=SALT[16:]).digest()
        for v in values
    ]
    assert [bytes(row) for row in found] == wanted


def test_a_stretch_has_the_digests_of_its_own_values():
    packed = Identifiers.pack([b"a", b"bb", b"", b"ccc"])
    assert (packed.digests(SALT, 1, 3) == packed.digests(SALT)[1:3]).all()


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"a", b"b", b"ab", b"", b"xyz"]), max_size=12))
def test_every_row_with_a_repeated_value_is_suspected(values):
    repeated = [row for row, value in enumerate(values) if values.count(value) > 1]
    assert Identifiers.pack(values).suspects().tolist() == repeated
