"""A history that is gone is missed by the server, by the audit and by jobs, until it begins anew."""

import json

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.append_file import read_entries
from coterie.party.books.people import commitment_key
from coterie.party.config import load_party
from coterie.party.history.releases import History
from coterie.party.operator.forget_history import forget_history
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie, wait_for
from tests.party.history.test_releases import remember
from tests.party.houses import Houses


@pytest.fixture
def pair(tmp_path):
    made = Houses(tmp_path, ("lender", "bank"))
    with made.stack:
        yield made


def ends(houses):
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    return {name: coordinator.end(job_id, name) for name in houses.names}


def events(houses, name):
    return [e["event"] for e in read_entries(houses.state("bank") / "audit.log")].count(name)


def test_a_list_that_is_gone_with_its_head_ends_jobs_until_the_history_begins_anew(pair, capfd):
    pair.serve_all()
    assert {end.state for end in ends(pair).values()} == {pb.FINISHED}
    wait_for(lambda: events(pair, "ended"), "the line about the end")
    [path] = (pair.state("bank") / "history").glob("people-*")
    path.unlink()
    for found in (0, 2):  # once by the job, and once by the start after it
        if found:
            pair.servers.pop("bank").stop()
            pair.serve("bank")
        assert events(pair, "book does not hold its head") == found
        end = ends(pair)["bank"]
        assert (end.state, end.exit_code) == (pb.FAILED, 9)
        assert end.error.startswith("books.db: the history is not what the audit log knows")
        assert path.name not in end.error  # a digest of columns, maybe of another coordinator's job
    told = coterie("party", "audit", "--config", pair.path("bank"))
    assert told.code == 8
    assert "the history had been removed" in told.error

    with pytest.raises(EnvironmentFaultError, match="another server uses this state folder"):
        forget_history(load_party(pair.path("bank")), "Ada")
    pair.servers.pop("bank").stop()
    command = ("party", "forget-history", "--config", pair.path("bank"), "--by", "Ada", "--json")
    assert coterie(*command).json == {"forgotten": str(pair.state("bank") / "history")}
    [line] = [
        entry
        for entry in read_entries(pair.state("bank") / "audit.log")
        if entry["event"] == "history begun anew"
    ]
    assert (line["by"], line["person"]) == ("bank", "Ada")
    pair.serve("bank")
    assert {end.state for end in ends(pair).values()} == {pb.FINISHED}
    assert len(History(pair.state("bank")).entries()) == 1


def test_a_history_that_is_there_is_forgotten_too(houses):
    config = load_party(houses.path("bank"))
    remember(History(config.state), 1, [0, 1])
    key = commitment_key(config.state / "history")
    forget_history(config, "Ada")
    assert [path.name for path in (config.state / "history").iterdir()] == ["key"]
    assert commitment_key(config.state / "history") == key  # unchanged data counts as unchanged
    assert coterie("party", "history", "--config", houses.path("bank")).out == "no jobs yet\n"
    assert json.loads(coterie("party", "audit", "--config", houses.path("bank"), "--json").out)


@pytest.mark.parametrize("damage", [lambda key: key.unlink(), lambda key: key.write_bytes(b"half")])
def test_a_key_that_is_damaged_is_forgotten_too(houses, damage):
    config = load_party(houses.path("bank"))
    commitment_key(config.state / "history")
    damage(config.state / "history" / "key")
    forget_history(config, "Ada")
    assert not (config.state / "history").exists()
