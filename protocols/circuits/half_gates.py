"""Garbling and evaluating many instances of one circuit: the labels and tables, no messages.

Zahur, Rosulek and Evans, "Two Halves Make a Whole" (EUROCRYPT 2015, eprint 2014/756), figure 2: two
blocks of 16 bytes for an AND gate. Free XOR (Kolesnikov and Schneider, ICALP 2008): the labels of a
wire differ by one secret `delta`; XOR and NOT cost nothing. Point-and-permute: the lowest bit of a
label, its colour, says which table rows to use; `delta` has it set. The hash is the tweakable one
of `protocols.primitives.aes`, with tweaks 2 k and 2 k + 1 for the k-th AND gate garbled in the
session, so that both parties must use the same count.

`garble` and `evaluate` process the gates in order, so that a circuit too large for one message is
done in parts on the same wires. Both have a numba kernel with AES instructions, which runs two or
four instances side by side to hide latency, and a NumPy version that goes step by step; the bytes
are the same. Labels are arrays of shape (instances, bits, 2), tables (instances, AND gates, 2, 2),
uint64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from coterie.base.arrays import Blocks
from coterie.base.compiled import Instructions, compiled
from coterie.protocols.circuits.boolean import AND, NOT, Circuit
from coterie.protocols.primitives.aes import (
    BLOCK,
    GATE,
    ROUND_KEYS,
    accelerated,
    block_of,
    hash_blocks,
    load,
    portable_hash,
    store,
)

# Instances side by side: garbling hashes four blocks per gate, evaluation two, so that eight are in
# flight.
GARBLE_LANES, EVALUATE_LANES = 2, 4


def _colour_mask(builder: Any, label: Any) -> Any:
    """All ones if the lowest bit of a label is set, else zeros."""
    first = ir.Constant(ir.VectorType(ir.IntType(32), 2), [0, 0])
    low = builder.shuffle_vector(label, ir.Constant(BLOCK, ir.Undefined), first)
    bit = builder.and_(low, ir.Constant(BLOCK, [1, 1]))
    return builder.sub(ir.Constant(BLOCK, [0, 0]), bit)


def _tweaks(builder: Any, tweak: Any, stride: Any, lanes: int) -> list[tuple[Any, Any]]:
    """For every lane the two tweaks of its gate."""
    domain = ir.Constant(tweak.type, GATE)
    out = []
    for _ in range(lanes):
        odd = builder.add(tweak, ir.Constant(tweak.type, 1))
        out.append((block_of(builder, tweak, domain), block_of(builder, odd, domain)))
        tweak = builder.add(tweak, stride)
    return out


def _gate_instructions(lanes: int, write_gate: Any) -> Instructions:
    """gate(left, right, out, table, table stride, delta, keys, tweak, tweak stride)."""

    def write(builder: Any, *arguments: Any) -> None:
        write_gate(builder, lanes, *arguments)

    return Instructions("uintp uintp uintp uintp uintp uintp uintp uint64 uint64", write)


def _table_addresses(builder: Any, table: Any, stride: Any, lanes: int) -> list[Any]:
    addresses = [table]
    for _ in range(lanes - 1):
        addresses.append(builder.add(addresses[-1], stride))
    return addresses


def _garble_gate(
    builder: Any,
    lanes: int,
    left: Any,
    right: Any,
    out: Any,
    table: Any,
    table_stride: Any,
    delta: Any,
    keys: Any,
    tweak: Any,
    tweak_stride: Any,
) -> None:
    secret = load(builder, delta)
    a = [load(builder, left, lane) for lane in range(lanes)]
    b = [load(builder, right, lane) for lane in range(lanes)]
    blocks, tweaks = [], []
    for lane, (even, odd) in enumerate(_tweaks(builder, tweak, tweak_stride, lanes)):
        blocks += [a[lane], builder.xor(a[lane], secret), b[lane], builder.xor(b[lane], secret)]
        tweaks += [even, even, odd, odd]
    hashes = hash_blocks(builder, blocks, tweaks, keys)
    addresses = _table_addresses(builder, table, table_stride, lanes)
    for lane in range(lanes):
        a0, a1, b0, b1 = hashes[4 * lane : 4 * lane + 4]
        colour_a, colour_b = _colour_mask(builder, a[lane]), _colour_mask(builder, b[lane])
        generator = builder.xor(builder.xor(a0, a1), builder.and_(colour_b, secret))
        hashed_b = builder.xor(b0, b1)
        first = builder.xor(a0, builder.and_(colour_a, generator))
        second = builder.xor(b0, builder.and_(colour_b, hashed_b))
        store(builder, generator, addresses[lane], 0)
        store(builder, builder.xor(hashed_b, a[lane]), addresses[lane], 1)
        store(builder, builder.xor(first, second), out, lane)


def _evaluate_gate(
    builder: Any,
    lanes: int,
    left: Any,
    right: Any,
    out: Any,
    table: Any,
    table_stride: Any,
    delta: Any,
    keys: Any,
    tweak: Any,
    tweak_stride: Any,
) -> None:
    a = [load(builder, left, lane) for lane in range(lanes)]
    b = [load(builder, right, lane) for lane in range(lanes)]
    blocks, tweaks = [], []
    for lane, (even, odd) in enumerate(_tweaks(builder, tweak, tweak_stride, lanes)):
        blocks += [a[lane], b[lane]]
        tweaks += [even, odd]
    hashes = hash_blocks(builder, blocks, tweaks, keys)
    addresses = _table_addresses(builder, table, table_stride, lanes)
    for lane in range(lanes):
        generator, evaluator = load(builder, addresses[lane], 0), load(builder, addresses[lane], 1)
        colour_a, colour_b = _colour_mask(builder, a[lane]), _colour_mask(builder, b[lane])
        value = builder.xor(hashes[2 * lane], hashes[2 * lane + 1])
        value = builder.xor(value, builder.and_(colour_a, generator))
        evaluator = builder.xor(evaluator, a[lane])
        store(builder, builder.xor(value, builder.and_(colour_b, evaluator)), out, lane)


def _xor_instructions(lanes: int) -> Instructions:
    """xor(left, right, out)."""

    def write(builder: Any, left: Any, right: Any, out: Any) -> None:
        for lane in range(lanes):
            a, b = load(builder, left, lane), load(builder, right, lane)
            store(builder, builder.xor(a, b), out, lane)

    return Instructions("uintp uintp uintp", write)


_xor_one, _xor_two, _xor_four = _xor_instructions(1), _xor_instructions(2), _xor_instructions(4)
_garble_many = _gate_instructions(GARBLE_LANES, _garble_gate)
_garble_one = _gate_instructions(1, _garble_gate)
_evaluate_many = _gate_instructions(EVALUATE_LANES, _evaluate_gate)
_evaluate_one = _gate_instructions(1, _evaluate_gate)


@compiled
def _walk(
    garbling: Any,
    kinds: Any,
    left: Any,
    right: Any,
    start: Any,
    stop: Any,
    wires: Any,
    labels: Any,
    ends: Any,
    out: Any,
    tables: Any,
    delta: Any,
    keys: Any,
    tweak: Any,
) -> None:
    """Garbles or evaluates gates `start` to `stop` of every instance; `wires` is scratch memory.

    For evaluation `delta` is zero, which makes NOT keep the label.
    """
    lanes = wires.shape[1]
    inputs = labels.shape[1]
    ands = tables.shape[1]
    base, pitch = np.uintp(wires.ctypes.data), np.uintp(16 * lanes)
    stride, turn = np.uintp(32 * ands), np.uint64(2 * ands)
    secret, schedule = np.uintp(delta.ctypes.data), np.uintp(keys.ctypes.data)
    table = np.uintp(tables.ctypes.data)
    first = 0
    while first < labels.shape[0]:
        live = lanes if labels.shape[0] - first >= lanes else 1
        if start == 0:
            for lane in range(live):
                for i in range(inputs):
                    wires[i, lane, 0] = labels[first + lane, i, 0]
                    wires[i, lane, 1] = labels[first + lane, i, 1]
        at = np.uintp(table + np.uintp(first) * stride)
        number = np.uint64(tweak + np.uint64(first) * turn)
        for gate in range(start, stop):
            kind, a, b, w = kinds[gate], left[gate], right[gate], inputs + gate
            x = np.uintp(base + np.uintp(a) * pitch)
            y = np.uintp(base + np.uintp(b) * pitch)
            z = np.uintp(base + np.uintp(w) * pitch)
            if kind == 0:
                if live == 4:
                    _xor_four(x, y, z)
                elif live == 2:
                    _xor_two(x, y, z)
                else:
                    _xor_one(x, y, z)
            elif kind == 2:
                for lane in range(live):
                    wires[w, lane, 0] = wires[a, lane, 0] ^ delta[0]
                    wires[w, lane, 1] = wires[a, lane, 1] ^ delta[1]
            else:
                if garbling:
                    if live == 1:
                        _garble_one(x, y, z, at, stride, secret, schedule, number, turn)
                    else:
                        _garble_many(x, y, z, at, stride, secret, schedule, number, turn)
                elif live == 1:
                    _evaluate_one(x, y, z, at, stride, secret, schedule, number, turn)
                else:
                    _evaluate_many(x, y, z, at, stride, secret, schedule, number, turn)
                at = np.uintp(at + np.uintp(32))
                number = np.uint64(number + np.uint64(2))
        if stop == kinds.shape[0]:
            for lane in range(live):
                for i in range(ends.shape[0]):
                    out[first + lane, i, 0] = wires[ends[i], lane, 0]
                    out[first + lane, i, 1] = wires[ends[i], lane, 1]
        first += live


class Worker:
    """Garbles or evaluates instances of one circuit, in several parts if needed.

    A part that is not the last of the circuit must have exactly one instance, because the wires are
    kept between parts. A worker with `delta` garbles.
    """

    def __init__(self, circuit: Circuit, delta: Blocks | None = None) -> None:
        self.circuit = circuit
        self._garbling = delta is not None
        self._delta = np.zeros(2, np.uint64) if delta is None else delta
        self._ends = circuit.output_wires
        self._fast = accelerated()
        # The number of messages to compute together: NumPy is fastest on long arrays, the kernel
        # while its data is in the cache.
        self.messages = 1 if self._fast else 16
        self._wires = np.empty((0, 0, 2), np.uint64)
        # The number of AND gates before each gate.
        self._ands_before = np.concatenate([[0], np.cumsum(circuit.kinds == AND)])

    def ands_between(self, start: int, stop: int) -> int:
        return int(self._ands_before[stop] - self._ands_before[start])

    def garble(self, labels: Blocks, tweak: int, start: int, stop: int) -> tuple[Blocks, Blocks]:
        """The tables and the outputs' labels of zero, from the inputs' labels of zero."""
        tables = np.empty((len(labels), self.ands_between(start, stop), 2, 2), np.uint64)
        return tables, self._run(labels, tables, tweak, start, stop)

    def evaluate(self, labels: Blocks, tables: Blocks, tweak: int, start: int, stop: int) -> Blocks:
        """The active labels of the outputs, from the active labels of the inputs and the tables."""
        return self._run(labels, tables, tweak, start, stop)

    def _run(self, labels: Blocks, tables: Blocks, tweak: int, start: int, stop: int) -> Blocks:
        circuit = self.circuit
        if len(labels) > 1 and (start, stop) != (0, len(circuit.kinds)):
            raise ValueError("a part of a circuit is done for one instance at a time")
        out = np.empty((len(labels), len(self._ends), 2), np.uint64)
        if not self._fast:
            self._run_portable(labels, tables, out, tweak, start, stop)
            return out
        if start == 0:
            most = GARBLE_LANES if self._garbling else EVALUATE_LANES
            shape = (circuit.wires, most if len(labels) >= most else 1, 2)
            if self._wires.shape != shape:
                self._wires = np.empty(shape, np.uint64)
        _walk(
            self._garbling,
            circuit.kinds,
            circuit.left,
            circuit.right,
            start,
            stop,
            self._wires,
            np.ascontiguousarray(labels),
            self._ends,
            out,
            np.ascontiguousarray(tables),
            self._delta,
            ROUND_KEYS,
            np.uint64(2 * tweak),
        )
        return out

    def _run_portable(
        self, labels: Blocks, tables: Blocks, out: Blocks, tweak: int, start: int, stop: int
    ) -> None:
        circuit, count = self.circuit, len(labels)
        if start == 0:
            self._wires = np.empty((circuit.wires, count, 2), np.uint64)
            self._wires[: circuit.input_bits] = labels.transpose(1, 0, 2)
        wires = self._wires
        for step in circuit.steps:
            low, high = max(step.start, start), min(step.stop, stop)
            if low >= high:
                continue
            a = wires[circuit.left[low:high]]
            target = wires[circuit.input_bits + low : circuit.input_bits + high]
            if step.kind == NOT:
                np.bitwise_xor(a, self._delta, out=target)
                continue
            b = wires[circuit.right[low:high]]
            if step.kind != AND:
                np.bitwise_xor(a, b, out=target)
                continue
            number = self.ands_between(start, low)
            gates = np.arange(tweak + number, tweak + number + high - low, dtype=np.uint64)
            instances = np.arange(count, dtype=np.uint64) * np.uint64(tables.shape[1])
            tweaks = np.uint64(2) * (gates[:, None] + instances)
            table = tables[:, number : number + high - low].transpose(1, 0, 2, 3)
            step_function = self._garble_step if self._garbling else self._evaluate_step
            target[:] = step_function(a, b, table, tweaks)
        if stop == len(circuit.kinds):
            out[:] = wires[self._ends].transpose(1, 0, 2)

    def _garble_step(self, a: Blocks, b: Blocks, table: Blocks, tweaks: Any) -> Blocks:
        secret, odd = self._delta, tweaks + np.uint64(1)
        a0, a1 = portable_hash(a, tweaks, GATE), portable_hash(a ^ secret, tweaks, GATE)
        b0, b1 = portable_hash(b, odd, GATE), portable_hash(b ^ secret, odd, GATE)
        colour_a, colour_b = _colours(a), _colours(b)
        table[..., 0, :] = a0 ^ a1 ^ (colour_b & secret)
        b1 ^= b0
        table[..., 1, :] = b1 ^ a
        return a0 ^ (colour_a & table[..., 0, :]) ^ b0 ^ (colour_b & b1)

    def _evaluate_step(self, a: Blocks, b: Blocks, table: Blocks, tweaks: Any) -> Blocks:
        value = portable_hash(a, tweaks, GATE)
        value ^= portable_hash(b, tweaks + np.uint64(1), GATE)
        value ^= _colours(a) & table[..., 0, :]
        value ^= _colours(b) & (table[..., 1, :] ^ a)
        return value


def _colours(labels: Blocks) -> Blocks:
    """All ones where the lowest bit of a label is set, else zeros; broadcasts over the words."""
    return np.uint64(0) - (labels[..., :1] & np.uint64(1))
