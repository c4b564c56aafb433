"""The Adult table lies where the user says; nothing guesses a place and nothing fetches it."""

import re
from pathlib import Path

import pytest

from coterie.__main__ import run
from coterie.base.errors import DataError, UsageError
from coterie.experiments.secure_data_integration.adult_data import adult_folder, load_adult


def test_the_option_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("COTERIE_ADULT", "/there")
    assert adult_folder(None) == Path("/there")
    assert adult_folder(Path("here")) == Path("here")


def test_without_either_the_error_names_both_and_the_origin(monkeypatch):
    monkeypatch.delenv("COTERIE_ADULT", raising=False)
    with pytest.raises(UsageError, match=r"--data DIR or COTERIE_ADULT.*UCI.*fetches nothing"):
        adult_folder(None)


@pytest.mark.parametrize("command", [["experiment", "adult"], ["bench", "integrate", "--quick"]])
def test_a_command_without_data_says_so_in_one_line(command, monkeypatch, capsys):
    monkeypatch.delenv("COTERIE_ADULT", raising=False)
    assert run(command) == UsageError.exit_code
    assert re.fullmatch(r"error: no Adult table: .*\n", capsys.readouterr().err)


def test_a_folder_without_the_table_is_named(tmp_path):
    (tmp_path / "adult.train.csv").write_text("age\n")
    with pytest.raises(DataError, match=r"adult\.test\.csv: not there; .*UCI"):
        load_adult(tmp_path)
