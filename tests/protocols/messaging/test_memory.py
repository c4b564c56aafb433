"""Parties in one process share nothing but messages, and the error that counts is the first cause."""

import numpy as np
import pytest

from coterie.base.errors import DataError, PeerLostError
from coterie.protocols.messaging.memory import run_parties, run_same


def test_a_receiver_does_not_hold_the_senders_array():
    sent = np.zeros(3, np.uint8)

    def sender(channel):
        channel.send("b", sent)
        sent[:] = 9

    got = run_parties({"a": sender, "b": lambda channel: channel.recv("a")})["b"]
    assert got.tolist() == [0, 0, 0]


def test_the_error_raised_is_the_cause_and_not_the_loss_of_who_had_it():
    def fails(channel):
        raise DataError("the cause")

    with pytest.raises(DataError, match="the cause"):
        run_parties({"a": lambda channel: channel.recv("b"), "b": fails})


def test_whoever_waits_for_a_party_that_has_finished_is_told_so():
    with pytest.raises(PeerLostError, match="has finished"):
        run_parties({"a": lambda channel: channel.recv("b"), "b": lambda channel: None})


def test_peers_stand_in_ring_order_after_each_party():
    assert run_same(["a", "b", "c"], lambda channel: tuple(channel.peers)) == {
        "a": ("b", "c"), "b": ("c", "a"), "c": ("a", "b"),
    }  # fmt: skip
