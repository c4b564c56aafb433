"""Settings, numbers and peers with which there is no logarithm."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError, UsageError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.logarithm import Session, Settings, logarithms, x_times_logarithms
from coterie.protocols.numbers.paillier import KeySizeError, generate
from coterie.protocols.primitives.randomness import Random
from tests.protocols.numbers.logarithms import run
from tests.protocols.pairs import KEY, run_pair


def test_shares_outside_the_ring_are_refused() -> None:
    for shares in (np.array([1 << 32]), np.zeros((2, 2), np.int64), np.array([-1])):
        with pytest.raises(UsageError, match="not a vector of numbers below 4294967296"):
            run_pair(
                lambda channel, shares=shares: logarithms(
                    Session(channel, "bob", True, Random(1)), Settings(10, 2), shares, Random(2)
                ),
                lambda channel: Session(channel, "alice", False, Random(1)),
            )


def test_settings_that_differ_between_the_parties_are_a_named_fault() -> None:
    for other, reason in [
        (Settings(9, 2), "'9 bits' where '10 bits' is agreed"),
        (Settings(10, 3), "'3 terms' where '2 terms' is agreed"),
        (Settings(10, 2, "none"), "'none scaling'"),
        (Settings(10, 2, zero_as_one=True), "'zero as one'"),
    ]:
        with pytest.raises(PeerFaultError, match=reason):
            run(logarithms, Settings(10, 2), [1, 2], other=other)


def test_a_vector_of_other_length_is_a_named_fault() -> None:
    agreed = Settings(10, 2)

    def party(count: int, first: bool):
        def work(channel: Channel):
            session = Session(channel, channel.peers[0], first, Random(1))
            return logarithms(session, agreed, np.ones(count, np.uint64), Random(2))

        return work

    with pytest.raises(PeerFaultError, match=r"'[34] numbers' where '[34] numbers' is agreed"):
        run_pair(party(3, True), party(4, False))


def test_a_key_too_small_for_bits_and_terms_is_refused_before_any_work() -> None:
    small = generate(Random("small"), 256)
    with pytest.raises(KeySizeError, match="a larger key is needed"):
        run(logarithms, Settings(32, 5), [1], "paillier", key=small)


def test_a_key_size_too_small_is_refused_before_a_key_is_made() -> None:
    agreed = Settings(17, 3)

    def party(bits: int):
        return lambda channel: Session(
            channel,
            channel.peers[0],
            channel.me == "alice",
            Random(channel.me),
            "paillier",
            bits,
            settings=agreed,
        )

    with pytest.raises(KeySizeError, match="17 bits and 3 terms need a Paillier key of 209 bits"):
        run_pair(party(206), party(206))
    one, _ = run_pair(party(210), party(210))  # n has as many bits as asked, so this has room
    assert one.engine.slots(agreed.ring, 2).count == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"bits": 0},
        {"terms": 0},
        {"terms": 99},
        {"scale_bits": 60},
        {"scaling": "some"},
        {"input_modulus": 1},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(bad) -> None:
    with pytest.raises(UsageError, match="logarithm: "):
        Settings(**{"bits": 10, "terms": 3, **bad})


def test_an_unknown_evaluation_is_refused() -> None:
    with pytest.raises(UsageError, match="'guess' is not paillier or transfer"):
        run(logarithms, Settings(10, 2), [1], "guess")


def test_evaluations_that_differ_between_the_parties_are_a_named_fault() -> None:
    agreed = Settings(10, 2)

    def party(first: bool, evaluation: str):
        def work(channel: Channel):
            session = Session(channel, channel.peers[0], first, Random(1), evaluation, KEY.bits)
            return logarithms(session, agreed, np.ones(2, np.uint64), Random(2))

        return work

    with pytest.raises(PeerFaultError, match="sent a message of step 'logarithm'"):
        run_pair(party(True, "paillier"), party(False, "transfer"))


def test_x_ln_x_that_would_overflow_is_refused() -> None:
    with pytest.raises(UsageError, match="overflows shares"):
        run(x_times_logarithms, Settings(32, 1, scale_bits=40), [1])
