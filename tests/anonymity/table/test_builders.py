"""Taxonomies built from values: trees that hold every value, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.table.builders import (
    code_paths,
    cut_paths,
    date_paths,
    equal_paths,
    prefix_paths,
    quantile_paths,
)
from coterie.anonymity.table.intervals import read_interval
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError


def test_each_builder_gives_the_path_of_its_table():
    assert prefix_paths(["53711"], [3, 1]) == [["53711", "537**", "5****", "*"]]
    assert date_paths(["1971-03-13"]) == [["1971-03-13", "1971-03", "1971", "1970s", "*"]]
    assert equal_paths(["23"], [5, 10]) == [["23", "[20, 25)", "[20, 30)", "*"]]
    assert cut_paths(["17", "23", "70"], [[18, 30, 65], [18]])[1] == [
        "23",
        "[18, 30)",
        "[18, 70]",
        "*",
    ]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40))
def test_numbers_lie_in_their_bands_and_the_paths_are_one_tree(numbers):
    texts = [str(number) for number in numbers]
    built = [equal_paths(texts, [4, 8, 40]), quantile_paths(texts, [8, 4, 2])]
    built.append(cut_paths(texts, [[-20, -3, 0, 7], [0]]))
    for paths in built:
        assert sorted(taxonomy_of(paths).leaves) == sorted(set(texts))
        for value, *bands, top in paths:
            assert top == "*"
            for band in bands:
                interval = read_interval(band)
                assert interval is not None
                inside = interval.low <= float(value) < interval.high
                assert inside or (interval.closed and float(value) == interval.high)


@given(st.lists(st.text("0123456789", min_size=1, max_size=6), min_size=1, max_size=20))
def test_codes_of_different_lengths_make_one_tree(codes):
    assert sorted(taxonomy_of(prefix_paths(codes, [4, 2, 1])).leaves) == sorted(set(codes))


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (lambda: prefix_paths(["1"], [1, 3]), "must fall in length"),
        (lambda: date_paths(["13.3.1971"]), "is not a date"),
        (lambda: equal_paths(["1"], [5, 12]), "a band of 12 is not made of bands of 5"),
        (lambda: equal_paths(["x"], [5]), "'x' is not a number"),
        (lambda: cut_paths(["1", "9"], [[3], [4]]), "must be some of the finer"),
        (lambda: quantile_paths(["1"], [8, 3]), "3 bands cannot be made of 8"),
    ],
)
def test_what_makes_no_tree_is_told(work, told):
    with pytest.raises(DataError, match=told):
        work()


CATALOGUE = {"I21": "I20-I25", "I20-I25": "IX", "E10": "IV", "I21.0": "I21"}


def test_a_code_stands_below_what_the_catalogue_says_or_its_longest_beginning_in_it():
    assert code_paths(["I21.0", "I21.04", "E10"], CATALOGUE) == [
        ["E10", "IV", "*"],
        ["I21.0", "I21", "I20-I25", "IX", "*"],
        ["I21.04", "I21.0", "I21", "I20-I25", "IX", "*"],
    ]


def test_a_code_that_the_catalogue_lacks_and_a_circle_are_errors():
    with pytest.raises(DataError, match="'Z9' is not in the catalogue"):
        code_paths(["Z9"], CATALOGUE)
    with pytest.raises(DataError, match="circle"):
        code_paths(["a"], {"a": "b", "b": "a"})
