"""Linear systems without a matrix library, compared with one."""

import numpy as np
import pytest

from coterie.protocols.models.symmetric import Factored, SingularError, product, unpacked


@pytest.mark.parametrize("size", [1, 3, 12])
def test_solutions_and_inverses_are_those_of_a_matrix_library(size):
    rng = np.random.default_rng(size)
    root = rng.normal(size=(size, size + 4))
    matrix, right = root @ root.T, rng.normal(size=size)
    factored = Factored(matrix.tolist())
    np.testing.assert_allclose(factored.solve(right.tolist()), np.linalg.solve(matrix, right))
    np.testing.assert_allclose(factored.inverse(), np.linalg.inv(matrix))
    np.testing.assert_allclose(product(matrix.tolist(), matrix.tolist()), matrix @ matrix)


def test_the_column_that_follows_from_others_is_named():
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(50, 3))
    columns = np.column_stack([columns[:, 0], columns[:, 1], columns[:, 0] - 2 * columns[:, 1]])
    with pytest.raises(SingularError) as caught:
        Factored((columns.T @ columns).tolist())
    assert caught.value.at == 2


def test_a_packed_triangle_is_the_whole_matrix():
    assert unpacked([1, 2, 3, 4, 5, 6], 3) == [[1, 2, 4], [2, 3, 5], [4, 5, 6]]
