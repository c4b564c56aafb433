"""Forged books: the worst that somebody can do who writes to the state folder of a stopped server.

The clumsy forger has SQLite and an editor. The skilled one has this program, too, and makes seals and
digests as they must be; only `books_key` stands against that, kept where the forger does not read.
"""

import json
import os
import shutil

import apsw
import pytest

from coterie.base.errors import CoterieError, UsageError, VerificationError
from coterie.party.books.audit import AuditLog
from coterie.party.books.ledger_lines import LedgerFile, Pardon
from coterie.party.config import load_party
from coterie.party.history.releases import History
from coterie.party.records import Book
from coterie.party.steward.opened_audit import opened_audit
from coterie.party.store.database import database, use_key
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie
from tests.party.history.test_releases import remember

AUDIT = ("party", "audit", "--json", "--config")


def write(houses, key):
    more = {}
    if key:
        path = houses.folder / "books.key"
        path.write_bytes(os.urandom(32))
        path.chmod(0o600)
        more = {"books_key": "books.key"}
    houses.write("bank", **more)
    return load_party(houses.path("bank"))


def jobs(config, letters):
    """What a server does at some jobs, and its stop."""
    config.state.mkdir(exist_ok=True)
    audit = opened_audit(config)
    book, history = Book(config.state), History(config.state)
    audit.note("server started")
    for letter in letters:
        record = book.add(letter * 32, "analyst", None)
        remember(history, ord(letter), [0, 1])
        audit.note("remembered", job=letter * 32)
        book.set_state(record, pb.FINISHED)
        LedgerFile(config.state).append(Pardon("lender", letter * 32, "now"))
        audit.note("ended", job=letter * 32)
    audit.note("server stopped")
    audit.close()


@pytest.fixture(params=[False, True], ids=["without a key", "with a key"])
def config(houses, request):
    found = write(houses, request.param)
    jobs(found, "abc")
    assert coterie(*AUDIT, found.file).json["sealed"] == request.param
    return found


def noticed(config):
    """Whether the audit notices it now, the next start says so, and every audit after it."""
    before = coterie(*AUDIT, config.file)
    try:
        opened_audit(config).close()
        said = "does not hold its head" in (config.state / "audit.log").read_text()
        said |= "head file was missing" in (config.state / "audit.log").read_text()
    except VerificationError:  # the server does not start
        said = True
    return before.code == 8 and said


def query(config, sql):
    connection = apsw.Connection(str(config.state / "books.db"))
    connection.execute(sql).fetchall()
    connection.close()


def appended(config):
    query(config, "INSERT INTO ledger SELECT number + 1, content FROM ledger WHERE number = 3")


def log_cut(config, lines=5):
    path = config.state / "audit.log"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-lines]))


def log_cut_without_head(config):
    log_cut(config)
    (config.state / "audit.head").unlink()


def history_and_log_cut(config):
    query(config, "DELETE FROM history WHERE number = 3")
    log_cut_without_head(config)


def head_emptied(config):
    (config.state / "audit.head").write_bytes(b"")


CLUMSY = [appended, log_cut, log_cut_without_head, history_and_log_cut, head_emptied]


@pytest.mark.parametrize("forge", CLUMSY, ids=lambda forge: forge.__name__)
def test_a_clumsy_forger_is_noticed_with_and_without_a_key(config, forge):
    forge(config)
    assert noticed(config)


def skilled(config, forge):
    """Forges, and then makes the seal and all digests anew, as this program does without the key."""
    use_key(config.state, b"")
    forge(config)
    database(config.state).reseal()
    database(config.state).close()


def pardoned(config):
    row = json.dumps(vars(Pardon("lender", "d" * 32, "now")))
    query(config, f"INSERT INTO ledger (content) VALUES ('{row}')")


def job_of_before(config):
    query(config, "DELETE FROM history WHERE number = 1; UPDATE history SET number = number - 1")


def log_and_books_anew(config):
    """A new log with fewer lines, and books that say that it is the whole one."""
    for name in ("audit.log", "audit.head", "books.db"):
        (config.state / name).unlink()
    log = AuditLog(config.state / "audit.log")
    log.note("server started")
    log.close()


@pytest.mark.parametrize("forge", [pardoned, job_of_before, log_and_books_anew])
def test_a_skilled_forger_without_the_key_is_noticed(houses, forge):
    config = write(houses, True)
    jobs(config, "abc")
    skilled(config, forge)
    assert noticed(config)
    with pytest.raises(VerificationError, match="not sealed with the key of books_key"):
        opened_audit(config)


def test_without_a_key_the_log_shows_what_a_skilled_forger_changes_and_not_what_it_adds(houses):
    """As the documents say."""
    config = write(houses, False)
    jobs(config, "abc")
    skilled(config, job_of_before)
    assert noticed(config)
    shutil.rmtree(config.state)
    jobs(config, "abc")
    skilled(config, pardoned)
    assert not noticed(config)


def test_books_of_before_with_their_log_are_those_of_a_backup_and_show_against_a_head_elsewhere(
    houses,
):
    """The key does not help against it; a head that the forger cannot reach does."""
    config = write(houses, True)
    jobs(config, "ab")
    shutil.copytree(config.state, houses.folder / "before")
    jobs(config, "c")
    head = json.loads((config.state / "audit.log").read_text().splitlines()[-1])["chain"]
    shutil.rmtree(config.state)
    (houses.folder / "before").rename(config.state)
    assert coterie(*AUDIT, config.file).code == 0
    result = houses.folder / "result.json"
    result.write_text(json.dumps({"parties": {"bank": {"audit": head}}}))
    assert coterie(*AUDIT, config.file, "--against", result).code == 8


def test_a_seal_cannot_be_made_by_a_party_file_without_the_key(houses):
    """The forger runs `party seal` with a party file of its own, which names no key."""
    config = write(houses, True)
    jobs(config, "a")
    own = houses.folder / "own.yaml"
    own.write_text(houses.path("bank").read_text().replace("books_key: books.key\n", ""))
    assert coterie("party", "seal", "--config", own).code == 0
    assert coterie(*AUDIT, config.file).code == 8
    with pytest.raises(CoterieError, match="not sealed with the key"):
        opened_audit(config)


def test_a_new_key_is_taken_by_the_operator_s_word_and_the_log_says_what_was_found(houses):
    jobs(write(houses, False), "a")
    config = write(houses, True)
    with pytest.raises(VerificationError, match="'coterie party seal' seals them anew"):
        opened_audit(config)
    seal = ("party", "seal", "--by", "Ada", "--json", "--config", config.file)
    assert coterie(*seal).json == {"keyed": True, "verified": True}
    opened_audit(config).close()
    found = coterie(*AUDIT, config.file)
    assert (found.code, found.json["sealed"], found.json["resealed"]) == (0, True, 1)
    query(config, "DELETE FROM ledger")
    assert coterie(*seal).json == {"keyed": True, "verified": False}
    log = [json.loads(line) for line in (config.state / "audit.log").read_text().splitlines()]
    sealed = [line for line in log if line["event"] == "books sealed anew"]
    assert [(line["person"], line["verified"]) for line in sealed] == [
        ("Ada", True),
        ("Ada", False),
    ]


@pytest.mark.parametrize(
    ("place", "content", "mode", "says"),
    [
        ("state-bank/books.key", bytes(32), 0o600, "must not be in the state folder"),
        ("books.key", bytes(31), 0o600, "has 31 bytes, and needs 32 random ones"),
        ("books.key", bytes(32), 0o644, "others can read it"),
        ("nowhere.key", None, 0, "No such file"),
    ],
)
def test_a_key_that_helps_against_nobody_is_refused(houses, place, content, mode, says):
    path = houses.folder / place
    if content is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    houses.write("bank", books_key=place)
    with pytest.raises(UsageError, match=says):
        load_party(houses.path("bank"))


def test_the_key_is_in_no_file_of_the_folder_and_in_no_word_about_the_party_file(houses):
    config = write(houses, True)
    jobs(config, "a")
    key = config.books_key
    for path in config.state.rglob("*"):
        assert not path.is_file() or key not in path.read_bytes()
    assert repr(key) not in repr(config)
