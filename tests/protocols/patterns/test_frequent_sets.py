"""Frequent sets and rules against a plain search, and what their classes do not tell."""

from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.patterns import frequent_sets
from coterie.protocols.patterns.frequent_sets import (
    class_step,
    find_patterns,
    least_count,
    next_candidates,
    second_class,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from tests.views import assert_alike

NAMES = ("ann", "bob", "cat")
SERVERS = ("ann", "bob")


def plain_search(rows, least, confidence, longest):
    """Every set of values of the rows, counted one by one."""
    counts = {}
    for size in range(1, longest + 1):
        for columns in combinations(range(len(rows[0])), size):
            for values in product(*({row[c] for row in rows} for c in columns)):
                have = sum(
                    all(row[c] == v for c, v in zip(columns, values, strict=True)) for row in rows
                )
                if have >= least:
                    counts[frozenset(zip(columns, values, strict=True))] = have
    rules = {
        (frozenset(part), whole)
        for whole in counts
        for size in range(1, len(whole))
        for part in combinations(whole, size)
        if Fraction(counts[whole], counts[frozenset(part)]) >= confidence
    }
    return counts, rules


def patterns(rows, least, confidence, longest, step):
    """The protocol on shares that are dealt to the servers from plain counts."""
    items = sorted({(c, row[c]) for row in rows for c in range(len(row))})

    def party(channel):
        def count(candidates):
            if channel.me not in SERVERS:
                return None
            mask = np.random.default_rng(len(candidates)).integers(
                0, 2**32, len(candidates), np.uint32
            )
            have = [
                sum(all(row[items[i][0]] == items[i][1] for i in one) for row in rows)
                for one in candidates
            ]
            return mask if channel.me == "ann" else np.array(have, np.uint32) - mask

        group = HiddenCounts(channel, NAMES, SERVERS, Random(channel.me))
        return find_patterns(
            group, [c for c, _ in items], count, len(rows), least, confidence, longest, step
        )

    found = run_same(NAMES, party)
    assert found["ann"] == found["bob"] == found["cat"]
    return items, found["cat"]


@settings(max_examples=4, deadline=None)
@given(st.data())
def test_the_sets_and_rules_are_those_of_a_plain_search(data):
    draw = np.random.default_rng(data.draw(st.integers(0, 999)))
    records = data.draw(st.integers(5, 40))
    rows = [tuple(map(int, row)) for row in draw.integers(0, [2, 3, 2, 2], (records, 4))]
    least, longest = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 4))
    confidence = data.draw(
        st.sampled_from([Fraction(1, 2), Fraction(3, 5), Fraction(9, 10), Fraction(1)])
    )
    counts, rules = plain_search(rows, least, confidence, longest)
    step = data.draw(st.sampled_from([1, 4]))
    items, found = patterns(rows, least, confidence, longest, step)
    named = [frozenset(items[i] for i in one) for one in found.sets]
    assert set(named) == set(counts)
    assert {(named[rule.part], named[rule.whole]) for rule in found.rules} == rules
    for one, (low, high) in zip(named, found.ranges, strict=True):
        assert low <= counts[one] <= high
        assert high - low + 1 >= step or high == records


@given(st.integers(1, 60), st.sampled_from([1, 2, 4, 8, 16]))
def test_no_difference_of_counts_is_known_to_be_small_and_not_zero(least, step):
    """Whoever knows count(X) exactly: the class of count(XY) leaves 0 or something not small open."""
    minimum = step
    second = second_class(least, step)
    starts = [least, *range(second, second + 10 * step, step)]
    for low, following in pairwise(starts):
        for known in range(low, low + 3 * step):
            rest = {known - count for count in range(low, following) if count <= known}
            assert 0 in rest or max(rest) >= minimum


def test_classes_of_jobs_with_another_support_begin_at_the_same_places():
    for one, other in combinations(range(1, 40), 2):
        first, second = second_class(one, 8), second_class(other, 8)
        assert first % 8 == second % 8 == 0
        assert first - one >= 8


def test_the_least_count_is_exact_where_a_share_is_no_binary_number():
    assert least_count(10, Fraction("0.3"), 1) == 3
    assert least_count(1000, Fraction("0.07"), 1) == 70
    assert least_count(10, Fraction("0.01"), 5) == 5


def test_classes_are_no_shorter_than_the_minimum_and_exact_only_where_nothing_is_small():
    assert class_step(100, 1, 0.001) == 1
    assert class_step(100, 5, 0.001) == 8
    assert class_step(30162, 5, 0.001) == 16
    assert class_step(10**6, 5, 0.001) == 512


def test_candidates_have_all_their_parts_and_one_value_of_an_attribute():
    attributes = [0, 0, 1, 2]
    level = [(0, 2), (0, 3), (1, 2), (2, 3)]
    assert next_candidates(level, attributes) == [(0, 2, 3)]
    assert next_candidates([(0,), (1,), (2,)], attributes) == [(0, 2), (1, 2)]


def test_an_explosion_of_sets_or_rules_is_named(monkeypatch):
    rows = [(0, 0, 0, 0)] * 9
    monkeypatch.setattr(frequent_sets, "MOST_CANDIDATES", 3)
    with pytest.raises(DataError, match="more than 3 sets of 1 values"):
        patterns(rows, 2, Fraction(1, 2), 3, 1)
    monkeypatch.setattr(frequent_sets, "MOST_CANDIDATES", 100)
    monkeypatch.setattr(frequent_sets, "MOST_RULES", 10)
    with pytest.raises(DataError, match="rules would have to be tried"):
        patterns(rows, 2, Fraction(1, 2), 3, 1)


def test_a_confidence_of_too_many_digits_is_refused():
    with pytest.raises(DataError, match="too many digits"):
        patterns([(0, 1)] * 30, 2, Fraction("0.123456789"), 2, 1)


def shared(watched, me, values):
    """Shares of numbers: the watched server's is the same in both worlds."""
    if me not in SERVERS:
        return None
    fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
    mask = np.random.default_rng(len(values)).integers(0, 2**32, len(values), np.uint32)
    return mask if me == fixed else np.array(values, np.uint32) - mask


def supports(watched, world):
    """Singles of 47 records; of the pairs one is frequent, the other has none or nearly enough.

    The frequent pair's exceptions are few or none.
    """
    pairs = {(0, 2): (40, 47)[world], (0, 3): (0, 9)[world], (1, 2): (9, 0)[world], (1, 3): 30}

    def party(channel, rng):
        def count(candidates):
            return shared(
                watched, channel.me, [47 if len(c) == 1 else pairs[c] for c in candidates]
            )

        group = HiddenCounts(channel, NAMES, SERVERS, rng)
        found = find_patterns(group, [0, 0, 1, 1], count, 90, 10, Fraction(1, 2), 2, 8)
        return [found.sets, found.ranges, [(r.part, r.whole) for r in found.rules]]

    return dict.fromkeys(NAMES, party)


@pytest.mark.parametrize("watched", NAMES)
def test_nobody_learns_infrequent_counts_nor_counts_within_a_class(watched):
    world = partial(supports, watched)
    assert_alike(world, watched, 2)
