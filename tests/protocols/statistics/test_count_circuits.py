"""The circuits decide what the counts say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits
from coterie.protocols.statistics.count_circuits import WIDTH, label_circuit, leaf_circuit

counts = st.integers(0, 2**20) | st.integers(0, 6)


def shared(values, seed):
    ours = np.random.default_rng(seed).integers(0, 2**32, np.shape(values), np.uint32)
    return ours, np.array(values, np.uint32) - ours


def inputs(columns, seed=0):
    given_inputs = {}
    for i, column in enumerate(columns):
        ours, theirs = shared(column, seed + i)
        given_inputs |= {f"x{i}": to_bits(ours, WIDTH), f"y{i}": to_bits(theirs, WIDTH)}
    return given_inputs


@settings(deadline=None, max_examples=50)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(counts, min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    st.integers(1, 40),
    st.data(),
)
def test_leaves_and_their_classes(nodes, minimum, data):
    classes = len(nodes[0])
    parents = [data.draw(st.integers(0, classes - 1)) for _ in nodes]
    columns = [list(column) for column in zip(*nodes, strict=True)]
    circuit = leaf_circuit(classes, minimum)
    width = circuit.inputs["inherited0"]
    ours = np.random.default_rng(1).integers(0, 1 << width, len(nodes))
    above = {"inherited0": to_bits(ours, width), "inherited1": to_bits(ours ^ parents, width)}
    found = evaluate(circuit, {**inputs(columns), **above})
    last = evaluate(leaf_circuit(classes, minimum, last=True), {**inputs(columns), **above})
    assert set(last) == {"label"}
    for at, node in enumerate(nodes):
        leaf = sum(node) - max(node) < minimum
        assert found["leaf"][at, 0] == leaf
        expected = node.index(max(node)) if sum(node) >= minimum else parents[at]
        assert from_bits(found["kept"])[at] == expected
        assert from_bits(found["label"])[at] == (expected if leaf else 0)
        assert from_bits(last["label"])[at] == expected


def test_a_class_is_put_together_of_its_shares():
    shares = {"kept0": to_bits(np.array([5, 2]), 3), "kept1": to_bits(np.array([1, 2]), 3)}
    assert from_bits(evaluate(label_circuit(3), shares)["label"]).tolist() == [4, 0]
