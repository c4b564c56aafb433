"""The participation strategy: equal shares, and every lie named with what shows it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.specialization.specialize import Specializer
from coterie.base.errors import PeerFaultError, PeerLostError, UsageError
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.participation import Strategy, may_take_part, whole_epsilon
from coterie.protocols.integration.scores import announce_scores, announced_keys, key_of
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import decode, encode
from coterie.protocols.messaging.wrappers import Metered, Wrapper
from coterie.protocols.primitives.randomness import Random
from tests.protocols.integration.splits import assert_equal, loans, splits
from tests.protocols.wrappers import Fault, Faulty, KilledError


def run(split, epsilon=0.01, hidden=False, wrap=lambda t: t, cheats=None):
    """All parties follow the strategy, but for the hooks that `cheats` gives a party."""
    parties = {}
    for name in split.names:
        secret = HiddenWinner(Random(f"{name} h"), len(split.used())) if hidden else None
        strategy = Strategy(epsilon, secret)
        hooks = {
            "find_winner": strategy.find_winner,
            "takes_part": strategy.takes_part,
            "confirm": strategy.confirm,
            **(cheats or {}).get(name, {}),
        }
        parties[name] = split.party(name, **hooks)
    return run_parties(parties, wrap=wrap)


def plain(split, epsilon):
    """Algorithm 2 without messages: a table for each party, all carried along."""
    plan, case = split.plan(), split.case
    trees = {name: case.column(name).tree for name in split.used()}
    tables = {}
    for party in split.names:
        own = {n: case.column(n) for n in split.used() if split.holders[n] == party}
        here = {n: own[n].tree if n in own else case.column(n).tree for n in trees}
        tables[party] = Specializer(
            here, own, {"class": case.labels("class")}, plan.requirements, len(case.rows), "class"
        )
    mu = dict.fromkeys(split.names, 0)
    history = []
    while True:
        best = None
        for party in split.names:
            if any(mu[party] > mu[other] + round(epsilon * 2**30) for other in split.names):
                continue
            candidate = tables[party].propose()
            if candidate is not None:
                entry = (key_of(candidate.score, candidate.attribute), party, candidate)
                best = max(best, entry, key=lambda e: e[0]) if best else entry
        if best is None:
            return history, mu, tables[split.names[0]]
        _, party, candidate = best
        instruction = tables[party].instruction(candidate)
        scores = {table.apply(instruction) for table in tables.values()}
        assert scores == {candidate.score}
        mu[party] += candidate.score
        history.append(party)


@settings(max_examples=40, deadline=None)
@given(splits(), st.sampled_from([0.0, 0.01, 0.3, 5.0]))
def test_the_protocol_is_algorithm_two(split, epsilon):
    history, mu, table = plain(split, epsilon)
    for outcome in run(split, epsilon).values():
        assert outcome.winners == history
        assert outcome.contributions == mu
        assert_equal(outcome, table)


@settings(max_examples=20, deadline=None)
@given(splits(), st.sampled_from([0.0, 0.05]))
def test_nobody_is_ahead_by_more_than_epsilon_and_one_specialization(split, epsilon):
    for outcome in run(split, epsilon).values():
        mu = outcome.contributions
        largest = max((w.score for w in outcome.table.winners), default=0)
        assert max(mu.values()) - min(mu.values()) <= whole_epsilon(epsilon) + largest


@settings(max_examples=25, deadline=None)
@given(splits())
def test_a_generous_epsilon_gives_the_semi_honest_result(split):
    single = split.single()
    for outcome in run(split, 1e6).values():
        assert_equal(outcome, single)


@settings(max_examples=4, deadline=None)
@given(splits(max_rows=30, max_attributes=4), st.sampled_from([0.01, 1e6]))
def test_hidden_scores_give_the_same_winners(split, epsilon):
    open_run, hidden = run(split, epsilon), run(split, epsilon, hidden=True)
    for name in split.names:
        assert hidden[name].winners == open_run[name].winners
        assert hidden[name].contributions == open_run[name].contributions
        assert_equal(hidden[name], open_run[name].table)


@pytest.mark.parametrize("epsilon", [-0.01, float("nan"), float("inf"), -float("inf")])
def test_a_wrong_epsilon_is_refused(epsilon):
    with pytest.raises(UsageError, match="epsilon must be a finite number of at least 0"):
        Strategy(epsilon)


def test_the_rule_compares_whole_numbers():
    epsilon = whole_epsilon(0.01)
    assert epsilon == round(0.01 * 2**30)
    assert may_take_part("a", {"a": epsilon, "b": 0, "c": 5}, epsilon)
    assert not may_take_part("a", {"a": epsilon + 1, "b": 0, "c": 5 * SCALE}, epsilon)


def three():
    """The loan table with three holders, so that a liar has two to lie to."""
    split = loans()
    return replace(
        split,
        names=("ann", "bob", "cat"),
        holders={"Sex": "ann", "Job": "bob", "Salary": "cat"},
        class_holders=("ann",),
    )


def fault(split, **options):
    """The errors of all honest parties, by name, and the one reported."""
    with pytest.raises(PeerFaultError) as error:
        run(split, **options)
    return error.value


def test_an_honest_run_of_three_works():
    assert len(run(three())["ann"].winners) > 0


@pytest.mark.parametrize("factor", [0, 0.5, 2])
@pytest.mark.parametrize("hidden", [False, True])
def test_a_declared_score_that_differs_is_a_fault_of_the_declarer(factor, hidden):
    """All who may instruct a false score: the one with the best candidate does."""
    split = three()
    winner = run(split)["ann"].winners[0]
    secret = HiddenWinner(Random("h"), len(split.used())) if hidden else None
    strategy = Strategy(0.01, secret)

    def lie(channel, names, key):
        if key is not None:
            key = key_of(int((key >> 16) * factor) if factor else 1, 65535 - (key & 0xFFFF))
        return strategy.find_winner(channel, names, key)

    others = [name for name in split.names if name != winner]
    quiet = {name: {"takes_part": lambda me, mu: False} for name in others} if factor < 1 else {}
    for name in quiet:  # so that a low score wins too; they still look on
        watcher = Strategy(0.01, HiddenWinner(Random(name), len(split.used())) if hidden else None)

        def idle(me, mu, watcher=watcher):
            watcher.takes_part(me, mu)
            return False

        quiet[name] = {
            "takes_part": idle,
            "find_winner": watcher.find_winner,
            "confirm": watcher.confirm,
        }
    cheat = {
        "find_winner": lie,
        "takes_part": strategy.takes_part,
        "confirm": strategy.confirm,
    }
    error = fault(split, hidden=hidden, cheats={**quiet, winner: cheat})
    assert error.peer == winner
    assert "declared the score" in error.reason
    assert "in round 1" in error.reason


def test_taking_part_with_too_large_a_contribution_is_a_fault():
    """cat ignores that it is ahead."""
    split = three()
    honest = run(split, epsilon=0.0)["ann"]
    first = honest.winners[0]
    strategy = Strategy(0.0)

    def eager(me, mu):
        strategy.takes_part(me, mu)
        return True

    cheats = {
        first: {
            "takes_part": eager,
            "find_winner": announce_and_repeat,
            "confirm": strategy.confirm,
        }
    }
    for other in split.names:
        if other != first:  # they take no part, so that the eager one wins again
            watcher = Strategy(0.0)

            def idle(me, mu, watcher=watcher):
                watcher.takes_part(me, mu)
                return False

            cheats[other] = {
                "takes_part": idle,
                "find_winner": watcher.find_winner,
                "confirm": watcher.confirm,
            }
    error = fault(split, cheats=cheats)
    assert error.peer == first
    assert "took part though it had contributed more" in error.reason
    assert f"{first} 0." in error.reason


def announce_and_repeat(channel, names, key):
    keys = announced_keys(channel, key)
    channel.broadcast([keys[name] for name in names])
    channel.gather()
    best = max(names, key=lambda name: keys[name])
    return (best, keys[best]) if keys[best] else None


class TwoFaced(Wrapper):
    """Changes what goes to one peer in one step, from the n-th such message on."""

    def __init__(self, inner, peer, step, change):
        super().__init__(inner)
        self.peer, self.step, self.change, self.done = peer, step, change, False

    def transmit(self, peer, message):
        if peer == self.peer and message.step == self.step and not self.done:
            values = self.change(decode(b"".join(message.body)))
            if values is not None:
                self.done = True
                message = replace(message, body=encode(values))
        self.inner.transmit(peer, message)


def errors_of_all(split, wrap=lambda t: t, cheats=None):
    """What each party's run ends with."""
    found = {}
    parties = {}
    for name in split.names:
        strategy = Strategy(0.01)
        hooks = {
            "find_winner": strategy.find_winner,
            "takes_part": strategy.takes_part,
            "confirm": strategy.confirm,
            **(cheats or {}).get(name, {}),
        }
        body = split.party(name, **hooks)

        def guarded(channel, body=body, name=name):
            try:
                return body(channel)
            except (PeerFaultError, PeerLostError) as error:
                found[name] = error
                raise

        parties[name] = guarded
    with pytest.raises((PeerFaultError, PeerLostError, KilledError)):
        run_parties(parties, wrap=wrap)
    return found


def test_different_instructions_to_different_peers_are_caught_by_both_before_they_act():
    split = three()
    winner = run(split)["ann"].winners[0]
    one, other = (name for name in split.names if name != winner)

    def flip(values):
        if len(values) < 5:
            return None
        codes = values[4].copy()
        codes[0] ^= 1
        return [*values[:4], codes, *values[5:]]

    def wrap(transport):
        if transport.me == winner:
            return TwoFaced(transport, one, "specialize/instruct", flip)
        return transport

    errors = errors_of_all(split, wrap)
    assert errors[one].peer == winner
    assert errors[other].peer == winner
    assert "digest" in errors[one].inside
    assert "digest" in errors[other].inside or isinstance(errors[other], PeerLostError)


def test_different_scores_to_different_peers_are_caught():
    split = three()

    def lower(values):
        return [values[0] >> 1] if isinstance(values[0], int) and values[0] else None

    def wrap(transport):
        if transport.me == "bob":
            return TwoFaced(transport, "cat", "specialize/winner", lower)
        return transport

    errors = errors_of_all(split, wrap)
    assert errors["ann"].peer == "bob"
    assert "sent this party and cat different things as its score" in errors["ann"].reason
    assert not any(part.isdigit() for part in errors["ann"].reason.split(",")[0].split())
    assert "(or cat lies" in errors["ann"].reason


def test_a_false_witness_is_named_by_the_one_who_knows():
    """bob claims another instruction than the winner sent: the winner names bob."""
    split = three()
    winner = run(split)["ann"].winners[0]
    liar = next(name for name in split.names if name != winner)

    def invent(values):
        return [bytes(32)] if isinstance(values[0], bytes) else None

    def wrap(transport):
        if transport.me == liar:
            return TwoFaced(transport, winner, "specialize/instruct", invent)
        return transport

    errors = errors_of_all(split, wrap)
    assert errors[winner].peer == liar
    assert f"repeats falsely what {winner} sent it as the instruction" in errors[winner].reason


def test_instructing_out_of_turn_is_caught():
    """A party that lost sends an instruction instead of waiting for one."""
    split = three()
    loser = next(n for n in split.names if n != run(split)["ann"].winners[0])
    strategy = Strategy(0.01)

    def seize(channel, names, key):
        found = strategy.find_winner(channel, names, key)
        return (channel.me, key) if found and key else found

    cheat = {
        "find_winner": seize,
        "takes_part": strategy.takes_part,
        "confirm": strategy.confirm,
    }
    errors = errors_of_all(split, cheats={loser: cheat})
    for name in split.names:
        if name != loser and isinstance(errors[name], PeerFaultError):
            assert errors[name].peer == loser
            assert "in round 1" in errors[name].reason
    assert any(isinstance(errors[name], PeerFaultError) for name in split.names if name != loser)


def test_a_party_that_stops_answering_is_named_with_the_round():
    split = three()

    def wrap(transport):
        return Faulty(transport, Fault("kill-before", 25)) if transport.me == "bob" else transport

    found = errors_of_all(split, wrap)
    assert any(e.peer == "bob" and "in round" in e.reason for e in found.values())


def test_cost_is_two_more_rounds():
    def rounds(**options):
        meters = {}
        split = loans()
        wrap = lambda t: meters.setdefault(t.me, Metered(t))  # noqa: E731
        # As many rounds as specializations, as the strategy needs them: no turns.
        plain = lambda *arguments: announce_scores(*arguments)  # noqa: E731
        outcome = run(split, 1e6, wrap=wrap) if options else split.run(wrap=wrap, find_winner=plain)
        meter = meters["ann"]
        steps = [meter.by_step[f"specialize/{s}"].rounds for s in ("winner", "instruct")]
        return len(outcome["ann"].winners), sum(steps)

    won, plain_rounds = rounds()
    again, guarded_rounds = rounds(malicious=True)
    assert won == again
    assert guarded_rounds <= plain_rounds + 2 * won + 1
