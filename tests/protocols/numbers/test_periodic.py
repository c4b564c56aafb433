"""Functions of shared numbers beside plain arithmetic."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.numbers import periodic
from coterie.protocols.numbers.periodic import (
    ANGLES,
    COARSE_SIGMOID,
    NOISE,
    SIGMOID,
    SLOPE,
    SOFTPLUS,
    WITHIN,
    angles,
    evaluate,
    unit,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("series", "function"),
    [
        (COARSE_SIGMOID, sigmoid),
        (SIGMOID, sigmoid),
        (SLOPE, lambda x: sigmoid(x) * (1 - sigmoid(x))),
        (SOFTPLUS, lambda x: np.log1p(np.exp(x)) - x / 2),
    ],
)
def test_a_series_is_as_close_to_its_function_as_it_says(series, function):
    x = np.linspace(-WITHIN, WITHIN, 9001)
    assert np.abs(series.of(x) - function(x)).max() <= series.error


def on_shares(numbers, functions, coarse=False, seed=1):
    whole = angles(numbers)
    first = Random(f"share {seed}").array(len(numbers)) & np.uint64(ANGLES - 1)
    second = (whole - first) & np.uint64(ANGLES - 1)
    found = run_parties(
        {
            "a": lambda c: evaluate(Sender(c, "b", Random("a")), first, functions, coarse),
            "b": lambda c: evaluate(Receiver(c, "a", Random("b")), second, functions, coarse),
        }
    )
    return (found["a"] + found["b"]).astype(np.int64) / unit(coarse)


def test_shares_of_functions_add_up_to_the_series_whatever_the_shares(monkeypatch):
    monkeypatch.setattr(periodic, "_RECORDS", 50)  # several pieces, the last a short one
    x = np.concatenate([np.linspace(-WITHIN, WITHIN, 118), [0.0, 40.0]])
    functions = [SIGMOID, SLOPE]
    found = on_shares(x, functions)
    due = np.stack([one.of(x) for one in functions], axis=1)
    assert np.abs(found - due).max() < 6 * NOISE
    assert (found - due).std(axis=0).max() < NOISE


def test_coarse_functions_are_those_of_their_series_to_three_digits():
    x = np.linspace(-WITHIN, WITHIN, 60)
    found = on_shares(x, [COARSE_SIGMOID], coarse=True)[:, 0]
    assert np.abs(found - COARSE_SIGMOID.of(x)).max() < 2e-3
