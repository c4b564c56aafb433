"""A step of a pipeline: later records are shown as those that it was fitted to."""

from collections import Counter

import pyarrow as pa
import pytest

from coterie.base.errors import DataError, UsageError
from coterie.onetable.interface.transformer import Generalizer
from tests.onetable.people import PLACES, rows

PATHS = [line.split(";") for line in PLACES.splitlines()]


def frame(people):
    return pa.table(
        {"Age": [int(row[1]) for row in people], "Place": [row[2] for row in people],
         "Sex": [row[3] for row in people]}
    )  # fmt: skip


def test_the_frame_it_is_fitted_to_is_anonymous_and_others_are_shown_alike():
    step = Generalizer(k=4, taxonomies={"Place": PATHS})
    shown = step.fit_transform(frame(rows()))
    assert min(Counter(map(tuple, shown.tolist())).values()) >= 4
    assert step.transform(frame(rows()[5:9])).tolist() == shown[5:9].tolist()
    assert step.get_feature_names_out().tolist() == ["Age", "Place", "Sex"]


def test_a_value_that_it_has_not_seen_is_an_error():
    step = Generalizer(k=2, qid=["Place"], taxonomies={"Place": PATHS}).fit(frame(rows()))
    with pytest.raises(DataError, match="'Rome' was not there"):
        step.transform(pa.table({"Place": ["Wichita", "Rome"]}))


def test_its_parameters_are_those_of_an_estimator():
    base = pytest.importorskip("sklearn.base")
    step = base.clone(Generalizer(k=7, method="datafly"))
    assert step.get_params() == {"k": 7, "qid": None, "method": "datafly", "taxonomies": None}
    with pytest.raises(UsageError, match="fit it before"):
        step.transform(frame(rows()))
    with pytest.raises(UsageError, match="several ways"):
        step.set_params(method="mondrian").fit(frame(rows()))
