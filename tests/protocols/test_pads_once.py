"""No pad, tweak or stream is used twice: counters go on from call to call."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from coterie.protocols.circuits import garbling, half_gates
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import minindex
from coterie.protocols.models.server_products import ServerProducts
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.primitives import punctured_trees
from coterie.protocols.primitives.blocks import Stream
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics import grouped_sums
from coterie.protocols.statistics.shared_counts import Transfers, masked_rows
from coterie.protocols.transfer import oblivious_transfer
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender
from tests.strength import assert_different, assert_whole, numbers
from tests.views import watch

TWO, THREE = ("alice", "bob"), ("ann", "bob", "cat")


def assert_apart(ranges):
    """No two ranges (start, length) have a number in common."""
    ordered = sorted(one for one in ranges if one[1])
    assert ordered
    for (start, length), (after, _) in pairwise(ordered):
        assert start + length <= after, f"{after} is used twice"


# Transfers


def all_transfers(channel, rng):
    """Every kind of transfer twice, in one session."""
    if channel.me == "alice":
        session = Sender(channel, "bob", rng)
        for count in (100, 3):
            session.random(count, 5)
            session.random_bits(count)
            session.send(np.zeros((count, 20), np.uint8), np.zeros((count, 20), np.uint8))
            session.multiply_bits(np.zeros((count + 7) // 8, np.uint8), count)
        return
    session = Receiver(channel, "alice", rng)
    for count in (100, 3):
        session.random(np.ones(count, np.uint8), 5)
        session.random_bits(np.zeros((count + 7) // 8, np.uint8), count)
        session.receive(np.ones(count, np.uint8), 20)
        session.multiply_bits(np.zeros((count + 7) // 8, np.uint8), count)


def test_all_hashes_of_a_session_of_transfers_have_different_tweaks(monkeypatch):
    used = defaultdict(list)
    for name in ("hashed", "hashed_bits"):
        honest = getattr(oblivious_transfer, name)

        def noted(rows, first, domain, mask=None, honest=honest):
            used[domain, mask is None].append((first, len(rows), rows.tobytes()))
            return honest(rows, first, domain, mask)

        monkeypatch.setattr(oblivious_transfer, name, noted)
    watch({"alice": all_transfers, "bob": lambda c, rng: all_transfers(c, rng)}, "tweaks")
    # The sender hashes with and without its secret, the receiver without: other rows, the same tweaks.
    with_secret = used[oblivious_transfer.TRANSFER, False]
    assert len(with_secret) == 2 * (3 + 1 + 2 + 1)
    assert_apart([(first, count) for first, count, _ in with_secret])
    without = defaultdict(int)
    for first, count, _ in used[oblivious_transfer.TRANSFER, True]:
        without[first, count] += 1
    assert set(without.values()) == {2}
    assert_apart(without)


def test_no_pad_of_a_session_of_transfers_comes_again():
    """Neither in another word of a transfer, nor in another transfer, nor in a later call."""

    def party(channel, rng):
        if channel.me == "alice":
            session = Sender(channel, "bob", rng)
            return np.concatenate([np.stack(session.random(200, 5)) for _ in range(3)])
        session = Receiver(channel, "alice", rng)
        return np.concatenate([session.random(np.ones(200, np.uint8), 5) for _ in range(3)])

    for view in watch(dict.fromkeys(TWO, party), "pads").values():
        assert_whole(numbers(view.result.reshape(-1)), 64)


def test_rows_of_two_calls_and_of_two_chunks_are_different(monkeypatch):
    monkeypatch.setattr(oblivious_transfer, "CHUNK", 64)

    def party(channel, rng):
        if channel.me == "alice":
            session = Sender(channel, "bob", rng)
            return np.concatenate([session.correlated(100) for _ in range(2)])
        session = Receiver(channel, "alice", rng)
        return np.concatenate([session.correlated(np.zeros(100, np.uint8)) for _ in range(2)])

    for view in watch(dict.fromkeys(TWO, party), "rows").values():
        assert_whole(numbers(view.result), 128)


def test_a_stream_goes_on():
    stream, parts = Stream(bytes(16)), []
    for _ in range(80):
        out = np.empty(16 + 15, np.uint8)
        stream.fill(out, bytes(16))
        parts.append(out[:16])
    assert_different(numbers(np.stack(parts)))


# Circuits


def test_all_gates_and_outputs_of_a_session_have_different_tweaks(monkeypatch):
    gates, outputs = defaultdict(list), defaultdict(list)
    portable = half_gates.Worker._run_portable

    def noted(self, labels, tables, out, tweak, start, stop):
        gates[self._garbling].append((tweak, tables.shape[0] * tables.shape[1]))
        portable(self, labels, tables, out, tweak, start, stop)

    honest = garbling.hashed

    def hashed(rows, first, domain, mask=None):
        outputs[domain].append((first, len(rows)))
        return honest(rows, first, domain, mask)

    monkeypatch.setattr(half_gates, "accelerated", lambda: False)
    monkeypatch.setattr(half_gates.Worker, "_run_portable", noted)
    monkeypatch.setattr(garbling, "hashed", hashed)

    def party(channel, rng):
        role = (Garbler if channel.me == "alice" else Evaluator)(channel, channel.peers[0], rng)
        for rows in (6, 2):
            minindex(role, np.zeros((rows, 2), np.uint64), 1 << 8)

    watch(dict.fromkeys(TWO, party), "gates")
    assert len(gates) == 2  # the garbler's and the evaluator's
    for ranges in gates.values():
        assert_apart(ranges)
    for ranges in outputs.values():
        # Three hashes of each output: of both labels at the garbler, and at the evaluator.
        counted = defaultdict(int)
        for one in ranges:
            counted[one] += 1
        assert set(counted.values()) == {3}
        assert_apart(counted)


# Trees of pads


@pytest.fixture
def tree_tweaks(monkeypatch):
    """The tweaks of every hash of trees, by domain, as the loops without special instructions show."""
    used = []
    honest = punctured_trees.portable_hash

    def noted(nodes, tweaks, domain):
        used.append((domain, np.asarray(tweaks).copy()))
        return honest(nodes, tweaks, domain)

    monkeypatch.setattr(punctured_trees, "accelerated", lambda: False)
    monkeypatch.setattr(punctured_trees, "portable_hash", noted)
    return used


def test_records_and_nodes_of_a_level_have_tweaks_of_their_own(tree_tweaks):
    roots = Random("roots").array((40, 2))
    punctured_trees.grow(roots, 13, np.zeros((40, 5), np.uint64), 1000, False)
    assert tree_tweaks
    for _, tweaks in tree_tweaks:
        assert len(np.unique(tweaks)) == tweaks.size
    before = max(int(tweaks.max()) for _, tweaks in tree_tweaks)
    del tree_tweaks[:]
    punctured_trees.grow(roots, 13, np.zeros((40, 5), np.uint64), 1040, False)
    assert min(int(tweaks.min()) for _, tweaks in tree_tweaks) > before


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_all_pads_of_trees_are_different(portable, width, monkeypatch):
    """In each leaf, each column and each record, and in no column the negative of another."""
    if portable:
        monkeypatch.setattr(punctured_trees, "accelerated", lambda: False)
    roots = np.zeros((40, 2), np.uint64)  # so that tweaks alone make the difference
    rows = np.zeros((40, width), np.uint64)
    _, _, pads = punctured_trees.grow(roots, 13, rows, 7, True)
    assert_whole(numbers(pads.reshape(-1)), 64)


def test_records_are_numbered_on_from_chunk_to_chunk(monkeypatch):
    used = []
    grow = grouped_sums.grow

    def noted(roots, size, rows, first, each):
        used.append((first, len(rows)))
        return grow(roots, size, rows, first, each)

    monkeypatch.setattr(grouped_sums, "grow", noted)
    monkeypatch.setattr(grouped_sums, "CHUNK", 64)

    def party(channel, rng):
        rows = np.ones((150, 1), np.uint64) if channel.me == "alice" else None
        codes = np.zeros(150, np.int64) if channel.me == "bob" else None
        grouped_sums.grouped_sums(
            Transfers(channel, rng.fork("t")), "alice", [grouped_sums.Grouper("bob", 3)], 150, rows, 1,
            codes, rng, np.uint64,
        )  # fmt: skip

    watch(dict.fromkeys(TWO, party), "chunks")
    assert len(used) > 2
    assert_apart(used)


# Products and shares


def test_prepared_products_are_used_once():
    """Two openings under one mask would tell the difference of what they hide."""
    product = Product(TWO, TWO, 64)

    def party(channel, rng):
        session = Gmw(channel, TWO, rng)
        session.prepare([(product, 300)])
        for _ in range(3):
            session.multiply(product, np.zeros(100, np.uint64), np.zeros(100, np.uint8))
        return session.available(product)

    view = watch(dict.fromkeys(TWO, party), "once")["bob"]
    assert view.result == 0
    sent = [v for v in view.values("alice", "") if isinstance(v, np.ndarray) and v.nbytes == 800]
    assert len(sent) == 3
    assert_whole(numbers(np.concatenate([v.reshape(100, -1) for v in sent])), 64)


def test_every_product_of_a_record_has_a_pad_of_its_own():
    def party(channel, rng):
        transfers = Transfers(channel, rng)
        rows = np.zeros((100, 2), np.uint32) if channel.me == "alice" else None
        bits = np.ones((100, 3), np.uint8) if channel.me == "bob" else None
        for _ in masked_rows(transfers, "alice", [("bob", 3)], 100, 2, rows, bits):
            pass

    sent = watch(dict.fromkeys(TWO, party), "masked")["bob"].values("alice", "products")[-1]
    assert sent.shape == (100, 3, 2)
    assert_whole(numbers(sent.reshape(-1)), 32)


def test_what_moves_to_the_servers_has_another_mask_in_every_turn():
    def party(channel, rng):
        held = {"ann": 0, "bob": 0, "cat": 1}
        products = ServerProducts(Transfers(channel, rng), THREE, ("ann", "bob"), held, rng)
        found = np.zeros(80, np.uint64) if channel.me == "cat" else None
        for _ in range(3):
            products._at_servers("cat", found, 80)

    for name in ("ann", "bob"):
        parts = watch(dict.fromkeys(THREE, party), "moved")[name].values("cat", "share out")
        assert len(parts) == 3
        assert_whole(numbers(np.concatenate(parts)), 64)
