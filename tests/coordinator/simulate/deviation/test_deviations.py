"""Ways to deviate: read from arguments, and what they change of an honest party."""

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.simulate.deviation.deviations import deviation, read_deviations, received
from coterie.jobs.kinds.integrate.behaviour import Behaviour


def test_each_argument_names_a_party_and_a_way():
    found = read_deviations(["bank=never", "lender=from:3"], ["lender", "bank"])
    assert {name: (way.name, way.start) for name, way in found.items()} == {
        "bank": ("never", 1),
        "lender": ("from:3", 3),
    }


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        (["bank"], "must be PARTY=WAY"),
        (["shop=never"], "no party 'shop'"),
        (["bank=never", "bank=from:2"], "deviates already"),
        (["bank=sometimes"], "unknown deviation 'sometimes'"),
        (["bank=from:0"], "unknown deviation 'from:0'"),
    ],
)
def test_other_arguments_are_refused(texts, complaint):
    with pytest.raises(UsageError, match=complaint):
        read_deviations(texts, ["lender", "bank"])


def test_a_party_that_stops_takes_part_up_to_the_round_before():
    decide = deviation("from:3").behaviour(Behaviour()).decide
    assert [decide("a", {}) for _ in range(4)] == [True, True, False, False]


@pytest.mark.parametrize(("way", "score"), [("underdeclare", 0), ("overdeclare", 11)])
def test_a_declared_score_changes_and_the_attribute_does_not(way, score):
    seen = []
    honest = Behaviour(find_winner=lambda channel, names, key: seen.append(key))
    deviation(way).behaviour(honest).find_winner(None, ["a"], (5 << 16) | 7)
    assert seen == [(score << 16) | 7]


def test_a_party_receives_what_the_others_give():
    assert received({"a": 3, "b": 4, "c": 0}) == {"a": 4, "b": 3, "c": 7}
