"""A coordinator has data checked only so often in an hour, by the clock that is handed in."""

from types import SimpleNamespace

import pytest

from coterie.base.errors import RefusedError
from coterie.party.callers.examinations import Examinations


def test_an_hour_after_the_first_check_another_one_is_permitted():
    now = [0.0]
    counted = Examinations(lambda: SimpleNamespace(examinations=2), clock=lambda: now[0])
    counted.add("analyst")
    now[0] = 1800.0
    counted.add("analyst")
    with pytest.raises(RefusedError):
        counted.add("analyst")
    counted.add("somebody else")
    now[0] = 3601.0
    counted.add("analyst")
