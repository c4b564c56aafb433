"""A coordinator has data checked only so often in an hour, by the clock that is handed in."""

import pytest

from coterie.base.errors import RefusedError
from coterie.party.callers.examinations import Examinations
from coterie.party.policy import Policy


def test_an_hour_after_the_first_check_another_one_is_permitted():
    now = [0.0]
    counted = Examinations(lambda: Policy(examinations=2), clock=lambda: now[0])
    counted.add("analyst")
    now[0] = 1800.0
    counted.add("analyst")
    with pytest.raises(RefusedError):
        counted.add("analyst")
    counted.add("somebody else")
    now[0] = 3601.0
    counted.add("analyst")


def test_names_of_one_analyst_are_counted_together():
    groups = (frozenset({"analyst", "analyst2"}),)
    counted = Examinations(lambda: Policy(examinations=2, analysts=groups), clock=lambda: 0.0)
    counted.add("analyst")
    counted.add("analyst2")
    for name in ("analyst", "analyst2"):
        with pytest.raises(RefusedError, match=r"policy.examinations is 2"):
            counted.add(name)
    counted.add("somebody else")
