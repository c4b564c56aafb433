"""The gate remembers before it lets anything pass, and what it refuses it forgets."""

from types import SimpleNamespace

import numpy as np
import pytest

from coterie.base.errors import RefusedError
from coterie.party.history.gate import HistoryGate, identified_by
from coterie.party.history.releases import History
from coterie.party.policy import Policy
from coterie.party.settings import Repeat
from tests.party.test_policy import JOB, NEEDS, needing

COUNTS = needing(answers={"counted": {"Sex": ""}})
RELEASE = needing(answers={"counted": {"Sex": ""}}, groups={"records": True})
POLICY = Policy(repeat=Repeat(k=3))


@pytest.fixture
def gate(tmp_path):
    """A maker of gates, of one history; `notes` has the events of the audit log."""
    history = History(tmp_path)
    digests = np.arange(100, 140, dtype=np.uint64)
    notes = []

    def make(at, policy=POLICY, needs=COUNTS, ask=None, digests=digests):
        record = SimpleNamespace(job_id=f"{at:032x}", coordinator="analyst", records=40)
        return HistoryGate(
            history, policy, needs, record, JOB, "", digests,
            lambda event, **facts: notes.append((event, facts)), ask, lambda result: None,
        )  # fmt: skip

    make.history, make.notes = history, notes
    return make


def test_people_and_groups_are_on_the_disk_when_they_have_passed(gate, tmp_path):
    first = gate(1, needs=RELEASE)
    first.people(np.arange(20))
    [entry] = History(tmp_path).entries()
    assert (entry.people, entry.by, entry.counted, entry.groups) == (20, ["ID"], {"Sex": ""}, {})
    first.groups(np.arange(10), {"Sex": np.arange(10) % 2})
    assert History(tmp_path).entries()[0].groups == {"Sex": 2}
    first.check_shown()
    assert [event for event, _ in gate.notes] == ["remembered", "groups remembered"]


def test_what_is_refused_is_not_remembered_and_says_nothing_of_what_was_found(gate):
    gate(1).people(np.arange(20))
    with pytest.raises(RefusedError) as refused:
        gate(2).people(np.arange(19))
    assert str(refused.value) == (
        "policy.repeat: together with earlier jobs, this job would reveal too much"
    )
    assert "1 person" in refused.value.inside
    assert len(gate.history.entries()) == 1
    gate(3).people(np.arange(16))


def test_groups_are_judged_before_anything_leaves(gate):
    for at, codes in ((1, np.arange(20) // 10), (2, np.arange(20) % 10)):
        made = gate(at, needs=RELEASE)
        made.people(np.arange(20))
        if at == 1:
            made.groups(np.arange(20), {"Sex": codes})
    with pytest.raises(RefusedError, match="too much"):
        made.groups(np.arange(20), {"Sex": codes})
    assert [bool(entry.groups) for entry in gate.history.entries()] == [True, False]


def test_after_an_interruption_the_same_passes_without_a_question(gate):
    gate(1).people(np.arange(20))
    asked = []
    policy = Policy(repeat=Repeat(k=3, on="ask"))
    for _ in range(2):
        gate(2, policy, ask=lambda findings, words: asked.append(words)).people(np.arange(19))
    assert len(asked) == 1
    assert len(gate.history.entries()) == 2


def test_a_warning_is_noted_and_the_job_is_remembered(gate):
    policy = Policy(repeat=Repeat(k=3, on="warn"))
    gate(1, policy).people(np.arange(20))
    gate(2, policy).people(np.arange(19))
    assert [event for event, _ in gate.notes] == [
        "remembered", "judged by earlier jobs", "remembered",
    ]  # fmt: skip


def test_without_a_rule_everything_is_remembered_and_nothing_judged(gate):
    for at, number in ((1, 20), (2, 19)):
        made = gate(at, Policy())
        assert not made.judges
        made.people(np.arange(number))
    made = gate(3, Policy(), digests=None)  # nothing identifies people
    made.people(None)
    assert [(e.people, bool(e.rows)) for e in gate.history.entries()] == [
        (20, True), (19, True), (40, False),
    ]  # fmt: skip


def test_jobs_that_predict_count_among_the_jobs_of_the_window(gate):
    policy = Policy(repeat=Repeat(k=3, jobs=2))
    predicts = needing(answers={"counted": {}, "predicted_for": ("bank",)})
    gate(1, policy, predicts).people(np.arange(20))
    gate(2, policy, predicts).people(np.arange(19))  # of single people: no number follows
    assert [entry.predicted for entry in gate.history.entries()] == [True, True]
    for needs in (predicts, COUNTS):
        with pytest.raises(RefusedError, match=r"^policy\.repeat: ") as refused:
            gate(3, policy, needs).people(np.arange(20))
        assert refused.value.inside == "2 jobs in the window, and 2 are permitted"
    gate(2, policy, predicts).people(np.arange(19))  # again, after an interruption
    gate(3, policy, needing(answers={"counted": {}}, matching={"by": ()})).people(np.arange(20))
    with pytest.raises(TypeError, match="has not shown its people"):
        gate(4, policy, predicts).check_shown()


def test_a_kind_that_forgets_to_show_something_does_not_finish(gate):
    made = gate(1, needs=RELEASE)
    with pytest.raises(TypeError, match="has not shown its people"):
        made.check_shown()
    made.people(np.arange(20))
    with pytest.raises(TypeError, match="has not shown its groups"):
        made.check_shown()


def test_the_policys_columns_identify_people_before_the_jobs():
    assert identified_by(POLICY, NEEDS) == ("ID",)
    assert identified_by(Policy(repeat=Repeat(id=("Name", "Born"))), NEEDS) == ("Name", "Born")
    assert identified_by(Policy(), needing(matching={"by": ()})) == ()
