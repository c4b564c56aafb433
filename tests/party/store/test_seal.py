"""A seal depends on every byte of the key and on everything that it is about."""

import json
from dataclasses import replace

import pytest

from coterie.base.errors import VerificationError
from coterie.party.store.seal import CHAINED, NAMED, Sealer, extended, shifted
from tests.strength import assert_different

KEY = bytes(range(32))


def keys():
    """The key with each of its bytes changed, a longer and a shorter one."""
    changed = [KEY[:at] + bytes([KEY[at] ^ 1]) + KEY[at + 1 :] for at in range(32)]
    return [KEY, b"", KEY + b"\0", KEY[:-1], *changed]


@pytest.mark.parametrize(
    "made",
    [
        lambda sealer: sealer.mac("text"),
        lambda sealer: sealer.link("0" * 64, 1, "content"),
        lambda sealer: f"{sealer.of_row('jobs', 'a', 'content'):064x}",
        lambda sealer: f"{sealer.total(('00', 'f' * 64)):064x}",
    ],
)
def test_each_digest_depends_on_every_byte_of_the_key(made):
    assert len({made(Sealer(key)) for key in keys()}) == len(keys())


def test_a_seal_is_opened_with_its_key_alone():
    text = Sealer(KEY).empty().as_text()
    mac = Sealer(KEY).mac(text)
    assert Sealer(KEY).opened(text, mac).serial == 0
    for key in keys()[1:]:
        with pytest.raises(VerificationError, match="not made with the key"):
            Sealer(key).opened(text, mac)
    for at in range(64):
        other = mac[:at] + ("0" if mac[at] != "0" else "1") + mac[at + 1 :]
        with pytest.raises(VerificationError):
            Sealer(KEY).opened(text, other)


def test_a_seal_is_read_as_it_was_written():
    sealer = Sealer(KEY)
    seal = extended(sealer.empty(), sealer, "ledger", "row")
    seal = replace(shifted(seal, sealer, "jobs", 7), serial=3, audit=(5, "a" * 64))
    assert sealer.opened(seal.as_text(), sealer.mac(seal.as_text())) == seal
    assert sealer.total(seal.sums["jobs"]) == 7
    assert json.loads(seal.as_text())[0] == 3


def test_the_place_of_a_text_among_others_counts():
    sealer = Sealer(KEY)
    rows = [("a", "b", "c"), ("ab", "", "c"), ("a", "bc", ""), ("a", "x", "c"), ("x", "b", "c")]
    assert len({sealer.of_row(*parts) for parts in rows}) == 5
    links = [("1", 2, "3"), ("12", 3, ""), ("", 1, "23"), ("0", 2, "3"), ("1", 9, "3")]
    assert len({sealer.link(*parts) for parts in links}) == 5


def test_who_sees_seals_learns_no_digest_of_a_row():
    """Equal books have other sums each time: sums of digests that are known could be combined."""
    sealer = Sealer(KEY)
    hidden = [sealer.hidden(0) for _ in range(200)]
    assert_different([int(value, 16) for _, value in hidden])
    assert_different([int(nonce, 16) for nonce, _ in hidden])
    assert all(sealer.total(one) == 0 for one in hidden)


def test_books_without_rows_have_all_parts():
    seal = Sealer(b"").empty()
    assert (set(seal.chains), set(seal.sums), seal.keyed) == (set(CHAINED), set(NAMED), False)
