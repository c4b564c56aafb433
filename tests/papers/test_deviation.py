"""The participation strategy on the paper's own table (§7.2), and what Theorem 1 rests on."""

import json

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.simulate.deviation.deviations import deviation
from coterie.experiments.secure_data_integration.adult import Errors
from coterie.experiments.secure_data_integration.adult_data import load_adult
from coterie.experiments.secure_data_integration.deviation import (
    EPSILON,
    adult_deal,
    main,
    random_deal,
)
from coterie.experiments.secure_data_integration.game import endless_average, once_average, play
from tests import ADULT

needs_adult = pytest.mark.skipif(not ADULT.exists(), reason=f"no Adult table in {ADULT}")


@pytest.fixture(scope="module")
def errors():
    return Errors(load_adult(ADULT))


@needs_adult
@pytest.mark.parametrize(
    ("size", "k", "paper"),
    [(5, 20, 16.2), (5, 180, 16.2), (7, 20, 16.6), (7, 180, 16.6), (9, 1000, 18.3)],
)
def test_four_parties_release_a_table_as_good_as_the_papers(errors, size, k, paper):
    done = play(adult_deal(errors.adult, "four", size, k), EPSILON)
    assert errors.released(done.table)[0] == pytest.approx(paper, abs=0.25)


@needs_adult
@pytest.mark.parametrize(
    ("split", "party", "paper", "off"),
    [
        ("unequal", "A", 15.3, 0.3),
        ("unequal", "B", 22.4, 0.3),
        ("four", "A", 21.2, 0.3),
        ("four", "B", 25.1, 0.6),
        ("four", "C", 20.0, 0.6),
        ("four", "D", 21.7, 0.6),
    ],
)
def test_source_errors_are_near_the_papers(errors, split, party, paper, off):
    from coterie.experiments.secure_data_integration.adult_data import NAMES
    from coterie.experiments.secure_data_integration.deviation import SPLITS

    names = [name for name in NAMES if name in SPLITS[split][party]]
    assert errors.raw(names) == pytest.approx(paper, abs=off)


@needs_adult
@pytest.mark.parametrize("size", [5, 7, 9])
@pytest.mark.parametrize("k", [180, 1000])
def test_the_equal_split_gives_the_result_of_algorithm_one(errors, size, k):
    deal = adult_deal(errors.adult, "equal", size, k)
    one, two = play(deal, None), play(deal, EPSILON)
    assert (two.winners, two.scores) == (one.winners, one.scores)


@needs_adult
@pytest.mark.parametrize("size", [5, 7, 9])
def test_in_the_unequal_split_a_stops_because_b_cannot_match(errors, size):
    deal = adult_deal(errors.adult, "unequal", size, 20)
    fair, free = play(deal, EPSILON), play(deal, None)
    assert fair.winners == ("A",)
    assert len(free.winners) > 1
    assert errors.released(fair.table)[0] > errors.released(free.table)[0] + 2


@pytest.mark.parametrize("parties", [2, 3, 4])
@pytest.mark.parametrize("game", ["short", "long"])
def test_who_never_takes_part_gets_one_gift_of_each_other(parties, game):
    """§6.3: others give at most epsilon and one more specialization before they stop."""
    for seed in range(3):
        deal = random_deal(parties, seed, game)
        for party in deal.names:
            done = play(deal, EPSILON, {party: deviation("never")})
            assert done.given(party) == 0
            for other in deal.names:
                if other != party:
                    assert done.given(other) <= EPSILON + max(done.scores, default=0) + 1e-9


def test_without_a_strategy_others_go_on_giving():
    deal = random_deal(3, 0, "long")
    free, fair = (play(deal, e, {"A": deviation("never")}) for e in (None, EPSILON))
    assert free.received("A") > 2 * fair.received("A")


def test_discounted_averages_are_those_of_the_proof():
    w, delta = 0.3, 0.9
    # n-1 payoffs of w and then nothing: w (1 - delta^(n-1))
    assert once_average([w] * 3, delta) == pytest.approx(w * (1 - delta**3))
    # a constant stream is worth its constant
    assert endless_average([w] * 5, delta) == pytest.approx(w)
    assert endless_average([], delta) == 0


def test_no_tables_at_all_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="--tables must be at least 1, not 0"):
        main(["--out", str(tmp_path), "--tables", "0"])


def test_the_experiment_writes_tables_and_figures_also_without_adult(tmp_path, capsys):
    out = tmp_path / "o"
    assert main(["--data", str(tmp_path), "--out", str(out), "--tables", "1"]) == 0
    shown = capsys.readouterr().out
    assert "without Adult" in shown
    assert (out / "deviation.md").read_text() in shown
    for name in ("deviation-game.svg", "deviation-game.png"):
        assert (out / name).stat().st_size > 1000
    for row in json.loads((out / "deviation.json").read_text())["theorem"]:
        assert 0 <= row["pays_within"] <= min(row["pays"], row["within"])
