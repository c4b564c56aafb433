"""`coterie experiment all`: one page, and committed figures beside those that are found."""

import json

import pytest

from coterie.base.errors import UsageError
from coterie.experiments.printed.committed import FIGURES, Figure
from coterie.experiments.printed.everything import DIFFERS, OPTIONS, compared, main
from coterie.experiments.registry import EXPERIMENTS
from tests.experiments.made import ADULT, needs_adult
from tests.jobs.pages.reading import Reading


def test_every_experiment_is_part_of_all():
    assert set(OPTIONS) == set(EXPERIMENTS) - {"all", "list"}
    assert {figure.experiment for figure in FIGURES} <= set(OPTIONS)


@needs_adult
def test_the_page_has_the_inventory_and_the_committed_figures_again(tmp_path, capsys):
    out = tmp_path / "all"
    assert main(["--data", str(ADULT), "--out", str(out), "--only", "crowd", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ran"], told["failed"], told["differ"]) == (["crowd"], {}, [])
    words = Reading((out / "index.html").read_text()).words
    assert "Figure 3, all ten columns 24,802 24,802 yes" in words
    assert "Tables 2 to 4, the Adult rows" in words


def test_an_experiment_without_its_data_is_named_with_the_reason(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("COTERIE_ADULT", raising=False)
    assert main(["--out", str(tmp_path / "all"), "--only", "crowd", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "name its folder with --data" in told["failed"]["crowd"]


def test_a_figure_that_differs_is_found():
    figure = next(f for f in FIGURES if f.experiment == "folds" and f.path == ("raw",))
    assert isinstance(figure, Figure)
    results = {"folds": {"raw": figure.value + 1, "integration": [{"gain-ratio": 23.9}] * 5}}
    assert [agrees for _, _, agrees in compared(results)] == [True, False]
    assert DIFFERS == 8


def test_a_figure_of_a_size_that_a_quick_run_leaves_out_is_not_compared():
    figure = next(f for f in FIGURES if f.what == "Figure 8, Top9 at k = 80")
    entry = {"qid": "Top9", "k": 80, "way": "gain-ratio", "error": 17.88}
    assert figure.found({"integration": [entry | {"k": 20}, entry]}) == 17.88
    assert figure.found({"integration": [entry | {"k": 20}]}) is None


def test_a_folder_that_is_there_and_an_unknown_name_are_refused(tmp_path):
    with pytest.raises(UsageError, match="exists already"):
        main(["--out", str(tmp_path), "--only", "crowd"])
    with pytest.raises(UsageError, match="no experiment 'crowds'"):
        main(["--out", str(tmp_path / "new"), "--only", "crowds"])
