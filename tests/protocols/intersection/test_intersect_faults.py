"""Bad peers of an intersection, each a named case: the party that cheats is the one that is named."""

import hashlib

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.messaging.stream import receive_array
from coterie.protocols.messaging.wire import decode
from coterie.protocols.primitives import cipher, group
from coterie.protocols.primitives.randomness import Random
from tests.protocols.intersection.intersections import NAMES, Tampering, run

SETS = [[str(i).encode() for i in range(start, start + 40)] for start in (0, 5, 10)]
HONEST, CHEATER, THIRD = NAMES[:3]


def row(at: int, data: bytes):
    """Replaces one row of the array that is sent."""

    def change(values):
        values[0][at] = np.frombuffer(data[: values[0].shape[1]], np.uint8)
        return values

    return change


def repeat(values):
    values[0][3] = values[0][4]
    return values


def shorter(values):
    return [values[0][:-1]]


def longer(values):
    return [np.concatenate([values[0], values[0][:1]])]


def narrower(values):
    return [np.ascontiguousarray(values[0][:, :-1])]


def empty(values):
    return [values[0][:0]]


def wider_type(values):
    return [values[0].astype(np.uint16)]


def text(values):
    return ["nonsense"]


def flat(values):
    return [values[0].reshape(-1)]


TWIST = (2).to_bytes(32, "little")
SMALL_ORDER = (1).to_bytes(32, "little")
NOT_CANONICAL = (2**255 - 19 + 9).to_bytes(32, "little")

RING = {
    "an element of the twist": (0, row(7, TWIST), "not in the group"),
    "an element of small order": (0, row(7, SMALL_ORDER), "not in the group"),
    "zero, the identity": (0, row(7, bytes(32)), "not in the group"),
    "another encoding": (0, row(7, NOT_CANONICAL), "not in the group"),
    "an element twice": (0, repeat, "twice"),
    "more elements": (0, longer, "more than the 40 elements due"),
    "shorter elements": (0, narrower, "shape"),
    "an empty piece": (0, empty, "shape"),
    "numbers of another type": (0, wider_type, "no array"),
    "a text": (0, text, "no array"),
    "one long row": (0, flat, "shape"),
    "an own element back twice": (1, repeat, "twice"),
    "more of the own elements back": (1, longer, "more than the 40 elements due"),
    "whole points back": (1, lambda v: [np.zeros((40, 32), np.uint8)], "shape"),
}


def faulty(step, number, change, sets=2, cheater=CHEATER, to=None, **options):
    tampering: list[Tampering] = []

    def wrap(transport):
        tampering.append(Tampering(transport, cheater, step, number, change, to))
        return tampering[-1]

    with pytest.raises(PeerFaultError) as caught:
        run(SETS[:sets], wrap=wrap, **options)
    assert any(one.done for one in tampering), "the case never came about"
    return caught.value


@pytest.mark.parametrize("case", RING)
def test_ring(case):
    number, change, reason = RING[case]
    error = faulty("ring", number, change, protocol="ring")
    assert error.peer == CHEATER
    assert reason in error.reason
    assert error.step.endswith("ring") or "twice" in reason


def test_ring_fewer_elements():
    """Whoever is still owed an element finds the next message out of place."""
    error = faulty("ring", 0, shorter, protocol="ring", sets=3, reveal="pairwise")
    assert error.peer in (CHEATER, THIRD)


def test_ring_of_three_a_list_with_a_repeat_to_compare():
    error = faulty("compare", 0, repeat, protocol="ring", sets=3, reveal="pairwise")
    assert (error.peer, error.reason) == (CHEATER, "sent an element twice in its set")


def test_ring_of_three_the_party_after_the_cheater_finds_it_out():
    error = faulty("ring", 1, row(0, TWIST), protocol="ring", sets=3, reveal="pairwise")
    assert error.peer == CHEATER


SIZES = {
    "a text": lambda v: ["forty"],
    "too few values": lambda v: v[:4],
    "a negative size": lambda v: [-1, *v[1:]],
    "an enormous size": lambda v: [2**60, *v[1:]],
    "a short salt": lambda v: [v[0], v[1][:8], *v[2:]],
    "no room": lambda v: [*v[:2], 0, *v[3:]],
    "room without end": lambda v: [*v[:2], 2**50, *v[3:]],
    "more finished than there are": lambda v: [*v[:4], 10**6],
    "an array for a size": lambda v: [np.zeros(3, np.uint8), *v[1:]],
}


@pytest.mark.parametrize("case", SIZES)
def test_sizes(case):
    error = faulty("sizes", 0, SIZES[case], protocol="ring")
    assert (error.peer, error.reason) == (CHEATER, "sent no size, salt and room")


def test_a_size_that_is_not_the_padded_one():
    error = faulty("sizes", 0, lambda v: [39, *v[1:]], protocol="ring", pad_to=50)
    assert error.peer == CHEATER
    assert "not the padded 50" in error.reason


def again(values):
    """Six values come again; one of them at least is common."""
    values[0][20:26] = values[0][:6]
    return values


# party0 has the smaller set by the order of names: it is the receiver, the others send.
OPRF = {
    "no commitment": (CHEATER, "function", 0, text, "no commitment of a sender"),
    "a short commitment": (CHEATER, "function", 0, lambda v: [v[0][:31]], "no commitment"),
    "another commitment": (CHEATER, "function", 0, lambda v: [bytes(32)], "showed another part"),
    "another part": (CHEATER, "function", 1, lambda v: [bytes(32)], "showed another part"),
    "a longer part": (CHEATER, "function", 1, lambda v: [v[0] + b"0"], "no part of a joint"),
    "a value twice": (CHEATER, "compare", 0, again, "sent a value of the function twice"),
    "wider outputs": (CHEATER, "compare", 0, lambda v: [np.zeros((40, 3), np.uint64)], "shape"),
    "outputs of another type": (CHEATER, "compare", 0, text, "no array"),
    "too many outputs": (CHEATER, "compare", 0, longer, "more than the 40"),
    "no seed": (HONEST, "function", 0, lambda v: [1, v[1]], "no seed of a store"),
    "a short seed": (HONEST, "function", 0, lambda v: [v[0][:15], v[1]], "no seed of a store"),
    "a seed alone": (HONEST, "function", 0, lambda v: [v[0]], "no seed of a store"),
    "a short part of the receiver": (
        HONEST,
        "function",
        0,
        lambda v: [v[0], v[1][:31]],
        "no seed of a store",
    ),
    "more words": (HONEST, "function", 1, longer, "more than the"),
    "half words": (HONEST, "function", 1, narrower, "shape"),
    "a text for the words": (HONEST, "function", 1, text, "no array"),
    "bits too many": (
        HONEST,
        "confirm",
        0,
        lambda v: [v[0] | np.uint8(255), v[1]],
        "names a common record that it does not hold",
    ),
    "a proof of nothing": (HONEST, "confirm", 0, lambda v: [v[0], bytes(32)], "does not hold"),
    "a short proof": (HONEST, "confirm", 0, lambda v: [v[0], v[1][:16]], "no bitmap and proof"),
    "a longer bitmap": (HONEST, "confirm", 0, lambda v: [np.zeros(6, np.uint8), v[1]], "no bitmap"),
    "no bitmap": (HONEST, "confirm", 0, text, "no bitmap and proof"),
}


@pytest.mark.parametrize("case", OPRF)
def test_transfers(case):
    cheater, step, number, change, reason = OPRF[case]
    error = faulty(step, number, change, cheater=cheater, protocol="oprf")
    assert error.peer == cheater
    assert reason in error.reason


def test_a_receiver_cannot_prove_a_match_by_what_the_sender_sent():
    """It names all values, and proves them by the halves of the function that it was sent."""
    heard = []

    class Listening(Tampering):
        def receive(self, peer):
            message = self.inner.receive(peer)
            if self.me == HONEST and message.step.endswith("compare"):
                heard.append(decode(bytes(message.body[0]))[0])
            return message

    def all_of_them(values):
        digest = hashlib.sha256(np.concatenate(heard).tobytes()).digest()
        return [values[0] | np.uint8(255), digest]

    with pytest.raises(PeerFaultError, match="does not hold") as caught:
        run(
            SETS[:2],
            wrap=lambda t: Listening(t, HONEST, "confirm", 0, all_of_them),
            protocol="oprf",
        )
    assert caught.value.peer == HONEST
    assert sum(map(len, heard)) == 40


def test_a_receiver_that_names_fewer_matches_is_believed():
    """What no proof can show: it could have brought fewer values."""
    fewer = lambda v: [v[0] & np.uint8(0), hashlib.sha256().digest()]  # noqa: E731
    rows = run(SETS[:2], wrap=lambda t: Tampering(t, HONEST, "confirm", 0, fewer), protocol="oprf")
    assert len(rows[0]) == 35
    assert len(rows[1]) == 0


def bad_element(values):
    values[0][2] = 255
    return values


HINTS = {
    "a short key for two": (
        HONEST,
        "keys",
        0,
        lambda v: [b"short"],
        None,
        "ring",
        "no key of 16 bytes",
    ),
    "an invalid query": (HONEST, "function", 0, bad_element, None, "ring", "not in the group"),
    "an invalid answer": (CHEATER, "function", 0, bad_element, None, "ring", "not in the group"),
    "a short seed of a hint": (
        CHEATER,
        "hints",
        0,
        lambda v: [v[0][:-1]],
        None,
        "ring",
        "no seed of a hint",
    ),
    "another part of the function": (
        CHEATER,
        "function",
        1,
        lambda v: [bytes(32)],
        None,
        "oprf",
        "showed another part",
    ),
    "a hint of another type": (CHEATER, "hints", 1, text, None, "oprf", "no array"),
    "a longer hint": (CHEATER, "hints", 1, longer, None, "oprf", "more than"),
    "a record that some party lacks": (
        HONEST,
        "confirm",
        1,
        lambda v: [v[0] ^ np.uint64(1)],
        CHEATER,
        "ring",
        "does not have",
    ),
    "no list": (HONEST, "confirm", 0, text, CHEATER, "ring", "no possible number"),
}


@pytest.mark.parametrize("case", HINTS)
def test_hints(case):
    cheater, step, number, change, to, protocol, reason = HINTS[case]
    error = faulty(step, number, change, sets=3, cheater=cheater, to=to, protocol=protocol)
    assert error.peer == cheater
    assert reason in error.reason


def test_a_leader_that_tells_two_parties_different_lists_is_found_out():
    tampering = []

    class Fewer(Tampering):
        """Announces one record fewer to one party, consistently."""

        def transmit(self, peer, message):
            self.number = self.seen  # every message
            super().transmit(peer, message)

    def fewer(values):
        value = values[0]
        return [value - 1] if isinstance(value, int) else [value[:-1]]

    def wrap(transport):
        tampering.append(Fewer(transport, HONEST, "confirm", 0, fewer, THIRD))
        return tampering[-1]

    with pytest.raises(PeerFaultError) as caught:
        run(SETS, wrap=wrap, protocol="ring")
    assert caught.value.peer == HONEST
    assert "named other common records to" in caught.value.reason


def test_an_honest_hint_for_other_keys_gives_no_match():
    """A party that uses values it does not hold can only add or lose records, never learn others' keys."""
    found = run([SETS[0], SETS[1], [b"other %d" % i for i in range(40)]], protocol="ring")
    assert [len(rows) for rows in found] == [0, 0, 0]


def test_a_stream_that_stops_short_waits_for_the_rest():
    def party(channel):
        with channel.step("stream"):
            if channel.me == "a":
                for size in (1, 4, 5):
                    channel.send("b", np.ones((size, 2), np.uint8))
                return None
            return receive_array(channel, "a", 10, 2).sum()

    assert run_same(["a", "b"], party)["b"] == 20


def test_the_groups_of_both_ciphers_refuse_each_others_elements_or_take_them_as_their_own():
    """ristretto255 and Curve25519 encodings look alike; no function takes one for the other unchecked."""
    elements = group.hash_to_group(Random(1).array((40, 16), np.uint8))
    with pytest.raises(group.InvalidElementError):
        cipher.check(elements)  # forty of them on the curve by chance: 2^-40
    points = cipher.hash_to_curve(Random(1).array((40, 16), np.uint8))
    assert not group.valid(points).all()
