"""Joint specialization: equal to that of one table, and no message says more than its result."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.privacy import DistinctDiversity, EntropyDiversity
from coterie.anonymity.specialization.scores import RULES, SCALE
from coterie.base.errors import DataError
from tests.anonymity.tables import Case
from tests.protocols.integration.splits import Split, assert_equal, loans, splits


@settings(max_examples=100, deadline=None)
@given(splits(), st.booleans())
def test_every_party_gets_the_result_of_the_single_table(split, turns):
    single = split.single()
    split.turns = turns
    outcomes = split.run()
    for outcome in outcomes.values():
        assert_equal(outcome, single)
        assert outcome.winners == [split.holders[w.attribute] for w in single.winners]
        for name in split.names:
            scores = [w.score for w in single.winners if split.holders[w.attribute] == name]
            assert outcome.contributions[name] == sum(scores)


@settings(max_examples=40, deadline=None)
@given(splits(max_rows=25, max_attributes=4), st.sampled_from(sorted(RULES)))
def test_every_score_gives_the_result_of_the_single_table(split, rule):
    split.rule = rule
    single = split.single()
    for outcome in split.run().values():
        assert_equal(outcome, single)


@settings(max_examples=60, deadline=None)
@given(
    splits(classes=3),
    st.sampled_from([DistinctDiversity(2), EntropyDiversity(1.5)]),
    st.data(),
)
def test_conditions_on_sensitive_columns_give_the_result_of_the_single_table(split, model, data):
    names = [*split.case.attributes, "class"]
    chosen = data.draw(st.sampled_from(names))
    places = [j for j, (qid, _) in enumerate(split.case.requirements) if chosen not in qid]
    split.models = dict.fromkeys(places, (chosen, model))
    split.conditions = "holder"
    try:
        single = split.single()
    except DataError as error:
        with pytest.raises(DataError, match="not even the whole table") as joint:
            split.run()
        assert str(joint.value) == str(error)  # noqa: PT017
        return
    for outcome in split.run().values():
        assert_equal(outcome, single)


@settings(max_examples=60, deadline=None)
@given(splits(), st.sampled_from([0.05, 0.1, 0.25]), st.sampled_from(sorted(RULES)))
def test_suppression_gives_the_result_of_the_single_table(split, share, rule):
    split.max_suppression, split.rule = share, rule
    single = split.single()
    for outcome in split.run().values():
        assert_equal(outcome, single)


@pytest.mark.parametrize("leaves", [2, 255, 256, 257, 700])
def test_a_value_may_have_many_children(leaves):
    paths = [(f"v{i}", "Any") for i in range(leaves)]
    rows = [
        {"a": f"v{i % leaves}", "b": str(i % 3), "class": "xy"[i % 5 == 0]}
        for i in range(2 * leaves)
    ]
    case = Case(rows, {"a": ("taxonomy", paths), "b": ("range", None)}, [(["a"], 2), (["b"], 1)])
    split = Split(case, ("ann", "bob"), {"a": "ann", "b": "bob"}, ("bob",))
    split.max_suppression = 0.01
    single = split.single()
    assert "a" in {winner.attribute for winner in single.winners}
    for outcome in split.run().values():
        assert_equal(outcome, single)


def test_scores_are_whole_numbers_of_a_2_to_the_30th():
    outcome = loans().run()["ann"]
    assert outcome.table.winners[0].attribute == "Salary"
    assert sum(outcome.contributions.values()) == sum(w.score for w in outcome.table.winners)
    assert 0 < outcome.table.winners[0].score < SCALE
