"""Columns of any number of values as codes."""

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import DataError
from coterie.jobs.data.domains import CodedAttribute
from coterie.jobs.kinds.statistics.open_columns import open_columns


def coded(values, **keys):
    item = CodedAttribute("x", "a", keys.pop("domain", None), **keys)
    return open_columns({"x": item}, None, pa.table({"x": pa.array(values, pa.string())}), "t.csv")


def test_equal_values_have_equal_codes_and_codes_their_values():
    column = coded(["b", "a", "b", "?"]).columns["x"]
    assert column.distinct == 3
    assert [column.values[int(code)].as_py() for code in column.codes] == ["b", "a", "b", "?"]


def test_a_million_values_are_no_more_trouble_than_two():
    column = coded([str(i) for i in range(100_000)]).columns["x"]
    assert column.distinct == 100_000
    assert (np.sort(column.codes) == np.arange(100_000)).all()


def test_an_empty_value_is_refused_shown_or_dropped():
    with pytest.raises(DataError, match="x"):
        coded(["a", None])
    assert coded(["a", None], missing="value").columns["x"].distinct == 2
    dropped = coded(["a", None, "b"], missing="drop")
    assert dropped.records == 2
    assert dropped.dropped.number == 1


def test_a_value_outside_a_declared_domain_is_named():
    with pytest.raises(DataError, match="not among the attribute's values"):
        coded(["a", "c"], domain=("a", "b"))
    assert coded(["a", "a"], domain=("a", "b")).columns["x"].distinct == 2
