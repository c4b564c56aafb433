"""What a split of one's own numbers can be credited for, and what the threat model prints of it."""

import math
import re

import numpy as np
import pytest

from coterie.experiments.secure_data_integration.interval_credit import (
    COLUMNS,
    SEED,
    compared,
    search,
)
from tests import ROOT


def entropy(counts):
    return -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts if c)


def test_credit_and_bits_are_gain_ratio_and_gain():
    counts = np.array([[9, 1, 0, 5], [1, 9, 2, 5]], np.int32)
    found = compared(counts, 1)
    best = {}
    for place in range(1, 4):
        left, right = counts[:, :place].sum(1).tolist(), counts[:, place:].sum(1).tolist()
        share = sum(left) / 32
        gain = entropy([15, 17]) - share * entropy(left) - (1 - share) * entropy(right)
        best[place] = gain, gain / entropy([sum(left), sum(right)])
    honest, other = max(best.values()), max(best.values(), key=lambda pair: pair[1])
    assert (found.honest_bits, found.honest_credit) == pytest.approx(honest, abs=1e-8)
    assert (found.bits, found.credit) == pytest.approx(other, abs=1e-8)


@pytest.mark.parametrize("k", [1, 5])
def test_the_threat_model_prints_what_the_search_finds(k):
    found = search(COLUMNS, k, SEED)
    text = (ROOT / "docs/threat-model.md").read_text()
    [row] = re.findall(rf"^\| {k} \|(.*)\|$", text, re.M)
    printed = [float(cell) for cell in row.split("|")]
    told = [found.honest_credit, found.honest_bits, found.credit, found.bits, found.difference]
    assert printed == [round(number, 3) for number in told]
