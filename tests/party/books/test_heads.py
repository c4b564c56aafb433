"""Books that somebody else has changed, cut off or replaced are noticed, and nothing else is."""

import contextlib
import shutil

import apsw
import numpy as np
import pytest

from coterie.base.errors import EnvironmentFaultError, VerificationError
from coterie.party.books.audit import LOST_BOOK, AuditLog
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger_lines import LedgerFile, Pardon
from coterie.party.books.people import People
from coterie.party.history.releases import History
from coterie.party.records import Book
from coterie.party.store.database import database
from coterie.protos import jobs_pb2 as pb
from tests.party.history.test_releases import remember


class House:
    """The books of a party, without its server."""

    def __init__(self, state):
        self.state = state
        self.audit = AuditLog(state / "audit.log")
        self.book = Book(state)
        self.ledger = LedgerFile(state)
        self.history = History(state)
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


def forge(state, sql):
    """Changes the books as somebody does who has SQLite, and not this program."""
    connection = apsw.Connection(str(state / "books.db"))
    connection.execute(sql).fetchall()
    connection.close()


FORGED = {
    "INSERT INTO ledger SELECT number + 1, content FROM ledger WHERE number = 3": "ledger",
    "DELETE FROM ledger WHERE number = 3": "ledger",
    "DELETE FROM ledger": "ledger",
    "UPDATE ledger SET content = replace(content, 'bank', 'card') WHERE number = 1": "ledger",
    "UPDATE ledger SET number = 9 - number; UPDATE ledger SET number = number - 5": "ledger",
    "INSERT INTO history SELECT number + 1, content FROM history WHERE number = 3": "history",
    "DELETE FROM history WHERE number = 1": "history",
    "UPDATE history SET content = replace(content, 'Sex', 'Age') WHERE number = 2": "history",
    "DELETE FROM notes": "history",
    "UPDATE notes SET content = replace(content, '99', '98')": "history",
    "DELETE FROM jobs WHERE number = 2": "journal",
    "UPDATE jobs SET content = '{}' WHERE number = 2": "journal",
    "UPDATE jobs SET content = replace(content, 'FINISHED', 'WAITING')": "journal",
    "INSERT INTO jobs (name, content) VALUES ('f', '{}')": "journal",
}


@pytest.mark.parametrize("sql", FORGED)
def test_rows_that_somebody_changed_are_noticed_before_and_after_the_next_start(state, sql):
    assert verify(state / "audit.log").books
    forge(state, sql)
    with pytest.raises(VerificationError, match=rf"books\.db: the {FORGED[sql]} were removed"):
        verify(state / "audit.log")
    AuditLog(state / "audit.log").close()  # seals what is there
    for _ in range(2):
        with pytest.raises(
            VerificationError, match=f"the server found here that the {FORGED[sql]}"
        ):
            verify(state / "audit.log")
        AuditLog(state / "audit.log").close()


@pytest.mark.parametrize("how", ["gone", "empty", "that of before"])
def test_books_that_are_others_as_a_whole_are_noticed(state, how):
    path = state / "books.db"
    before = path.read_bytes()
    house = House(state)
    house.job("d")
    house.close()
    path.unlink()
    if how != "gone":
        path.write_bytes(b"" if how == "empty" else before)
    with pytest.raises(VerificationError, match=r"books\.db: .*the ledger were removed"):
        verify(state / "audit.log")
    House(state).close()
    with pytest.raises(VerificationError, match="the server found here that the"):
        verify(state / "audit.log")


def test_a_seal_that_somebody_changed_is_named_and_no_server_starts(state):
    forge(state, "UPDATE seal SET content = replace(content, 'false', 'true')")
    with pytest.raises(VerificationError, match="not sealed as books without books_key"):
        verify(state / "audit.log")
    with pytest.raises(VerificationError, match="not sealed as books without books_key"):
        AuditLog(state / "audit.log")
    with pytest.raises(VerificationError, match="not sealed as books without books_key"):
        LedgerFile(state).append(Pardon("bank", "d" * 32, "now"))


@pytest.mark.parametrize("sql", [sql for sql, book in FORGED.items() if book == "ledger"])
def test_rows_that_are_changed_while_the_server_serves_are_noticed(tmp_path, sql):
    house = House(tmp_path)
    for letter in "abc":
        house.job(letter)
    forge(tmp_path, sql)
    with contextlib.suppress(EnvironmentFaultError):  # where the place of the next row is taken
        house.job("d")
    house.close()
    with pytest.raises(VerificationError, match=r"books\.db: the ledger were removed"):
        verify(tmp_path / "audit.log")


def test_books_that_are_replaced_while_the_server_serves_are_noticed(tmp_path):
    house = House(tmp_path)
    house.job("a")
    (tmp_path / "books.db").unlink()
    house.job("b")
    house.close()
    with pytest.raises(VerificationError, match="the server found here that the history"):
        verify(tmp_path / "audit.log")


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_a_log_that_is_cut_off_with_its_head_is_noticed_by_the_books(state, lines):
    path = state / "audit.log"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-lines]))
    path.with_name("audit.head").unlink()
    with pytest.raises(VerificationError, match="the books were sealed when it had 7 lines"):
        verify(path)
    House(state).close()
    with pytest.raises(VerificationError, match="the server found here that lines before were cut"):
        verify(path)


def test_a_history_and_a_log_that_are_cut_off_together_are_noticed(state):
    forge(state, "DELETE FROM history WHERE number = 3")
    path = state / "audit.log"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    path.with_name("audit.head").unlink()
    with pytest.raises(VerificationError):
        verify(path)
    house = House(state)
    with pytest.raises(EnvironmentFaultError, match="the history is not what the audit log knows"):
        house.audit.require_history()
    house.close()
    with pytest.raises(VerificationError, match="the server found here that"):
        verify(path)


@pytest.mark.parametrize("at", range(40))
def test_a_byte_that_a_disk_has_lost_is_named(state, at):
    """Anywhere in the file where something is: the rest is free."""
    path = state / "books.db"
    content = bytearray(path.read_bytes())
    used = [place for place, byte in enumerate(content) if byte and place >= 100]
    content[used[at * len(used) // 40]] ^= 0x55
    path.write_bytes(content)
    with pytest.raises((VerificationError, EnvironmentFaultError), match=r"books\.db: "):
        verify(state / "audit.log")


def test_books_that_grow_and_are_pruned_are_in_order(state):
    house = House(state)
    record = house.job("d")
    house.book.forget([record])
    house.audit.plan_pruning()
    house.history.prune([house.history.entries()[0].job])
    house.job("e")
    assert verify(state / "audit.log").books
    house.close()
    House(state).close()
    assert LOST_BOOK not in (state / "audit.log").read_text()
    assert verify(state / "audit.log").books


@pytest.mark.parametrize("happened", [False, True])
def test_a_crash_while_the_history_is_pruned_is_no_tampering(state, happened):
    house = House(state)
    house.audit.plan_pruning()
    if happened:
        house.history.prune([entry.job for entry in house.history.entries()])
    house.close()
    for letter in "ef":
        house = House(state)
        house.audit.require_history()
        house.job(letter)
        house.audit.require_history()
        house.close()
    assert verify(state / "audit.log").books
    assert LOST_BOOK not in (state / "audit.log").read_text()


def spoiled(state, how):
    """Somebody has been at the list of people."""
    [path] = (state / "history").glob("people-*")
    if how == "removed":
        path.unlink()
    elif how == "removed with the history":
        shutil.rmtree(path.parent)
    elif how == "begun anew by somebody else":
        path.write_bytes((np.arange(500, dtype=np.uint64) + 7).tobytes())
    else:
        path.write_bytes(path.read_bytes()[:-8])


@pytest.mark.parametrize(
    "how", ["removed", "removed with the history", "begun anew by somebody else", "cut off"]
)
def test_a_list_of_people_that_is_not_what_it_was_is_named_at_every_start_and_while_serving(
    state, how
):
    house = House(state)
    house.audit.require_history()
    spoiled(state, how)
    with pytest.raises(VerificationError, match=r"the history were removed"):
        verify(state / "audit.log")
    for _ in range(2):
        with pytest.raises(EnvironmentFaultError, match="history is not what the audit log knows"):
            house.audit.require_history()
    for _ in range(2):
        house.close()
        house = House(state)
        with pytest.raises(
            EnvironmentFaultError, match="so that people of earlier jobs would count"
        ):
            house.audit.require_history()
    house.close()


def test_a_list_of_people_that_a_crash_left_longer_than_its_head_is_in_order(state):
    [path] = (state / "history").glob("people-*")
    with path.open("ab") as file:
        file.write(b"not counted yet")
    house = House(state)
    house.audit.require_history()
    house.job("d")  # writes over it
    house.audit.require_history()
    house.close()
    assert verify(state / "audit.log").books


def test_a_restored_folder_begins_anew(state):
    before = (state / "books.db").read_bytes()
    house = House(state)
    house.job("d")
    house.close()
    (state / "books.db").write_bytes(before)
    audit = AuditLog(state / "audit.log", check_books=False)
    audit.note("state restored", backup="yesterday")
    audit.note("server started")
    audit.close()
    assert verify(state / "audit.log").books


def test_what_is_forgotten_is_in_no_file(state):
    house = House(state)
    with database(state).changing() as change:
        change.append("history", '{"secret": "forgotten soon"}')
    house.audit.plan_pruning()
    with database(state).changing() as change:
        change.replace("history", [])
    database(state).purge()
    for path in state.glob("books.db*"):
        assert b"forgotten soon" not in path.read_bytes()
    house.close()
