"""`coterie experiment payoffs`: the measured matrix has the signs of Figure 7."""

from coterie.experiments.secure_data_integration.payoffs import colluders, matrix, table


def test_who_defects_gives_nothing_and_who_cooperates_alone_receives_nothing():
    found = matrix("short", "1, no strategy", 2)
    payoffs = found["payoffs"]
    assert 0 < found["p"] < 1
    assert payoffs["cooperate, defect"][0] == 0 == payoffs["defect, cooperate"][1]
    assert payoffs["defect, cooperate"][0] > 0 < payoffs["cooperate, defect"][1]
    assert min(payoffs["cooperate, cooperate"]) > 0
    assert payoffs["defect, defect"] == [0, 0]


def test_pairs_of_three_parties_are_three():
    found = colluders(3, "short", "2, the strategy", 2)
    assert found["cases"] == 6
    assert 0 <= found["gained"] <= 6
    text = table({"matrix": [matrix("short", "1, no strategy", 1)], "colluders": [found]})
    assert "| short | 2, the strategy | 3 |" in text
