"""n log2 n in whole numbers."""

import ast
import inspect
from decimal import Decimal, localcontext

import numpy as np
import pytest

from coterie.anonymity.specialization import logarithms, scores
from coterie.anonymity.specialization.logarithms import ULPS, exact_sum, scaled
from tests.anonymity.specialization.exact_scores import DIGITS


def true_value(n, bits):
    with localcontext(DIGITS):
        return Decimal(n) * Decimal(n).ln() / Decimal(2).ln() * 2 ** (57 - bits)


@pytest.mark.parametrize("bits", [2, 7, 11, 16, 24, 31])
def test_the_error_is_within_the_stated_bound(bits):
    rng = np.random.default_rng(bits)
    most = 2**bits - 1
    near_powers = {2**i + d for i in range(1, bits) for d in (-1, 0, 1)}
    for n in {1, most, *near_powers, *rng.integers(1, most, 400, endpoint=True).tolist()}:
        if 0 < n <= most:
            assert abs(scaled(n, bits) - true_value(n, bits)) <= ULPS, (n, bits)


def test_nothing_has_no_term():
    assert scaled(0, 20) == 0 == scaled(1, 20)


def test_the_compiled_and_the_interpreted_code_agree():
    """Whole numbers only: what one compiler makes of it another must, too."""
    python = scaled.__wrapped__
    upper = logarithms._upper.__wrapped__
    original = logarithms._upper
    rng = np.random.default_rng(5)
    logarithms._upper = upper
    try:
        with np.errstate(over="ignore"):
            for bits in (5, 17, 31):
                for n in rng.integers(2, 2**bits, 50).tolist():
                    assert int(python(n, bits)) == scaled(n, bits)
    finally:
        logarithms._upper = original


def test_a_rational_sum_is_a_whole_number():
    assert exact_sum([(1, 8), (-1, 4), (-1, 2), (1, 0), (1, 1)], 128) == 24 - 8 - 2
    assert exact_sum([(1, 6), (-2, 3)], 128) == 6
    assert not isinstance(exact_sum([(1, 3)], 128), int)


@pytest.mark.parametrize("module", [logarithms, scores])
def test_no_function_of_the_platforms_library_is_used(module):
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Attribute | ast.Name)
    }
    assert "math" not in names
    calls = inspect.getsource(module)
    assert "np.log" not in calls
    assert "float" not in names
