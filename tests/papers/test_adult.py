"""Paper 1 §7.1 on the Adult table: the errors of its text, ours beside them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coterie.base.errors import DataError, EnvironmentFaultError
from coterie.experiments.secure_data_integration.adult import PAPER, Errors, main, paper_says
from coterie.experiments.secure_data_integration.adult_data import (
    ATTRIBUTES,
    NAMES,
    RANKED,
    load_adult,
    top,
)
from tests import ADULT

needs_adult = pytest.mark.skipif(
    not (ADULT / "adult.train.csv").exists(), reason=f"the Adult table is not at {ADULT}"
)


@pytest.fixture(scope="module")
def errors() -> Errors:
    return Errors(load_adult(ADULT))


@needs_adult
def test_the_table_has_the_papers_records(errors: Errors) -> None:
    assert errors.adult.training == 30_162
    assert len(errors.adult.target) - errors.adult.training == 15_060


@needs_adult
def test_the_taxonomies_are_those_of_the_papers_table_4(errors: Errors) -> None:
    """Leaves and levels. Native-country differs, by a leaf and a level; it is in no TopN."""
    found = {name: (len(t.leaves), t.depth + 1) for name, t in errors.adult.taxonomies.items()}
    assert found.pop("native-country") == (41, 4)  # the paper's: (40, 5)
    assert found == {
        "relationship": (6, 3),
        "race": (5, 3),
        "sex": (2, 2),
        "marital-status": (7, 4),
        "education": (16, 5),
        "workclass": (8, 5),
        "occupation": (14, 3),
    }


@needs_adult
def test_attributes_rank_as_in_the_paper(errors: Errors) -> None:
    """Cg, Ag, Ms, En, Re, Hw, Sx, Ed, Oc: each at the root once those before it are removed."""
    assert tuple(errors.ranking(9)) == RANKED


@needs_adult
def test_base_source_and_upper_bound_errors_are_within_0_6_points(errors: Errors) -> None:
    assert errors.table() == pytest.approx(PAPER, abs=0.6)


@needs_adult
@pytest.mark.parametrize(
    ("held", "paper"),
    [
        ("Cg Ag Ms En Re Hw Sx Ed Oc", 15.3),
        ("Fw Ra Nc Cl Wc", 22.4),
        ("Ag Wc Fw En", 21.2),
        ("Ms Re Ra Sx", 25.1),
        ("Cg Hw Nc", 20.0),
        ("Ed Oc Cl", 21.7),
    ],
)
def test_source_errors_of_other_splits_are_within_0_6_points(
    errors: Errors, held: str, paper: float
) -> None:
    """§7.2: two unequal parties, then four."""
    names = [name for short, name in ATTRIBUTES.items() if short in held.split()]
    assert errors.raw(names) == pytest.approx(paper, abs=0.6)


@needs_adult
@pytest.mark.parametrize("k", [20, 180])
def test_top5_costs_nothing_up_to_180(errors: Errors, k: int) -> None:
    """The paper: 14.8 %."""
    assert errors.integration(5, k).error == pytest.approx(14.8, abs=0.3)


@needs_adult
@pytest.mark.parametrize("k", [20, 60, 180])
def test_top7_stays_within_a_point_of_the_base_error_up_to_180(errors: Errors, k: int) -> None:
    """The paper says up to 200; see the next but one test."""
    assert errors.integration(7, k).error < PAPER["BE"] + 1


@needs_adult
def test_top7_gets_better_from_60_to_100(errors: Errors) -> None:
    """The paper's example of generalization that removes noise."""
    assert errors.integration(7, 100).error < errors.integration(7, 60).error


@needs_adult
def test_a_group_of_199_records_decides_between_180_and_200(errors: Errors) -> None:
    """Never married, with a capital gain of 7262 or more: what docs/experiments.md explains."""
    done = errors.generalize(7, 180)
    assert [winner.attribute for winner in done.winners[:2]] == ["capital-gain", "marital-status"]
    assert done.anonymity[0]["smallest"] == 199
    codes, values = done.generalized("capital-gain")
    rich = codes == values.index("[7262, 99999]")
    codes, values = done.generalized("marital-status")
    assert np.sum(rich & (codes == values.index("Never-married"))) == 199
    after = errors.generalize(7, 200)
    assert "marital-status" not in {winner.attribute for winner in after.winners}


@needs_adult
def test_at_200_another_score_is_better_than_the_papers(errors: Errors) -> None:
    by_ratio = errors.integration(7, 200).error
    by_gain = errors.integration(7, 200, "information-gain").error
    assert by_gain < by_ratio - 0.5
    assert by_gain < PAPER["SE(A)"] - 0.5


@needs_adult
def test_at_200_a_little_suppression_keeps_what_180_has(errors: Errors) -> None:
    """The 199 records stand in the way of marital-status; leaving them out opens it again.

    Test records that were left out count as errors here.
    """
    found = errors.integration(7, 200, "gain-ratio, 0.5 % suppressed")
    assert 199 <= found.suppressed <= 226
    assert found.error_of_kept < found.error < PAPER["BE"] + 1


@needs_adult
@pytest.mark.parametrize("k", [80, 1000])
def test_top9_stays_above_17_6_from_80_on(errors: Errors, k: int) -> None:
    found = errors.integration(9, k).error
    assert 17.6 <= found <= 18.6
    assert found < errors.without(9) - 3  # far better than removing the attributes


def test_top_n_follows_the_order_of_the_papers_table() -> None:
    assert top(5) == ("age", "education-num", "relationship", "marital-status", "capital-gain")
    assert set(top(9)) == set(RANKED)
    assert len(NAMES) == 14


def test_the_papers_words_are_quoted_where_it_has_any() -> None:
    assert [paper_says(5, 180), paper_says(5, 200)] == ["14.8", ""]
    assert [paper_says(7, 200), paper_says(9, 60), paper_says(9, 80)] == ["< 15.7", "", "> 17.6"]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvironmentFaultError, match="needs matplotlib"):
        main([])


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"adult\.train\.csv"):
        main(["--data", str(tmp_path)])


@needs_adult
def test_the_command_writes_its_table_and_its_figure(
    errors: Errors,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("coterie.experiments.secure_data_integration.adult.QUICK", (1000,))
    monkeypatch.setattr(
        "coterie.experiments.secure_data_integration.adult.WAYS",
        {"gain-ratio": ("gain-ratio", 0.0)},
    )
    monkeypatch.setattr(
        "coterie.experiments.secure_data_integration.adult.Errors", lambda adult: errors
    )
    monkeypatch.setattr(errors, "ranking", lambda number: list(RANKED[:number]))
    assert main(["--data", str(ADULT), "--quick", "--json", "--out", str(tmp_path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "adult.json").read_text())
    top5 = printed["integration"][0]["error"]
    assert f"| 1000 | {top5:.2f} |" in (tmp_path / "adult.md").read_text()
    assert (tmp_path / "adult.csv").read_text().count("\n") == 4
    assert (tmp_path / "adult.svg").read_text().startswith("<?xml")
    assert (tmp_path / "adult.png").read_bytes().startswith(b"\x89PNG")
