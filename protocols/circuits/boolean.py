"""Boolean circuits as arrays: gates, levels, the plain evaluator.

A `Circuit` is made by `Gates` (or by its subclass `protocols.circuits.arithmetic.Builder`, which
knows about numbers) and run in three ways with the same result: on plain bits by `evaluate`, the
reference; garbled by `protocols.circuits.garbling`; on shares by a protocol that follows its steps.

Wires are numbered: the inputs first, in the order they were asked for, then one for each gate. The
gates stand in steps: all gates of a step have one kind and none feeds another of the same step, so
a step is one array operation. There is one AND step for each level of AND depth, which is the
number of rounds that sharing-based evaluation needs. XOR and NOT cost nothing under garbling or
sharing.

Words are lists of wires, and rows of bits are arrays of zeros and ones, lowest bit first.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import ParamSpec, TypeAlias

import numpy as np

from coterie.base.arrays import Array, Bits, Int32s, Ints

Wires: TypeAlias = Int32s
Word: TypeAlias = list[int]

XOR, AND, NOT = 0, 1, 2
ZERO, ONE = -1, -2  # constants in place of wire numbers, while a circuit is being built
_DEEPER = 32  # bits of a place that count free gates


@dataclass(frozen=True)
class Step:
    """Gates `start` to `stop` (exclusive): one kind, independent of each other."""

    kind: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Circuit:
    """Gate g computes wire `input_bits + g` from the wires left[g] and right[g].

    `inputs` gives the width of each named input in the order of their wires, `outputs` the wires of
    each named output. A NOT gate repeats its wire as the right one.
    """

    inputs: Mapping[str, int]
    outputs: Mapping[str, Wires]
    kinds: Bits
    left: Wires
    right: Wires
    steps: tuple[Step, ...]
    input_bits: int = field(init=False)
    output_bits: int = field(init=False)
    digest: bytes = field(init=False)  # compared by the parties, which must run the same circuit

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_bits", sum(self.inputs.values()))
        object.__setattr__(self, "output_bits", sum(map(len, self.outputs.values())))
        object.__setattr__(self, "digest", self._digest())

    @property
    def wires(self) -> int:
        return self.input_bits + len(self.kinds)

    @property
    def ands(self) -> int:
        return int((self.kinds == AND).sum())

    @property
    def xors(self) -> int:
        return int((self.kinds == XOR).sum())

    @property
    def nots(self) -> int:
        return int((self.kinds == NOT).sum())

    @property
    def depth(self) -> int:
        """The number of AND gates on the longest path."""
        return sum(step.kind == AND for step in self.steps)

    def span(self, name: str) -> range:
        """The wires of a named input."""
        start = 0
        for other, width in self.inputs.items():
            if other == name:
                return range(start, start + width)
            start += width
        raise KeyError(name)

    @property
    def output_wires(self) -> Wires:
        """The wires of all outputs, one output after the other."""
        return np.concatenate([*self.outputs.values(), np.empty(0, np.int32)]).astype(np.int32)

    def split(self, bits: Bits) -> dict[str, Bits]:
        """The columns of all outputs, split into the named outputs."""
        ends = np.cumsum([len(wires) for wires in self.outputs.values()])[:-1]
        return dict(zip(self.outputs, np.split(bits, ends, axis=1), strict=True))

    def _digest(self) -> bytes:
        state = hashlib.sha256()
        for name, width in self.inputs.items():
            state.update(f"input {name!r} {width}\n".encode())
        for name, wires in self.outputs.items():
            state.update(f"output {name!r} {len(wires)}\n".encode())
            state.update(wires.astype("<i4").tobytes())
        for array in (self.kinds, self.left, self.right):
            state.update(array.astype("<i4").tobytes())
        return state.digest()


Made = ParamSpec("Made")


def built_once(most: int) -> Callable[[Callable[Made, Circuit]], Callable[Made, Circuit]]:
    """Keeps the last `most` circuits that a function has built.

    A large circuit takes a second to build. Threads that ask for the same one at the same time
    wait until the first of them has built it.
    """

    def decorate(build: Callable[Made, Circuit]) -> Callable[Made, Circuit]:
        kept, building = lru_cache(most)(build), threading.RLock()

        @wraps(build)
        def circuit(*words: Made.args, **named: Made.kwargs) -> Circuit:
            with building:
                return kept(*words, **named)  # type: ignore[arg-type]

        return circuit

    return decorate


class Gates:
    """Collects gates. Constants are folded, repeated gates shared and unused gates left out."""

    def __init__(self) -> None:
        self._inputs: dict[str, int] = {}
        self._outputs: dict[str, Word] = {}
        self._nodes: list[tuple[int, int, int]] = []  # kind (-1 for an input), left, right
        self._known: dict[tuple[int, int, int], int] = {}

    def input(self, name: str, width: int) -> Word:
        """A named input of some width, lowest bit first."""
        if name in self._inputs:
            raise ValueError(f"input '{name}' exists already")
        self._inputs[name] = width
        start = len(self._nodes)
        self._nodes += [(-1, 0, 0)] * width
        return list(range(start, start + width))

    def output(self, name: str, word: Sequence[int]) -> None:
        if name in self._outputs:
            raise ValueError(f"output '{name}' exists already")
        self._outputs[name] = list(word)

    def xor(self, a: int, b: int) -> int:
        if a == b:
            return ZERO
        if a < 0 or b < 0:  # a constant
            constant, other = (a, b) if a < 0 else (b, a)
            return other if constant == ZERO else self.invert(other)
        # Inversions move outwards, where they meet and vanish.
        flips = 0
        if self._nodes[a][0] == NOT:
            a, flips = self._nodes[a][1], 1
        if self._nodes[b][0] == NOT:
            b, flips = self._nodes[b][1], flips ^ 1
        if a == b:
            return ONE if flips else ZERO
        wire = self._gate(XOR, a, b) if a < b else self._gate(XOR, b, a)
        return self.invert(wire) if flips else wire

    def conjoin(self, a: int, b: int) -> int:
        """a AND b."""
        if a < 0 or b < 0:  # a constant
            return ZERO if ZERO in (a, b) else max(a, b)
        if a == b:
            return a
        if (NOT, a, a) == self._nodes[b] or (NOT, b, b) == self._nodes[a]:
            return ZERO
        return self._gate(AND, a, b) if a < b else self._gate(AND, b, a)

    def invert(self, a: int) -> int:
        if a < 0:
            return ONE if a == ZERO else ZERO
        if self._nodes[a][0] == NOT:
            return self._nodes[a][1]
        return self._gate(NOT, a, a)

    def either(self, a: int, b: int) -> int:
        """a OR b, with one AND gate."""
        return self.invert(self.conjoin(self.invert(a), self.invert(b)))

    def _gate(self, kind: int, a: int, b: int) -> int:
        key = (kind, a, b)
        wire = self._known.get(key)
        if wire is None:
            wire = self._known[key] = len(self._nodes)
            self._nodes.append(key)
        return wire

    def build(self) -> Circuit:
        """The circuit of the named outputs."""
        nodes = list(self._nodes)
        outputs = {name: list(word) for name, word in self._outputs.items()}
        self._add_constants(nodes, outputs)
        place = _places(nodes)
        kinds, left, right = np.array(nodes, np.int32).reshape(-1, 3).T
        gates = np.flatnonzero((kinds >= 0) & _needed(nodes, outputs.values()))
        order = gates[np.lexsort((gates, kinds[gates], place[gates]))]
        sources = np.flatnonzero(kinds < 0)
        number = np.empty(len(nodes), np.int32)
        number[np.concatenate([sources, order])] = np.arange(len(sources) + len(order))
        return Circuit(
            inputs=dict(self._inputs),
            outputs={name: number[np.array(word, np.intp)] for name, word in outputs.items()},
            kinds=kinds[order].astype(np.uint8),
            left=number[left[order]],
            right=number[right[order]],
            steps=tuple(_steps(place[order], kinds[order])),
        )

    @staticmethod
    def _add_constants(nodes: list[tuple[int, int, int]], outputs: dict[str, Word]) -> None:
        """Adds gates for outputs that are constants: w ^ w and its inverse."""
        used = {wire for word in outputs.values() for wire in word if wire < 0}
        if not used:
            return
        if not nodes:
            raise ValueError("a circuit without inputs computes nothing")
        zero = len(nodes)
        nodes += [(XOR, 0, 0), (NOT, zero, zero)]
        for word in outputs.values():
            word[:] = [{ZERO: zero, ONE: zero + 1}.get(wire, wire) for wire in word]


def _places(nodes: Sequence[tuple[int, int, int]]) -> Ints:
    """Where each wire stands: its AND depth, and below that the free gates before it at that depth."""
    place: list[int] = []
    for kind, a, b in nodes:
        if kind < 0:
            place.append(0)
            continue
        above = max(place[a], place[b])
        place.append((above >> _DEEPER) + 1 << _DEEPER if kind == AND else above + 1)
    return np.array(place, np.int64)


def _needed(nodes: Sequence[tuple[int, int, int]], outputs: Iterable[Word]) -> Array:
    """Which wires the outputs depend on."""
    needed = bytearray(len(nodes))
    for word in outputs:
        for wire in word:
            needed[wire] = 1
    for wire in range(len(nodes) - 1, -1, -1):
        if needed[wire]:
            _, a, b = nodes[wire]  # of an input twice wire 0, which is an input, too
            needed[a] = needed[b] = 1
    return np.frombuffer(needed, bool)


def _steps(place: Ints, kinds: Int32s) -> Iterator[Step]:
    """The gates of one place and kind, which stand beside each other."""
    changes = np.flatnonzero((np.diff(place) != 0) | (np.diff(kinds) != 0)) + 1
    ends = [*changes.tolist(), len(kinds)] if len(kinds) else []
    for start, stop in zip([0, *ends], ends, strict=False):
        yield Step(int(kinds[start]), start, stop)


def evaluate(circuit: Circuit, inputs: Mapping[str, Bits]) -> dict[str, Bits]:
    """The plain reference: rows of bits in, rows of bits out, one row for each instance."""
    rows = join_inputs(circuit, inputs)
    count = len(rows)
    wires = np.empty((circuit.wires, (count + 7) // 8), np.uint8)
    wires[: circuit.input_bits] = np.packbits(rows.T, axis=1, bitorder="little")
    for step in circuit.steps:
        a = wires[circuit.left[step.start : step.stop]]
        out = wires[circuit.input_bits + step.start : circuit.input_bits + step.stop]
        if step.kind == NOT:
            np.invert(a, out=out)
        else:
            operation = np.bitwise_xor if step.kind == XOR else np.bitwise_and
            operation(a, wires[circuit.right[step.start : step.stop]], out=out)
    columns = np.unpackbits(wires[circuit.output_wires], axis=1, count=count, bitorder="little")
    return circuit.split(np.ascontiguousarray(columns.T))


def join_inputs(circuit: Circuit, inputs: Mapping[str, Bits]) -> Bits:
    """All inputs side by side, checked against the circuit."""
    if set(inputs) != set(circuit.inputs):
        raise ValueError(f"the circuit has inputs {list(circuit.inputs)}, not {list(inputs)}")
    check_inputs(circuit, inputs)
    return np.concatenate([inputs[name] for name in circuit.inputs], axis=1)


def check_inputs(circuit: Circuit, inputs: Mapping[str, Bits]) -> int:
    """The number of instances; ValueError unless every input is bits of its width."""
    counts = set()
    for name, bits in inputs.items():
        width = circuit.inputs.get(name)
        if width is None:
            raise ValueError(f"the circuit has no input '{name}'")
        if bits.dtype != np.uint8 or bits.ndim != 2 or bits.shape[1] != width:
            raise ValueError(f"input '{name}' is not an array of {width} bits an instance")
        if bits.max(initial=0) > 1:
            raise ValueError(f"input '{name}' has values other than 0 and 1")
        counts.add(len(bits))
    if len(counts) > 1:
        raise ValueError(f"inputs of different numbers of instances: {sorted(counts)}")
    return counts.pop() if counts else 0


def to_bits(values: Sequence[int] | Array, width: int) -> Bits:
    """Numbers modulo 2^width as rows of bits, the lowest first; negatives in two's complement."""
    size = (width + 7) // 8
    if width <= 64 and isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        whole = np.ascontiguousarray(
            values.astype(np.int64 if values.dtype.kind == "i" else np.uint64)
        )
        raw = whole.view(np.uint8).reshape(len(values), 8)[:, :size]
    else:
        mask = (1 << width) - 1
        data = b"".join((int(value) & mask).to_bytes(size, "little") for value in values)
        raw = np.frombuffer(data, np.uint8).reshape(len(values), size)
    return np.unpackbits(raw, axis=1, count=width, bitorder="little")


def from_bits(bits: Bits) -> Array:
    """Rows of bits as numbers: uint64 up to 64 bits, Python integers (dtype object) beyond."""
    count, width = bits.shape
    raw = np.packbits(bits, axis=1, bitorder="little")
    if width <= 64:
        padded = np.zeros((count, 8), np.uint8)
        padded[:, : raw.shape[1]] = raw
        return padded.view(np.uint64)[:, 0]
    out = np.empty(count, object)
    out[:] = [int.from_bytes(row.tobytes(), "little") for row in raw]
    return out
