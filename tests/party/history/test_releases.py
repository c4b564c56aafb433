"""The history in a state folder: what is written, read again, and forgotten."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.history.releases import History, Remembered, digest_of, packed, unpacked

DAY = 86400.0


def entry(at, people, time=0.0, counted=("Sex",), by=("ID",), kind="count", thresholds=None):
    people = np.array(people)
    return Remembered(
        f"{at:032x}", "d", f"job {at}", kind, "analyst", ["lender", "bank"], "", time, list(by),
        len(people), digest_of(people), dict.fromkeys(counted, ""), thresholds=thresholds or {},
    )  # fmt: skip


def remember(history, at, people, **more):
    made = entry(at, people, **more)
    history.add(made, np.array(people))
    return made


def test_a_set_is_the_same_after_it_was_packed():
    people = np.array([3, 0, 17])
    assert np.flatnonzero(unpacked(packed(people))).tolist() == [0, 3, 17]
    assert digest_of(people) == digest_of(np.array([0, 3, 17])) != digest_of(np.array([0, 3]))
    assert packed(np.zeros(0, int)) == b""


def test_jobs_and_groups_are_read_again_by_another_process(tmp_path):
    made = remember(History(tmp_path), 1, [4, 2])
    history = History(tmp_path)
    history.add_groups(
        made.job, np.array([4, 2]), {"Sex": np.array([1, 0]), "Age": np.array([7, 7])}
    )
    [found] = history.entries()
    assert found.groups == {"Sex": 2, "Age": 1}
    assert history.entry(made.job) == found
    assert np.flatnonzero(history.members(made.job)).tolist() == [2, 4]
    people, groups = history.released(made.job)
    assert people.tolist() == [2, 4]
    assert {name: codes.tolist() for name, codes in groups.items()} == {
        "Sex": [0, 1],
        "Age": [7, 7],
    }


def test_the_same_job_is_one_entry(tmp_path):
    history = History(tmp_path)
    remember(history, 1, [0, 1])
    remember(history, 1, [0, 1, 2])
    assert [one.people for one in history.entries()] == [3]


def test_old_jobs_are_forgotten_with_their_files_and_at_last_the_people(tmp_path):
    history = History(tmp_path, lambda: 10 * DAY)
    old, new = remember(history, 1, [0], time=DAY), remember(history, 2, [1], time=9 * DAY)
    (history.folder / "people-x").write_bytes(b"")
    assert history.old(None, 10 * DAY) == []
    assert history.old(5 * DAY, 10 * DAY) == [old]
    history.prune({old.job})
    assert History(tmp_path).entries() == [new]
    assert not (history.folder / f"{old.job}.rows").exists()
    assert (history.folder / "people-x").exists()
    history.prune({new.job})
    assert not list(history.folder.iterdir())


def test_checks_of_the_data_are_counted_by_day_over_restarts(tmp_path):
    now = [0.0]
    for day in (0, 1, 1, 8):
        now[0] = day * DAY
        History(tmp_path, lambda: now[0]).examined("analyst")
    history = History(tmp_path, lambda: now[0])
    assert history.examinations(["analyst"], 30 * DAY) == 4
    assert history.examinations(["analyst"], 3 * DAY) == 1
    assert history.examinations(["nobody"], 3 * DAY) == 0
    history.forget_examinations(3 * DAY)
    assert history.examinations(["analyst"], 30 * DAY) == 1


@pytest.mark.parametrize("line", ["{}", "[]", '{"job": "x"}', '{"job":"1","groups":{}}'])
def test_a_line_that_cannot_be_read_is_an_error_since_it_may_hide_a_release(tmp_path, line):
    history = History(tmp_path)
    with history.books.changing() as change:
        change.append("history", line)
    with pytest.raises(EnvironmentFaultError, match=r"row 1 is not a line of a history"):
        history.entries()


@pytest.mark.parametrize(
    ("key", "value"),
    [("by", [["ID"]]), ("parties", [{}]), ("counted", {"Sex": 1}), ("groups", {"Sex": [[]]})],
)
def test_a_line_that_holds_other_values_than_a_history_is_an_error(tmp_path, key, value):
    history = History(tmp_path)
    made = remember(history, 1, [1, 2])
    with history.books.changing() as change:
        change.replace("history", [json.dumps({**asdict(made), key: value})])
    with pytest.raises(EnvironmentFaultError, match=r"row 1 is not a line of a history"):
        history.entries()


def test_what_a_crash_left_half_written_goes_at_the_next_start(tmp_path):
    history = History(tmp_path)
    history.folder.mkdir(mode=0o700)
    for name in ("examinations.json.new", "1.rows.new", "key.new-0a1b2c3d", "key"):
        (history.folder / name).write_text("{}")
    history.tidy()
    assert [path.name for path in history.folder.iterdir()] == ["key"]
    History(tmp_path / "none").tidy()


def test_damaged_files_of_people_and_groups_are_named(tmp_path):
    history = History(tmp_path)
    made = remember(history, 1, [0, 9])
    history.add_groups(made.job, np.array([0, 9]), {"Sex": np.array([0, 1])})
    for name in ("rows", "groups.npz"):
        path = history.folder / f"{made.job}.{name}"
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(EnvironmentFaultError, match="rows: is damaged; restore the folder"):
        history.member_bits(made.job, made.rows)
    with pytest.raises(EnvironmentFaultError, match="npz: is damaged; restore the folder"):
        history.released(made.job)
