"""Base transfers and their extension: correctness, distribution, bad peers, vectors."""

from itertools import pairwise

import numpy as np
import pytest
import rbcl
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives import aes, field128, leaf_sums
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer import oblivious_transfer
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys
from coterie.protocols.transfer.oblivious_transfer import (
    BASE_STEP,
    STEP,
    Receiver,
    Sender,
    pack,
    unpack,
)
from tests.protocols.transfer.sizes import transfer_bytes
from tests.protocols.wrappers import Traced
from tests.views import assert_alike, watch


def pair(sender, receiver, seed=0, **options):
    """Both roles on a fresh session; what each function returned."""
    result = run_parties(
        {
            "anna": lambda channel: sender(Sender(channel, "bela", Random(f"a{seed}"))),
            "bela": lambda channel: receiver(Receiver(channel, "anna", Random(f"b{seed}"))),
        },
        **options,
    )
    return result["anna"], result["bela"]


def bits(count, seed=0):
    return Random(f"bits {seed}").bits(count)


def chosen(choices, pairs):
    return np.where(choices[:, None] == 1, pairs[1], pairs[0])


def test_base_transfer_gives_the_chosen_key_and_a_different_other_one():
    choices = bits(20)
    result = run_parties(
        {
            "anna": lambda channel: send_keys(channel, "bela", 20, Random(1)),
            "bela": lambda channel: receive_keys(channel, "anna", choices, Random(2)),
        }
    )
    keys, got = result["anna"], result["bela"]
    assert (chosen(choices, keys) == got).all()
    assert len({key.tobytes() for key in keys.reshape(-1, 16)}) == 40


def test_no_two_runs_of_the_base_transfers_share_an_oracle():
    """With the same randomness and the same points, a later run in the session has other keys."""
    choices = bits(5)
    result = run_parties(
        {
            "anna": lambda channel: [send_keys(channel, "bela", 5, Random(1)) for _ in range(3)],
            "bela": lambda channel: [
                receive_keys(channel, "anna", choices, Random(2)) for _ in range(3)
            ],
        }
    )
    for keys, got in zip(result["anna"], result["bela"], strict=True):
        assert (chosen(choices, keys) == got).all()
    assert len({key.tobytes() for key in np.concatenate(result["bela"])}) == 15


def test_base_choices_do_not_show_in_the_points():
    """Either of the two points is uniform whatever the choice."""

    def scene(world):
        choices = np.full(200, world, np.uint8)
        return {
            "anna": lambda channel, rng: send_keys(channel, "bela", 200, rng) is None,
            "bela": lambda channel, rng: receive_keys(channel, "anna", choices, rng) is None,
        }

    assert_alike(scene, "anna")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 300), st.integers(1, 7), st.integers(0, 40), st.integers(0, 2**30))
def test_every_kind_of_transfer_delivers_what_was_chosen(count, words, width, seed):
    choices = bits(count, seed)
    messages = Random(f"m{seed}").array((2, count, width), np.uint8)
    x = bits(count, seed + 1)

    def sender(session):
        out = [session.delta, session.correlated(count), session.random(count, words)]
        session.send(*messages)
        return [*out, session.random_bits(count), session.multiply_bits(pack(x), count)]

    def receiver(session):
        return [
            session.correlated(choices),
            session.random(choices, words),
            session.receive(choices, width),
            session.random_bits(pack(choices), count),
            session.multiply_bits(pack(choices), count),
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oblivious_transfer, "CHUNK", 64)
        (delta, q, pads, bit_pairs, left), (t, pad, message, bit, right) = pair(sender, receiver)
    assert delta[0] & np.uint64(1) == 1
    assert (t == q ^ choices[:, None] * delta).all()
    assert (chosen(choices, pads) == pad).all()
    assert (chosen(choices, messages) == message).all()
    zero, one = (unpack(part, count) for part in bit_pairs)
    assert (np.where(choices, one, zero) == unpack(bit, count)).all()
    assert (unpack(left, count) ^ unpack(right, count) == x & choices).all()


def test_a_large_transfer_spans_several_chunks():
    count = 2 * oblivious_transfer.CHUNK + 13
    choices = bits(count)
    pairs, got = pair(lambda s: s.random(count), lambda r: r.random(choices))
    assert (chosen(choices, pairs) == got).all()


def balanced(coins):
    """Within six standard deviations of even."""
    return abs(int(coins.sum()) - coins.size / 2) < 6 * (coins.size / 4) ** 0.5


def test_messages_look_random_and_independent_of_choices_and_of_each_other():
    count = 1 << 15
    choices = np.zeros(count, np.uint8)  # the worst input: everything the same
    (zero, one), _ = pair(lambda s: s.random(count), lambda r: r.random(choices))
    for values in (zero, one, zero ^ one, zero[1:] ^ zero[:-1], zero ^ np.roll(one, 1, 0)):
        spread = np.unpackbits(np.ascontiguousarray(values).view(np.uint8), axis=1)
        assert balanced(spread)
        assert all(balanced(column) for column in spread.T)
    assert len(np.unique(np.concatenate([zero, one]), axis=0)) == 2 * count


def columns_of(value, count=1 << 12):
    """A sender and a receiver that always makes the same choice."""
    choices = np.full(count, value, np.uint8)
    return {
        "anna": lambda channel, rng: Sender(channel, "bela", rng).random(count) is None,
        "bela": lambda channel, rng: Receiver(channel, "anna", rng).random(choices) is None,
    }


def test_choices_do_not_show_in_the_columns():
    assert_alike(columns_of, "anna")


@pytest.mark.parametrize("value", [0, 1])
def test_columns_look_random_and_independent_of_each_other(value):
    [columns, _, choices] = watch(columns_of(value), "columns")["anna"].values("bela", STEP)
    assert balanced(np.unpackbits(choices))
    spread = np.unpackbits(columns, axis=1)
    assert balanced(spread)
    assert all(balanced(row) for row in spread)
    assert all(balanced(a ^ b) for a, b in pairwise(spread))


def test_a_share_of_bit_products_is_an_even_coin():
    count = 1 << 15
    ones = pack(np.ones(count, np.uint8))
    left, right = pair(
        lambda s: s.multiply_bits(ones, count), lambda r: r.multiply_bits(ones, count)
    )
    assert balanced(np.unpackbits(left))
    assert (left ^ right == 0xFF).all()


def run_traced():
    traces = []

    def wrap(transport):
        traces.append(Traced(transport))
        return traces[-1]

    def sender(session):
        session.send(*np.arange(600, dtype=np.uint8).reshape(2, 30, 10))
        return session.random(9), session.random_bits(11)

    def receiver(session):
        return (
            session.receive(bits(30), 10),
            session.random(bits(9)),
            session.random_bits(pack(bits(11)), 11),
        )

    result = pair(sender, receiver, wrap=wrap)
    return {trace.me: trace.chain for trace in traces}, result


def test_a_seeded_run_has_this_very_trace_on_every_implementation(monkeypatch):
    chains, result = run_traced()
    again, _ = run_traced()
    assert chains == again
    assert chains["anna"][:32] == "553ac1c4d66ebcb5f6d21d5fd7cb3d91"
    assert result[0][0][0][0].tobytes().hex() == "add9a023a90d462635bf01e004fd004f"
    for module in (aes, leaf_sums, field128):
        monkeypatch.setattr(module, "accelerated", lambda: False)
    portable, result_again = run_traced()
    assert portable == chains
    assert (result_again[0][0][0] == result[0][0][0]).all()


def test_it_sends_what_the_docstring_says():
    meters = {}

    def wrap(transport):
        meters[transport.me] = Metered(transport)
        return meters[transport.me]

    count = 4096
    choices = bits(count)
    pair(lambda s: s.random(count), lambda r: r.random(choices), wrap=wrap)
    base = meters["anna"].by_step[BASE_STEP]
    assert 64 * 128 <= base.sent_bytes <= 64 * 128 + 64
    assert 32 + 4128 <= base.received_bytes <= 32 + 4128 + 120
    transfers = meters["bela"].by_step[STEP]
    assert 0 <= transfers.sent_bytes - transfer_bytes(count) <= 100
    assert transfers.received_bytes == 0


def test_bad_arguments_are_refused_before_anything_is_sent():
    with pytest.raises(ValueError, match="one width"):
        pair(lambda s: s.send(np.zeros((2, 3), np.uint8), np.zeros((2, 4), np.uint8)), lambda r: 0)
    with pytest.raises(ValueError, match="2 bytes"):
        pair(lambda s: 0, lambda r: r.random_bits(np.zeros(3, np.uint8), 12))


class TestBadPeers:
    def refused(self, match, anna, bela):
        with pytest.raises(PeerFaultError, match=match) as caught:
            run_parties({"anna": anna, "bela": bela})
        return caught.value

    @pytest.mark.parametrize(
        "choices",
        [
            np.zeros(3, np.uint8),
            np.zeros(1, np.uint8),
            np.zeros(2, np.uint16),
            np.zeros((1, 2), np.uint8),
            b"\0" * 2,
            7,
        ],
        ids=["too long", "too short", "of words", "a matrix", "bytes", "an integer"],
    )
    def test_choices_of_another_shape(self, choices):
        def bela(channel):
            session = Receiver(channel, "anna", Random(1))
            with channel.step(STEP):
                session._source.take(16, 16)
                channel.send("anna", choices)

        error = self.refused(
            r"sent no choices of shape \(2,\)",
            lambda channel: Sender(channel, "bela", Random(2)).random(16),
            bela,
        )
        assert error.peer == "bela"
        assert error.step == STEP

    @pytest.mark.parametrize(
        "sealed", [np.zeros((2, 4, 5), np.uint8), np.zeros((2, 5, 4), np.int8), b""]
    )
    def test_sealed_messages_of_another_shape(self, sealed):
        def anna(channel):
            session = Sender(channel, "bela", Random(1))
            session.random(5)
            with channel.step(STEP):
                channel.send("bela", sealed)

        self.refused(
            "anna: sent no sealed messages of shape",
            anna,
            lambda channel: Receiver(channel, "anna", Random(2)).receive(bits(5), 4),
        )

    def test_corrections_of_another_length(self):
        def anna(channel):
            Sender(channel, "bela", Random(1)).random_bits(20)
            with channel.step(STEP):
                channel.send("bela", np.zeros(2, np.uint8))

        self.refused(
            "anna: sent no corrections of shape",
            anna,
            lambda channel: Receiver(channel, "anna", Random(2)).multiply_bits(pack(bits(20)), 20),
        )

    @pytest.mark.parametrize(
        ("public", "match"),
        [
            (b"\xff" * 32, "an invalid point as its key"),
            (bytes(32), "an invalid point as its key"),
            (bytes(31), "no point as its key"),
            (5, "no point as its key"),
        ],
        ids=["off the group", "identity", "short", "an integer"],
    )
    def test_a_key_that_is_no_point(self, public, match):
        def bela(channel):
            with channel.step(BASE_STEP):
                channel.send("anna", public)
                channel.recv("anna")

        self.refused(match, lambda channel: Sender(channel, "bela", Random(2)), bela)

    @pytest.mark.parametrize(
        ("points", "match"),
        [
            (np.full((128, 2, 32), 255, np.uint8), "invalid point for base transfer 0"),
            (np.zeros((128, 2, 31), np.uint8), "no 128 pairs"),
            (np.zeros((127, 2, 32), np.uint8), "no 128 pairs"),
            (b"", "no 128 pairs"),
        ],
        ids=["off the group", "short points", "too few", "bytes"],
    )
    def test_points_that_are_none(self, points, match):
        def anna(channel):
            with channel.step(BASE_STEP):
                channel.send("bela", points)
                channel.recv("bela")

        self.refused(match, anna, lambda channel: Receiver(channel, "anna", Random(2)))

    def test_points_that_cancel_the_oracle(self):
        from coterie.protocols.transfer.base_transfer import _context, _oracle

        def anna(channel):
            other = rbcl.crypto_core_ristretto255_from_hash(bytes(64))
            oracle = _oracle(_context(channel, "bela", "anna"), 0, 0, bytes(other))
            zero = rbcl.crypto_core_ristretto255_sub(bytes(other), bytes(other))
            own = rbcl.crypto_core_ristretto255_sub(bytes(zero), oracle)
            points = np.zeros((128, 2, 32), np.uint8)
            points[0] = np.frombuffer(bytes(own) + bytes(other), np.uint8).reshape(2, 32)
            with channel.step(BASE_STEP):
                channel.send("bela", points)
                channel.recv("bela")

        self.refused(
            "invalid point for base transfer 0",
            anna,
            lambda channel: Receiver(channel, "anna", Random(2)),
        )
