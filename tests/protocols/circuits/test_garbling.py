"""Garbled circuits against the plain evaluator, and against peers that do not keep to it."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.circuits import garbling, half_gates, table_messages
from coterie.protocols.circuits.arithmetic import evaluate, from_bits, to_bits
from coterie.protocols.circuits.boolean import ONE, ZERO, Gates
from coterie.protocols.circuits.garbling import AGREE, OUTPUTS, TABLES, Evaluator, Garbler
from coterie.protocols.circuits.half_gates import Worker
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives import aes
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import STEP
from tests import ROOT
from tests.protocols.circuits.comparisons import comparison, pair
from tests.protocols.transfer.sizes import transfer_bytes
from tests.protocols.wrappers import Traced
from tests.views import assert_alike


def random_circuit(random, inputs, gates, outputs):
    """Any gates on any earlier wires, without the folding that a builder does not need."""
    made = Gates()
    wires = [*made.input("x", inputs), *made.input("y", inputs), *made.input("z", 1), ZERO, ONE]
    for _ in range(gates):
        a, b = random.choice(wires), random.choice(wires)
        wires.append(random.choice([made.xor, made.conjoin, made.conjoin, made.either])(a, b))
        wires.append(made.invert(random.choice(wires)))
    made.output("p", [random.choice(wires) for _ in range(outputs)])
    made.output("q", random.choices(wires[-5:], k=2))
    return made.build()


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(0, 60),
    st.integers(0, 5),
    st.integers(0, 11),
    st.lists(st.sampled_from(garbling.MODES), min_size=2, max_size=2),
    st.sampled_from([1, 3, 40, 1 << 15]),
    st.sampled_from([1, 2, 32]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_a_garbled_circuit_is_the_plain_one(
    inputs, gates, outputs, count, modes, chunk, window, accelerated, random
):
    circuit = random_circuit(random, inputs, gates, outputs)
    rng = Random(random.random())
    bits = {
        name: rng.bits(count * width).reshape(count, width)
        for name, width in circuit.inputs.items()
    }
    expected = evaluate(circuit, bits)
    reveal = dict(zip(circuit.outputs, modes, strict=True))
    mine = [name for name in bits if random.random() < 0.5]
    given_by = [
        {name: bits[name] for name in bits if name in mine},
        {name: bits[name] for name in bits if name not in mine},
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_messages, "CHUNK_ANDS", chunk)
        patch.setattr(table_messages, "WINDOW", window)
        if not accelerated:
            patch.setattr(half_gates, "accelerated", lambda: False)
            patch.setattr(aes, "accelerated", lambda: False)
        left, right = pair(
            lambda role: role.run(circuit, given_by[0], reveal, count),
            lambda role: role.run(circuit, given_by[1], reveal, count),
        )
    for name, mode in reveal.items():
        if mode == "shares":
            assert (left[name] ^ right[name] == expected[name]).all()
            continue
        for side, got in (("garbler", left[name]), ("evaluator", right[name])):
            if mode in (side, "both"):
                assert (got == expected[name]).all()
            else:
                assert got is None


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9])
def test_both_workers_make_the_same_tables_and_labels(count, monkeypatch):
    if not aes.accelerated():
        pytest.skip("no AES instructions here")
    circuit = comparison(9)
    rng = Random(count)
    delta = rng.array(2)
    delta[0] |= np.uint64(1)
    zero = rng.array((count, circuit.input_bits, 2))
    found = []
    for fast in (True, False):
        monkeypatch.setattr(half_gates, "accelerated", lambda value=fast: value)
        tables, ends = Worker(circuit, delta).garble(zero, 5, 0, len(circuit.kinds))
        labels = Worker(circuit).evaluate(zero ^ delta, tables, 5, 0, len(circuit.kinds))
        found.append((tables.tobytes(), ends.tobytes(), labels.tobytes()))
    assert found[0] == found[1]


def test_half_gates_follow_the_papers_figure_two():
    """One AND gate by hand: tables and output labels from the definition."""
    gates = Gates()
    a, b = gates.input("in", 2)
    gates.output("out", [gates.conjoin(a, b)])
    circuit = gates.build()
    for seed in range(8):
        rng = Random(seed)
        delta = rng.array(2)
        delta[0] |= np.uint64(1)
        zero = rng.array((1, 2, 2))
        [[a0, b0]] = zero

        def h(label, tweak):
            return aes.portable_hash(label[None], np.uint64(tweak), aes.GATE)[0]

        pa, pb = a0[0] & np.uint64(1), b0[0] & np.uint64(1)
        first = h(a0, 14) ^ h(a0 ^ delta, 14) ^ pb * delta
        second = h(b0, 15) ^ h(b0 ^ delta, 15) ^ a0
        out = h(a0, 14) ^ pa * first ^ h(b0, 15) ^ pb * (second ^ a0)
        tables, ends = Worker(circuit, delta).garble(zero, 7, 0, 1)
        assert (tables[0, 0] == [first, second]).all()
        assert (ends[0, 0] == out).all()
        for x in (0, 1):
            for y in (0, 1):
                labels = (zero ^ np.array([x, y], np.uint64)[:, None] * delta).reshape(1, 2, 2)
                got = Worker(circuit).evaluate(labels, tables, 7, 0, 1)[0, 0]
                assert (got == out ^ np.uint64(x & y) * delta).all()


def test_parts_of_a_circuit_are_for_one_instance():
    circuit = comparison()
    worker = Worker(circuit, np.ones(2, np.uint64))
    with pytest.raises(ValueError, match="one instance at a time"):
        worker.garble(np.zeros((2, circuit.input_bits, 2), np.uint64), 0, 0, 1)


def test_a_session_runs_one_circuit_after_another():
    small, large = comparison(4), comparison(40)
    x, y = [5, 9], [7, 2]

    def both(role, name, values):
        return [
            role.run(circuit, {name: to_bits(values, width)}, "both")
            for circuit, width in ((small, 4), (large, 40), (small, 4))
        ]

    left, right = pair(lambda role: both(role, "x", x), lambda role: both(role, "y", y))
    for run in (*left, *right):
        assert from_bits(run["sum"]).tolist() == [12, 11]
        assert from_bits(run["less"]).tolist() == [1, 0]


@pytest.mark.parametrize("watched", ["anna", "bela"])
def test_what_one_sees_does_not_depend_on_the_others_input(watched):
    """Seeds, tables, checks and shares for the smallest and the largest input."""
    circuit = comparison()

    def scene(world):
        def bits(name):
            return to_bits([7 if name == watched else (0, 255)[world]] * 300, 8)

        def garbler(channel, rng):
            Garbler(channel, "bela", rng).run(circuit, {"x": bits("anna")})

        def evaluator(channel, rng):
            Evaluator(channel, "anna", rng).run(circuit, {"y": bits("bela")})

        return {"anna": garbler, "bela": evaluator}

    assert_alike(scene, watched)


def run_traced():
    traces = {}

    def wrap(transport):
        traces[transport.me] = Traced(transport)
        return traces[transport.me]

    circuit = comparison()
    pair(
        lambda role: role.run(circuit, {"x": to_bits([1, 2, 3, 4, 5], 8)}, "both"),
        lambda role: role.run(circuit, {"y": to_bits([5, 4, 3, 2, 1], 8)}, "both"),
        wrap=wrap,
    )
    return {name: trace.chain for name, trace in traces.items()}


def test_a_seeded_run_has_this_very_trace_on_every_implementation(monkeypatch):
    chains = run_traced()
    assert chains == run_traced()
    assert chains["bela"][:32] == "ffce098bdc5bc9edb43c0f1143859fd2"
    monkeypatch.setattr(half_gates, "accelerated", lambda: False)
    monkeypatch.setattr(aes, "accelerated", lambda: False)
    assert run_traced() == chains


@pytest.mark.parametrize("setting", ["NUMBA_CPU_NAME=generic", "NUMBA_DISABLE_JIT=1"])
def test_a_process_without_aes_instructions_has_the_same_trace(setting):
    name, _, value = setting.partition("=")
    code = (
        "from tests.protocols.circuits.test_garbling import run_traced; print(run_traced()['bela'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, name: value},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == run_traced()["bela"]


def test_the_garbler_is_at_most_two_windows_ahead(monkeypatch):
    monkeypatch.setattr(table_messages, "CHUNK_ANDS", 16)  # one instance a message
    monkeypatch.setattr(table_messages, "WINDOW", 3)
    circuit = comparison()
    sent, done, ahead = [0], [0], []

    def garbler(role):
        original = role._channel.send

        def counted(peer, *values):
            sent[0] += role._channel.current_step == TABLES
            ahead.append(sent[0] - done[0])
            original(peer, *values)

        role._channel.send = counted
        return role.run(circuit, {"x": to_bits(range(40), 8)})

    def evaluator(role):
        original = role._receive_tables

        def counted(*shapes):
            result = original(*shapes)
            done[0] += 1
            return result

        role._receive_tables = counted
        return role.run(circuit, {"y": to_bits(range(40), 8)})

    pair(garbler, evaluator)
    assert sent == done == [40]
    assert max(ahead) <= 6


def test_it_sends_what_the_docstring_says():
    meters = {}

    def wrap(transport):
        meters[transport.me] = Metered(transport)
        return meters[transport.me]

    circuit = comparison(32)
    count = 200
    bits = to_bits(range(count), 32)
    pair(
        lambda role: role.run(circuit, {"x": bits}, "garbler"),
        lambda role: role.run(circuit, {"y": bits}, "garbler"),
        wrap=wrap,
    )
    steps = meters["bela"].by_step
    columns = steps[STEP].sent_bytes
    assert 0 <= columns - transfer_bytes(count * 32) <= 100
    tables = steps[TABLES].received_bytes
    due = 32 * count * circuit.ands + 16 * count * circuit.output_bits
    assert due <= tables <= due + 200
    outputs = steps[OUTPUTS].sent_bytes
    assert 16 * count * circuit.output_bits <= outputs <= 16 * count * circuit.output_bits + 200
    assert steps[AGREE].received_bytes < 400
