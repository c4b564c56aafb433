"""Newton's method on sums: where it ends, and what it says where there is no end."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.pooled_newton import NoOptimumError, minimise
from coterie.protocols.primitives.randomness import Random

NAMES = ("a", "b")


def packed(value, gradient, second):
    """What a party evaluates, as the vector that is summed."""
    return np.concatenate([[value], gradient, second[np.tril_indices(len(gradient))]])


def minimised(local, size, evaluations=30, penalty=0.0, **keys):
    pull = [[penalty * (i == j) for j in range(size)] for i in range(size)]

    def party(name):
        def run(channel):
            sums = ExactSums(channel, NAMES, Random(name))
            names = [f"x{i}" for i in range(size)]
            return minimise(sums, local[name], size, pull, evaluations, names, **keys)

        return run

    return run_parties({name: party(name) for name in NAMES})


def steep(centre):
    """sqrt(1 + |z - centre|²), whose full steps from far away go further away."""

    def local(at):
        rest = at - centre
        root = np.sqrt(1 + rest @ rest)
        return packed(root, rest / root, (np.eye(len(at)) - np.outer(rest, rest) / root**2) / root)

    return local


def test_steps_that_go_too_far_are_halved_until_the_value_falls():
    found = minimised({"a": steep(np.array([4.0, -3.0])), "b": steep(np.array([4.0, -3.0]))}, 2)
    assert found["a"].at == found["b"].at
    np.testing.assert_allclose(found["a"].at, [4, -3], atol=1e-9)


def test_the_penalty_is_part_of_the_optimum_and_not_of_the_loss():
    def local(at):
        return packed(float((at - 3) @ (at - 3)) / 2, at - 3, np.eye(1))

    found = minimised({"a": local, "b": local}, 1, penalty=1.0)["a"]
    assert found.at == pytest.approx([2.0])  # 2 (z - 3) + z = 0
    assert found.loss == pytest.approx(1.0)


def test_a_direction_without_curvature_is_named():
    def local(at):
        return packed(0.0, np.zeros(2), np.diag([1.0, 0.0]))

    with pytest.raises(NoOptimumError, match="'x1' follows from the other columns"):
        minimised({"a": local, "b": local}, 2)


def test_a_value_that_falls_for_ever_is_no_optimum():
    def local(at):
        low = float(np.exp(-at[0]))
        return packed(low, np.array([-low]), np.array([[low]]))

    with pytest.raises(NoOptimumError, match="separate the outcomes"):
        minimised({"a": local, "b": local}, 1, evaluations=20)


def test_what_may_not_be_opened_ends_the_search_without_another_sum():
    local = steep(np.array([0.5]))
    found = minimised({"a": local, "b": local}, 1, may_open=lambda at: at[0] == 0)["a"]
    assert not found.settled
    assert found.evaluations == 1
