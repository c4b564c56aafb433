"""What paper 2, third article, §7 prints about its three settings, beside ours."""

from __future__ import annotations

import pytest

from coterie.protocols.numbers.logarithm_circuits import phase_one
from coterie.protocols.numbers.logarithm_settings import Settings, error_bound, remainder_range

# N, k, gates of the circuit, absolute error, largest x
PRINTED = [(17, 3, 1497, 0.0112, 131071), (13, 4, 1386, 0.0044, 8191), (10, 5, 1314, 0.0018, 1023)]


@pytest.mark.parametrize(("bits", "terms", "gates", "error", "largest"), PRINTED)
def test_the_printed_errors_are_the_taylor_remainders_rounded(
    bits: int, terms: int, gates: int, error: float, largest: int
) -> None:
    assert largest == (1 << bits) - 1
    assert round(float(max(map(abs, remainder_range(bits, terms)))), 4) == error
    assert error_bound(bits, terms) <= error


@pytest.mark.parametrize(("bits", "terms", "gates", "error", "largest"), PRINTED)
def test_our_first_phase_has_a_quarter_of_the_printed_gates_to_pay_for(
    bits: int, terms: int, gates: int, error: float, largest: int
) -> None:
    """XOR and NOT gates are free under the garbling used here; the paper's are all alike."""
    circuit = phase_one(1 << 60, bits, 60, zero_as_one=False)
    assert circuit.ands < gates / 4
    assert circuit.ands + circuit.xors + circuit.nots < gates * 1.01


@pytest.mark.parametrize(("bits", "terms", "gates", "error", "largest"), PRINTED)
def test_a_machine_word_is_as_large_as_the_corrected_scaling_asks_for(
    bits: int, terms: int, gates: int, error: float, largest: int
) -> None:
    settings = Settings(bits, terms)
    assert settings.ring.modulus == 1 << 64
    assert settings.ring.modulus >= 2 ** (bits * terms + 2 * terms) * bits
