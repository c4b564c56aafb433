"""A folder that version 4 has written is brought forward once, and nothing in it is lost.

`version_4` in this folder is one as its code wrote it: six jobs, one of them forgotten, a contribution,
the end of a job and a charge, two jobs of the history, counts, a list of people, and an answer.
"""

import json
import shutil

import numpy as np
import pytest

from coterie.party import holds
from coterie.party.books.audit import LOST_BOOK
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger import Ledger
from coterie.party.books.people import People
from coterie.party.books.state_folder import VERSION, require_version
from coterie.party.config import load_party
from coterie.party.history.releases import DAY, History
from coterie.party.job_record import Hold
from coterie.party.records import Book
from coterie.party.steward.opened_audit import opened_audit
from coterie.party.store import version_4
from coterie.party.store.database import database
from coterie.protos.jobs_pb2 import State
from tests import ROOT
from tests.coordinator.support import coterie

FOLDER = ROOT / "tests" / "party" / "store" / "version_4"
FILES = ("journal.jsonl", "ledger.jsonl", "history/releases.jsonl")


@pytest.fixture
def config(houses):
    shutil.copytree(FOLDER, houses.state("bank"))
    return load_party(houses.path("bank"))


def lost(config):
    return [
        json.loads(line)["book"]
        for line in (config.state / "audit.log").read_text().splitlines()
        if LOST_BOOK in line
    ]


def test_everything_that_it_has_is_known_afterwards(config):
    opened_audit(config).close()
    state = config.state
    assert [(r.job_id[-1], r.state, r.reason, r.eager, r.records) for r in Book(state).all()] == [
        ("0", State.FINISHED, "", False, 7),
        ("1", State.WAITING, "", True, 7),
        ("2", State.CANCELLED, "because", False, 7),
        ("3", State.FAILED, "the server was restarted", False, 7),
        ("5", State.FAILED, "lost", True, 0),
    ]
    book = Book(state)
    assert book.add(f"{4:032x}", "analyst", None) is None
    balance = Ledger(state, "bank").balances()["clinic"]
    assert (balance.given, balance.received) == (5, 3)
    history = History(state, lambda: 1000.0)
    assert [(e.job[-1], e.people, e.groups) for e in history.entries()] == [
        ("1", 4, {"Sex": 2}),
        ("2", 2, {}),
    ]
    assert history.examinations(["analyst"], DAY) == 1
    numbers = People(history.folder, ["ID"]).numbers(np.array([44, 55, 11], np.uint64))
    assert numbers.tolist() == [3, 4, 0]
    record = book.get(f"{3:032x}")
    hold = Hold("output", 2e9, {})
    holds.ask(record, hold, "digest", lambda: pytest.fail("asked"), lambda: None)
    assert lost(config) == []
    assert not [name for name in FILES if (state / name).exists()]
    assert (state / "version").read_text() == f"{VERSION}\n"
    assert verify(state / "audit.log").books


def test_a_command_before_the_first_start_says_what_to_do(config):
    done = coterie("party", "ledger", "--config", config.file)
    assert (done.code, "start the server once" in done.error) == (9, True)
    assert not (config.state / "books.db").exists()


@pytest.mark.parametrize("crash", ["before the version", "before the files go"])
def test_a_crash_on_the_way_loses_and_doubles_nothing(config, crash, monkeypatch):
    def die(*words):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if crash == "before the version":
            patch.setattr("coterie.party.books.state_folder._write", die)
        else:
            patch.setattr(version_4, "clear", die)
        with pytest.raises(KeyboardInterrupt):
            require_version(config.state)
    opened_audit(config).close()
    assert len(Book(config.state).all()) == 5
    assert len(database(config.state).rows("ledger")) == 3
    assert not [name for name in FILES if (config.state / name).exists()]
    assert lost(config) == []


@pytest.mark.parametrize("name", FILES)
def test_a_book_that_somebody_changed_before_is_noted(config, name):
    path = config.state / name
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    opened_audit(config).close()
    assert lost(config) == [
        {"journal.jsonl": "journal", "ledger.jsonl": "ledger"}.get(name, "history")
    ]


def test_lines_that_nobody_can_read_are_counted_and_torn_ones_are_not(config):
    path = config.state / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'rubbish\n[1]\n{"job": "torn')
    opened_audit(config).close()
    [line] = [
        json.loads(line)
        for line in (config.state / "audit.log").read_text().splitlines()
        if "state brought forward" in line
    ]
    assert (line["passed_over"], line["rows"]["jobs"]) == (2, 6)


def test_a_folder_that_was_brought_forward_is_served(houses, config):
    houses.serve("bank")
    assert coterie("party", "audit", "--config", config.file).code == 0
