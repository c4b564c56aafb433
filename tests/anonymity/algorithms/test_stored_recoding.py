"""A table on disk, cut piece by piece, is released as the same table in memory."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.algorithms.stored_recoding import StoredRelease, mondrian_stored
from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.stored import Stored, StoredTable
from coterie.anonymity.table.table import Labels, Table
from coterie.base.errors import DataError
from tests.anonymity.small_tables import table_of, tables

QID = ("place", "sex", "age")
OPTIONS = [
    Options(), Options(rule="spread"), Options(boxes="regions"), Options(relaxed=True),
    Options(relaxed=True, boxes="regions"), Options(rule="spread", median_only=True),
]  # fmt: skip


def stored(table: Table) -> StoredTable:
    """Every code is a text of its own."""
    columns, labels, records = {}, {}, {}
    for column in table.columns:
        records[column.name] = Stored(np.array(column.codes), np.arange(column.size))
        columns[column.name] = column
    for name, one in table.labels.items():
        records[name] = Stored(np.array(one.codes), np.arange(len(one.values)))
        labels[name] = Labels(np.arange(len(one.values)), one.values)
    return StoredTable(table.records, columns, labels, records, table.at_most, table.priority)


def shown(answer) -> dict[int, tuple]:
    """What the release shows for every record that it has."""
    if isinstance(answer, StoredRelease):
        found = {}
        for row in range(answer.table.records):
            places = {name: int(group.part[row]) for name, group in answer.columns.items()}
            if min(places.values(), default=-1) >= 0:
                regions = {n: g.columns[n] for n, g in answer.columns.items()}
                found[row] = tuple(
                    regions[n].labels[regions[n].codes[places[n]]] for n in answer.columns
                )
        return found
    columns = answer.columns.values()
    return {
        int(row): tuple(column.labels[column.codes[at]] for column in columns)
        for at, row in enumerate(answer.kept)
    }


def both(table: Table, requirements, options=None, suppressed=0, most=5):
    """The release of the table in memory and on disk, or the text of their one error."""
    options = options or Options()
    complaint = ""
    try:
        whole = mondrian(table, requirements, suppressed, options)
    except DataError as error:
        complaint = str(error)
    if complaint:
        with tempfile.TemporaryDirectory() as folder, pytest.raises(DataError) as raised:
            mondrian_stored(stored(table), requirements, suppressed, options, 10**6, Path(folder))
        assert str(raised.value) == complaint
        return None
    with tempfile.TemporaryDirectory() as folder:
        pieces = mondrian_stored(
            stored(table), requirements, suppressed, options, 10**6, Path(folder), most=most
        )
        assert shown(pieces) == shown(whole)
        assert pieces.suppressed == whole.suppressed
        assert pieces.details == whole.details
        assert pieces.anonymity(requirements) == whole.anonymity(requirements)
        return pieces


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 6), st.sampled_from(OPTIONS), st.integers(1, 12))
def test_with_k_alone(table, k, options, most):
    both(table, [Requirement(QID, k)], options, most=most)


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 4), st.sampled_from(OPTIONS), st.integers(1, 12))
@pytest.mark.parametrize(
    "model", [{"l": 2}, {"alpha": 0.7}, {"t": 0.4}], ids=["diversity", "alpha", "closeness"]
)
def test_with_a_model_on_a_sensitive_column(model, table, k, options, most):
    (name, value), *_ = model.items()
    model = model_from_options({name: value})
    both(table, [Requirement(QID, k, "ill", model)], options, most=most)


@settings(max_examples=40, deadline=None)
@given(tables(least=6), st.integers(1, 4), st.integers(0, 20), st.booleans())
def test_with_bounds_on_generalization(table, k, suppressed, sensitive):
    table = Table(table.columns, table.labels, {"place": ("Kansas", "West"), "sex": ("M",)})
    model = model_from_options({"l": 2}) if sensitive else None
    requirement = Requirement(QID, k, "ill" if sensitive else None, model)
    both(table, [requirement], suppressed=suppressed)


@settings(max_examples=40, deadline=None)
@given(tables(least=6), st.integers(1, 4), st.sampled_from(OPTIONS))
def test_with_requirements_that_share_no_attribute(table, k, options):
    table = Table(table.columns, table.labels, {"place": ("Kansas",)}, {"age": 2.0})
    both(table, [Requirement(("place", "sex"), k), Requirement(("age",), 2)], options, 20)


def test_a_piece_too_large_for_the_memory_that_no_cut_divides_is_one_part():
    table = table_of(["Lincoln"] * 9, ["F"] * 9, [30] * 9)
    release = both(table, [Requirement(QID, 2)], most=3)
    assert release.groups[0].sizes.tolist() == [9]


def test_counts_that_the_memory_does_not_hold_are_an_error_that_names_the_column(tmp_path):
    table = table_of(["Lincoln"] * 90, ["F"] * 90, list(range(90)))
    with pytest.raises(DataError, match="'age' has 90 different values, too many"):
        mondrian_stored(stored(table), [Requirement(QID, 2)], 0, Options(), 1000, tmp_path)
