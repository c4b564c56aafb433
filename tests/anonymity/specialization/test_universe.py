"""Specialization whose groups are counted in a population: k-map."""

import numpy as np
import pytest
from hypothesis import given, settings

from coterie.anonymity.specialization.generalized import InvalidError
from coterie.anonymity.specialization.specialize import Requirement, specialize
from coterie.anonymity.specialization.universe import Universe, mapped_names, rounded
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError
from tests.anonymity import reference
from tests.protocols.integration.populations import peopled, peopled_loans

LETTERS = taxonomy_of([[letter, "AB" if letter in "ab" else "CD", "any"] for letter in "abcd"])


def letters(text):
    return categorical_column("letter", list(text), LETTERS)


@given(peopled(max_rows=16, max_attributes=3))
@settings(max_examples=20, deadline=None)
def test_a_table_with_a_population_is_specialized_as_the_definition_says(split):
    case = split.case
    try:
        winners, cut, rows = reference.specialize(
            case.rows,
            case.attributes,
            "class",
            case.requirements,
            population=split.population,
            k_maps=split.k_maps,
        )
    except reference.LackingError:
        with pytest.raises(DataError, match="have nobody in the population"):
            split.single()
        return
    single = split.single()
    assert [(w.attribute, w.value, w.children, w.score) for w in single.winners] == winners
    assert single.cut == cut
    for name in single.names:
        codes, values = single.generalized(name)
        assert [values[code] for code in codes] == [row[name] for row in rows]


def test_a_large_population_leaves_more_detail_than_the_table_alone():
    split = peopled_loans(copies=20)
    alone = specialize(
        split.case.columns(),
        split.case.labels("class"),
        [Requirement(("Sex", "Job", "Salary"), 20)],
    )
    assert len(split.single().winners) > len(alone.winners)
    [entry, _] = split.single().anonymity
    assert entry["k_map"] == 20
    assert entry["smallest"] < 20


@pytest.mark.parametrize(
    ("people", "permitted"),
    [
        ("aabbccdd", True),
        ("aabb", True),  # nobody is in the other branch
        ("aabbc", False),  # one person there
        ("", False),
    ],
)
def test_every_combination_has_nobody_or_k_people(people, permitted):
    population = [*people, *"aaaa"] if people else list("aaaa")
    universe = Universe([letters(population)], [Requirement(("letter",), 1, k_map=2)])
    if not people:
        universe.follow("letter", 0, None)
    node = 0 if people else LETTERS.labels.index("CD")
    assert universe.permits("letter", node, None) is permitted


def test_a_refused_step_stays_refused_after_others():
    text, numbers = "aabbccd" * 3, ["1", "9", "9", "9", "9", "8", "8"] * 3
    entry = Requirement(("letter", "number"), 1, k_map=6)
    universe = Universe([letters(text), continuous_column("number", numbers, (0, 10))], [entry])
    assert not universe.permits("number", 0, 8.0)
    assert universe.permits("letter", 0, None)
    universe.follow("letter", 0, None)
    assert not universe.permits("number", 0, 8.0)


def test_a_column_that_no_population_counts_is_free():
    universe = Universe([letters("aabb")], [Requirement(("letter",), 1, k_map=2)])
    assert universe.permits("elsewhere", 5, None)
    assert mapped_names([Requirement(("a",), 3), Requirement(("b",), 1, k_map=2)], ["a", "b"]) == [
        "b"
    ]


@pytest.mark.parametrize("step", [(7, None), (0, 3.0), (LETTERS.labels.index("a"), None)])
def test_a_step_that_the_cut_does_not_have_is_refused_by_name(step):
    universe = Universe([letters("aabbccdd")], [Requirement(("letter",), 1, k_map=2)])
    with pytest.raises(InvalidError, match="'letter' cannot be specialized like this"):
        universe.permits("letter", *step)


def test_intervals_are_split_at_values_that_k_people_have_alone():
    entry = Requirement(("number",), 1, k_map=2)
    people = continuous_column("number", ["1", "3", "3", "3", "7", "8", "8"], (0, 10))
    universe = Universe([people], [entry])
    assert universe.points("number").tolist() == [3, 8]
    assert universe.permits("number", 0, 3.0) is False  # one person is below
    with pytest.raises(InvalidError):
        universe.permits("number", 0, 7.0)
    table = rounded(
        continuous_column("number", ["0.5", "3", "7.5", "9"], (0, 10)), np.array([3.0, 8])
    )
    assert table.values[table.codes].tolist() == [0, 3, 3, 8]


def test_a_value_that_one_person_has_ends_no_interval_of_a_release():
    """Whoever knows that one person earns 37 must not read that this person is in the table."""
    split = peopled_loans(copies=20)
    split.case.requirements, split.k_maps = [(["Salary"], 1)], [20]
    ends = {label for winner in split.single().winners for label in winner.children}
    assert any("37" in label for label in ends)
    split.population = [p for p in split.population if p["Salary"] != "37"]
    split.population.append(split.case.rows[0] | {"Salary": "37"})
    ends = {label for winner in split.single().winners for label in winner.children}
    assert ends
    assert not any("37" in label for label in ends)
