"""The models in a party's state folder: taken once, bounded, readable by the party alone."""

import json
import stat

import pytest

from coterie.base.errors import DataError
from coterie.party.books import models
from coterie.party.books.models import ModelFolder, refusals_of
from tests.jobs.kinds.predict.kept import part

ATTRIBUTES = {"Sex": ("lender", ["F", "M"], []), "Job": ("bank", ["x", "y"], [])}


def left_by_a_job(tmp_path, name="risk"):
    kept = tmp_path / "kept"
    kept.mkdir(exist_ok=True)
    part("tree", ATTRIBUTES, "bank", name=name).write(kept)
    return kept


def test_a_finished_jobs_part_is_moved_and_found_again(tmp_path):
    kept = left_by_a_job(tmp_path)
    folder = ModelFolder(tmp_path, lambda: 1000.0)
    assert folder.names() == []
    assert folder.take(kept, "analyst", "a" * 32) == ""
    assert not list(kept.iterdir())
    again = ModelFolder(tmp_path)
    assert again.names() == ["risk"]
    assert again.find("risk") == part("tree", ATTRIBUTES, "bank")
    shown = again.entry("risk").shown()
    assert (shown["coordinator"], shown["job"], shown["own_columns"]) == (
        "analyst", "a" * 32, ["Job"],
    )  # fmt: skip
    assert shown["kept"] == "1970-01-01T00:16:40Z"
    [path] = again.folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(again.folder.stat().st_mode) == 0o700


def test_a_part_is_taken_again_after_a_crash_and_by_no_other_job(tmp_path):
    folder = ModelFolder(tmp_path)
    folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    assert folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32) == ""
    kept = left_by_a_job(tmp_path)
    assert "is kept already" in folder.take(kept, "analyst", "b" * 32)
    assert list(kept.iterdir())  # nothing is lost
    assert folder.entry("risk").job == "a" * 32
    assert folder.take(tmp_path / "nothing", "analyst", "c" * 32) == ""


def test_a_full_folder_takes_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "MOST", 2)
    folder = ModelFolder(tmp_path)
    for name in ("one", "two"):
        assert folder.take(left_by_a_job(tmp_path, name), "analyst", "a" * 32) == ""
    assert "2 models are kept already" in folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    [reason], _ = refusals_of(folder, "three", None, "analyst", False)
    assert "retention.models" in reason


def test_a_model_is_its_coordinators_unless_it_is_shared(tmp_path):
    folder = ModelFolder(tmp_path)
    folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    assert refusals_of(folder, None, "risk", "analyst", False) == ([], [])
    assert refusals_of(folder, None, "risk", "other", True) == ([], [])
    [reason], inside = refusals_of(folder, None, "risk", "other", False)
    assert inside == ["the model is analyst's"]
    [same], nothing = refusals_of(folder, None, "unknown", "other", False)
    assert same.replace("unknown", "risk") == reason  # a stranger is not told which of the two
    assert nothing == []


def test_a_name_that_is_given_is_refused(tmp_path):
    folder = ModelFolder(tmp_path)
    folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    [reason], _ = refusals_of(folder, "risk", None, "analyst", False)
    assert reason == "a model 'risk' is kept already: choose another name"
    assert refusals_of(folder, "other", None, "analyst", False) == ([], [])
    assert refusals_of(folder, None, None, "analyst", False) == ([], [])


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"part": {}}', b"\xff\xfe"])
def test_a_damaged_file_is_named_and_stays_listed(tmp_path, damage):
    folder = ModelFolder(tmp_path)
    folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    [path] = folder.folder.iterdir()
    path.write_bytes(damage)
    assert folder.names() == ["risk"]
    with pytest.raises(DataError, match=r"risk\.json: is not a readable part of a model"):
        folder.find("risk")


def test_a_file_under_another_name_is_not_taken_for_it(tmp_path):
    folder = ModelFolder(tmp_path)
    folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    [path] = folder.folder.iterdir()
    path.rename(path.with_name("other.json"))
    with pytest.raises(DataError, match="is not a readable part of a model"):
        folder.find("other")
    with pytest.raises(DataError, match="no model 'risk' is kept here"):
        folder.find("risk")
    with pytest.raises(DataError, match="not the name"):
        folder.find("../risk")


def test_old_models_are_found_by_when_they_were_kept(tmp_path):
    folder = ModelFolder(tmp_path, lambda: 1000.0)
    folder.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    [path] = folder.folder.iterdir()
    assert folder.old(None, 10**9) == []
    assert folder.old(500.0, 1400.0) == []
    assert folder.old(500.0, 1600.0) == [path]
    assert json.loads(path.read_text())["kept"] == 1000.0


def test_of_two_jobs_that_end_at_the_same_moment_one_keeps_the_name(tmp_path, monkeypatch):
    first, second = ModelFolder(tmp_path), ModelFolder(tmp_path)
    monkeypatch.setattr(second, "entry", lambda name: None)  # it looked before the first one wrote
    first.take(left_by_a_job(tmp_path), "analyst", "a" * 32)
    kept = left_by_a_job(tmp_path)
    assert "is kept already" in second.take(kept, "analyst", "b" * 32)
    assert list(kept.iterdir())  # nothing is lost
    assert first.entry("risk").job == "a" * 32
    assert [path.name for path in first.folder.iterdir()] == ["risk.json"]
