"""State folders of other versions are refused and left as they are."""

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.state_folder import VERSION, require_version


def test_a_new_folder_has_the_version_of_this_program(tmp_path):
    require_version(tmp_path)
    require_version(tmp_path)
    assert (tmp_path / "version").read_text() == f"{VERSION}\n"


def test_what_a_crash_or_a_command_left_before_the_first_start_makes_no_old_folder(houses):
    state = houses.state("bank")
    (state / "history").mkdir(parents=True)
    (state / "history" / "key").write_bytes(bytes(32))  # made by `party check`
    (state / "version.new").write_text("")
    houses.serve("bank")
    assert (state / "version").read_text() == f"{VERSION}\n"


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("", "version 1, which no released Coterie has written"),
        ("3\n", "version 3, which no released Coterie has written"),
        (f"{VERSION + 1}\n", f"version {VERSION + 1}, and this program knows only {VERSION}"),
    ],
)
def test_a_folder_of_another_version_is_refused_and_left_alone(houses, version, says):
    state = houses.state("bank")
    state.mkdir()
    (state / "audit.log").write_text("{}\n")
    if version:
        (state / "version").write_text(version)
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    with pytest.raises(EnvironmentFaultError, match=says):
        houses.serve("bank")
    after = {path.name: path.read_bytes() for path in state.iterdir()}
    assert after == before | {"lock": b""}


@pytest.mark.parametrize("text", ["two", "0", "9" * 5000])
def test_a_version_that_is_none_is_named(tmp_path, text):
    (tmp_path / "version").write_text(text)
    with pytest.raises(EnvironmentFaultError, match="not the version of a state folder"):
        require_version(tmp_path)
