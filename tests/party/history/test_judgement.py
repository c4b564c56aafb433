"""What earlier jobs say against a new one."""

import numpy as np
import pytest

from coterie.anonymity.counts import linear_audit
from coterie.party.history.judgement import (
    compared,
    judge_groups,
    judge_number,
    judge_people,
    within,
)
from coterie.party.history.releases import History
from coterie.party.settings import Repeat
from tests.party.history.test_releases import DAY, entry, remember

REPEAT = Repeat(window=10 * DAY, k=2)


@pytest.fixture
def history(tmp_path):
    return History(tmp_path, lambda: 20 * DAY)


def judged(history, people, at=99, repeat=REPEAT, **more):
    asked = entry(at, people, time=20 * DAY, **more)
    return [f.rule for f in judge_people(history, repeat, asked, np.array(people))]


def test_only_questions_about_the_same_attribute_within_the_window_count(history):
    remember(history, 1, [1, 2], time=15 * DAY)
    remember(history, 2, [2, 3], time=15 * DAY)
    assert judged(history, [1, 2, 3]) == ["differences"]
    assert judged(history, [1, 3]) == ["differences"]
    assert judged(history, [3, 4]) == []
    assert judged(history, [1, 2, 3], counted=("Job",)) == []
    assert judged(history, [1, 2, 3], repeat=Repeat(window=4 * DAY, k=2)) == []
    assert [one.name for one in within(history, REPEAT, f"{1:032x}")] == ["job 2"]


def test_a_finding_names_the_attributes_and_how_few(history):
    remember(history, 1, [1, 2, 3], time=15 * DAY, counted=("Sex", "Job"))
    asked = entry(9, [1, 2], counted=("Sex", "Job", "Age"))
    [found] = judge_people(history, REPEAT, asked, np.array([1, 2]))
    assert found.words == (
        "numbers by 'Sex' and 'Job' would be told about 1 person, fewer than 2, by differences with "
        "1 earlier sets of people"
    )


def test_people_who_were_identified_otherwise_cannot_be_compared(history):
    remember(history, 1, [1, 2, 3], time=15 * DAY, by=("Name",))
    assert judged(history, [1, 2, 3]) == ["identifiers"]


def test_groups_that_meet_in_few_people_are_found_and_the_same_groups_are_not(history):
    made = remember(history, 1, [1, 2, 3, 4], time=15 * DAY, kind="integrate")
    history.add_groups(made.job, np.array([1, 2, 3, 4]), {"Sex": np.array([0, 0, 1, 1])})
    asked = entry(9, [1, 2, 3, 4], time=20 * DAY)

    def rules(people, codes, repeat=REPEAT):
        groups = {"Age": np.array(codes)}
        return [f.rule for f in judge_groups(history, repeat, asked, np.array(people), groups)]

    assert rules([1, 2, 3, 4], [0, 1, 1, 0]) == ["groups"]
    assert rules([1, 2, 3, 4], [5, 5, 3, 3]) == []
    assert rules([1, 2, 3, 4], [5, 5, 3, 3], Repeat(window=10 * DAY, k=3)) == []  # the same groups
    assert rules([1, 2, 3], [5, 5, 3]) == ["groups"]
    assert rules([7, 8], [0, 0]) == []
    assert rules([1, 2, 3, 4], [0, 1, 1, 0], Repeat(window=DAY, k=2)) == []


def test_jobs_and_checks_of_the_window_are_counted(history):
    repeat = Repeat(window=10 * DAY, jobs=1, examinations=1)
    assert judge_number(history, repeat, "x", ["analyst"], tells=True) == []
    remember(history, 1, [1], time=15 * DAY)
    history.examined("analyst")
    assert [f.rule for f in judge_number(history, repeat, "x", ["analyst"], tells=True)] == ["jobs"]
    assert judge_number(history, repeat, "x", ["analyst"], tells=False) == []
    history.examined("analyst")
    found = judge_number(history, repeat, "x", ["analyst"], tells=False)
    assert [finding.rule for finding in found] == ["examinations"]


def test_checks_are_counted_over_the_names_of_one_analyst(history):
    repeat = Repeat(window=10 * DAY, examinations=1)
    history.examined("analyst")
    history.examined("analyst2")
    assert judge_number(history, repeat, "x", ["analyst"], tells=False) == []
    [found] = judge_number(history, repeat, "x", ["analyst", "analyst2"], tells=False)
    assert found.words == (
        "the data was checked 2 times for 'analyst' and 'analyst2' in the window, and 1 times are "
        "permitted"
    )


def test_the_same_question_has_the_same_thresholds(history):
    remember(history, 1, [1, 2, 3], time=15 * DAY, thresholds={"minimum": "5", "count.zeros": "0"})
    for keys, rules in (
        ({"minimum": "5"}, []),
        ({"minimum": "4"}, ["thresholds"]),
        ({"minimum": "5", "count.zeros": "1"}, ["thresholds"]),
        ({"rules.support": "0.1"}, []),
        ({}, []),
    ):
        assert judged(history, [1, 2, 3], thresholds=keys) == rules
    assert judged(history, [7, 8], thresholds={"minimum": "4"}) == []
    assert judged(history, [1, 2, 3], thresholds={"minimum": "4"}, counted=("Job",)) == []
    remember(history, 2, [5, 6], time=15 * DAY)  # a line of an earlier version has no thresholds
    assert judged(history, [5, 6], thresholds={"minimum": "4"}) == []


def test_a_waiting_job_is_compared_with_those_before(history):
    remember(history, 1, [1, 2, 3], time=2 * DAY)
    remember(history, 2, [3, 4], time=15 * DAY, counted=("Age",))
    found = compared(history, None, "x", {"Sex": "10, 20"}, np.array([2, 3, 90]), ("ID",))
    assert [
        (one["name"], one["still_here"], one["again"], one["other_classes"]) for one in found
    ] == [
        ("job 2", 1, [], []),
        ("job 1", 2, ["Sex"], ["Sex"]),
    ]
    assert [one["name"] for one in compared(history, REPEAT, "x", {}, None, ())] == ["job 2"]


def test_more_sets_of_people_than_can_be_compared_are_a_finding(history, monkeypatch):
    monkeypatch.setattr(linear_audit, "_CELLS", 8)
    for at in range(1, 5):
        remember(history, at, [at, 10, 11, 12], time=15 * DAY)
    asked = entry(99, [10, 11, 12, 13], time=20 * DAY)
    [found] = judge_people(history, REPEAT, asked, np.array([10, 11, 12, 13]))
    assert found.rule == "differences"
    assert found.words == (
        "numbers by 'Sex' were asked for of 4 other sets of people, too many to see whether numbers "
        "about fewer than 2 follow"
    )


@pytest.mark.parametrize("place", range(3))
def test_every_attribute_is_compared_with_every_earlier_set_of_people(history, place):
    for at in range(3):
        remember(history, at + 1, [1, 2, 3 + at], time=15 * DAY)
    counted = ["Zip", "Town"]
    counted.insert(place, "Sex")
    for at in range(3):
        assert judged(history, [1, 2, 3 + at, 9], counted=counted) == ["differences"]
        assert judged(history, [1, 2, 3 + at, 8, 9], counted=counted) == []


@pytest.mark.parametrize("place", range(3))
def test_every_list_of_groups_of_every_earlier_release_is_compared(history, place):
    people, half = np.arange(8), np.arange(8) // 4
    for at in range(3):
        made = remember(history, at + 1, people, time=15 * DAY, kind="integrate")
        lists = {f"{n}": half for n in range(3)}
        if at == place:
            lists[f"{place}"] = np.minimum(people, 1)  # one person alone
        history.add_groups(made.job, people, lists)
    asked = entry(9, people, time=20 * DAY)
    found = judge_groups(history, REPEAT, asked, people, {"new": people // 8})
    assert [one.rule for one in found] == ["groups"]
    assert f"job {place + 1}" in found[0].words
