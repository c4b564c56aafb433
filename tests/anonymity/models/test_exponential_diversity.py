"""Exponential l-diversity against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.exponential_diversity import ExponentialDiversity
from coterie.anonymity.models.joint_audit import shows_beside_others
from coterie.anonymity.models.options import joint_model_from_options

NAMES = "abc"


@st.composite
def groups(draw):
    columns = draw(st.integers(2, 3))
    row = st.tuples(*[st.integers(0, 2)] * columns)
    part = st.lists(row, min_size=1, max_size=12)
    return draw(st.lists(part, min_size=1, max_size=3)), draw(st.integers(2, 3)), columns


def plain(rows, least):
    """Every value that is replaced in a row by another of l values gives a row of the group."""
    for row in rows:
        for at in range(len(row)):
            alike = {r[at] for r in rows if r[:at] == row[:at] and r[at + 1 :] == row[at + 1 :]}
            if len(alike) < least:
                return False
    return True


def judged(parts, least, columns):
    tuples = sorted({row for part in parts for row in part})
    model = ExponentialDiversity(least, tuple(NAMES[:columns])).for_tuples(np.array(tuples))
    counts = np.array([[part.count(row) for row in tuples] for part in parts])
    return model, counts


@settings(max_examples=200, deadline=None)
@given(groups())
def test_it_is_the_definition_and_so_is_its_audit(case):
    parts, least, columns = case
    model, counts = judged(parts, least, columns)
    expected = [plain(part, least) for part in parts]
    assert model.holds(counts, counts.sum(axis=0)).tolist() == expected
    assert [shows_beside_others(np.array(part), least) for part in parts] == expected
    fewest = model.measure(counts, counts.sum(axis=0))
    assert (fewest >= least).tolist() == expected


@settings(max_examples=200, deadline=None)
@given(groups())
def test_two_groups_that_satisfy_it_do_so_together(case):
    parts, least, columns = case
    model, counts = judged(parts, least, columns)
    overall = counts.sum(axis=0)
    if model.holds(counts, overall).all():
        assert model.holds(overall[None, :], overall).all()


def test_a_larger_group_need_not_satisfy_it():
    """Why the cuts of an attribute cannot be bisected for this model."""
    whole = [(a, b) for a in range(2) for b in range(2)]
    assert plain(whole, 2)
    assert not plain([*whole, (2, 2)], 2)
    assert not ExponentialDiversity(2, ("a", "b")).grows


def test_it_is_asked_for_by_name():
    model = joint_model_from_options(["a", "b"], {"l": 2, "diversity": "exponential"})
    assert model == ExponentialDiversity(2, ("a", "b"))
    assert model.name == "exponential 2-diversity of a and b"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"l": 2, "diversity": "exponential", "most": {"a": 1}}, "'most' is only for joint"),
        ({"l": 2, "diversity": "entropy"}, "must be one of joint, exponential, not 'entropy'"),
        ({"l": 2.5, "diversity": "exponential"}, "whole number for exponential diversity"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        joint_model_from_options(["a", "b"], options)
