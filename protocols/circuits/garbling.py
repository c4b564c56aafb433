"""Two parties compute a Boolean circuit on their inputs by garbling: many instances in one call.

Yao's protocol as in Lindell and Pinkas, "A Proof of Security of Yao's Protocol for Two-Party
Computation" (J. Cryptology 2009), with the half gates of `protocols.circuits.half_gates` and the
extended transfers of `protocols.transfer.oblivious_transfer`. In: each named input of the circuit,
from one of the two parties. Out: each named output, revealed as both parties say in `reveal`, to
"garbler", "evaluator" or "both", or kept as XOR "shares"; a party that does not learn an output
gets None for it. Nothing else is learned.

Adversary: semi-honest. An evaluator's transfers are checked, so that it cannot read the garbler's
labels; but a garbler that garbles another circuit gets what that circuit computes. Both sides check that they run the same circuit with the same instances, inputs and
reveals, that every message has its length, and that the tables lead to labels that the garbler
knows: a wrong table is noticed (except with probability 2^-64 for each output bit) and the garbler
named; so is an evaluator that invents output labels.

Assumptions: those of the transfers, and the circular correlation robustness of the hash in
`protocols.primitives.aes`. The secret `delta` of a session is that of its transfers; every hash
under it has a tweak of its own.

Messages for n instances of a circuit with e evaluator's input bits, a AND gates and o output bits:
    evaluator -> garbler   the circuit's digest, instances, inputs and reveals; n e
                           transfers, of 4 bytes each
    garbler -> evaluator   the same and a seed, from which the evaluator draws the labels of the
                           garbler's inputs (a label is random whatever the input is; the garbler
                           chooses the wire's other label to fit)
    garbler -> evaluator   tables, 32 n a bytes, with 16 n o bytes to check outputs, in chunks of
                           about 1 MB while more are being garbled; the evaluator confirms every
                           32 messages, and the garbler is never more than 64 ahead
    garbler -> evaluator   colours of outputs shown to the evaluator, a byte each
    evaluator -> garbler   labels of outputs shown to the garbler, 16 bytes each
One round; one and a half if the garbler learns something. The session starts with base transfers.
Cost: 8 blocks of AES an AND gate for the garbler, 4 for the evaluator.

A `Garbler` and an `Evaluator` are made once for an ordered pair; `run` is then called on both sides
any number of times in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from coterie.base.arrays import Bits, Blocks, Ints
from coterie.protocols.circuits.boolean import Circuit, check_inputs
from coterie.protocols.circuits.half_gates import Worker
from coterie.protocols.circuits.table_messages import Part, batches, parts_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.primitives.aes import OUTPUT, hashed
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

Reveal: TypeAlias = Literal["garbler", "evaluator", "both", "shares"]
Revealed: TypeAlias = "dict[str, Bits | None]"

MODES = ("garbler", "evaluator", "both", "shares")
AGREE, TABLES, OUTPUTS = "agree", "tables", "outputs"
_SEED = 32
_ANNOUNCEMENT = "announcement of a circuit"


class _Role:
    """The state and the checks that both sides share."""

    def __init__(self, channel: Channel, peer: str) -> None:
        self._channel = channel
        self.peer = peer
        self._gates = 0  # AND gates so far in the session, which number the tweaks
        self._checks = 0

    def _plan(
        self,
        circuit: Circuit,
        inputs: Mapping[str, Bits],
        reveal: Reveal | Mapping[str, Reveal],
        count: int | None,
    ) -> tuple[int, dict[str, Reveal]]:
        """The number of instances, and how each output is revealed."""
        found = check_inputs(circuit, inputs)
        if inputs and count not in (None, found):
            raise ValueError(f"inputs of {found} instances where {count} are to be run")
        if not inputs and count is None:
            raise ValueError("without inputs the number of instances must be given")
        modes = dict.fromkeys(circuit.outputs, reveal) if isinstance(reveal, str) else dict(reveal)
        if set(modes) != set(circuit.outputs):
            raise ValueError(f"reveal names {list(modes)}, outputs are {list(circuit.outputs)}")
        for name, mode in modes.items():
            if mode not in MODES:
                raise ValueError(f"output '{name}': reveal is one of {', '.join(MODES)}")
        return found if inputs else int(count or 0), modes

    def _announcement(
        self, circuit: Circuit, inputs: Mapping[str, Bits], count: int, modes: Mapping[str, Reveal]
    ) -> list[Any]:
        names = [name for name in circuit.inputs if name in inputs]
        return [circuit.digest, count, names, [f"{name}={modes[name]}" for name in circuit.outputs]]

    def _compare(self, circuit: Circuit, mine: list[Any], theirs: list[Any]) -> None:
        """Raises a fault of the peer unless it is about to run the same circuit in the same way."""
        fault = self._channel.fault
        digest, count, names, modes = theirs
        if not same_value(digest, mine[0]):
            raise fault(self.peer, "runs another circuit")
        if not same_value(count, mine[1]):
            raise fault(self.peer, f"runs {_short(count)} instances where {mine[1]} are run here")
        if not same_value(modes, mine[3]):
            raise fault(self.peer, f"reveals {_short(modes)} where {mine[3]} is meant here")
        rest = [name for name in circuit.inputs if name not in mine[2]]
        if not same_value(names, [*rest]):
            raise fault(self.peer, f"gives the inputs {_short(names)} where {rest} are missing")


def _short(value: Any) -> str:
    """A value that a peer sent, shortened to one line for an error message."""
    return repr(value)[:80]


def _colours(labels: Blocks) -> Bits:
    return (labels[..., 0] & np.uint64(1)).astype(np.uint8)


class Garbler(_Role):
    """The side that garbles. Made together with the peer's `Evaluator`."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        super().__init__(channel, peer)
        self._rng = rng
        self._transfers = Sender(channel, peer, rng)

    @property
    def transfers(self) -> Sender:
        """The session's transfers, for products outside of circuits; they have their own tweaks."""
        return self._transfers

    def run(
        self,
        circuit: Circuit,
        inputs: Mapping[str, Bits],
        reveal: Reveal | Mapping[str, Reveal] = "shares",
        count: int | None = None,
    ) -> Revealed:
        """Outputs by name; `inputs` has this side's, as bits of shape (instances, width)."""
        count, modes = self._plan(circuit, inputs, reveal, count)
        channel, delta = self._channel, self._transfers.delta
        mine = self._announcement(circuit, inputs, count, modes)
        seed = self._rng.bytes(_SEED)
        rest = [name for name in circuit.inputs if name not in inputs]
        columns = _columns(circuit, rest)
        # The evaluator chooses before it hears of the circuit, for which no answer must be due.
        self._transfers.reserve(count * len(columns))
        with channel.step(AGREE):
            channel.send(self.peer, [*mine], seed)
            theirs = channel.recv_list(self.peer, len(mine), _ANNOUNCEMENT)
            self._compare(circuit, mine, theirs)
        labels = np.empty((count, circuit.input_bits, 2), np.uint64)
        stream = Random(seed)
        for name, bits in ((name, inputs[name]) for name in circuit.inputs if name in inputs):
            shown = stream.array((count, bits.shape[1], 2))
            np.bitwise_xor(
                shown, bits[..., None] * delta, out=labels[:, _slice(circuit.span(name))]
            )
        if rest:
            drawn = self._transfers.correlated(count * len(columns))
            labels[:, columns] = drawn.reshape(count, len(columns), 2)
        zeros = np.empty((count, circuit.output_bits, 2), np.uint64)
        worker = Worker(circuit, delta)
        with channel.step(TABLES):
            for batch, all_of_it in batches(parts_of(circuit, count), worker):
                start, stop = batch[0].start, batch[0].stop
                tables, ends = worker.garble(labels[all_of_it], self._gates, start, stop)
                self._gates += tables.shape[0] * tables.shape[1]
                final = stop == len(circuit.kinds)
                if final:
                    zeros[all_of_it] = ends
                    checks = self._check_values(ends)
                for part in batch:
                    if window := part.waits_for():
                        self._wait_for(window)
                    at = part.within(all_of_it)
                    channel.send(self.peer, tables[at], *([checks[at]] if final else []))
                    channel.progress(part.instances.stop, count)
        return self._reveal(circuit, zeros, modes)

    def _wait_for(self, window: int) -> None:
        """Waits until the evaluator has confirmed this many windows, so that it is not flooded."""
        what = f"confirmation of window {window} of the tables"
        self._channel.recv_int(self.peer, window, window, what)

    def _check_values(self, zeros: Blocks) -> Blocks:
        """Half of the hash of both labels of every output, in the order of their colours."""
        flat = zeros.reshape(-1, 2)
        pair = np.empty((len(flat), 2), np.uint64)
        for side, mask in enumerate((None, self._transfers.delta)):
            pair[:, side] = hashed(flat, self._checks, OUTPUT, mask)[:, 0]
        self._checks += len(flat)
        swapped = (flat[:, :1] & np.uint64(1)).astype(bool)
        return np.where(swapped, pair[:, ::-1], pair).reshape(zeros.shape)

    def _reveal(self, circuit: Circuit, zeros: Blocks, modes: dict[str, Reveal]) -> Revealed:
        channel, delta = self._channel, self._transfers.delta
        colours = _colours(zeros)
        shown = circuit.split(colours)
        outputs: Revealed = {name: shown[name] for name in modes if modes[name] == "shares"}
        with channel.step(OUTPUTS):
            open_ = [name for name, mode in modes.items() if mode in ("evaluator", "both")]
            if open_:
                channel.send(self.peer, *[shown[name] for name in circuit.outputs if name in open_])
            mine = [name for name in circuit.outputs if modes[name] in ("garbler", "both")]
            if mine:
                values = channel.recv_values(self.peer, len(mine), "labels of the due outputs")
                for name, labels in zip(mine, values, strict=True):
                    expected = _part(circuit, zeros, name)
                    what = f"labels of output '{name}' of the due shape"
                    channel.check_array(self.peer, labels, np.uint64, expected.shape, what)
                    ones = (labels == expected ^ delta).all(axis=2)
                    if not (ones | (labels == expected).all(axis=2)).all():
                        raise channel.fault(
                            self.peer, f"sent labels of output '{name}' that no instance has"
                        )
                    outputs[name] = ones.astype(np.uint8)
        return {name: outputs.get(name) for name in circuit.outputs}


class Evaluator(_Role):
    """The side that evaluates. Made together with the peer's `Garbler`."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        super().__init__(channel, peer)
        self._transfers = Receiver(channel, peer, rng)

    @property
    def transfers(self) -> Receiver:
        """The session's transfers; see `Garbler.transfers`."""
        return self._transfers

    def run(
        self,
        circuit: Circuit,
        inputs: Mapping[str, Bits],
        reveal: Reveal | Mapping[str, Reveal] = "shares",
        count: int | None = None,
    ) -> Revealed:
        """Outputs by name; `inputs` has this side's, as bits of shape (instances, width)."""
        count, modes = self._plan(circuit, inputs, reveal, count)
        channel = self._channel
        mine = self._announcement(circuit, inputs, count, modes)
        columns = _columns(circuit, [name for name in circuit.inputs if name in inputs])
        self._transfers.reserve(count * len(columns))
        with channel.step(AGREE):
            channel.send(self.peer, [*mine])
        labels = np.empty((count, circuit.input_bits, 2), np.uint64)
        if inputs:
            bits = np.concatenate(
                [inputs[name] for name in circuit.inputs if name in inputs], axis=1
            )
            drawn = self._transfers.correlated(bits.reshape(-1))
            labels[:, columns] = drawn.reshape(count, len(columns), 2)
        with channel.step(AGREE):
            theirs, seed = channel.recv_list(self.peer, 2, _ANNOUNCEMENT)
            channel.check_list(self.peer, theirs, len(mine), _ANNOUNCEMENT)
            self._compare(circuit, mine, theirs)
            channel.check_bytes(self.peer, seed, _SEED, f"seed of {_SEED} bytes")
        stream = Random(seed)
        for name in circuit.inputs:
            if name not in inputs:
                span = circuit.span(name)
                labels[:, _slice(span)] = stream.array((count, len(span), 2))
        ends = np.empty((count, circuit.output_bits, 2), np.uint64)
        worker = Worker(circuit)
        with channel.step(TABLES):
            parts = parts_of(circuit, count)
            for batch, all_of_it in batches(parts, worker):
                start, stop = batch[0].start, batch[0].stop
                tables, checks = self._receive_tables(batch, worker)
                found = worker.evaluate(labels[all_of_it], tables, self._gates, start, stop)
                self._gates += tables.shape[0] * tables.shape[1]
                if checks is not None:
                    self._check(found, checks, all_of_it.start)
                    ends[all_of_it] = found
                for part in batch:
                    if window := part.completes(parts):
                        channel.send(self.peer, window)
                channel.progress(all_of_it.stop, count)
        return self._reveal(circuit, ends, modes)

    def _receive_tables(self, batch: list[Part], worker: Worker) -> tuple[Blocks, Blocks | None]:
        """The tables of these messages, and the check values if they end the circuit."""
        circuit = worker.circuit
        columns: list[list[Blocks]] = [[], []]
        for part in batch:
            instances = part.instances.stop - part.instances.start
            due: list[tuple[int, ...]] = [
                (instances, worker.ands_between(part.start, part.stop), 2, 2)
            ]
            if part.stop == len(circuit.kinds):
                due.append((instances, circuit.output_bits, 2))
            values = self._channel.recv_values(self.peer, len(due), "garbled tables")
            for column, value, shape, what in zip(
                columns, values, due, ("tables", "check values"), strict=False
            ):
                due_form = f"{what} of shape {shape}"
                column.append(
                    self._channel.check_array(self.peer, value, np.uint64, shape, due_form)
                )
        tables, checks = (
            (c[0] if len(c) == 1 else np.concatenate(c)) if c else None for c in columns
        )
        assert tables is not None  # noqa: S101 a batch has messages
        return tables, checks

    def _check(self, labels: Blocks, checks: Blocks, first: int) -> None:
        flat = labels.reshape(-1, 2)
        own = hashed(flat, self._checks, OUTPUT)[:, 0]
        self._checks += len(flat)
        pair = checks.reshape(-1, 2)
        due = np.where((flat[:, 0] & np.uint64(1)).astype(bool), pair[:, 1], pair[:, 0])
        bad = np.flatnonzero(own != due)
        if len(bad):
            instance = first + int(bad[0]) // max(labels.shape[1], 1)
            raise self._channel.fault(
                self.peer, f"sent garbled tables that do not evaluate (instance {instance})"
            )

    def _reveal(self, circuit: Circuit, ends: Blocks, modes: dict[str, Reveal]) -> Revealed:
        channel = self._channel
        shown = circuit.split(_colours(ends))
        outputs: Revealed = {name: shown[name] for name in modes if modes[name] == "shares"}
        with channel.step(OUTPUTS):
            theirs = [name for name in circuit.outputs if modes[name] in ("garbler", "both")]
            if theirs:
                channel.send(self.peer, *[_part(circuit, ends, name) for name in theirs])
            mine = [name for name in circuit.outputs if modes[name] in ("evaluator", "both")]
            if mine:
                values = channel.recv_values(self.peer, len(mine), "colours of the due outputs")
                for name, colours in zip(mine, values, strict=True):
                    what = f"colours of output '{name}'"
                    channel.check_array(self.peer, colours, np.uint8, shown[name].shape, what)
                    if colours.max(initial=0) > 1:
                        raise channel.fault(self.peer, f"sent no {what}")
                    outputs[name] = shown[name] ^ colours
        return {name: outputs.get(name) for name in circuit.outputs}


def _slice(span: range) -> slice:
    return slice(span.start, span.stop)


def _columns(circuit: Circuit, names: list[str]) -> Ints:
    """The wires of these inputs, one after the other."""
    spans = map(circuit.span, names)
    return np.concatenate([np.empty(0, np.int64), *(np.arange(s.start, s.stop) for s in spans)])


def _part(circuit: Circuit, labels: Blocks, name: str) -> Blocks:
    """The labels of one output."""
    start = 0
    for other, wires in circuit.outputs.items():
        if other == name:
            return labels[:, start : start + len(wires)]
        start += len(wires)
    raise KeyError(name)
