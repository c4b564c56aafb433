"""`method: mondrian` by width on one table, beside a plain reference and the figures of its rule."""

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest

from coterie.anonymity.algorithms.width import WidthOptions, cut_by_width
from coterie.anonymity.cuts.candidates import divided
from coterie.anonymity.cuts.regions import Node, NumberSpace, Rest, Span, TaxonomySpace
from coterie.anonymity.cuts.scoring import bits_told
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.scales import DATE, NUMBER
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError
from tests.anonymity.cuts import reference
from tests.anonymity.cuts.jobs import RandomJob, shown_rows

EIGHT = (
    "age", "workclass", "education", "marital-status", "occupation", "race", "sex",
    "native-country",
)  # fmt: skip
ADULT = Path(os.environ.get("COTERIE_ADULT", Path(__file__).parents[4] / "shared/data/adult"))


@pytest.mark.parametrize("seed", range(400))
def test_random_tables_are_cut_as_the_reference_cuts_them(seed):
    job = RandomJob(seed)
    answer = job.released()
    tree, shown, _ = job.expected()
    by_level = sorted(tree, key=lambda cut: (cut["level"], cut["condition"]))
    assert keys(answer.details["tree"]) == keys(by_level)
    assert shown_rows(answer) == [
        {name: reference.text(row[name]) for name in job.names} for row in shown
    ]
    answer.anonymity(job.requirements)  # raises if a group violates an entry


def keys(tree):
    """Each level's cuts: groups of one level have an order of their own in each implementation."""
    return sorted(map(repr, tree))


@pytest.mark.parametrize("seed", range(60))
def test_bounds_start_with_a_group_for_each_combination_that_stays(seed):
    job = RandomJob(seed + 1000)
    trees = [n for n in job.names if isinstance(job.domains[n], reference.Tree)]
    marks = {}
    for name in trees:
        inner = list(job.columns[name].taxonomy.labels[1:])
        marks[name] = tuple(job.rng.sample(inner, min(len(inner), 2)))
    answer = None
    with contextlib.suppress(DataError):  # bounds that leave no record
        answer = job.released(marks, most=len(job.texts["ill"]))
    if answer is None:
        return
    _, shown, _ = job.expected(marks, answer.kept.tolist())
    assert shown_rows(answer) == [
        {name: reference.text(row[name]) for name in job.names} for row in shown
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_records_changes_nothing(seed):
    job = RandomJob(seed + 2000)
    order = np.random.default_rng(seed).permutation(len(job.texts["ill"]))
    shuffled = cut_by_width(
        job.table().take(order), job.requirements, 0, WidthOptions(job.score, False, "class")
    )
    answer = job.released()
    rows = shown_rows(answer)
    assert shown_rows(shuffled) == [rows[i] for i in order]
    assert keys(shuffled.details["tree"]) == keys(answer.details["tree"])


@pytest.mark.parametrize("seed", range(20))
def test_tight_boxes_end_at_the_lowest_and_the_highest_number_of_a_group(seed):
    job = RandomJob(seed + 3000)
    wide, tight = shown_rows(job.released()), shown_rows(job.released(tight=True))
    for name in job.names:
        if isinstance(job.domains[name], reference.Tree):
            assert [row[name] for row in wide] == [row[name] for row in tight]
            continue
        for row, text in zip(tight, job.texts[name], strict=True):
            known = row[name].removesuffix(" or ?")
            if text == "?":
                assert row[name].endswith("?")
            elif known.startswith("["):
                low, high = map(float, known[1:-1].split(", "))
                assert known.endswith("]")
                assert low <= float(text) <= high
            else:
                assert float(known) == float(text)


def test_two_small_children_and_one_that_goes_off():
    # A 3, B 3, C 1 at k = 3: of A and B, equal in size, the later one joins the rest of C.
    assert divided([3, 3, 1], 3) == ([0], [1, 2])
    taxonomy = taxonomy_of([["A", "*"], ["B", "*"], ["C", "*"]])
    table = Table((categorical_column("x", list("AABBCAB"), taxonomy),))
    answer = cut_by_width(table, [Requirement(("x",), 3)])
    assert answer.details["tree"] == [
        {
            "level": 1, "condition": 0, "attribute": "x", "region": "*", "parts": ["A", {"rest": "*"}],
            "sizes": [3, 4], "score": answer.details["tree"][0]["score"],
        }
    ]  # fmt: skip
    assert [row["x"] for row in shown_rows(answer)] == ["A", "A", "*", "*", "*", "A", "*"]


def test_a_rest_joins_until_it_has_k_records_and_without_others_there_is_no_cut():
    assert divided([5, 1, 4], 4) == ([0], [1, 2])
    assert divided([2, 1, 2], 3) == ([], [0, 1, 2])
    assert divided([4, 4, 1], 6) == ([], [0, 1, 2])
    assert divided([6, 1], 6) == ([], [0, 1])
    assert divided([6, 6], 6) == ([0, 1], [])


def test_contributions_of_a_halved_table_are_bits():
    assert bits_told([4, 4], 8) == 1 << 30
    assert bits_told([2, 2], 8) == 1 << 29


def test_cuts_of_two_numbers_with_known_values():
    table = Table(
        (
            continuous_column("x", [str(i) for i in range(8)], (0, 10)),
            continuous_column("y", ["0", "0", "9", "9", "5", "5", "5", "5"], (0, 100)),
        )
    )
    tree = cut_by_width(table, [Requirement(("x", "y"), 2)]).details["tree"]
    assert [(c["level"], c["attribute"], c["parts"], c["score"]) for c in tree] == [
        (1, "x", ["[0, 4)", "[4, 10]"], 1),
        (2, "y", ["[0, 9)", "[9, 100]"], 1),
        (2, "x", ["[4, 6)", "[6, 10]"], pytest.approx(0.6)),
    ]


def test_of_two_equally_even_cuts_the_smaller_number_is_taken():
    column = continuous_column("x", ["0", "0", "5", "5", "9", "9"], (0, 10))
    tree = cut_by_width(Table((column,)), [Requirement(("x",), 2)]).details["tree"]
    assert tree[0]["parts"] == ["[0, 5)", "[5, 10]"]


def test_dates_are_shown_as_dates():
    days = ["2020-01-01", "2020-01-01", "2020-02-01", "2020-02-01"]
    column = continuous_column(
        "day", days, (DATE.read("2020-01-01"), DATE.read("2020-12-31")), scale=DATE
    )
    answer = cut_by_width(Table((column,)), [Requirement(("day",), 2)])
    assert answer.columns["day"].labels == ("[2020-01-01, 2020-02-01)", "[2020-02-01, 2020-12-31]")


def test_regions_that_no_cut_can_have_are_told_from_those_that_it_can():
    space = TaxonomySpace(taxonomy_of([["A", "V", "*"], ["B", "V", "*"], ["C", "*"], ["D", "*"]]))
    names = {label: Node(i) for i, label in enumerate(space.taxonomy.labels)}
    assert space.is_cut(names["*"], (names["V"], names["C"], names["D"]))
    assert space.is_cut(names["*"], (names["C"], Rest(0)))
    assert not space.is_cut(names["*"], (names["V"], names["C"], Rest(0)))  # a rest of one child
    assert not space.is_cut(names["*"], (names["C"], names["V"]))  # not in the file's order
    assert not space.is_cut(names["*"], (names["A"], names["B"]))
    assert not space.is_cut(Rest(0), (names["V"], names["C"]))
    assert not space.is_cut(names["V"], (names["A"], Rest(0)))
    assert space.is_settled(names["*"], names["A"])
    assert not space.is_settled(names["V"], names["C"])
    assert not space.is_settled(Rest(0), names["V"])
    numbers = NumberSpace(0.0, 10.0, NUMBER, False)
    assert numbers.is_cut(numbers.top, numbers.halves(numbers.top, 10.0))
    left = Span(0.0, 5.0, False)
    assert not numbers.is_cut(left, (Span(0.0, 5.0, False), Span(5.0, 5.0, False)))
    assert not numbers.is_cut(left, (Span(0.0, 3.0, False), Span(3.0, 5.0, True)))
    assert not numbers.is_cut(left, (Span(0.0, 3.0, False), Span(4.0, 5.0, False)))


@pytest.mark.skipif(not ADULT.exists(), reason=f"no Adult table in {ADULT}")
@pytest.mark.parametrize(
    ("score", "k", "groups", "width", "discernibility", "levels"),
    [
        ("width", 10, 2087, 0.094, 469, 21), ("width", 50, 433, 0.19, 2194, 16),
        ("width", 200, 111, 0.32, 8549, 11), ("gain-ratio", 10, 2052, 0.20, 485, 17),
        ("gain-ratio", 50, 425, 0.43, 2244, 14), ("gain-ratio", 200, 109, 0.57, 8659, 10),
    ],
)  # fmt: skip
def test_adult_has_the_figures_of_the_rule(score, k, groups, width, discernibility, levels):
    from coterie.experiments.secure_data_integration.adult_data import load_adult

    data = load_adult(ADULT)
    rows = np.arange(data.training)
    labels = {"class": data.classes.take(rows)}
    table = Table(tuple(column.take(rows) for column in data.columns(EIGHT)), labels)
    answer = cut_by_width(table, [Requirement(EIGHT, k)], 0, WidthOptions(score, False, "class"))
    utility = answer.utility()
    assert answer.details["parts"] == groups
    assert utility.normalised_width == pytest.approx(width, rel=0.03)
    assert round(utility.discernibility / 1000) == discernibility
    # One more level finds that all groups are final.
    assert max(cut["level"] for cut in answer.details["tree"]) == levels
