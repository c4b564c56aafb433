"""Scores to 80 digits by the decimal module, whose logarithms are rounded correctly and in software.

It shares neither a formula nor a library with the product, and nothing with the machine's libm.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

DIGITS = Context(prec=80)


def entropy(counts):
    total = sum(counts)
    shares = [Decimal(c) / total for c in counts if c]
    return -sum((s * s.ln() for s in shares), Decimal(0)) / Decimal(2).ln()


def gain(by_class):
    whole = [sum(column) for column in zip(*by_class, strict=True)]
    parts = [Decimal(sum(row)) / sum(whole) * entropy(row) for row in by_class if any(row)]
    return entropy(whole) - sum(parts)


def rounded(score):
    """To the nearest; the tests' counts have no score so near to a half that digits run out."""
    scaled = score * 2**30
    whole = int(scaled // 1)
    assert abs(scaled - whole - Decimal("0.5")) > Decimal(10) ** -50
    return whole + (scaled - whole > Decimal("0.5"))


def information_gain(by_class, divisor=Fraction(1)):
    with localcontext(DIGITS):
        return max(0, rounded(gain(by_class) * divisor.denominator / divisor.numerator))


def gain_ratio(by_class):
    with localcontext(DIGITS):
        split = entropy([sum(row) for row in by_class])
        return max(0, rounded(gain(by_class) / split)) if split else information_gain(by_class)
