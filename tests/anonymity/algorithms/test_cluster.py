"""k-member clustering: the article's example, its promises, and a plain copy of its rule."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.cluster import _partition, cluster
from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import CategoricalColumn
from coterie.anonymity.table.table import Table
from coterie.base.errors import DataError
from tests import ADULT
from tests.anonymity.small_tables import (
    PLACES,
    SEXES,
    is_truthful,
    rows_shown,
    smallest_group,
    table_of,
    tables,
)

QID = ("place", "sex", "age")


def scaled(share: Fraction) -> int:
    """Losses are compared as whole multiples of 2^-30."""
    return round(share * 2**30)


def plain_loss(rows: list[tuple[str, str, int]], ages: list[int]) -> int:
    """The heights of what covers some records, from the paths of the taxonomy."""
    span = max(ages) - min(ages) or 1
    above = {
        "San Diego": ["San Diego", "California", "West", "USA"],
        "Los Angeles": ["Los Angeles", "California", "West", "USA"],
        "Wichita": ["Wichita", "Kansas", "Midwest", "USA"],
        "Kansas City": ["Kansas City", "Kansas", "Midwest", "USA"],
        "Lincoln": ["Lincoln", "Nebraska", "Midwest", "USA"],
    }
    paths = [above[row[0]] for row in rows]
    place = next(h for h in range(4) if len({path[h] for path in paths}) == 1)
    sex = len({row[1] for row in rows}) - 1
    ends = [scaled(Fraction(row[2] - min(ages), span)) for row in rows]
    return scaled(Fraction(place, 3)) + scaled(Fraction(sex)) + max(ends) - min(ends)


def plain_clusters(rows: list[tuple[str, str, int]], k: int) -> list[set[int]]:
    """Greedy k-member, written down as its article tells it."""
    ages = [row[2] for row in rows]

    def loss(members):
        return plain_loss([rows[i] for i in members], ages)

    left, current, found = list(range(len(rows))), 0, []
    while len(left) >= k:
        current = max(left, key=lambda i: (loss([current, i]), -i))
        members = [current]
        left.remove(current)
        while len(members) < k:
            current = min(left, key=lambda i: (loss([*members, i]), i))
            members.append(current)
            left.remove(current)
        found.append(members)
    for i in left:
        growth = [(len(c) + 1) * loss([*c, i]) - len(c) * loss(c) for c in found]
        found[growth.index(min(growth))].append(i)
    return [set(members) for members in found]


@settings(max_examples=60, deadline=None)
@given(tables(least=2, most=18), st.integers(1, 4))
def test_clusters_are_those_of_the_article(table, k):
    if k > table.records:
        return
    part = _partition(table, Condition(QID, k)).part
    place, sex, age = table.columns
    rows = [
        (PLACES.leaves[p], SEXES.leaves[s], int(age.values[a]))
        for p, s, a in zip(place.codes, sex.codes, age.codes, strict=True)
    ]
    found = [set(np.flatnonzero(part == c).tolist()) for c in range(int(part.max()) + 1)]
    assert found == plain_clusters(rows, k)


@settings(max_examples=40, deadline=None)
@given(tables(least=4), st.integers(2, 4))
def test_every_requirement_holds(table, k):
    wanted = [Requirement(QID, k, "ill", model_from_options({"l": 2}))]
    if len(set(table.labels["ill"].codes.tolist())) < 2:
        with pytest.raises(DataError):
            cluster(table, wanted)
        return
    answer = cluster(table, wanted)
    assert smallest_group(answer) >= k
    assert is_truthful(answer)
    ills = table.labels["ill"].codes
    for group in set(rows_shown(answer)):
        inside = [i for i, row in enumerate(rows_shown(answer)) if row == group]
        assert len(set(ills[inside].tolist())) >= 2


def test_the_articles_example_within_its_bounds():
    cities = ["San Diego", "Los Angeles", "Wichita", "Kansas City", "Lincoln", "Lincoln", "Wichita"]
    table = table_of(cities, list("MMMMFMF"), [32, 30, 42, 30, 35, 20, 25])
    bounded = Table(table.columns, {}, {"place": ("California", "Kansas", "Midwest")})
    answer = cluster(bounded, [Requirement(QID, 2)])
    assert [row[0] for row in rows_shown(answer)] == [
        "California", "California", "Kansas", "Kansas", "Lincoln", "Lincoln", "Kansas",
    ]  # fmt: skip


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not at hand")
def test_bounds_on_country_suppress_nobody_and_hold():
    from tests.anonymity.algorithms.test_mondrian import adult

    names = ("marital-status", "race", "sex", "native-country")
    marks = ("North-America", "Middle-America", "South-America", "Europe", "Asia")
    table = adult(names).take(np.random.default_rng(7).choice(30_162, 3_000, replace=False))
    free = cluster(table, [Requirement(names, 10)])
    bounded = cluster(
        Table(table.columns, {}, {"native-country": marks}), [Requirement(names, 10)], 99
    )
    column = table.column("native-country")
    assert isinstance(column, CategoricalColumn)
    assert column.taxonomy.root in free.columns["native-country"].labels
    assert column.taxonomy.root not in bounded.columns["native-country"].labels
