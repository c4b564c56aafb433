"""The second phase of a joint specialization: equal to that of the joined table."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.top_down import SpecializeOptions, specialize_table
from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.table.table import Table
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.mondrian.cut_together import cut_further
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.protocols.integration.mondrian.splits import shown
from tests.protocols.integration.mondrian.test_cut_together import trees
from tests.protocols.integration.splits import splits


def alone(split, refine):
    case = split.case
    labels = {name: case.labels(name) for name in case.rows[0] if name not in case.attributes}
    table = Table(tuple(case.columns()), labels)
    options = SpecializeOptions(split.rule, refine)
    most = int(split.max_suppression * len(case.rows) + 1e-9)
    return specialize_table(table, split.requirements, most, "class", options)


def shown_alone(answer):
    columns = {n: [c.labels[code] for code in c.codes] for n, c in answer.columns.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def party(split, name, refine, hooks, **options):
    plan = replace(split.plan(), refine=refine)
    columns = {n: split.case.column(n) for n in split.used() if split.holders[n] == name}
    labels = {n: split.case.labels(n) for n in split.sensitive() if split.holders[n] == name}
    own = {"class": split.case.labels("class")} if name in split.class_holders else {}
    records = len(split.case.rows)

    def run(channel):
        outcome = integrate(
            channel, plan, columns, labels | own, records, Random(name), **hooks(name)
        )
        if plan.refine == "columns":
            return outcome, None
        labels["class"] = outcome.classes
        return outcome, cut_further(
            channel, plan, outcome.table, columns, labels, Random(name + "2"), **options
        )

    return run


def together(split, refine, hooks=lambda name: {}, **options):
    return run_parties({n: party(split, n, refine, hooks, **options) for n in split.names})


def steps(outcome):
    return [(w.attribute, w.value, w.children, w.score, w.phase) for w in outcome.table.winners]


def steps_alone(answer):
    return [
        (w["attribute"], w["value"], tuple(w["children"]), round(w["score"] * 2**30), w["phase"])
        for w in answer.details["winners"]
    ]


@settings(max_examples=60, deadline=None)
@given(splits(max_rows=30), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_columns_are_those_of_the_joined_table(split, turns, suppressed):
    split.turns, split.max_suppression = turns, suppressed
    answer = alone(split, "columns")
    for outcome, _ in together(split, "columns").values():
        assert steps(outcome) == steps_alone(answer)
        codes = {n: outcome.table.generalized(n) for n in outcome.table.names}
        rows = [
            {n: values[own[i]] for n, (own, values) in codes.items()}
            for i in range(len(answer.kept))
        ]
        assert rows == shown_alone(answer)
        assert sum(outcome.contributions.values()) == sum(s[3] for s in steps(outcome) if s[4] == 1)
        assert sum(outcome.refined.values()) == sum(s[3] for s in steps(outcome) if s[4] == 2)


@settings(max_examples=60, deadline=None)
@given(splits(max_rows=40), st.sampled_from([0.0, 0.1]))
def test_groups_are_those_of_the_joined_table(split, suppressed):
    split.max_suppression = suppressed
    answer = alone(split, "groups")
    for outcome, cuts in together(split, "groups", hide_scores=False).values():
        assert steps(outcome) == steps_alone(answer)
        assert trees(cuts) == answer.details["tree"]
        assert shown(cuts) == shown_alone(answer)


@settings(max_examples=15, deadline=None)
@given(splits(max_rows=20, max_attributes=3), st.sampled_from(["columns", "groups"]))
def test_hidden_scores_and_a_model_give_the_release_of_the_joined_table(split, refine):
    for i, row in enumerate(split.case.rows):
        row["s"] = str(i % 3)
    split.holders["s"] = split.names[-1]
    split.models = {0: ("s", DistinctDiversity(2))}
    answer = alone(split, refine)

    def hooks(name):
        hidden = HiddenWinner(Random(f"{name} hidden"), len(split.used()), rejectable=True)
        return {"find_winner": hidden}

    for outcome, cuts in together(split, refine, hooks).values():
        assert steps(outcome) == steps_alone(answer)
        if cuts is not None:
            assert trees(cuts) == answer.details["tree"]
            assert shown(cuts) == shown_alone(answer)


@pytest.mark.parametrize("refine", ["columns", "groups"])
@settings(max_examples=20, deadline=None)
@given(split=splits(max_rows=30))
def test_with_the_strategy_each_phase_begins_at_no_contribution(refine, split):
    """A generous epsilon changes nothing; each sum is that of its phase."""

    def hooks(name):
        strategy = Strategy(100.0)
        return {
            "find_winner": strategy.find_winner,
            "takes_part": strategy.takes_part,
            "confirm": strategy.confirm,
        }

    answer = alone(split, refine)
    for outcome, cuts in together(split, refine, hooks, hide_scores=False, strategy=100.0).values():
        assert steps(outcome) == steps_alone(answer)
        by_party = dict.fromkeys(split.names, 0)
        for step, winner in zip(steps(outcome), outcome.winners, strict=True):
            by_party[winner] += step[3] if step[4] == 1 else 0
        assert outcome.contributions == by_party
        if cuts is None:
            assert sum(outcome.refined.values()) == sum(s[3] for s in steps(outcome) if s[4] == 2)
        else:
            assert trees(cuts) == answer.details["tree"]


@settings(max_examples=40, deadline=None)
@given(splits(max_rows=30), st.sampled_from([0.0, 0.02]))
def test_a_party_that_is_ahead_stays_away_in_the_second_phase_too(split, epsilon):
    """Nobody is ahead of another who takes part by more than epsilon and one step."""

    def hooks(name):
        strategy = Strategy(epsilon)
        return {
            "find_winner": strategy.find_winner,
            "takes_part": strategy.takes_part,
            "confirm": strategy.confirm,
        }

    outcome, _ = next(iter(together(split, "columns", hooks).values()))
    for phase, total in ((1, outcome.contributions), (2, outcome.refined)):
        mu = dict.fromkeys(split.names, 0)
        for step, winner in zip(steps(outcome), outcome.winners, strict=True):
            if step[4] == phase:
                assert mu[winner] <= min(mu.values()) + round(epsilon * 2**30)
                mu[winner] += step[3]
        assert mu == total
