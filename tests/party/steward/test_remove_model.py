"""One model goes by its operator's word, and the audit log says so first."""

import json

import pytest

from coterie.base.errors import EnvironmentFaultError, UsageError
from coterie.party.books.audit_check import verify
from coterie.party.books.models import ModelFolder
from coterie.party.config import load_party
from coterie.party.steward.remove_model import remove_model, remove_model_unserved
from tests.party.books.test_models import left_by_a_job

ADA = {"person": "Ada"}


@pytest.fixture
def folder(tmp_path):
    made = ModelFolder(tmp_path)
    for name in ("risk", "other"):
        made.take(left_by_a_job(tmp_path, name), "analyst", "a" * 32)
    return made


def test_the_named_model_goes_and_no_other(folder):
    said = []
    remove_model(folder, "risk", ADA, lambda event, **facts: said.append((event, facts)))
    assert folder.names() == ["other"]
    assert said == [("model removed", {"model": "risk", "person": "Ada"})]
    for name in ("risk", "../other", ""):
        with pytest.raises(UsageError, match="is kept here"):
            remove_model(folder, name, ADA, lambda *_, **__: pytest.fail("noted"))


def test_a_model_that_cannot_be_read_can_be_removed(folder):
    (folder.folder / "risk.json").write_bytes(b"torn")
    remove_model(folder, "risk", {}, lambda *_, **__: None)
    assert folder.names() == ["other"]


def test_what_cannot_be_accounted_for_stays(folder):
    def full(event, **facts):
        raise EnvironmentFaultError("audit.log: No space left on device")

    with pytest.raises(EnvironmentFaultError):
        remove_model(folder, "risk", {}, full)
    assert folder.names() == ["other", "risk"]


def test_without_a_server_the_command_removes_and_notes(houses, tmp_path):
    config = load_party(houses.path("bank"))
    config.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    ModelFolder(config.state).take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    assert remove_model_unserved(config, "risk", "Ada") == {"removed": "risk"}
    assert ModelFolder(config.state).names() == []
    verify(config.state / "audit.log")
    lines = [json.loads(line) for line in (config.state / "audit.log").open()]
    [said] = [line for line in lines if line["event"] == "model removed"]
    assert (said["model"], said["by"], said["person"]) == ("risk", "bank", "Ada")
    with pytest.raises(UsageError, match="no model 'risk' is kept here"):
        remove_model_unserved(config, "risk", "Ada")
