"""Each model against its definition, written out for one group in exact arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.models.privacy import (
    AlphaAnonymity,
    Closeness,
    ConfidenceBounding,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
    Together,
)

Group = list[int]
Plain = Callable[[Group, Group], bool]

thresholds = st.decimals("0.01", "0.99", places=2).map(str)


def decimal(text: str) -> Fraction:
    return Fraction(text)


def plain_k(k: int) -> Plain:
    return lambda group, table: sum(group) >= k


def plain_distinct(l: int) -> Plain:  # noqa: E741
    return lambda group, table: len([n for n in group if n > 0]) >= l


def plain_entropy(l: int) -> Plain:  # noqa: E741
    """sum of -p log p >= log l, without logarithms: the product of p^-n is at least l^(sum n)."""

    def holds(group: Group, table: Group) -> bool:
        total = sum(group)
        product = math.prod(Fraction(total, n) ** n for n in group if n)
        return product >= l**total

    return holds


def plain_recursive(c: str, l: int) -> Plain:  # noqa: E741
    def holds(group: Group, table: Group) -> bool:
        r = sorted((n for n in group if n), reverse=True)
        return r[0] < decimal(c) * sum(r[l - 1 :])

    return holds


def plain_alpha(alpha: str) -> Plain:
    return lambda group, table: all(Fraction(n, sum(group)) <= decimal(alpha) for n in group)


def plain_confidence(bounds: dict[int, str]) -> Plain:
    return lambda group, table: all(
        Fraction(group[at], sum(group)) <= decimal(h) for at, h in bounds.items()
    )


def shares(counts: Group) -> list[Fraction]:
    return [Fraction(n, sum(counts)) for n in counts]


def plain_variational(t: str) -> Plain:
    def holds(group: Group, table: Group) -> bool:
        pairs = zip(shares(group), shares(table), strict=True)
        return sum(abs(p - q) for p, q in pairs) / 2 <= decimal(t)

    return holds


def moved_earth(p: list[Fraction], q: list[Fraction]) -> Fraction:
    """The work of the best plan on a line: carry from the left what is missing on the right."""
    p, q, work = p.copy(), q.copy(), Fraction(0)
    steps = max(len(p) - 1, 1)
    for i, j in itertools.product(range(len(p)), repeat=2):
        # Sources and targets in order: on a line no plan is better than the one without crossings.
        flow = min(p[i], q[j])
        p[i] -= flow
        q[j] -= flow
        work += flow * Fraction(abs(i - j), steps)
    return work


def plain_ordered(t: str) -> Plain:
    return lambda group, table: moved_earth(shares(group), shares(table)) <= decimal(t)


@st.composite
def models(draw: st.DrawFn, values: int) -> tuple[Model, Plain]:
    kind = draw(st.integers(0, 7))
    l = draw(st.integers(2, 4))  # noqa: E741
    share = draw(thresholds)
    if kind == 0:
        k = draw(st.integers(1, 12))
        return KAnonymity(k), plain_k(k)
    if kind == 1:
        return DistinctDiversity(l), plain_distinct(l)
    if kind == 2:
        return EntropyDiversity(l), plain_entropy(l)
    if kind == 3:
        c = draw(st.sampled_from(["0.5", "0.7", "1", "1.25", "2", "3"]))
        return RecursiveDiversity(float(c), l), plain_recursive(c, l)
    if kind == 4:
        return AlphaAnonymity(float(share)), plain_alpha(share)
    if kind == 5:
        at = draw(st.lists(st.integers(0, values - 1), min_size=1, unique=True))
        bounds = {index: draw(thresholds) for index in at}
        model = ConfidenceBounding({f"s{i}": float(h) for i, h in bounds.items()})
        return model.for_values([f"s{i}" for i in range(values)]), plain_confidence(bounds)
    if kind == 6:
        return Closeness(float(share)), plain_variational(share)
    ordered = Closeness(float(share), "ordered").for_values([str(10 * i) for i in range(values)])
    return ordered, plain_ordered(share)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Model, Plain, list[Group]]:
    values = draw(st.integers(1, 5))
    model, plain = draw(models(values))
    group = st.lists(st.integers(0, 10), min_size=values, max_size=values).filter(any)
    return model, plain, draw(st.lists(group, min_size=1, max_size=6))


def check(model: Model, groups: list[Group]) -> list[bool]:
    counts = np.array(groups, dtype=np.int64)
    flags = model.holds(counts, counts.sum(axis=0))
    assert flags.shape == (len(groups),)
    assert flags.dtype == bool
    return [bool(flag) for flag in flags]


@given(cases())
@example((EntropyDiversity(3), plain_entropy(3), [[7, 7, 7], [7, 7, 6]]))
@example((AlphaAnonymity(0.6), plain_alpha("0.6"), [[3, 2], [31, 19], [2, 3]]))
@example((RecursiveDiversity(1, 2), plain_recursive("1", 2), [[5, 5, 0], [5, 5, 1], [4, 2, 2]]))
@example((RecursiveDiversity(0.07, 2), plain_recursive("0.07", 2), [[7, 0], [7, 100]]))
@example((Closeness(0.2), plain_variational("0.2"), [[7, 3], [3, 7]]))
@settings(max_examples=600, deadline=None)
def test_every_model_is_its_definition(case: tuple[Model, Plain, list[Group]]) -> None:
    model, plain, groups = case
    table = [sum(column) for column in zip(*groups, strict=True)]
    assert check(model, groups) == [plain(group, table) for group in groups]


@given(cases(), st.data())
@settings(max_examples=400, deadline=None)
def test_groups_that_satisfy_a_model_still_do_when_they_are_merged(
    case: tuple[Model, Plain, list[Group]], data: st.DataObject
) -> None:
    model, _, groups = case
    assert model.monotone
    overall = np.array(groups, dtype=np.int64).sum(axis=0)
    first = data.draw(st.integers(0, len(groups) - 1))
    second = data.draw(st.integers(0, len(groups) - 1))
    pair = np.array([groups[first], groups[second]], dtype=np.int64)
    if model.holds(pair, overall).all():
        assert model.holds(pair.sum(axis=0, keepdims=True), overall).all()


@given(cases())
@settings(max_examples=100, deadline=None)
def test_a_group_without_records_satisfies_every_model(
    case: tuple[Model, Plain, list[Group]],
) -> None:
    model, _, groups = case
    assert check(model, [*groups, [0] * len(groups[0])])[-1]


def test_closeness_to_what_is_left_is_lost_when_records_are_suppressed() -> None:
    """Why suppression and t-closeness do not mix freely: the table's distribution moves."""
    model = Closeness(0.25)
    few, kept, suppressed = [1, 3], [30, 10], [9, 27]
    assert check(model, [few, kept, suppressed]) == [True, True, True]
    assert check(model, [few, kept]) == [False, True]


def test_diversity_is_lost_when_the_sensitive_values_themselves_are_generalized() -> None:
    """Merging columns instead of rows: why a sensitive attribute may stand in no QID."""
    model = DistinctDiversity(2)
    assert check(model, [[3, 4, 0]]) == [True]
    assert check(model, [[3 + 4, 0]]) == [False]


def test_the_salary_example_of_the_t_closeness_paper() -> None:
    """Li et al. §4: nine salaries; {3,4,5} is 0.375 away from all, {6,8,11} 0.167."""
    values = ["3", "4", "5", "6", "7", "8", "9", "10", "11"]
    model = Closeness(0.2, "ordered").for_values(values)
    low = [1, 1, 1, 0, 0, 0, 0, 0, 0]
    spread = [0, 0, 0, 1, 0, 1, 0, 0, 1]
    overall = np.ones(9, np.int64)
    counts = np.array([low, spread])
    assert model.measure(counts, overall) == pytest.approx([0.375, 1 / 6])
    assert model.holds(counts, overall).tolist() == [False, True]


def test_measures_are_what_a_report_prints() -> None:
    counts = np.array([[4, 4, 2], [0, 6, 0], [0, 0, 0]])
    overall = counts.sum(axis=0)
    nan = math.nan
    expected: list[tuple[Model, list[float]]] = [
        (KAnonymity(5), [10, 6, nan]),
        (DistinctDiversity(2), [3, 1, nan]),
        (EntropyDiversity(2), [2 ** (0.8 * math.log2(2.5) + 0.2 * math.log2(5)), 1, nan]),
        (RecursiveDiversity(3, 3), [2, math.inf, nan]),
        (AlphaAnonymity(0.5), [0.4, 1, nan]),
        (ConfidenceBounding({"b": 0.5}).for_values(["a", "b", "c"]), [0.8, 2, nan]),
        (Closeness(0.3), [0.225, 0.375, nan]),
    ]
    for model, measures in expected:
        assert model.measure(counts, overall) == pytest.approx(measures, nan_ok=True), model.name


def test_a_model_of_a_very_large_table_does_not_overflow() -> None:
    counts = np.array([[10**10, 10**10], [3 * 10**10, 10**10]])
    assert Closeness(0.2).holds(counts, counts.sum(axis=0)).tolist() == [True, True]
    assert Closeness(0.1).holds(counts, counts.sum(axis=0)).tolist() == [False, True]


def test_options_of_a_requirement_become_models() -> None:
    assert model_from_options({"l": 3}) == Together((DistinctDiversity(3),))
    assert model_from_options({"l": 2.5, "diversity": "entropy"}).models == (EntropyDiversity(2.5),)
    assert model_from_options({"l": 3, "diversity": "recursive", "c": 2}).models == (
        RecursiveDiversity(2, 3),
    )
    several = model_from_options(
        {"alpha": 0.5, "confidence": {"HIV": 0.1}, "t": 0.2, "distance": "ordered"}
    )
    assert several.models == (
        AlphaAnonymity(0.5),
        ConfidenceBounding({"HIV": 0.1}),
        Closeness(0.2, "ordered"),
    )
    assert several.name == (
        "alpha 0.5 and confidence bounding {HIV: 0.1} and 0.2-closeness (ordered)"
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "'sensitive' needs one of l, alpha, confidence, t"),
        ({"m": 3}, "unknown key 'm'"),
        ({"diversity": "entropy"}, "'diversity' has no meaning without 'l'"),
        ({"distance": "ordered", "l": 2}, "'distance' has no meaning without 't'"),
        ({"l": 1}, "l must be at least 2, not 1"),
        ({"l": 1, "diversity": "entropy"}, "l must be above 1, not 1"),
        ({"l": 2.5}, "'l' must be a whole number for distinct diversity, not 2.5"),
        ({"l": "many"}, "'l' must be a number, not 'many'"),
        ({"l": True}, "'l' must be a number, not 'True'"),
        ({"l": 2, "diversity": "some"}, "'diversity' must be one of"),
        ({"l": 2, "diversity": "recursive"}, "'c' and 'diversity: recursive' go together"),
        ({"l": 2, "c": 2}, "'c' and 'diversity: recursive' go together"),
        ({"l": 2, "c": 0, "diversity": "recursive"}, "c must be above 0, not 0"),
        ({"alpha": 1}, "alpha must be above 0 and below 1, not 1"),
        ({"confidence": 0.5}, "'confidence' must be a mapping"),
        ({"confidence": {}}, "confidence must name at least one value"),
        ({"confidence": {"HIV": 1.5}}, "confidence of 'HIV' must be above 0 and below 1, not 1.5"),
        ({"t": 0}, "t must be above 0 and below 1, not 0"),
        ({"t": 0.2, "distance": "far"}, "'distance' must be one of variational, ordered"),
        ({"t": 0.2, "order": ["a", "b"]}, "order has a meaning with 'distance: ordered' only"),
        ({"t": 0.2, "distance": "ordered", "order": ["a", "a"]}, "order names a value twice"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    options: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        model_from_options(options)


def test_an_order_that_does_not_fit_the_values_is_refused() -> None:
    with pytest.raises(ValueError, match="needs numbers, or the key 'order'"):
        Closeness(0.2, "ordered").for_values(["low", "high"])
    with pytest.raises(ValueError, match="order lacks the value 'middle'"):
        Closeness(0.2, "ordered", ("low", "high")).for_values(["low", "middle", "high"])


def test_an_order_is_followed_whatever_the_order_of_the_columns() -> None:
    model = Closeness(0.4, "ordered", ("low", "middle", "high"))
    counts = np.array([[2, 0, 0], [0, 0, 2]])  # of high, low, middle
    assert model.for_values(["high", "low", "middle"]).measure(
        counts, counts.sum(axis=0)
    ) == pytest.approx([0.25, 0.25])


def test_a_bounded_value_that_its_holder_does_not_have_is_refused() -> None:
    model = model_from_options({"confidence": {"HVI": 0.1}})
    with pytest.raises(ValueError, match="confidence names 'HVI', which no record has"):
        model.check(["HIV", "flu"])
    model_from_options({"confidence": {"HIV": 0.1}}).check(["HIV", "flu"])


def test_a_bounded_value_that_the_common_records_lack_is_within_its_bound() -> None:
    model = ConfidenceBounding({"HIV": 0.1, "flu": 0.5}).for_values(["flu", "cold"])
    counts = np.array([[1, 1], [3, 1]])
    assert model.holds(counts, counts.sum(axis=0)).tolist() == [True, False]


def test_values_that_an_order_lacks_are_refused_by_their_holder() -> None:
    with pytest.raises(ValueError, match="order lacks the value 'x'"):
        Closeness(0.2, "ordered", ("low", "high")).check(["x"])
