"""Sampled quantiles of a stream: k holds by the count whatever the sample is, and the groups are those
that a plain version makes of the same sample."""

import math
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.one_dimension.recoding import Options
from coterie.anonymity.algorithms.one_dimension.streamed import (
    Counted,
    Drawn,
    Shape,
    quantiles_streamed,
)
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.scales import NUMBER

OPTIONS = Options("sampled")


def released(numbers, k, sample, piece=7):
    """What each record is shown as, and what the result tells; `sample` takes the place of chance."""
    numbers = np.array(numbers, float)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drawn = Drawn(OPTIONS)
        for start in range(0, len(numbers), piece):
            drawn.add(numbers[start : start + piece])
        drawn._sample._values = np.array(sample, float)
        counted = Counted(drawn, k, folder / "numbers")
        for start in range(0, len(numbers), piece):
            counted.add(numbers[start : start + piece])
        counted.finish()
        made = quantiles_streamed(
            {"x": counted}, {"x": Shape(NUMBER, None)}, {}, [Requirement(("x",), k)], OPTIONS,
            10**6, folder,
        ).release  # fmt: skip
        group = made.columns["x"]
        shown = group.columns["x"]
        parts = group.parts(slice(0, len(numbers)))
        return [shown.labels[shown.codes[part]] for part in parts], made.details["quantiles"]["x"]


def reference(numbers, k, sample):
    """The groups by lists alone: cut by the sample, count, and merge the smallest that is too small."""
    drawn, total = sorted(sample), len(numbers)
    wanted = max(min(total // k, len(drawn)), 1)
    cuts = set()
    for j in range(1, wanted):
        place = math.ceil(len(drawn) * (j * (total / wanted)) / total)
        cuts.add(drawn[min(place, len(drawn) - 1)])
    groups = {}
    for number in numbers:
        groups.setdefault(sum(cut <= number for cut in cuts), []).append(number)
    row = [groups[at] for at in sorted(groups)]
    while len(row) > 1 and min(map(len, row)) < k:
        at = min(range(len(row)), key=lambda i: (len(row[i]), i))
        sides = [i for i in (at - 1, at + 1) if 0 <= i < len(row)]
        other = min(sides, key=lambda i: (len(row[i]), i))
        low, high = min(at, other), max(at, other)
        row[low : high + 1] = [row[low] + row[high]]
    return row


def label(group):
    low, high = min(group), max(group)
    return f"{low:g}" if low == high else f"[{low:g}, {high:g}]"


cases = st.integers(1, 6).flatmap(
    lambda k: st.tuples(
        st.just(k),
        st.lists(st.integers(-9, 9), min_size=k, max_size=60),
        st.randoms(use_true_random=False),
    )
)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_every_group_has_k_whatever_was_drawn(case):
    k, numbers, rng = case
    sample = [rng.choice(numbers) for _ in range(rng.randrange(1, 12))]
    shown, told = released(numbers, k, sample)
    assert min(Counter(shown).values()) >= k
    assert told["smallest"] == min(Counter(shown).values())
    for number, text in zip(numbers, shown, strict=True):
        low, _, high = text.strip("[]").partition(", ")
        assert float(low) <= number <= float(high or low)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_the_groups_are_those_of_a_plain_version_for_the_same_sample(case):
    k, numbers, rng = case
    sample = [rng.choice(numbers) for _ in range(rng.randrange(1, 12))]
    shown, told = released(numbers, k, sample)
    groups = reference(numbers, k, sample)
    assert Counter(shown) == {label(group): len(group) for group in groups}
    middles = [sorted(group)[(len(group) - 1) // 2] for group in groups]
    assert told["representatives"] == dict(zip(map(label, groups), middles, strict=True))
    cost = sum(
        abs(number - middle)
        for group, middle in zip(groups, middles, strict=True)
        for number in group
    )
    assert told["costs"]["median"] == pytest.approx(cost)
    assert told["rank_difference"] == sum(len(group) ** 2 // 4 for group in groups)


def test_records_without_a_value_lie_above_all_numbers():
    numbers = [1, 2, 3, math.nan, 4, math.nan, math.nan]
    shown, _ = released(numbers, 2, [1, 3, math.inf])
    assert [shown[at] for at in (3, 5, 6)] == ["?"] * 3
    assert "?" not in "".join(shown[at] for at in (0, 1, 2, 4))
