"""The audit of joint diversity against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models import joint_audit
from coterie.anonymity.models.joint_audit import resists_deletions
from tests.anonymity.models import plain_joint


@settings(max_examples=400, deadline=None)
@given(st.integers(2, 4), st.integers(2, 4), st.data())
def test_it_is_the_definition(columns, least, data):
    row = st.tuples(*[st.integers(0, 3)] * columns)
    rows = data.draw(st.lists(row, min_size=1, max_size=10))
    limits = data.draw(st.lists(st.integers(0, least), min_size=columns, max_size=columns))
    found = resists_deletions(np.array(rows), least, limits)
    assert found == plain_joint.is_diverse(rows, least, dict(enumerate(limits)))


def test_what_takes_too_long_is_said_to(monkeypatch):
    rows = np.array([(0, 0), (0, 1), (1, 1), (2, 1)])
    assert resists_deletions(rows, 3, [3, 3]) is False
    monkeypatch.setattr(joint_audit, "MOST_TRIALS", 0)
    assert resists_deletions(rows, 3, [3, 3]) is None
