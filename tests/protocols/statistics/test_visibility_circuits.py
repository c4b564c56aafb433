"""The circuits say what is large, and which cells of a line are left."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.circuits.boolean import evaluate, to_bits
from coterie.protocols.statistics.visibility_circuits import (
    WIDTH,
    large_circuit,
    line_circuit,
    whole_circuit,
)

counts = st.integers(0, 2**31 - 1) | st.integers(0, 6)


def halves(bits, seed=0):
    """XOR shares of an input `large`."""
    bits = np.asarray(bits, np.uint8)
    mine = np.random.default_rng(seed).integers(0, 2, bits.shape, np.uint8)
    return {"large0": mine, "large1": mine ^ bits}


@settings(deadline=None, max_examples=60)
@given(st.lists(counts, min_size=1, max_size=20), st.integers(1, 9) | st.just(2**31 - 1))
def test_large_is_at_least_the_minimum_or_none_at_all_where_zeros_are_shown(values, minimum):
    mine = np.random.default_rng(1).integers(0, 2**32, len(values), np.uint32)
    theirs = np.array(values, np.uint32) - mine
    rows = {"rest0": to_bits(mine - np.uint32(minimum), WIDTH), "rest1": to_bits(theirs, WIDTH)}
    found = evaluate(large_circuit(False), rows)["large"][:, 0]
    assert found.tolist() == [value >= minimum for value in values]
    rows |= {"count0": to_bits(mine, WIDTH), "count1": to_bits(theirs, WIDTH)}
    found = evaluate(large_circuit(True), rows)["large"][:, 0]
    assert found.tolist() == [value >= minimum or value == 0 for value in values]


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 7).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1)
    )
)
def test_a_line_leaves_its_large_cells_if_there_are_two(lines):
    cells = len(lines[0])
    left = evaluate(line_circuit(cells), halves(lines))["shown"].tolist()
    assert left == [line if sum(line) > 1 else [0] * cells for line in lines]
    whole = evaluate(whole_circuit(cells), halves(lines))["whole"][:, 0].tolist()
    assert whole == [all(line) for line in lines]
