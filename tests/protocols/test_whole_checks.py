"""Checks of what a peer sends look at every value, and at all of it.

A lie in any single place is found: each test tries all places, or the last byte, or a lie that agrees
with the truth in the bytes that a peer can search for.
"""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import rbcl

from coterie.base.errors import PeerFaultError
from coterie.protocols.circuits.garbling import OUTPUT, OUTPUTS, Evaluator, Garbler
from coterie.protocols.integration.witness import Asking
from coterie.protocols.intersection.confirm import confirm
from coterie.protocols.intersection.multiparty_intersect import _same_list
from coterie.protocols.intersection.ring import _refuse_repeats
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.kept import TOKEN_BYTES, Answer, _common
from coterie.protocols.messaging.memory import MemoryNetwork, run_parties
from coterie.protocols.multiparty.coin_toss import _commitment, toss
from coterie.protocols.primitives import cipher
from coterie.protocols.primitives.aes import hashed
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.mixed_cells import held_once
from coterie.protocols.transfer.base_transfer import send_keys

TWO, THREE = ("alice", "bob"), ("ann", "bob", "cat")


def told(*messages, names=TWO, step=None):
    """The first party's channel, to which each of the others has sent these messages."""
    network = MemoryNetwork(list(names))
    for name in names[1:]:
        sender = Channel(network.transport(name), "checks")
        with sender.step(step) if step else nullcontext():
            for values in messages:
                sender.send(names[0], *values)
    return Channel(network.transport(names[0]), "checks")


def changed(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("at", [0, 1, 15, 16, 31])
@pytest.mark.parametrize("name", THREE)
def test_a_digest_of_what_was_told_is_compared_for_every_party_and_byte(name, at):
    heard = {one: hashlib.sha256(one.encode()).digest() for one in THREE}

    def party(channel):
        mine = heard if channel.me != "bob" else {**heard, name: changed(heard[name], at)}
        compare_digests(channel, THREE, mine, "something")

    with pytest.raises(PeerFaultError):
        run_parties(dict.fromkeys(THREE, party))


def test_a_string_whose_commitment_agrees_in_two_bytes_is_refused():
    """Which a cheater finds in a moment."""
    truth = _commitment("bob", bytes(32))
    numbers = (number.to_bytes(32, "big") for number in count(1))
    lie = next(one for one in numbers if _commitment("bob", one)[:2] == truth[:2])

    def cheat(channel):
        with channel.step("commit"):
            channel.send("alice", truth)
            theirs = channel.recv("alice")
        with channel.step("show"):
            channel.send("alice", lie + hashlib.sha256(theirs + truth).digest())

    honest = lambda channel: toss(channel, TWO, Random(1))  # noqa: E731
    with pytest.raises(PeerFaultError, match="had committed to"):
        run_parties({"alice": honest, "bob": cheat})


@pytest.mark.parametrize("at", [0, 1, 16, 31])
def test_commitments_that_others_heard_are_compared_in_every_byte(at):
    truth = _commitment("bob", bytes(32))

    def cheat(channel):
        with channel.step("commit"):
            channel.send("alice", truth)
            theirs = channel.recv("alice")
        with channel.step("show"):
            channel.send("alice", bytes(32) + changed(hashlib.sha256(theirs + truth).digest(), at))

    honest = lambda channel: toss(channel, TWO, Random(1))  # noqa: E731
    with pytest.raises(PeerFaultError, match="heard other commitments"):
        run_parties({"alice": honest, "bob": cheat})


@pytest.mark.parametrize("bit", [0, 7, 8, 63])
def test_garbled_outputs_are_checked_each_in_all_its_bits(bit):
    labels = Random("labels").array((3, 4, 2))

    def check(values):
        evaluator = Evaluator.__new__(Evaluator)
        evaluator._channel, evaluator.peer, evaluator._checks = told(), "bob", 0
        evaluator._check(labels, values, 0)

    flat = labels.reshape(-1, 2)
    truth = np.repeat(hashed(flat, 0, OUTPUT)[:, :1], 2, axis=1).reshape(labels.shape)
    check(truth)
    for at in np.ndindex(3, 4):
        lie = truth.copy()
        lie[at] ^= np.uint64(1 << bit)
        with pytest.raises(PeerFaultError, match="do not evaluate"):
            check(lie)


def test_output_labels_that_come_back_are_checked_each():
    zeros = Random("labels").array((3, 4, 2))
    delta = Random("delta").array(2) | np.uint64(1)
    circuit = SimpleNamespace(outputs={"sum": range(4)}, split=lambda bits: {"sum": bits})

    def reveal(labels):
        garbler = Garbler.__new__(Garbler)
        garbler._channel, garbler.peer = told([labels], step=OUTPUTS), "bob"
        garbler._transfers = SimpleNamespace(delta=delta)
        return garbler._reveal(circuit, zeros, {"sum": "garbler"})

    assert not reveal(zeros)["sum"].any()
    assert reveal(zeros ^ delta)["sum"].all()
    for at in np.ndindex(3, 4, 2):
        lie = zeros.copy()
        lie[at] ^= np.uint64(2)
        with pytest.raises(PeerFaultError, match="that no instance has"):
            reveal(lie)


@pytest.mark.parametrize("at", range(4))
def test_what_the_servers_tell_is_compared_in_every_byte(at):
    truth = np.arange(4, dtype=np.uint8)
    lie = truth.copy()
    lie[at] ^= 1
    network = MemoryNetwork(["cat", "ann", "bob"])
    for name, bits in (("ann", truth), ("bob", lie)):
        sender = Channel(network.transport(name), "checks")
        with sender.step("tell"):
            sender.send("cat", bits)
    group = HiddenCounts.__new__(HiddenCounts)
    group.channel = Channel(network.transport("cat"), "checks")
    group.names, group.servers = THREE, ("ann", "bob")
    with pytest.raises(PeerFaultError, match="than the other server"):
        group.tell(None, (4, 8))


TAGS = np.stack([np.arange(10), np.arange(10)], axis=1).astype(np.uint64)


def confirmed(named):
    return confirm(told([len(named)], [named]), "bob", TAGS, 10)


@pytest.mark.parametrize("at", range(6))
def test_every_common_record_that_is_named_must_be_there_and_in_order(at):
    named = TAGS[2:8]
    assert confirmed(named).tolist() == list(range(2, 8))
    foreign = named.copy()
    foreign[at, 1] += np.uint64(100)
    with pytest.raises(PeerFaultError, match="does not have"):
        confirmed(foreign)
    if at:
        turned = named.copy()
        turned[[at - 1, at]] = turned[[at, at - 1]]
        with pytest.raises(PeerFaultError, match="out of order"):
            confirmed(turned)
        twice = named.copy()
        twice[at] = twice[at - 1]
        with pytest.raises(PeerFaultError, match="out of order, or twice"):
            confirmed(twice)


@pytest.mark.parametrize("at", [0, 1, 31])
def test_lists_of_common_records_are_compared_in_every_byte_of_their_digest(at):
    digest = hashlib.sha256(TAGS.tobytes()).digest()
    _same_list(told([digest], names=THREE), "bob", TAGS)
    with pytest.raises(PeerFaultError, match="named other common records"):
        _same_list(told([changed(digest, at)], names=THREE), "bob", TAGS)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (3, 7), (8, 9), (0, 9)])
def test_an_element_that_comes_twice_is_found_wherever_it_is(one, other):
    tags = Random("tags").array((10, 2))
    _refuse_repeats(told(), "bob", tags, "here")
    tags[other] = tags[one]
    with pytest.raises(PeerFaultError, match="twice"):
        _refuse_repeats(told(), "bob", tags, "here")


@pytest.mark.parametrize("at", range(5))
def test_every_point_of_a_peer_is_checked(at):
    points = cipher.hash_and_encrypt(cipher.random_key(Random(1)), np.zeros((5, 16), np.uint8))
    cipher.check(points)
    points[at] = 255
    with pytest.raises(cipher.InvalidElementError):
        cipher.check(points)


@pytest.mark.parametrize(("index", "side"), [(0, 0), (0, 1), (3, 0), (3, 1)])
def test_every_point_of_base_transfers_is_checked(index, side):
    """A point off the group would show by the error, or by its order, what it was multiplied by."""
    drawn = [bytes(rbcl.crypto_core_ristretto255_from_hash(bytes([n]) * 64)) for n in range(8)]
    points = np.frombuffer(b"".join(drawn), np.uint8).reshape(4, 2, 32).copy()
    points[index, side] = 255

    with pytest.raises(PeerFaultError, match=f"invalid point for base transfer {index}"):
        send_keys(told([points]), "bob", 4, Random(1))


@pytest.mark.parametrize("at", range(3))
def test_an_instruction_is_compared_with_all_that_the_witness_saw(at):
    granted = [1, 2, np.array([0.5])]
    asking = Asking.__new__(Asking)
    asking.channel, asking._granted = told(), granted
    asking._told = lambda instruction: instruction
    asking.check("bob", list(granted))
    other = [9, 9, np.array([0.75])]
    lie = [*granted[:at], other[at], *granted[at + 1 :]]
    with pytest.raises(PeerFaultError, match="something else than the witness"):
        asking.check("bob", lie)


@pytest.mark.parametrize("at", range(5))
def test_the_tokens_of_all_answers_of_an_attempt_are_compared(at):
    answers = [Answer(bytes([n]) * TOKEN_BYTES, "what", (), b"") for n in range(5)]
    tokens = [answer.token for answer in answers]
    tokens[at] = b"x" * TOKEN_BYTES
    claim = [part for token in tokens for part in (token, 1)]
    assert _common(answers, claim) == at


def test_a_cell_at_two_parties_does_not_make_up_for_one_at_none():
    """Only words of their own for all cells find every pair of faults."""
    held = np.zeros((3, 40, 90), bool)  # party, column, record
    held[np.arange(90) % 3, :, np.arange(90)] = True
    for column in range(40):
        held[:, column, column] = True
        held[:, column, [column + 1, column + 2]] = False

    def party(channel):
        group = HiddenCounts(channel, THREE, ("ann", "bob"), Random(channel.me))
        mine = list(held[THREE.index(channel.me)])
        return held_once(group, mine, Random(f"check {channel.me}"))

    assert run_parties(dict.fromkeys(THREE, party))["cat"] == [False] * 40
