"""The slack of a joint specialization: what a plain search for another k finds on the joined table."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.specialization.scores import BY_QUANTILE, RULES
from coterie.anonymity.specialization.slack import Refused
from coterie.anonymity.specialization.specialize import Requirement, specialize
from coterie.base.errors import PeerFaultError
from coterie.protocols.integration import slack as module
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.plan import Plan, Slack
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.protocols.integration.splits import loans, splits


def first_change(usual, other):
    """After how many steps two runs differ, and the attribute of the other's step there."""
    pairs = enumerate(zip(usual, other, strict=False))
    after = next((i for i, (a, b) in pairs if a != b), len(usual))
    return after, other[after].attribute


def searched(needs, winners):
    """Of each entry, by trying every k down to half: the first that changes the run, and where."""
    usual = winners(needs)
    found = []
    for j, need in enumerate(needs):
        told = None
        for k in range(need.k - 1, 0, -1):
            if 2 * k < need.k:
                break
            other = winners([*needs[:j], replace(need, k=k), *needs[j + 1 :]])
            if other != usual:
                told = (k, *first_change(usual, other))
                break
        found.append(told)
    return found


def on_the_joined_table(split):
    def winners(requirements):
        classes = split.case.labels("class") if split.needs_class else None
        return specialize(split.case.columns(), classes, requirements, rule=split.rule).winners

    return searched(list(split.requirements), winners)


def told(outcome):
    return [None if s is None else (s.permitted, s.after, s.attribute) for s in outcome.slack]


def watched(split, run):
    """The nearest of what the parties have seen in a run, without the secure maxima at its end."""
    seen = {}

    def keep(channel, plan, table, own, rng):
        seen[channel.me] = table.names, own
        return []

    split.slack = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.protocols.integration.integrate.tell_slack", keep)
        run()
    assert set(seen) == set(split.names)
    found = []
    for j in range(len(split.requirements)):
        refused = [(own[j], names) for names, own in seen.values() if j in own]
        best = max(refused, key=lambda pair: pair[0].urgency, default=None)
        if best is None:
            found.append(None)
        else:
            one, names = best
            found.append((one.permitted, one.after, names[one.attribute]))
    return found


@settings(max_examples=60, deadline=None)
@given(splits(max_rows=30, max_attributes=4), st.booleans())
def test_the_slack_is_the_first_smaller_k_that_changes_the_run_of_the_joined_table(split, turns):
    split.turns = turns
    assert watched(split, split.run) == on_the_joined_table(split)


@settings(max_examples=30, deadline=None)
@given(splits(max_rows=20, max_attributes=3), st.sampled_from(sorted(RULES.keys() - {BY_QUANTILE})))
def test_every_score_has_the_slack_of_the_joined_table(split, rule):
    split.rule = rule
    assert watched(split, split.run) == on_the_joined_table(split)


@settings(max_examples=10, deadline=None)
@given(splits(max_rows=20, max_attributes=3))
def test_with_a_strategy_the_slack_is_that_of_runs_with_a_strategy(split):
    def winners(requirements):
        split.case.requirements = [(list(r.qid), r.k) for r in requirements]
        return next(iter(strategic(split).values())).table.winners

    needs = list(split.requirements)
    expected = searched(needs, winners)
    split.case.requirements = [(list(r.qid), r.k) for r in needs]
    assert watched(split, lambda: strategic(split)) == expected


def strategic(split):
    """A run in which every party stops when it has contributed too much."""
    parties = {}
    for name in split.names:
        strategy = Strategy(0.05)
        parties[name] = split.party(
            name,
            find_winner=strategy.find_winner,
            takes_part=strategy.takes_part,
            confirm=strategy.confirm,
        )
    return run_parties(parties)


def test_of_the_loans_a_smaller_k_on_sex_and_salary_permits_a_salary():
    split = loans()
    split.slack = True
    assert on_the_joined_table(split) == [None, (4, 8, "Salary")]
    assert told(split.run()["ann"]) == [None, (4, 8, "Salary")]


@settings(max_examples=3, deadline=None)
@given(st.data())
def test_secure_maxima_find_the_nearest_of_all_parties(data):
    """Also where several parties have the same k after the same steps, and where nobody has any."""
    chance = st.none() | st.builds(
        Refused, st.integers(4, 5), st.integers(0, 1), st.integers(0, 2), st.just(0), st.just(0)
    )
    names, needs = ("ann", "bob"), (Requirement(("x", "y"), 8),) * 3
    plan = Plan(names, dict.fromkeys("xy"), dict(zip("xy", names, strict=True)), needs)
    table = SimpleNamespace(names=["x", "y"], winners=[None] * 2)
    own = {}
    for place, name in enumerate(names):
        drawn = {j: data.draw(chance) for j in range(3)}
        own[name] = {
            j: replace(one, attribute=place) for j, one in drawn.items() if one is not None
        }
    found = run_parties(
        {
            name: lambda channel, name=name: module.tell_slack(
                channel, plan, table, own[name], Random(name)
            )
            for name in names
        }
    )
    for j in range(3):
        every = [held[j] for held in own.values() if j in held]
        best = max(every, key=lambda one: one.urgency, default=None)
        told = None if best is None else Slack(best.permitted, best.after, "xy"[best.attribute])
        assert [answers[j] for answers in found.values()] == [told, told]


def test_who_tells_a_slack_of_anothers_attribute_is_named(monkeypatch):
    split = loans()
    split.slack = True
    honest = module.tell_slack

    def changed(channel, plan, table, own, rng):
        if channel.me == "bob":
            sex = table.names.index("Sex")
            own = {j: Refused(found.permitted, found.after, 9, sex, 0) for j, found in own.items()}
        return honest(channel, plan, table, own, rng)

    monkeypatch.setattr("coterie.protocols.integration.integrate.tell_slack", changed)
    with pytest.raises(PeerFaultError, match=r"bob.* tells a slack of 'Sex', which it cannot have"):
        split.run()


@pytest.mark.parametrize("permitted", [1, 7])  # of entries with k = 4 and k = 5
def test_shares_that_give_no_smaller_k_are_noticed(permitted, monkeypatch):
    split = loans()
    split.slack = True
    honest = module.tell_slack

    def changed(channel, plan, table, own, rng):
        if channel.me == "bob":
            own = {j: Refused(permitted, 0, 9, found.attribute, 0) for j, found in own.items()}
        return honest(channel, plan, table, own, rng)

    monkeypatch.setattr("coterie.protocols.integration.integrate.tell_slack", changed)
    with pytest.raises(PeerFaultError, match="one of them sent wrong shares: no slack"):
        split.run()


def test_a_maximum_below_a_party_s_own_is_noticed(monkeypatch):
    split = loans()
    split.slack = True
    honest = module.SecureMaximum.argmax

    def less(self, values, **options):
        found = honest(self, values, **options)
        none = None if found.maxima is None else np.zeros_like(found.maxima)
        return replace(found, maxima=none)

    monkeypatch.setattr(module.SecureMaximum, "argmax", less)
    with pytest.raises(PeerFaultError, match="less than this party's own slack"):
        split.run()
