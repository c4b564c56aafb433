"""A witness that counts groups in its population, beside the joint specialization."""

import re

import numpy as np
import pytest
from hypothesis import given, settings

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.base.errors import DataError, PeerFaultError
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.witness import Asking
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.protocols.integration.populations import WITNESS, peopled, peopled_loans
from tests.protocols.integration.splits import assert_equal


@given(peopled(max_rows=16, max_attributes=3))
@settings(max_examples=10, deadline=None)
def test_the_joint_table_equals_the_one_of_a_single_house_with_the_population(split):
    lacking = ""
    try:
        single = split.single()
    except DataError as error:
        lacking = str(error)
    if lacking:
        with pytest.raises(DataError, match=re.escape(lacking)):
            split.run()
        return
    for outcome in split.run().values():
        assert_equal(outcome, single)


def test_hidden_scores_strategies_and_conditions_go_with_a_witness():
    split = peopled_loans()
    single = split.single()

    def hidden(name):
        return {"find_winner": HiddenWinner(Random(name), 3, rejectable=True)}

    def strategic(name):
        mine = Strategy(100.0)
        return {
            "find_winner": mine.find_winner,
            "takes_part": mine.takes_part,
            "confirm": mine.confirm,
        }

    for hooks in (hidden, strategic):
        houses = {name: split.party(name, **hooks(name)) for name in split.names}
        outcomes = run_parties(houses | {WITNESS: split.witness})
        for name in split.names:
            assert_equal(outcomes[name], single)
    for conditions in ("shares", "holder"):
        split = peopled_loans()
        for at, row in enumerate(split.case.rows):
            row["Zodiac"] = "uvw"[at % 3 if at % 2 else 0]
        split.case.attributes["Zodiac"] = ("taxonomy", [["u", "z"], ["v", "z"], ["w", "z"]])
        split.holders["Zodiac"] = "ann"
        split.models = {1: ("Zodiac", DistinctDiversity(2))}
        split.conditions = conditions
        for outcome in split.run().values():
            assert_equal(outcome, split.single())


def test_the_witness_refuses_what_it_has_too_few_people_for():
    few, many = peopled_loans(copies=1, k_map=20), peopled_loans(copies=20, k_map=20)
    [less, more] = [next(iter(split.run().values())).table for split in (few, many)]
    assert len(less.winners) < len(more.winners)


def fault_of(split, **changed):
    with pytest.raises(PeerFaultError) as error:
        run_parties(split.parties() | changed)
    return str(error.value)


def test_a_house_that_instructs_another_step_than_it_asked_about_is_named(monkeypatch):
    told = Asking._told

    def other(self, instruction):
        """Bob asks about the root of Job, whatever he then instructs."""
        if self.channel.me == "bob" and "instruct" not in self.channel.current_step:
            return [self._columns.index("Job"), 0, np.empty(0)]
        return told(self, instruction)

    monkeypatch.setattr(Asking, "_told", other)
    said = fault_of(peopled_loans())
    assert "bob: instructs something else than the witness was asked about" in said


def test_a_witness_that_tells_houses_different_answers_is_named():
    split = peopled_loans()

    def two_faced(channel):
        send = channel.send

        def changed(peer, *values):
            if channel.current_step.endswith("population") and peer == "bob" and len(values) == 4:
                values = (0, -1, 0, np.empty(0))
            send(peer, *values)

        channel.send = changed
        return split.witness(channel)

    assert fault_of(split, **{WITNESS: two_faced}).startswith("registry: ")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ((1, 9, 0, np.empty(0)), "asks about column 9, which does not exist"),
        ((1, 0, 77, np.empty(0)), "asks about an impossible candidate"),
        ((1, 0, 0, np.array([np.nan])), "sent no candidate"),
        ((7, 0, 0, np.empty(0)), "sent no candidate"),
        ((1, 0, 0), "sent no candidate"),
        ((3, -1, 0, np.empty(0)), "does not agree with the other organisations"),
    ],
)
def test_a_message_that_no_house_sends_names_its_sender(message, said):
    """Bob wins the first round, and asks something strange."""
    split = peopled_loans()

    def strange(channel):
        send = channel.send

        def changed(peer, *values):
            send(peer, *(message if peer == WITNESS and len(values) == 4 else values))

        channel.send = changed
        return split.party("bob")(channel)

    assert f"bob: {said}" in fault_of(split, bob=strange)


def test_people_whom_the_population_lacks_end_the_job_at_every_party():
    split = peopled_loans(copies=20)
    split.population = [person for person in split.population if person["Sex"] == "Male"]
    split.population += [{**person, "Job": "Janitor"} for person in split.population]
    errors = []

    def kept(run):
        def party(channel):
            try:
                return run(channel)
            except DataError as error:
                errors.append(str(error))
                raise

        return party

    with pytest.raises(DataError):
        run_parties({name: kept(run) for name, run in split.parties().items()})
    assert len(errors) == 3
    assert len(set(errors)) == 1
    assert "have nobody in the population" in errors[0]
