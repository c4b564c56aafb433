"""Circuits against Python's integers: all inputs where words are short, random ones where long."""

import threading
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.circuits.arithmetic import Builder, evaluate, from_bits, to_bits
from coterie.protocols.circuits.boolean import AND, NOT, ONE, XOR, ZERO, Circuit, Gates, built_once

STYLES = pytest.mark.parametrize("shallow", [False, True], ids=["few gates", "shallow"])


def run(circuit, **values):
    """The outputs as lists of integers, for inputs given as lists of integers."""
    inputs = {name: to_bits(values[name], width) for name, width in circuit.inputs.items()}
    return {
        name: [int(v) for v in from_bits(bits)] for name, bits in evaluate(circuit, inputs).items()
    }


def every(*limits):
    """All combinations of numbers below the limits, as columns."""
    rows = list(product(*map(range, limits)))
    return [list(column) for column in zip(*rows, strict=True)]


def binary(shallow, width_x, width_y, operation):
    """A circuit of two inputs and one output."""
    builder = Builder(shallow)
    x, y = builder.input("x", width_x), builder.input("y", width_y)
    result = operation(builder, x, y)
    builder.output("out", result if isinstance(result, list) else [result])
    return builder.build()


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) else value


OPERATIONS = {
    "add": (lambda b, x, y: b.add(x, y, 5), lambda x, y: (x + y) % 32),
    "add with carry": (lambda b, x, y: b.add(x, y, 4, ONE), lambda x, y: (x + y + 1) % 16),
    "add cut": (lambda b, x, y: b.add(x, y, 2), lambda x, y: (x + y) % 4),
    "subtract": (lambda b, x, y: b.subtract(x, y, 5), lambda x, y: (x - y) % 32),
    "multiply": (lambda b, x, y: b.multiply(x, y, 8), lambda x, y: x * y),
    "multiply cut": (lambda b, x, y: b.multiply(x, y, 5), lambda x, y: x * y % 32),
    "negate": (lambda b, x, y: b.negate(x, 5), lambda x, y: -x % 32),
    "increment": (lambda b, x, y: b.increment(x, y[0], 4), lambda x, y: (x + y % 2) % 16),
    "less": (lambda b, x, y: b.less(x, y), lambda x, y: int(x < y)),
    "equal": (lambda b, x, y: b.equal(x, y), lambda x, y: int(x == y)),
    "any": (lambda b, x, y: b.any(x), lambda x, y: int(x != 0)),
    "all": (lambda b, x, y: b.all(x), lambda x, y: int(x == 15)),
    "choose": (lambda b, x, y: b.choose(x[0], x, y), lambda x, y: x if x % 2 else y),
    "gate": (lambda b, x, y: b.gate_word(y[0], x), lambda x, y: x if y % 2 else 0),
    "xor": (lambda b, x, y: b.xor_words(x, y), lambda x, y: x ^ y),
    "leading one": (
        lambda b, x, y: b.leading_one(x),
        lambda x, y: 1 << x.bit_length() >> 1,
    ),
    "position of the leading one": (
        lambda b, x, y: b.encode(b.leading_one(x)),
        lambda x, y: max(x.bit_length() - 1, 0),
    ),
    "look up": (
        lambda b, x, y: b.look_up(b.leading_one(x), [9, 4, 7, 2], 4),
        lambda x, y: [0, 9, 4, 7, 2][x.bit_length()],
    ),
    "shift left": (lambda b, x, y: b.shift_left(x, y, 6), lambda x, y: (x << y) % 64),
    "sign extension": (
        lambda b, x, y: b.extend_signed(x, 6),
        lambda x, y: signed(x, 4) % 64,
    ),
    "minimum": (lambda b, x, y: b.minimum([x, y])[0], lambda x, y: min(x, y)),
    "or": (lambda b, x, y: b.either(x[0], y[0]), lambda x, y: (x | y) % 2),
}


@STYLES
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_on_all_four_bit_numbers(name, shallow):
    build, expected = OPERATIONS[name]
    x, y = every(16, 16)
    found = run(binary(shallow, 4, 4, build), x=x, y=y)["out"]
    assert found == [expected(a, b) for a, b in zip(x, y, strict=True)]


@STYLES
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 130), st.integers(1, 130), st.integers(1, 140), st.randoms())
def test_sums_and_comparisons_of_any_width(shallow, width_x, width_y, width, random):
    x = [random.getrandbits(width_x) for _ in range(20)]
    y = [random.getrandbits(width_y) for _ in range(19)] + [x[-1] % (1 << width_y)]
    builder = Builder(shallow)
    a, b = builder.input("x", width_x), builder.input("y", width_y)
    builder.output("sum", builder.add(a, b, width))
    builder.output("difference", builder.subtract(a, b, width))
    builder.output("less", [builder.less(a, b)])
    builder.output("equal", [builder.equal(a, b)])
    found = run(builder.build(), x=x, y=y)
    pairs = list(zip(x, y, strict=True))
    assert found["sum"] == [(p + q) % (1 << width) for p, q in pairs]
    assert found["difference"] == [(p - q) % (1 << width) for p, q in pairs]
    assert found["less"] == [int(p < q) for p, q in pairs]
    assert found["equal"] == [int(p == q) for p, q in pairs]


@STYLES
@pytest.mark.parametrize("modulus", [*range(1, 18), 31, 32, 33])
def test_modular_sums_of_all_shares(modulus, shallow):
    width = (modulus - 1).bit_length()
    x, y = every(modulus, modulus)
    add = (
        binary(shallow, width, width, lambda b, p, q: b.add_modulo(p, q, modulus))
        if width
        else None
    )
    if add is None:
        assert Builder().add_modulo([], [], 1) == []
        return
    assert run(add, x=x, y=y)["out"] == [(p + q) % modulus for p, q in zip(x, y, strict=True)]
    subtract = binary(shallow, width, width, lambda b, p, q: b.subtract_modulo(p, q, modulus))
    assert run(subtract, x=x, y=y)["out"] == [(p - q) % modulus for p, q in zip(x, y, strict=True)]


@settings(deadline=None)
@given(st.integers(2, 2**130), st.randoms())
def test_modular_sums_for_large_moduli(modulus, random):
    width = (modulus - 1).bit_length()
    x = [0, modulus - 1, *(random.randrange(modulus) for _ in range(9))]
    y = [0, modulus - 1, *(random.randrange(modulus) for _ in range(9))]
    add = binary(False, width, width, lambda b, p, q: b.add_modulo(p, q, modulus))
    assert run(add, x=x, y=y)["out"] == [(p + q) % modulus for p, q in zip(x, y, strict=True)]
    assert add.ands <= 3 * width + 2


@STYLES
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7])
def test_the_first_of_the_least_and_of_the_greatest_wins(count, shallow):
    columns = every(*[3] * count) if count < 6 else [list(range(9)) * 3] * count
    builder = Builder(shallow)
    words = [builder.input(str(i), 2) for i in range(count)]
    for name, (value, index) in (
        ("least", builder.minimum(words)),
        ("greatest", builder.maximum(words)),
    ):
        builder.output(name, value)
        builder.output(name + " at", index if index else [ZERO])
    found = run(
        builder.build(), **{str(i): [v % 3 for v in column] for i, column in enumerate(columns)}
    )
    rows = [[v % 3 for v in row] for row in zip(*columns, strict=True)]
    assert found["least"] == [min(row) for row in rows]
    assert found["greatest"] == [max(row) for row in rows]
    assert found["least at"] == [row.index(min(row)) for row in rows]
    assert found["greatest at"] == [row.index(max(row)) for row in rows]


def test_gate_counts_are_those_of_the_papers():
    """One AND a bit for sum, comparison and choice (Kolesnikov, Sadeghi and Schneider 2009)."""
    width = 32
    counts = {
        "add": (lambda b, x, y: b.add(x, y, width), width - 1),
        "add, with the carry out": (lambda b, x, y: b.add(x, y, width + 1), width),
        "subtract": (lambda b, x, y: b.subtract(x, y, width), width - 1),
        "less": (lambda b, x, y: b.less(x, y), width),
        "equal": (lambda b, x, y: b.equal(x, y), width - 1),
        "choose": (lambda b, x, y: b.choose(b.less(x, y), x, y), 2 * width),
        "leading one": (lambda b, x, y: b.leading_one(x), width - 1),
        "position": (lambda b, x, y: b.encode(b.leading_one(x)), width - 2),
        "multiply": (lambda b, x, y: b.multiply(x, y, width), width**2 - width + 1),
    }
    for name, (build, ands) in counts.items():
        assert (name, binary(False, width, width, build).ands) == (name, ands)


def test_shallow_circuits_have_logarithmic_depth():
    for operation, depth in (
        (lambda b, x, y: b.less(x, y), 6),
        (lambda b, x, y: b.equal(x, y), 5),
        (lambda b, x, y: b.add(x, y, 32), 6),
        (lambda b, x, y: b.leading_one(x), 5),
    ):
        assert binary(True, 32, 32, operation).depth <= depth


def test_steps_cover_all_gates_in_order_and_none_feeds_its_own_step():
    circuit = binary(True, 16, 16, lambda b, x, y: b.multiply(x, y, 16))
    assert [step.start for step in circuit.steps[1:]] == [s.stop for s in circuit.steps[:-1]]
    assert circuit.steps[-1].stop == len(circuit.kinds)
    for step in circuit.steps:
        first = circuit.input_bits + step.start
        part = slice(step.start, step.stop)
        assert (circuit.kinds[part] == step.kind).all()
        assert (circuit.left[part] < first).all()
        assert (circuit.right[part] < first).all()
    assert circuit.ands + circuit.xors + circuit.nots == len(circuit.kinds)
    assert circuit.depth == sum(step.kind == AND for step in circuit.steps)


def test_folding_leaves_no_gate_that_is_not_needed():
    gates = Gates()
    a, b = gates.input("in", 2)
    assert gates.xor(a, a) == ZERO
    assert gates.xor(a, gates.invert(a)) == ONE
    assert gates.conjoin(a, gates.invert(a)) == ZERO
    assert gates.conjoin(a, ONE) == a
    assert gates.invert(gates.invert(a)) == a
    assert gates.xor(gates.invert(a), gates.invert(b)) == gates.xor(b, a)
    gates.conjoin(a, b)  # never used
    gates.output("out", [gates.xor(a, b)])
    circuit = gates.build()
    assert circuit.kinds.tolist() == [XOR]


def test_constant_outputs_and_inputs_as_outputs():
    gates = Gates()
    a, b = gates.input("in", 2)
    gates.output("out", [ZERO, ONE, b, a])
    circuit = gates.build()
    assert sorted(circuit.kinds.tolist()) == [XOR, NOT]
    assert run(circuit, **{"in": [0, 1, 2, 3]})["out"] == [0b0010, 0b1010, 0b0110, 0b1110]


def test_digests_differ_when_anything_does():
    def circuit(name="x", flip=False, order=("p", "q")):
        builder = Builder()
        x = builder.input(name, 3)
        for output in order:
            builder.output(output, builder.invert_word(x) if flip else x)
        return builder.build()

    variants = [circuit(), circuit("y"), circuit(flip=True), circuit(order=("q", "p"))]
    assert len({c.digest for c in variants}) == 4
    assert circuit().digest == circuit().digest


@settings(deadline=None)
@given(st.lists(st.integers(-(2**70), 2**70)), st.integers(1, 80))
def test_numbers_come_back_from_bits_modulo_the_width(values, width):
    bits = to_bits(values, width)
    assert bits.shape == (len(values), width)
    assert [int(v) for v in from_bits(bits)] == [v % (1 << width) for v in values]


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64])
def test_arrays_of_any_integer_type_become_bits(dtype):
    values = np.array([0, 1, 100, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    assert from_bits(to_bits(values, 64)).tolist() == [int(v) % 2**64 for v in values]


@pytest.mark.parametrize(
    ("inputs", "match"),
    [
        ({"x": np.zeros((2, 3), np.uint8)}, "has inputs"),
        ({"x": np.zeros((2, 3), np.uint8), "z": np.zeros((2, 3), np.uint8)}, "has inputs"),
        ({"x": np.zeros((2, 3), np.uint8), "y": np.zeros((2, 4), np.uint8)}, "'y' is not an array"),
        ({"x": np.zeros((2, 3), np.uint8), "y": np.zeros((1, 3), np.uint8)}, "different numbers"),
        ({"x": np.zeros((2, 3), np.uint8), "y": np.zeros((2, 3), np.int64)}, "'y' is not an array"),
        (
            {"x": np.zeros((2, 3), np.uint8), "y": np.full((2, 3), 2, np.uint8)},
            "other than 0 and 1",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_named(inputs, match):
    circuit = binary(False, 3, 3, lambda b, x, y: b.xor_words(x, y))
    with pytest.raises(ValueError, match=match):
        evaluate(circuit, inputs)


def test_names_are_given_once_and_minima_are_of_something():
    builder = Builder()
    builder.input("x", 1)
    builder.output("y", [ZERO])
    with pytest.raises(ValueError, match="input 'x' exists"):
        builder.input("x", 1)
    with pytest.raises(ValueError, match="output 'y' exists"):
        builder.output("y", [ZERO])
    with pytest.raises(ValueError, match="of no numbers"):
        builder.minimum([])
    empty = Gates()
    empty.output("out", [ONE])
    with pytest.raises(ValueError, match="without inputs"):
        empty.build()
    assert isinstance(builder.build(), Circuit)


def test_threads_that_ask_for_one_circuit_build_it_once():
    built = []

    @built_once(2)
    def doubled(width):
        built.append(width)
        time.sleep(0.05)  # others ask meanwhile
        gates = Gates()
        gates.output("out", gates.input("in", width))
        return gates.build()

    found = []
    threads = [threading.Thread(target=lambda: found.append(doubled(3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [3]
    assert all(circuit is found[0] for circuit in found)
    assert len(found) == 4
