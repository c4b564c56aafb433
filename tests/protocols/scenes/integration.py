"""Scenes of integration."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.anonymity.models.distinct_diversity import DistinctDiversity
from coterie.anonymity.specialization.slack import Refused
from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import ContinuousColumn, categorical_column
from coterie.anonymity.table.levels import ladder
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError
from coterie.protocols.integration.class_labels import class_holders, share_class
from coterie.protocols.integration.dka import dka
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.scores import key_of
from coterie.protocols.integration.slack import tell_slack
from coterie.protocols.integration.spans import announce_spans, digests_of_announced
from coterie.protocols.messaging.broadcast_check import compare_digests
from tests.protocols.integration.populations import WITNESS, peopled_loans
from tests.protocols.integration.splits import Split, loans
from tests.protocols.scenes.form import THREE, TWO, scene, two


@scene("integration/class_labels", THREE)
def where_two_holders_of_the_class_differ(watched, world):
    """Ann and Bob hold the class and disagree on five records, which ones depends on the world."""
    base = np.arange(60) % 2

    def labels(name):
        codes = base.copy()
        places = np.arange(5) + (30 * world)
        if name == ("bob" if watched != "bob" else "ann"):
            codes[places] ^= 1
        return Labels(codes.astype(np.uint8), ("N", "Y"))

    def party(channel, rng):
        holders = class_holders(channel, THREE, "Class", channel.me != "cat")
        own = labels(channel.me) if channel.me in holders else None
        with pytest.raises(DataError, match="5 common records"):
            share_class(channel, holders, own, 60, rng)

    return dict.fromkeys(THREE, party)


@scene("integration/class_labels integration/spans", THREE)
def what_all_are_told_before_the_first_round(watched, world):
    """Ann tells the class, Bob the span of his numbers, and all repeat digests of these.

    In which numbers lie within the span, and which classes only other records have, the worlds differ.
    """
    numbers = np.array([1.0, 40 + 9 * world, 50 + 9 * world, 99.0])
    told = numbers if watched != "bob" else np.array([1.0, 44.0, 54.0, 99.0])
    other = ("elsewhere", "otherwise")[world] if watched != "ann" else "elsewhere"
    classes = Labels(np.tile(np.array([2, 0], np.uint8), 30), ("Y", other, "N"))
    plan = Plan(THREE, {"Salary": None}, {"Salary": "bob"}, (), ("ann",), "Class")
    salary = ContinuousColumn("Salary", np.arange(60) % 4, told)

    def party(channel, rng):
        holders = class_holders(channel, THREE, "Class", channel.me == "ann")
        own = classes if channel.me == "ann" else None
        labels = share_class(channel, holders, own, 60, rng)
        spans = announce_spans(channel, plan, {"Salary": salary} if channel.me == "bob" else {})
        heard = digests_of_announced(plan, labels, spans)
        compare_digests(channel, THREE, heard, "the class and the spans")
        return [labels.codes, *labels.values]

    return dict.fromkeys(THREE, party)


LETTERS = taxonomy_of([[letter, "AB" if letter in "ab" else "CD", "any"] for letter in "abcd"])


@scene("integration/dka", TWO)
def subsets_of_a_baseline(watched, world):
    """Any subset of one and any of the other have one record in common; which one is secret."""

    def party(channel, rng):
        text = "aaaabbbbccccdddd"
        if channel.me != watched:
            text = "abcd" * 4 if world else "abcdbcdacdabdabc"
        table = [ladder(categorical_column("letter", list(text), LETTERS))]
        return dka(channel, "alice", table, 4, rng).levels

    return two(party, party)


@scene("integration/hidden_winner", THREE, runs=4)
def keys_of_the_losers(watched, world):
    others = [name for name in THREE if name != watched]
    keys = {watched: key_of(500, 1), others[0]: key_of(900, 0)}
    keys[others[1]] = key_of((1, 899)[world], 2)

    def party(channel, rng):
        finder = HiddenWinner(rng, 3)
        return finder(channel, THREE, keys[channel.me])

    return dict.fromkeys(THREE, party)


@scene("integration/hidden_winner", THREE, runs=4)
def keys_of_winners_that_may_be_rejected(watched, world):
    others = [name for name in THREE if name != watched]
    keys = {watched: key_of(500, 1), others[1]: key_of(3, 2)}
    keys[others[0]] = key_of((510, 9000)[world], 0)

    def party(channel, rng):
        finder = HiddenWinner(rng, 3, rejectable=True)
        return finder(channel, THREE, keys[channel.me])

    return dict.fromkeys(THREE, party)


@scene("integration/slack", THREE, runs=4)
def slack_of_the_losers(watched, world):
    """Of two entries: how far the others miss the first, and by which scores they lose the second."""
    second, third = (name for name in THREE if name != watched)
    k, after = 20, 2
    own = {
        watched: {0: Refused(5, 1, 7, 0, 0), 1: Refused(12, after, 70, 0, 0)},
        second: {0: Refused(15, 3, 7, 1, 0), 1: Refused(12, after, (80, 9000)[world], 1, 0)},
        third: {0: Refused((1, 14)[world], 3, 7, 2, 0), 1: Refused((3, 12)[world], after, 5, 2, 0)},
    }
    columns = dict(zip("xyz", (watched, second, third), strict=True))
    requirement = Requirement(("x", "y", "z"), k)
    plan = Plan(THREE, dict.fromkeys("xyz"), columns, (requirement, requirement))
    table = SimpleNamespace(names=list("xyz"), winners=[None] * 4)

    def party(channel, rng):
        return tell_slack(channel, plan, table, own[channel.me], rng)

    return dict.fromkeys(THREE, party)


def loan_split() -> Split:
    """The loans with so large a k that no leaf of Job is released."""
    split = loans()
    split.case.requirements = [(["Sex", "Job"], 8)]
    return split


def specialization(hooks, watched, world):
    """Nobody learns where another's value lies below the final cut: leaves of one branch change."""
    split = loan_split()
    others = {"ann": "Job", "bob": "Sex"}
    changed = {
        "Janitor": "Mover",
        "Mover": "Janitor",
        "Accountant": "Lawyer",
        "Lawyer": "Accountant",
    }
    rows = [dict(row) for row in split.case.rows]
    if world and others[watched] == "Job":
        for row in rows:
            row["Job"] = changed.get(row["Job"], row["Job"])
    split.case.rows = rows

    def party(name):
        def run(channel, rng):
            outcome = split.party(name, **hooks(rng))(channel)
            return [outcome.table.winners, outcome.contributions]

        return run

    return {name: party(name) for name in split.names}


def openly(rng):
    return {}


def strategically(rng):
    strategy = Strategy(0.5)
    return {
        "find_winner": strategy.find_winner,
        "takes_part": strategy.takes_part,
        "confirm": strategy.confirm,
    }


scene(
    "integration/integrate integration/spans integration/scores integration/rounds "
    "integration/instructions", ("ann", "bob"), name="specialization",
)(partial(specialization, openly))  # fmt: skip
scene("integration/participation", ("ann", "bob"), name="specialization with a strategy")(
    partial(specialization, strategically)
)


def conditions(watched, world):
    """A proposal that is rejected, of other columns or for another sensitive one."""
    from tests.protocols.integration.sensitive.test_conditions import decision

    return decision(watched, world, THREE)


scene(
    "integration/sensitive/conditions integration/sensitive/proposer_and_holder", THREE,
    name="conditions on shares",
)(conditions)  # fmt: skip


# A witness


def witnessed(split):
    """What the parties of a run with a witness do; a house returns what it knows of the result."""

    def house(name):
        def run(channel, rng):
            outcome = split.party(name)(channel)
            return [outcome.table.winners, outcome.contributions]

        return run

    houses = {name: house(name) for name in split.names}
    return houses | {WITNESS: lambda channel, rng: split.witness(channel)}


@scene("integration/witness", ("ann", "bob"))
def numbers_of_people_behind_yes_and_no(watched, world):
    """In the population a rare combination has 3 people or 19, and all others 20 or 60."""
    split = peopled_loans(copies=(20, 60)[world])
    rare = {"Sex": "Female", "Job": "Carpenter"}
    assert not any(row | rare == row for row in split.case.rows)
    split.population += [split.case.rows[0] | rare] * (3, 19)[world]
    return witnessed(split)


@scene("integration/witness", ("ann",))
def a_candidate_that_the_witness_refuses(watched, world):
    """Where Bob would split his salaries is not told to Ann if the witness refuses it."""
    split = peopled_loans()
    split.case.requirements, split.k_maps = [(["Sex", "Salary"], 1)], [20]
    for row in split.case.rows:  # Sex says all about the class, so that it is specialized first
        row["Salary"], row["class"] = str(int(row["Salary"]) + 10 * world), row["Sex"]
    men = [{"Sex": "Male", "Salary": str(salary)} for salary in range(1, 100)] * 20
    women = [{"Sex": "Female", "Salary": "60"}] * 20
    few = [{"Sex": "Female", "Salary": salary} for salary in ("2", "98")] * 5
    split.population = men + women + few
    return witnessed(split)


@scene("integration/witness", (WITNESS,))
def records_of_a_table_with_a_witness(watched, world):
    """The witness is told combinations, not how many records have them: here once or twice as many."""
    split = peopled_loans()
    split.case.requirements = [(["Sex", "Job"], 1), (["Sex", "Salary"], 1)]
    split.case.rows = split.case.rows * (1 + world)
    return witnessed(split)


@scene("integration/witness", (WITNESS,))
def steps_of_a_column_that_the_population_lacks(watched, world):
    """No entry counts salaries in the population, which are split elsewhere in the other world."""
    split = peopled_loans()
    for row in split.case.rows:
        row["Salary"] = str(int(row["Salary"]) + 10 * world)
    return witnessed(split)


@scene("integration/witness", (WITNESS,))
def candidates_that_a_sensitive_column_refuses(watched, world):
    """Ann's column refuses every step: first that of Sex and then that of Job, or the other way."""
    split = peopled_loans()
    split.case.requirements, split.k_maps = [(["Sex", "Job"], 1)], [20]
    for at, row in enumerate(split.case.rows):
        blue = row["Job"] not in ("Manager", "Accountant", "Lawyer")
        row["class"] = str(blue) if world else row["Sex"]
        row["Zodiac"] = "u" if at else "v"
    split.case.attributes["Zodiac"] = ("taxonomy", [["u", "z"], ["v", "z"]])
    split.holders["Zodiac"] = "ann"
    split.models, split.conditions = {0: ("Zodiac", DistinctDiversity(2))}, "holder"
    return witnessed(split)


@scene("integration/witness", (WITNESS,))
def numbers_between_those_that_many_people_have(watched, world):
    """The population has salaries in tens; where between them the table's lie is not told."""
    split = peopled_loans()
    split.case.requirements, split.k_maps = [(["Sex", "Salary"], 1)], [20]
    for row in split.case.rows:
        tens, rest = divmod(int(row["Salary"]), 10)
        row["Salary"] = str(10 * tens + (rest + 5 * world) % 10)
    split.population = [
        {"Sex": sex, "Salary": str(tens)}
        for sex in ("Male", "Female")
        for tens in range(10, 99, 10)
    ] * 20
    return witnessed(split)
