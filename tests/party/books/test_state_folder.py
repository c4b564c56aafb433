"""State folders of other versions are brought forward, never silently back."""

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books import state_folder
from coterie.party.books.append_file import read_entries
from coterie.party.books.state_folder import VERSION, bring_forward, version_of


def test_a_new_folder_has_the_version_of_this_program(tmp_path):
    assert bring_forward(tmp_path) == (VERSION, VERSION)
    assert (tmp_path / "version").read_text() == f"{VERSION}\n"


def test_a_folder_without_a_version_is_the_first_one_and_is_brought_forward(houses):
    houses.state("bank").mkdir()
    (houses.state("bank") / "journal.jsonl").touch()
    houses.serve("bank")
    assert version_of(houses.state("bank")) == VERSION
    noted = [e for e in read_entries(houses.state("bank") / "audit.log") if "before" in e]
    assert [(e["event"], e["before"], e["after"]) for e in noted] == [
        ("state brought forward", 1, VERSION)
    ]


def test_every_step_is_taken_once_and_in_order(tmp_path, monkeypatch):
    taken = []
    steps = [lambda folder, n=n: taken.append(n) for n in (1, 2, 3)]
    monkeypatch.setattr(state_folder, "STEPS", steps)
    monkeypatch.setattr(state_folder, "VERSION", 4)
    (tmp_path / "version").write_text("2\n")
    assert bring_forward(tmp_path) == (2, 4)
    assert bring_forward(tmp_path) == (4, 4)
    assert taken == [2, 3]


def test_a_step_that_fails_leaves_the_version_that_was_reached(tmp_path, monkeypatch):
    def fail(folder):
        raise EnvironmentFaultError("full")

    monkeypatch.setattr(state_folder, "STEPS", [lambda folder: None, fail])
    monkeypatch.setattr(state_folder, "VERSION", 3)
    (tmp_path / "version").write_text("1\n")
    with pytest.raises(EnvironmentFaultError, match="full"):
        bring_forward(tmp_path)
    assert version_of(tmp_path) == 2


def test_a_folder_of_a_newer_program_is_refused_and_left_alone(houses):
    houses.state("bank").mkdir()
    (houses.state("bank") / "version").write_text(f"{VERSION + 1}\n")
    with pytest.raises(EnvironmentFaultError, match=f"version {VERSION + 1}, and this program"):
        houses.serve("bank")
    names = {path.name for path in houses.state("bank").iterdir()}
    assert names == {"version", "lock"}


@pytest.mark.parametrize("text", ["two", "0", "9" * 5000])
def test_a_version_that_is_none_is_named(tmp_path, text):
    (tmp_path / "version").write_text(text)
    with pytest.raises(EnvironmentFaultError, match="not the version of a state folder"):
        version_of(tmp_path)
