"""With the corrections Stirling's formula gives the logarithms of exact factorials."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.small_factorials import (
    LEFT_OVER,
    TABLE_BITS,
    corrections,
    entry,
)

UNIT = 1 << 25


def stirling(x):
    x = max(x, 1)
    return (x + 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi)


def shares_of_corrections(values, seed="s"):
    counts = np.array(values, np.uint32)
    mine = np.random.default_rng(3).integers(0, 2**32, len(values), np.uint32)

    def first(channel):
        role = Garbler(channel, "b", Random(seed))
        return corrections(role, mine, UNIT, Random(seed + "mask"))

    def second(channel):
        return corrections(Evaluator(channel, "a", Random("e")), counts - mine, UNIT, Random("x"))

    return run_parties({"a": first, "b": second})


def test_every_factorial_is_within_what_is_left_over():
    values = [*range(200), 1000, 10**6, 2**31 - 1]
    shares = shares_of_corrections(values)
    found = (shares["a"] + shares["b"]).astype(np.int64) / UNIT
    for value, added in zip(values, found, strict=True):
        if value < 10**4:
            exact = math.log(math.factorial(value))
            assert abs(stirling(value) + added - exact) < (1e-7 if value < 64 else LEFT_OVER)
        else:
            assert added == 0
    assert 1 / 12 / 65 < LEFT_OVER < 1 / 12 / 63.9


@pytest.mark.parametrize("unit", [UNIT, 1 << 40])
def test_an_entry_is_the_nearest_number_whatever_the_machine(unit):
    """By decimal arithmetic, which no library of mathematical functions has a part in."""
    with localcontext() as context:
        context.prec = 80
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628")
        for x in range(1 << TABLE_BITS):
            one = Decimal(max(x, 1))
            formula = (one + Decimal("0.5")) * one.ln() - one + (2 * pi).ln() / 2
            exact = unit * (Decimal(math.factorial(x)).ln() - formula)
            assert entry(x, unit) == int(exact.to_integral_value())


def test_both_shares_look_random():
    shares = shares_of_corrections([0] * 256)
    for share in shares.values():
        assert len(set(share.tolist())) == 256
        assert 100 < np.unpackbits(share.view(np.uint8)).reshape(256, 64).sum(axis=0).mean() < 156
