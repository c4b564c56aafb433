"""The levels of a column with a taxonomy are the columns of its file."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.table.columns import categorical_column
from coterie.anonymity.table.levels import ladder
from coterie.anonymity.table.taxonomy import paths_of, read_taxonomy, taxonomy_of, with_gap
from coterie.base.errors import DataError


def shown(text):
    """What each level of a file shows, by leaf."""
    taxonomy = read_taxonomy(text.encode(), "t.csv")
    column = ladder(categorical_column("A", list(taxonomy.leaves), taxonomy))
    levels = [column.texts(level) for level in range(len(column.levels))]
    return dict(zip(taxonomy.leaves, zip(*levels, strict=True), strict=True))


def test_a_repeated_value_is_shown_in_the_columns_in_which_it_stands():
    text = "a;g;g;ANY\nb;g;g;ANY\nc;c;h;ANY\nd;i;i;ANY\n"
    assert shown(text) == {
        row[0]: tuple(row) for row in csv.reader(io.StringIO(text), delimiter=";")
    }


def test_a_row_with_fewer_columns_counts_as_filled_up_at_its_beginning():
    assert shown("a;g;h;ANY\nb;h;ANY\nc;ANY\n") == {
        "a": ("a", "g", "h", "ANY"), "b": ("b", "b", "h", "ANY"), "c": ("c", "c", "c", "ANY"),
    }  # fmt: skip


def test_a_value_that_ends_in_two_columns_is_refused():
    with pytest.raises(
        DataError, match=r"t.csv:2: 'g' ends in column 2, but in column 3 on line 1"
    ):
        read_taxonomy(b"a;g;g;ANY\nb;g;ANY;ANY\n", "t.csv")


@st.composite
def files(draw):
    """A tree of equal depth, some of whose rows repeat values: a column is repeated for whole subtrees."""
    depth = draw(st.integers(1, 4))
    rows = [["ANY"]]
    for level in range(depth):
        rows = [
            [row[0] if repeated else f"{level}.{at}.{child}", *row]
            for at, row in enumerate(rows)
            for repeated in [draw(st.booleans()) and level > 0]
            for child in range(1 if repeated else draw(st.integers(1, 3)))
        ]
    return rows


@given(files())
def test_every_level_is_its_column(rows):
    taxonomy = taxonomy_of(rows)
    column = ladder(categorical_column("A", [row[0] for row in rows], taxonomy))
    for level in range(len(rows[0])):
        assert column.texts(level) == [row[level] for row in rows]
    assert len(column.levels) == len(rows[0])
    assert sorted(paths_of(taxonomy)) == sorted(rows)
    finer = [np.unique(one).size for one in column.levels]
    assert finer == sorted(finer, reverse=True)
    if len(rows[0]) > 1:
        gaps = with_gap(taxonomy)
        assert sorted(paths_of(gaps)) == sorted([*rows, ["?"] * (len(rows[0]) - 1) + ["ANY"]])
