"""Decisions of a group about counts that two of its parties hold as shares.

Two parties, the servers, hold additive shares modulo 2^32 of counts (`shared_tables`). They run the
circuits of `count_circuits` and `visibility_circuits` by Yao's protocol (`garbling`); the first
server garbles. An output that the whole group is to learn is revealed to both servers, and both
send it to the others, who compare.

    large      which cells have enough records, as XOR shares, revealed to nobody
    shared     a circuit on XOR shares, whose outputs are shares
    decided    a circuit on XOR shares, one output of which goes to all; the caller declares what it is
    revealed   the same for the visible cells of a table
    added      the sums of the servers' shares, at all parties; the caller declares what they are
    open       the same for the counts of visible cells
    leaves     which nodes of a tree are leaves, and their classes
    labels     the classes of further leaves

In: shares at the servers, None at the others; all parties call. Out: the same answer at every
party, which learns nothing else. Adversary: semi-honest, and the two servers must not collude,
because together they hold the counts. If a server sends the others something else than the other
server does, the party that notices stops and names both.

Messages and cost for each call: one run of `garbling` between the servers, with 31 AND gates for
each cell or 150 for each class of a node (32 bytes for each gate), and one message from each server
to each other party. One and a half rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits, Codes, Mask
from coterie.protocols.circuits.boolean import Circuit, from_bits, to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler, Reveal
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.count_circuits import WIDTH, label_circuit, leaf_circuit
from coterie.protocols.statistics.shared_counts import Ring, received_ring
from coterie.protocols.statistics.visibility_circuits import large_circuit

PATTERN = declare(
    "count: which cells are visible",
    what="A bit for each cell of a table: whether the rules for small counts let it be shown; and of a table that shares no attribute with those before it, whether it can be shown beside them. Hidden cells of few records, of none and of many look the same.",
    to="every party",
    why="All parties must know which counts to open.",
)
VISIBLE = declare(
    "count: visible cells",
    what="The counts of the cells that are shown.",
    to="every party",
    why="They are the result of the job.",
)
LEAVES = declare(
    "tree: leaves and labels",
    what="Above the last level, of each node whether it is a leaf: whether fewer than `minimum` of its records have another class than the most frequent one, be it none or a few; of each leaf its class, which is that of the node above where it has fewer records than `minimum`. Of other nodes nothing.",
    to="every party",
    why="They are the tree, which is the result of the job.",
)


class HiddenCounts:
    """The group and its two servers, at one party."""

    def __init__(
        self, channel: Channel, names: Sequence[str], servers: tuple[str, str], rng: Random
    ) -> None:
        self.channel = channel
        self.names = tuple(names)
        self.servers = servers
        self.is_server = channel.me in servers
        self.first = channel.me == servers[0]
        self._garbling: Garbler | Evaluator | None = None
        with channel.step("servers"):
            if self.first:
                self._garbling = Garbler(channel, servers[1], rng)
            elif self.is_server:
                self._garbling = Evaluator(channel, servers[0], rng)

    @property
    def garbling(self) -> Garbler | Evaluator | None:
        """The servers' session of circuits, for circuits of other modules; None at the others."""
        return self._garbling

    @property
    def other_server(self) -> str:
        return self.servers[1] if self.first else self.servers[0]

    def large(self, share: Ring | None, count: int, minimum: int, zeros: bool) -> Bits | None:
        """Shares of whether each count is at least `minimum` (or, with `zeros`, 0)."""
        rows: dict[str, Bits | None] = {"rest": None}
        if share is not None:
            rest = share - np.uint32(minimum if self.first else 0)
            rows["rest"] = to_bits(rest, WIDTH)
        if zeros:
            rows["count"] = None if share is None else to_bits(share, WIDTH)
        large = self.shared(large_circuit(zeros), count, rows)["large"]
        return None if large is None else large[:, 0]

    def public(self, bits: Bits) -> Bits | None:
        """Shares of bits that all know."""
        return None if not self.is_server else bits * np.uint8(self.first)

    def shared(
        self, circuit: Circuit, count: int, inputs: Mapping[str, Bits | None]
    ) -> dict[str, Bits | None]:
        """Shares of the circuit's outputs, from shares of its inputs."""
        if self._garbling is None:
            return dict.fromkeys(circuit.outputs)
        with self.channel.step("decide"):
            return self._garbling.run(circuit, self._named(inputs), "shares", count)

    def revealed(
        self, circuit: Circuit, count: int, inputs: Mapping[str, Bits | None], output: str
    ) -> Bits:
        """One output of the circuit at every party, from shares of its inputs."""
        return self.channel.open(PATTERN, self.decided(circuit, count, inputs, output)[0])

    def decided(
        self, circuit: Circuit, count: int, inputs: Mapping[str, Bits | None], output: str
    ) -> tuple[Bits, dict[str, Bits | None]]:
        """One output of the circuit at every party, and the servers' shares of the other outputs.

        The caller knows what the output means, and passes it to `Channel.open`.
        """
        bits = None
        found: dict[str, Bits | None] = dict.fromkeys(circuit.outputs)
        with self.channel.step("decide"):
            if self._garbling is not None:
                modes: dict[str, Reveal] = dict.fromkeys(circuit.outputs, "shares")
                modes[output] = "both"
                found = self._garbling.run(circuit, self._named(inputs), modes, count)
                bits = _known(found[output])
            bits = self.tell(bits, (count, len(circuit.outputs[output])))
        return bits, found

    def _named(self, inputs: Mapping[str, Bits | None]) -> dict[str, Bits]:
        """This server's inputs of a circuit, by their names in the circuit."""
        place = 0 if self.first else 1
        return {f"{name}{place}": bits for name, bits in inputs.items() if bits is not None}

    def open(self, share: Ring | None, count: int) -> Codes:
        """The counts at every party. Pass only shares of counts that everybody may see."""
        return self.channel.open(VISIBLE, self.added(share, count))

    def added(self, share: Array | None, count: int, dtype: Any = np.uint32) -> Codes:
        """The sums of the servers' shares at every party.

        The caller knows what the numbers mean, and passes them to `Channel.open`. Numbers of 64 bits
        are signed; those of 32 bits are counts, and are not.
        """
        channel = self.channel
        with channel.step("open"):
            if share is not None:
                channel.broadcast(share)
            parts = [
                share
                if name == channel.me and share is not None
                else received_ring(channel, name, count, dtype)
                for name in self.servers
            ]
        return (parts[0] + parts[1]).astype(np.int64)

    def leaves(
        self,
        counts: Ring | None,
        nodes: int,
        classes: int,
        inherited: Bits | None,
        minimum: int,
        last: bool = False,
    ) -> tuple[Mask, Codes, Bits | None]:
        """For each node whether it is a leaf, and if so its class; at the last level all are
        leaves.

        Also the servers' shares of every node's own class, for its children and for `labels`.
        """
        circuit = leaf_circuit(classes, minimum, last)
        inputs = self._named({"inherited": self._inherited(circuit, nodes, inherited)})
        if counts is not None:
            letter = "x" if self.first else "y"
            columns = np.ascontiguousarray(counts.reshape(nodes, classes).T)
            inputs |= {f"{letter}{i}": to_bits(column, WIDTH) for i, column in enumerate(columns)}
        found, kept = self._run(circuit, nodes, inputs, kept="kept")
        found = self.channel.open(LEAVES, found)
        leaf = np.ones(nodes, np.bool_) if last else found["leaf"][:, 0].astype(np.bool_)
        return leaf, from_bits(found["label"]).astype(np.int64), kept

    def labels(self, kept: Bits | None, nodes: int, classes: int) -> Codes:
        """The classes of nodes that are leaves because no attribute divides them well enough."""
        circuit = label_circuit(_label_width(classes))
        found, _ = self._run(circuit, nodes, self._named({"kept": kept}))
        return from_bits(self.channel.open(LEAVES, found)["label"]).astype(np.int64)

    def _inherited(self, circuit: Circuit, nodes: int, shares: Bits | None) -> Bits | None:
        """The shares of the parents' classes; the root, which has no parent, has the class 0."""
        if shares is not None or not self.is_server:
            return shares
        return np.zeros((nodes, circuit.inputs["inherited0"]), np.uint8)

    def _run(
        self,
        circuit: Circuit,
        count: int,
        inputs: Mapping[str, Bits],
        kept: str = "",
    ) -> tuple[dict[str, Bits], Bits | None]:
        """Runs the circuit on every row of inputs; reveals its outputs to every party.

        The servers get shares of the output named `kept`, which is not revealed.
        """
        names = [name for name in circuit.outputs if name != kept]
        widths = [len(circuit.outputs[name]) for name in names]
        rows = share = None
        with self.channel.step("decide"):
            if self._garbling is not None and count:
                modes: dict[str, Reveal] = dict.fromkeys(circuit.outputs, "both")
                if kept in modes:
                    modes[kept] = "shares"
                found = self._garbling.run(circuit, inputs, modes, count)
                share = found.get(kept)
                rows = np.concatenate([_known(found[name]) for name in names], axis=1)
            told = np.zeros((0, sum(widths)), np.uint8)
            if count:
                told = self.tell(rows, (count, sum(widths)))
        parts = np.split(told, np.cumsum(widths)[:-1], axis=1)
        return dict(zip(names, parts, strict=True)), share

    def tell(self, bits: Bits | None, shape: tuple[int, int]) -> Bits:
        """Sends bits that both servers know to the other parties, who compare them."""
        channel = self.channel
        others = [name for name in self.names if name not in self.servers]
        with channel.step("tell"):
            if bits is not None:
                for name in others:
                    channel.send(name, np.packbits(bits, bitorder="little"))
                return bits
            size = shape[0] * shape[1]
            told = []
            for server in self.servers:
                due = ((size + 7) // 8,)
                told.append(channel.recv_array(server, np.uint8, due, f"{size} bits"))
            if (told[0] != told[1]).any():
                raise channel.fault(
                    self.servers[0], f"told something else than the other server, {self.servers[1]}"
                )
        return np.unpackbits(told[0], count=size, bitorder="little").reshape(shape)


def _label_width(classes: int) -> int:
    return max(1, (classes - 1).bit_length())


def _known(bits: Bits | None) -> Bits:
    if bits is None:
        raise AssertionError("an output for both came to neither")
    return bits
