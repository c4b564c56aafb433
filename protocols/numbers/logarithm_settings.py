"""The settings that two parties agree on for a secure logarithm, and its precision.

N bits and k terms decide the scale σ = 2^(Nk) lcm(2 … k) and the size of the ring F, by the rules
of paper 2, third article, §3; `error_bound` proves the precision of each choice. For numbers of 17
bits and 3 terms, 13 and 4, 10 and 5 the article states 0.0112, 0.0044 and 0.0018. These are the
largest Taylor remainders, rounded; adding the middle of the remainder's range halves them.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Literal

from coterie.base.errors import UsageError
from coterie.protocols.numbers import scaling
from coterie.protocols.numbers.shares import Ring

Scaling = Literal["none", "exact", "autonomous"]


@dataclass(frozen=True)
class Settings:
    """The settings that the two parties must agree on."""

    bits: int  # N: the most bits of any x
    terms: int  # k: the terms of the Taylor series
    scaling: Scaling = "exact"
    scale_bits: int = 24  # results are scaled by 2 to this power, unless `scaling` is "none"
    input_modulus: int = 1 << 32
    zero_as_one: bool = False  # a zero counts as a one, which nobody sees, instead of an error

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("bits", self.bits, 1, 128),
            ("terms", self.terms, 1, 16),
            ("scale_bits", self.scale_bits, 1, 48),
        ):
            if not least <= value <= most:
                raise UsageError(f"logarithm: {name} is {value}, not {least} to {most}")
        if self.input_modulus < 2:
            raise UsageError(f"logarithm: shares modulo {self.input_modulus} can hold nothing")
        if self.scaling not in ("none", "exact", "autonomous"):
            raise UsageError(
                f"logarithm: scaling '{self.scaling}' is not none, exact or autonomous"
            )

    @cached_property
    def lcm(self) -> int:
        return math.lcm(*range(1, self.terms + 1))

    @property
    def sigma(self) -> int:
        """The scale of step 2."""
        return self.lcm << (self.bits * self.terms)

    @property
    def field_bits(self) -> int:
        """log2 |F|: at least Nk + 2k + log2 N, and 64 if that suffices."""
        needed = self.bits * self.terms + 2 * self.terms + max(1, (self.bits - 1).bit_length())
        if self.scaling == "autonomous":
            needed += scaling.SECRECY_BITS + 1
        return max(needed, 64)

    @cached_property
    def ring(self) -> Ring:
        return Ring(1 << self.field_bits)

    @property
    def input_ring(self) -> Ring:
        return Ring(self.input_modulus)

    @cached_property
    def output_ring(self) -> Ring:
        return self.ring if self.scaling == "none" else Ring(1 << 64)

    @property
    def scale(self) -> int:
        """The number by which a result is divided to get the logarithm."""
        return self.sigma if self.scaling == "none" else 1 << self.scale_bits

    def coefficients(self) -> list[int]:
        """The coefficients of P, the constant term first."""
        return taylor_coefficients(self.bits, self.terms)

    @property
    def error_bound(self) -> float:
        """No result is further from ln x than this."""
        return error_bound(self.bits, self.terms, self.scaling, self.scale_bits)

    @cached_property
    def main_factor(self) -> int:
        """round(σ ln 2)."""
        with decimal.localcontext(prec=60 + len(str(self.sigma))):
            return int((Decimal(self.sigma) * Decimal(2).ln()).to_integral_value())

    @cached_property
    def centre(self) -> int:
        """σ times the middle of the remainder, rounded."""
        low, high = remainder_range(self.bits, self.terms)
        with decimal.localcontext(prec=60 + len(str(self.sigma))):
            return int(((low + high) / 2 * self.sigma).to_integral_value())

    def announcement(self, count: int) -> list[str]:
        """The settings as texts, which the parties compare."""
        return [
            f"{count} numbers",
            f"{self.bits} bits",
            f"{self.terms} terms",
            f"{self.scaling} scaling",
            f"scale 2^{self.scale_bits}",
            f"shares modulo {self.input_modulus}",
            "zero as one" if self.zero_as_one else "zero refused",
        ]


def taylor_coefficients(bits: int, terms: int) -> list[int]:
    """σ times the Taylor polynomial of ln(1 + y / 2^N), which has integer coefficients."""
    lcm = math.lcm(*range(1, terms + 1))
    return [0] + [(-1) ** (i - 1) * (lcm // i << (bits * (terms - i))) for i in range(1, terms + 1)]


def remainder_range(bits: int, terms: int) -> tuple[Decimal, Decimal]:
    """The least and largest value of R(eps) = ln(1 + eps) - T_k(eps) for numbers of N bits.

    eps is in [-1/4, 1/2 - 2^(1-N)]. R' = (-eps)^k / (1 + eps) has the sign of (-eps)^k, so R is
    monotone for even k, and for odd k rises up to R(0) = 0 and falls after it: its extremes are at
    the ends and at 0.
    """
    with decimal.localcontext(prec=60):
        ends = [Decimal(-1) / 4, Decimal(0), Decimal(1) / 2 - Decimal(2) ** (1 - bits)]
        if bits == 1:
            ends = [Decimal(0)]
        values = [
            (1 + e).ln() - sum(Decimal((-1) ** (i - 1)) * e**i / i for i in range(1, terms + 1))
            for e in ends
        ]
        return min(values), max(values)


def error_bound(bits: int, terms: int, scaled: Scaling = "exact", scale_bits: int = 24) -> float:
    """How far a result can be from ln x, for every x of at most N bits.

    Half the width of the Taylor remainder's range, since its middle is added; at most N/2 units of
    1/σ for rounding σ ln 2 (it is multiplied by n <= N) and 1/2 for rounding the middle; and with
    scaling 3/2 units of the result's scale (`scaling.error_bound`).
    """
    low, high = remainder_range(bits, terms)
    sigma = math.lcm(*range(1, terms + 1)) << (bits * terms)
    bound = Fraction(high - low) / 2 + Fraction(bits + 1, 2 * sigma)
    if scaled != "none":
        bound += scaling.error_bound(Fraction(1 << scale_bits, sigma)) / (1 << scale_bits)
    return math.nextafter(float(bound), math.inf)


def quick_error(bits: int, fraction: int = 4) -> tuple[float, float]:
    """The least and the largest value of log2 x - result of the quick variant.

    The bits after the top one give x / 2^n - 1 rounded down, which is at most log2(x / 2^n); within
    a step of 2^-fraction the difference is largest at its upper end.
    """
    steps = 1 << min(fraction, bits - 1)
    high = max(math.log2(1 + (j + 1) / steps) - j / steps for j in range(steps))
    return 0.0, math.nextafter(high, math.inf)
