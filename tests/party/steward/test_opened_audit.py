"""Commands without a server note what happened to the folder, as the server does."""

import pytest

from coterie.party.books.append_file import read_entries
from coterie.party.books.audit import LOST_BOOK
from coterie.party.books.state_folder import take
from coterie.party.config import load_party
from coterie.party.operator.forget_history import forget_history
from coterie.party.steward.backup import RESTORED
from coterie.party.steward.opened_audit import opened_audit
from coterie.party.steward.retention import prune_unserved
from coterie.party.store.database import database


def events(config):
    return [entry["event"] for entry in read_entries(config.state / "audit.log")]


@pytest.fixture
def config(houses):
    found = load_party(houses.path("bank"))
    with take(found.state):
        audit = opened_audit(found)
        database(found.state).append("ledger", {})
        audit.note("server stopped")
        audit.close()
    return found


@pytest.mark.parametrize("command", [prune_unserved, lambda config: forget_history(config, "Ada")])
def test_a_folder_that_was_restored_is_noted_and_not_taken_for_a_loss(config, command):
    (config.state / "books.db").unlink()  # it differs from what the log says
    (config.state / RESTORED).write_text('{"date": "yesterday"}')
    command(config)
    command(config)
    assert events(config).count("state restored") == 1
    assert LOST_BOOK not in events(config)


def test_a_folder_of_this_version_has_the_books_that_the_log_knows_or_that_is_noted(config):
    (config.state / "books.db").unlink()
    prune_unserved(config)
    assert LOST_BOOK in events(config)
