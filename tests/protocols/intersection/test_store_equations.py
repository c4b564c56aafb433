"""Equations over GF(2^128) are solved, and dependent ones refused."""

import numpy as np
import pytest

from coterie.protocols.intersection.store_equations import inverse, solved, times
from coterie.protocols.primitives.field128 import inner_products, multiply
from coterie.protocols.primitives.randomness import Random


@pytest.mark.parametrize(("equations", "unknowns"), [(1, 1), (1, 4), (3, 3), (4, 9)])
def test_the_unknowns_solve_the_equations(equations, unknowns):
    rng = Random(f"{equations} {unknowns}")
    factors, rights = rng.array((equations, unknowns, 2)), rng.array((equations, 2))
    found = solved(factors, rights, rng.array((unknowns, 2)))
    for row, right in zip(factors, rights, strict=True):
        assert (inner_products(row[None], found)[0] == right).all()


def test_unknowns_that_are_left_free_are_as_given():
    rng = Random(3)
    factors = np.zeros((2, 4, 2), np.uint64)
    factors[0, 1], factors[1, 3] = rng.array((2, 2))
    free = rng.array((4, 2))
    found = solved(factors, rng.array((2, 2)), free)
    assert (found[[0, 2]] == free[[0, 2]]).all()


def test_dependent_equations_have_no_solution_even_where_their_right_sides_agree():
    rng = Random(4)
    row, right, free = rng.array((1, 3, 2)), rng.array((1, 2)), rng.array((3, 2))
    factor = rng.array(2)
    both = np.concatenate([row, times(row[0], factor)[None]])
    assert solved(both, np.concatenate([right, times(right, factor)]), free) is None


def test_a_block_times_its_inverse_is_one():
    for block in Random(5).array((20, 2)):
        assert multiply(block[None], inverse(block)[None]).tolist() == [[1, 0]]
