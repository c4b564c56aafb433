"""What a steward has answered outlives every crash, and nothing else counts as an answer."""

import contextlib
import threading
import time
from types import SimpleNamespace

import pytest

from coterie.base.errors import EnvironmentFaultError, RefusedError
from coterie.party import holds
from coterie.party.job_record import Hold
from coterie.party.store.database import database
from tests.party.disk import room_for

ABOUT, DIGEST = "output", "d" * 64


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(holds, "_LOOK", 0.0)


def job(folder):
    return SimpleNamespace(home=folder, note="held 1", held=None, changed=threading.Condition())


def asked(record, digest=DIGEST, until=None):
    """Whether the job puts the question; then the process ends."""
    put = []
    hold = Hold(ABOUT, until or time.time() + 60, {})
    with contextlib.suppress(InterruptedError):
        holds.ask(record, hold, digest, lambda: put.append(hold), lambda: InterruptedError())
    return bool(put)


def answered(folder, yes, reason=""):
    """A steward answers, and the process ends before the job takes any notice."""
    record = job(folder)
    record.held = Hold(ABOUT, time.time() + 60, {}, digest=DIGEST)
    assert holds.answer(record, ABOUT, yes, reason, "Ada")
    assert not holds.answer(record, ABOUT, not yes, "", "Bob")


def test_a_yes_counts_after_a_crash_between_the_answer_and_its_effect(tmp_path):
    assert asked(job(tmp_path))
    answered(tmp_path, True)
    assert not asked(job(tmp_path))
    assert asked(job(tmp_path), digest="e" * 64)  # another release was not approved


def test_a_no_stays_a_no_after_a_crash_between_the_answer_and_its_effect(tmp_path):
    assert asked(job(tmp_path))
    answered(tmp_path, False, "too early")
    with pytest.raises(RefusedError, match=r"says no to .*: too early"):
        asked(job(tmp_path))


def test_an_answer_that_cannot_be_written_does_not_count_and_the_job_asks_on(tmp_path):
    assert asked(job(tmp_path))
    record = job(tmp_path)
    record.held = Hold(ABOUT, time.time() + 60, {}, digest=DIGEST)
    before = database(tmp_path).get("notes", "held 1")
    with (
        room_for(tmp_path / "books.db", 0),
        pytest.raises(EnvironmentFaultError, match=r"books\.db: "),
    ):
        holds.answer(record, ABOUT, True, "", "Ada")
    assert not record.held.answered.is_set()
    assert database(tmp_path).get("notes", "held 1") == before
    assert asked(job(tmp_path))
    assert holds.answer(record, ABOUT, True, "", "Ada")  # there is room again


def test_a_restart_does_not_prolong_the_time_for_an_answer(tmp_path):
    first = time.time() + 30
    assert asked(job(tmp_path), until=first)
    assert asked(job(tmp_path), until=first + 1000)
    assert database(tmp_path).get("notes", "held 1")[ABOUT]["until"] == first
