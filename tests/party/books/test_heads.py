"""A removed, emptied, shortened or rewritten book is noticed, and nothing else is."""

import hashlib
import json
import os
import shutil

import numpy as np
import pytest

from coterie.base.errors import EnvironmentFaultError, VerificationError
from coterie.party.books.audit import LOST_BOOK, AuditLog
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger_lines import FILE, LedgerFile, Pardon
from coterie.party.books.people import People, _digest, remove_list
from coterie.party.history.releases import History
from coterie.party.records import JOURNAL, Book
from coterie.protos import jobs_pb2 as pb
from tests.party.history.test_releases import remember


class House:
    """The books of a party, without its server."""

    def __init__(self, state):
        self.state = state
        self.audit = AuditLog(state / "audit.log")
        self.book = Book(state, rewriting=self.audit.journal_rewriting)
        self.ledger = LedgerFile(state / FILE)
        self.history = History(state, rewriting=self.audit.rewriting)
        self.audit.note("server started")

    def job(self, letter):
        record = self.book.add(letter * 32, "analyst", None)
        digests = np.arange(ord(letter), dtype=np.uint64)  # everybody of before, and one more
        remember(self.history, ord(letter), People(self.history.folder, ["ID"]).numbers(digests))
        self.audit.note("remembered", job=letter * 32)
        self.book.set_state(record, pb.FINISHED)
        self.ledger.append(Pardon("bank", letter * 32, "now"))
        self.audit.note("ended", job=letter * 32)
        return record

    def close(self):
        self.book.close()
        self.audit.close()


@pytest.fixture
def state(tmp_path):
    house = House(tmp_path)
    for letter in "abc":
        house.job(letter)
    house.close()
    return tmp_path


def emptied(lines):
    return []


def cut(lines):
    return lines[:-1]


def rewritten(lines):
    return [lines[0].replace(b'"', b" ", 1).replace(b" ", b'"', 1), *lines[2:], lines[1]]


def lengthened(lines):
    return [lines[0].replace(b"}", b" }"), *lines[1:]]


RELEASES = "history/releases.jsonl"
FILES = [JOURNAL, FILE, RELEASES]
PEOPLE = f"people-{hashlib.sha256(b'ID').hexdigest()[:16]}"
BOOKS = ("history", "journal", "ledger", PEOPLE)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("change", [emptied, cut, rewritten, lengthened, None])
def test_a_book_that_somebody_changed_is_noticed_before_and_after_the_next_start(
    state, file, change
):
    path = state / file
    assert verify(state / "audit.log").books == BOOKS
    if change is None:
        path.unlink()
    else:
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(VerificationError, match=f"{file}: removed, emptied, cut off"):
        verify(state / "audit.log")
    House(state).close()  # and its head is the changed file's from now on
    with pytest.raises(VerificationError, match="the server found here that the"):
        verify(state / "audit.log")


def test_a_ledger_that_is_replaced_while_the_server_serves_is_noticed(tmp_path):
    house = House(tmp_path)
    house.job("a")
    lines = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).write_bytes(lines.replace(b"bank", b"card"))
    house.job("b")
    house.close()
    with pytest.raises(VerificationError, match=r"ledger.* removed"):
        verify(tmp_path / "audit.log")


def test_lines_that_are_changed_in_place_while_the_server_serves_are_noticed(tmp_path):
    house = House(tmp_path)
    house.job("a")
    with (tmp_path / FILE).open("r+b") as file:
        file.write((tmp_path / FILE).read_bytes().replace(b"bank", b"card"))
    house.job("b")
    house.close()
    with pytest.raises(VerificationError, match="the server found here that the ledger"):
        verify(tmp_path / "audit.log")


def test_books_that_grow_and_journals_that_are_written_anew_are_in_order(state):
    house = House(state)
    record = house.job("d")
    house.book.forget([record])  # writes the journal anew
    house.job("e")
    assert verify(state / "audit.log").books == BOOKS
    house.close()
    House(state).close()
    text = (state / "audit.log").read_text()
    assert "journal written anew" in text
    assert LOST_BOOK not in text
    assert verify(state / "audit.log").books == BOOKS


@pytest.mark.parametrize("happened", [False, True])
def test_a_crash_while_the_journal_is_written_anew_is_no_tampering(state, monkeypatch, happened):
    house = House(state)
    record = house.book.get("a" * 32)

    def crash(*places):
        if happened:
            rename(*places)
        raise KeyboardInterrupt

    rename = os.replace
    with monkeypatch.context() as patch:
        patch.setattr("coterie.party.books.append_file.os.replace", crash)
        with pytest.raises(KeyboardInterrupt):
            house.book.forget([record])
    house.close()
    for letter in "de":
        assert verify(state / "audit.log").books
        house = House(state)
        house.job(letter)
        house.close()
    assert verify(state / "audit.log").books
    path = state / JOURNAL
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    with pytest.raises(VerificationError, match="does not have the head"):
        verify(state / "audit.log")


def test_a_journal_that_could_not_be_written_anew_goes_on(state, monkeypatch):
    house = House(state)
    with monkeypatch.context() as patch:
        patch.setattr("coterie.party.books.append_file.os.replace", full)
        with pytest.raises(EnvironmentFaultError):
            house.book.forget([house.book.get("a" * 32)])
    house.job("d")
    assert verify(state / "audit.log").books
    house.book.forget([house.book.get("a" * 32)])
    house.job("e")
    house.close()
    assert verify(state / "audit.log").books


def full(*places):
    raise OSError(28, "No space left on device")


def test_a_job_that_ends_while_the_journal_is_written_anew(state, monkeypatch):
    """The line about the job's end comes between the new journal and the line about it."""
    house = House(state)
    rename = os.replace

    def interrupted(*places):
        rename(*places)
        house.audit.note("ended", job="x")

    with monkeypatch.context() as patch:
        patch.setattr("coterie.party.books.append_file.os.replace", interrupted)
        house.book.forget([house.book.get("a" * 32)])
    house.job("d")
    house.close()
    assert verify(state / "audit.log").books == BOOKS


def test_a_torn_line_of_a_crash_is_no_tampering(state):
    for file in FILES:
        with (state / file).open("ab") as opened:
            opened.write(b'{"torn')
    assert verify(state / "audit.log").books
    House(state).close()
    assert verify(state / "audit.log").books


def test_a_line_that_follows_the_last_head_may_be_missing_after_a_crash(state):
    """Only what a head covers has to be on the disk."""
    before = (state / FILE).read_bytes()
    LedgerFile(state / FILE).append(Pardon("bank", "d" * 32, "now"))
    (state / FILE).write_bytes(before)
    assert verify(state / "audit.log").books


def test_a_log_without_heads_of_books_is_as_good_as_before(tmp_path):
    audit = AuditLog(tmp_path / "audit.log")
    audit.note("proposed")
    audit.close()
    (tmp_path / FILE).write_text("{}\n")
    assert verify(tmp_path / "audit.log").books == ()


def spoiled(state, how):
    """Somebody has been at the list of people."""
    path = state / "history" / PEOPLE
    head = path.with_name(PEOPLE.replace("people", "head"))
    content = path.read_bytes()
    if how == "removed with its head":
        head.unlink()
        path.unlink()
    elif how == "removed with the history":
        shutil.rmtree(path.parent)
    elif how == "begun anew by somebody else":
        head.unlink()
        path.unlink()
        People(path.parent, ["ID"]).numbers(np.arange(500, dtype=np.uint64) + 7)
    else:
        path.write_bytes(content[:-8])
        known = np.frombuffer(content[:-8], np.uint64)
        head.write_text(json.dumps({"people": len(known), "digest": _digest(known)}))


SPOILED = [
    "removed with its head",
    "removed with the history",
    "begun anew by somebody else",
    "cut off with its head",
]


@pytest.mark.parametrize("how", SPOILED)
def test_a_list_of_people_that_is_not_what_it_was_is_named_at_every_start_and_while_serving(
    state, how
):
    house = House(state)
    house.audit.require_history()
    spoiled(state, how)
    for _ in range(2):
        with pytest.raises(EnvironmentFaultError, match="history: is not what the audit log knows"):
            house.audit.require_history()
    with pytest.raises(VerificationError, match=r"history.* removed, emptied"):
        verify(state / "audit.log")
    for _ in range(2):
        house.close()
        house = House(state)
        with pytest.raises(
            EnvironmentFaultError, match="so that people of earlier jobs would count"
        ):
            house.audit.require_history()
    house.audit.begin_history_anew(person="Ada")
    house.close()
    house = House(state)
    house.audit.require_history()
    house.close()


def test_a_list_of_people_that_a_crash_left_longer_than_its_head_is_in_order(state):
    with (state / "history" / PEOPLE).open("ab") as file:
        file.write(b"not counted yet")
    house = House(state)
    house.audit.require_history()
    house.job("d")  # writes over it
    house.audit.require_history()
    house.close()
    assert verify(state / "audit.log").books == BOOKS


@pytest.mark.parametrize("happened", [True, False])
def test_a_history_that_is_pruned_is_in_order_also_after_a_crash(state, monkeypatch, happened):
    house = House(state)
    jobs = [entry.job for entry in house.history.entries()]
    house.history.prune(jobs[:1])
    house.job("d")
    with monkeypatch.context() as patch:
        patch.setattr("coterie.party.history.releases.remove_list", dying(happened))
        with pytest.raises(KeyboardInterrupt):
            house.history.prune([entry.job for entry in house.history.entries()])
    house.close()
    for letter in "ef":
        house = House(state)
        house.audit.require_history()
        house.job(letter)
        house.audit.require_history()
        house.close()
    assert verify(state / "audit.log").books == BOOKS
    assert LOST_BOOK not in (state / "audit.log").read_text()


def dying(happened):
    def remove(path):
        if happened:
            remove_list(path)
        raise KeyboardInterrupt

    return remove


def test_a_restored_folder_begins_anew(state):
    audit = AuditLog(state / "audit.log", check_books=False)
    audit.note("state restored", backup="yesterday")
    (state / FILE).write_text("")
    audit.note("server started")
    audit.close()
    assert verify(state / "audit.log").books == BOOKS
    [line] = [
        json.loads(text)
        for text in (state / "audit.log").read_text().splitlines()
        if "restored" in text
    ]
    assert line["backup"] == "yesterday"
