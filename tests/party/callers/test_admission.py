"""Accounts of callers: what each may have open and use in a minute, and what is written down of it."""

import pytest

from coterie.party.callers.admission import CAPACITY, RESERVED, STRANGERS, Admission, TooMuchError
from coterie.party.limits import Limits


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Desk:
    """An admission with small limits, its clock and its notes."""

    def __init__(self, **limits):
        self.clock = Clock()
        self.notes = []
        self.admission = Admission(
            lambda: Limits(**limits), lambda *note: self.notes.append(note), self.clock
        )

    def admitted(self, name, times, size=0, leave=False, hasty=False):
        """How many of so many calls are admitted."""
        count = 0
        for _ in range(times):
            try:
                self.admission.enter(name, hasty=hasty)
                if size:
                    self.admission.took(name, size)
            except TooMuchError:
                continue
            count += 1
            if leave:
                self.admission.leave(name)
        return count


def test_open_calls_of_one_caller_are_bounded_and_others_have_their_own():
    desk = Desk(calls=5)
    assert desk.admitted("analyst", 9) == 5
    assert desk.admitted("other", 9) == 5
    desk.admission.leave("analyst")
    assert desk.admitted("analyst", 9) == 1


@pytest.mark.parametrize(("hasty", "expected"), [(False, 10), (True, 50)])
def test_calls_of_a_minute_are_bounded_except_for_parties_that_wait_for_each_other(hasty, expected):
    desk = Desk(rate=10)
    assert desk.admitted("bank", 50, leave=True, hasty=hasty) == expected
    desk.clock.now = 61
    assert desk.admitted("bank", 5, leave=True, hasty=hasty) == 5


def test_bytes_of_a_minute_are_bounded():
    desk = Desk(bytes=10_000)
    assert desk.admitted("analyst", 9, size=3000, leave=True) == 3


def test_who_is_refused_too_often_is_not_listened_to_until_the_minute_is_over():
    desk = Desk(refusals=3)
    for _ in range(3):
        desk.admission.enter("analyst")
        desk.admission.leave("analyst")
        desk.admission.refused("analyst")
    with pytest.raises(TooMuchError, match=r"limits\.refusals: 3 calls were refused"):
        desk.admission.enter("analyst")
    desk.clock.now = 61
    desk.admission.enter("analyst")


def test_all_strangers_together_have_a_small_share():
    desk = Desk(calls=80, rate=800)
    assert desk.admitted(STRANGERS, 50) == 10
    for _ in range(10):
        desk.admission.leave(STRANGERS)
    assert desk.admitted(STRANGERS, 500, leave=True) == 90


def test_calls_for_operator_and_health_stay_free_however_many_callers_there_are():
    desk = Desk(calls=100)
    admitted = sum(desk.admitted(f"caller {n}", 100) for n in range(20))
    assert admitted == CAPACITY - RESERVED


def test_what_is_turned_away_is_written_down_with_the_first_and_with_a_sum_each_minute():
    desk = Desk(rate=2)
    desk.admitted("analyst", 1000, leave=True)
    assert [(name, calls) for name, calls, _ in desk.notes] == [("analyst", 1)]
    desk.admission.sum_up()
    assert len(desk.notes) == 1
    desk.clock.now = 61
    desk.admission.sum_up()
    desk.admission.sum_up()
    assert [(name, calls) for name, calls, _ in desk.notes] == [("analyst", 1), ("analyst", 997)]
    assert "limits.rate" in desk.notes[1][2]


def test_accounts_of_callers_that_are_gone_are_forgotten():
    desk = Desk()
    for number in range(100):
        desk.admitted(f"caller {number}", 1, leave=True)
    desk.clock.now = 61
    desk.admission.sum_up()
    assert not desk.admission._accounts
