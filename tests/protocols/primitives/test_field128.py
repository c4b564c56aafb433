"""The field of 2^128 elements: against Python's integers, and the laws of a field."""

import numpy as np
import pytest

from coterie.protocols.primitives import field128
from coterie.protocols.primitives.field128 import inner_products, multiply
from coterie.protocols.primitives.randomness import Random

MODULUS = 1 << 128 | 0x87


@pytest.fixture(params=["of this processor", "portable"])
def implementation(request, monkeypatch):
    if request.param == "portable":
        monkeypatch.setattr(field128, "accelerated", lambda: False)


def drawn(count, seed="field"):
    """Random elements, and those at the field's edges."""
    blocks = Random(seed).array((count, 2))
    edges = [(0, 0), (1, 0), (2, 0), (0, 1 << 63), (2**64 - 1, 2**64 - 1)]
    blocks[: len(edges)] = edges
    return blocks


def integer(block):
    return int(block[0]) | int(block[1]) << 64


def product(x, y):
    found = 0
    for i in range(128):
        found ^= x << i if y >> i & 1 else 0
    for i in range(255, 127, -1):
        found ^= MODULUS << (i - 128) if found >> i & 1 else 0
    return found


def block(number):
    return np.array([[number & 2**64 - 1, number >> 64]], np.uint64)


@pytest.mark.usefixtures("implementation")
class TestField:
    def test_a_known_product(self):
        x, y = 0x0123456789ABCDEFFEDCBA9876543210, 0x0F1E2D3C4B5A69788796A5B4C3D2E1F0
        assert integer(multiply(block(x), block(y))[0]) == 0x7F2984F784967F5A7B881BF2B700D768

    def test_products_are_those_of_polynomials(self):
        a, b = drawn(40), drawn(40, "other")[::-1]
        expected = [product(integer(x), integer(y)) for x, y in zip(a, b, strict=True)]
        assert [integer(z) for z in multiply(a, b)] == expected

    def test_every_element_is_its_own_power_of_the_fields_size(self):
        start = drawn(9)
        power = start
        for _ in range(128):
            power = multiply(power, power)
        assert (power == start).all()
        assert not (multiply(start, start)[5:] == start[5:]).all()

    def test_products_distribute_over_sums_and_do_not_depend_on_the_order(self):
        a, b, c = (drawn(50, seed) for seed in "abc")
        assert (multiply(a, b ^ c) == multiply(a, b) ^ multiply(a, c)).all()
        assert (multiply(a, b) == multiply(b, a)).all()

    @pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 40])
    def test_an_inner_product_is_the_sum_of_the_products(self, size):
        rows = Random("rows").array((5, size, 2))
        factors = drawn(40)[:size]
        found = inner_products(rows, factors)
        for row, one in zip(rows, found, strict=True):
            expected = np.bitwise_xor.reduce(multiply(row, factors), axis=0) if size else [0, 0]
            assert (one == expected).all()


def test_factors_of_another_number_are_refused():
    with pytest.raises(ValueError, match="as many blocks"):
        inner_products(np.zeros((3, 4, 2), np.uint64), np.zeros((5, 2), np.uint64))
    with pytest.raises(ValueError, match="as many blocks"):
        multiply(np.zeros((3, 2), np.uint64), np.zeros((1, 2), np.uint64))
