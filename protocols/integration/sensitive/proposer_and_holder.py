"""One proposer and one holder: shares of the sums by slot, and circuits that decide on them.

The messages, the adversary and the cost are those of `conditions`, which uses a `Pair` for every
proposer with every holder of a sensitive column; `joint_frequencies` uses one for two holders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits, Ints, Words
from coterie.protocols.circuits.arithmetic import Builder, Circuit
from coterie.protocols.circuits.boolean import built_once, to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler, Reveal
from coterie.protocols.integration.sensitive.slots import Layout
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import elements_of, words_for
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

_WIDTH = 64  # verdicts that one circuit combines


class Pair:
    """The sessions between a proposer and a holder, at one of the two."""

    def __init__(self, channel: Channel, proposer: str, holder: str, rng: Random) -> None:
        self.channel = channel
        self.proposes = channel.me == proposer
        self.peer = holder if self.proposes else proposer
        self._garbling: Garbler | Evaluator
        if self.proposes:
            self._garbling = Garbler(channel, holder, rng)
            self._receiver = Receiver(channel, holder, rng)
        else:
            self._garbling = Evaluator(channel, proposer, rng)
            self._sender = Sender(channel, proposer, rng)

    def choose(self, layout: Layout, slots: Ints, columns: int, bits: int) -> Words:
        """The proposer's shares of the sums, by slot."""
        dtype = _number(bits)
        total = np.zeros((layout.slots, columns), dtype)
        own = layout.first_slot[layout.group_of_record] + slots
        with self.channel.step("sums"):
            for places, targets in layout.chunks(columns):
                choices = (own[places] == targets).astype(np.uint8)
                pads = self._receiver.random(choices, words_for(columns, dtype))
                correction = self.channel.recv_array(
                    self.peer, dtype, (len(places), columns), "corrections of the due shape"
                )
                chosen = correction * choices[:, None].astype(dtype)
                _add_up(total, targets, elements_of(pads, columns, dtype) + chosen)
        first = layout.first_slot
        total[first] = -np.add.reduceat(total, first, axis=0, dtype=dtype)
        return total.astype(np.uint64)

    def offer(self, layout: Layout, rows: Ints, bits: int) -> Words:
        """The holder's shares of the sums of these rows, one for each record of the layout."""
        dtype = _number(bits)
        columns = rows.shape[1]
        numbers = rows.astype(dtype)
        total = np.zeros((layout.slots, columns), dtype)
        with self.channel.step("sums"):
            for places, targets in layout.chunks(columns):
                words = words_for(columns, dtype)
                zero, one = self._sender.random(len(places), words)
                pads = elements_of(zero, columns, dtype)
                correction = pads - elements_of(one, columns, dtype) + numbers[places]
                self.channel.send(self.peer, correction)
                _add_up(total, targets, -pads)
        starts = np.cumsum(layout.sizes) - layout.sizes
        whole = np.add.reduceat(numbers, starts, axis=0, dtype=dtype)
        first = layout.first_slot
        total[first] = whole - np.add.reduceat(total, first, axis=0, dtype=dtype)
        return total.astype(np.uint64)

    def run(self, circuit: Circuit, words: Words, bits: int) -> Bits:
        """Shares of the circuit's one output for every row of words."""
        count = len(words)
        mine = to_bits(words.reshape(-1), 64)[:, :bits].reshape(count, -1)
        return self._garbled(circuit, mine, "shares")

    def all_hold(self, shares: Bits, reveal: Reveal) -> Bits:
        """The conjunction of shared bits."""
        return self.groups_hold(shares.reshape(1, -1), reveal)

    def groups_hold(self, shares: Bits, reveal: Reveal) -> Bits:
        """The conjunction of the shared bits of each row, `_WIDTH` at a time."""
        circuit = _all_circuit()
        count = len(shares)
        while True:
            parts = -(-shares.shape[1] // _WIDTH)
            padded = np.full((count, parts * _WIDTH), int(self.proposes), np.uint8)
            padded[:, : shares.shape[1]] = shares
            last = parts == 1
            found = self._garbled(
                circuit, padded.reshape(count * parts, _WIDTH), reveal if last else "shares"
            )
            if last:
                return found
            shares = found.reshape(count, parts)

    def _garbled(self, circuit: Circuit, mine: Bits, reveal: Reveal) -> Bits:
        name = "proposer" if self.proposes else "holder"
        with self.channel.step("decide"):
            found = self._garbling.run(circuit, {name: mine}, reveal, len(mine))
        [output] = found.values()
        assert output is not None  # noqa: S101
        return output[:, 0]


@built_once(1)
def _all_circuit() -> Circuit:
    builder = Builder()
    ours, theirs = builder.input("proposer", _WIDTH), builder.input("holder", _WIDTH)
    builder.output("holds", [builder.all(builder.xor_words(ours, theirs))])
    return builder.build()


def _number(bits: int) -> Any:
    """The smallest unsigned integer type with at least `bits` bits."""
    return next(t for t in (np.uint8, np.uint16, np.uint32, np.uint64) if 8 * t().itemsize >= bits)


def _add_up(total: Array, targets: Ints, rows: Array) -> None:
    """Adds each row to its slot; the rows of a slot stand together."""
    starts = np.flatnonzero(np.diff(targets, prepend=-1))
    total[targets[starts]] += np.add.reduceat(rows, starts, axis=0, dtype=total.dtype)
