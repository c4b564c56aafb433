"""Values that columns keep, and qids for those who know a little."""

from itertools import combinations
from math import prod

import pytest
import yaml

from coterie.anonymity.risk.quasi_identifiers import singleton_share
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.onetable.advice.proposal import (
    MOST_QIDS,
    entry,
    keep_values,
    level_sizes,
    qids_for,
    written,
)
from tests import ADULT

PLACES = taxonomy_of(
    [["Rome", "Italy", "Europe"], ["Milan", "Italy", "Europe"], ["Bonn", "Germany", "Europe"]]
)


def test_levels_count_their_values_leaves_first():
    assert level_sizes(PLACES) == [3, 2, 1]


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the project")
def test_the_levels_of_the_adult_taxonomies():
    from coterie.onetable.taxonomies import load

    for name, sizes in {"education": [16, 12, 6, 2, 1], "native-country": [41, 19, 5, 1],
                        "workclass": [8, 5, 3, 2, 1]}.items():  # fmt: skip
        assert level_sizes(load(ADULT / f"taxonomies/{name}.csv")) == sizes


@pytest.mark.parametrize("cells", [1, 7, 40, 500, 10**6])
def test_kept_values_fit_into_the_cells_and_levels_are_levels(cells):
    sizes = {"age": 73, "country": 41, "sex": 2}
    levels = {"country": [41, 19, 5, 1], "sex": [2, 1]}
    kept = keep_values(cells, sizes, levels, {})
    assert prod(k.keep for k in kept.values()) <= cells
    assert kept["country"].keep in levels["country"]
    assert kept["country"].keep == levels["country"][kept["country"].level]
    for name, sizes_of in levels.items():  # nothing is left over that a finer level could use
        finer = [size for size in sizes_of if size > kept[name].keep]
        rest = prod(k.keep for n, k in kept.items() if n != name)
        assert not finer or rest * finer[-1] > cells
    if cells == 10**6:
        assert [k.keep for k in kept.values()] == [73, 41, 2]


def test_a_column_that_matters_more_keeps_more():
    plain = keep_values(100, {"a": 50, "b": 50}, {}, {})
    weighted = keep_values(100, {"a": 50, "b": 50}, {}, {"a": 4.0})
    assert weighted["a"].keep > plain["a"].keep


def test_without_a_limit_on_knowledge_one_qid_has_all_columns_that_tell_anybody_apart():
    """Also beside a column that singles people out alone: it does not protect from the others."""
    sizes = {"a": 5000, "b": 40, "c": 2, "d": 1}
    assert qids_for(sizes, 1000, 0.2, None) == [("a", "b", "c")]


@pytest.mark.parametrize("known", [1, 2, 3])
def test_whoever_knows_so_many_columns_meets_a_qid_with_all_of_them(known):
    sizes = dict(zip("abcdefg", (50, 40, 30, 20, 9, 7, 5), strict=True))
    qids = qids_for(sizes, 1000, 0.2, known)
    assert len(qids) <= MOST_QIDS
    for chosen in combinations(sizes, known):
        if singleton_share(prod(sizes[n] for n in chosen), 1000) >= 0.2:
            assert any(set(chosen) <= set(qid) for qid in qids)


@pytest.mark.parametrize(
    "text", ["Age", "marital-status", "yes", "a: b", 'say "x"', "1", "a#b", "\\"]
)
def test_names_are_read_back_as_they_were(text):
    assert yaml.safe_load(f"x: {{{written(text)}: 1}}") == {"x": {text: 1}}
    (read,) = yaml.safe_load("r:\n" + entry([text], 3, ""))["r"]
    assert read == {"qid": [text], "k": 3}
