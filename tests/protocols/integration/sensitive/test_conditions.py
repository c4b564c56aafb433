"""Conditions decided on shares: the single table's release, and nothing of a rejected proposal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.models.privacy import DistinctDiversity, EntropyDiversity
from coterie.anonymity.specialization.specialize import Labels, Requirement, Specializer
from coterie.anonymity.table.columns import continuous_column
from coterie.base.errors import DataError, PeerFaultError, UsageError
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.sensitive import conditions
from coterie.protocols.integration.sensitive.conditions import SharedConditions, conditions_of
from coterie.protocols.integration.sensitive.slots import layout_of
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.anonymity.tables import Case
from tests.protocols.integration.splits import Split, assert_equal, loans, splits
from tests.views import assert_alike

MODELS = [
    {"l": 2},
    {"l": 3},
    {"l": 2, "c": 2, "diversity": "recursive"},
    {"l": 3, "c": 1.5, "diversity": "recursive"},
    {"alpha": 0.6},
    {"alpha": 0.5, "l": 2},
    {"t": 0.3},
    {"t": 0.4, "distance": "ordered"},
]


def with_models(split, data):
    """One or two more columns, held by somebody, each bounded by a model on some of the QIDs."""
    split.models = {}
    size = len(split.case.rows)
    chosen = data.draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2))
    for number, options in enumerate(chosen):
        name = f"s{number}"
        values = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        for row, value in zip(split.case.rows, values, strict=True):
            row[name] = str(value)
        split.holders[name] = data.draw(st.sampled_from(split.names))
        for j in range(number, len(split.case.requirements), len(chosen)):
            split.models[j] = (name, model_from_options(options))


def assert_single(split, hooks):
    """Joint and single table are equal, or both are refused."""
    parties = {name: split.party(name, **hooks(name)) for name in split.names}
    try:
        single = split.single()
    except DataError:
        with pytest.raises(DataError, match="not even the whole table"):
            run_parties(parties)
        return
    for outcome in run_parties(parties).values():
        assert_equal(outcome, single)


def hidden(split):
    return lambda name: HiddenWinner(Random(name), len(split.used()), rejectable=True)


@settings(max_examples=60, deadline=None)
@given(splits(max_rows=30), st.data())
def test_the_release_is_the_single_tables(split, data):
    with_models(split, data)
    assert_single(split, lambda name: {})


@settings(max_examples=15, deadline=None)
@given(splits(max_rows=20, max_attributes=3), st.data())
def test_the_release_is_the_single_tables_when_scores_are_hidden(split, data):
    with_models(split, data)
    assert_single(split, lambda name: {"find_winner": hidden(split)(name)})


@settings(max_examples=15, deadline=None)
@given(splits(max_rows=20, max_attributes=3), st.booleans(), st.data())
def test_the_release_is_the_single_tables_with_a_generous_strategy(split, scores_hidden, data):
    with_models(split, data)

    def hooks(name):
        strategy = Strategy(1e6, hidden(split)(name) if scores_hidden else None)
        return {
            "find_winner": strategy.find_winner,
            "takes_part": strategy.takes_part,
            "confirm": strategy.confirm,
        }

    assert_single(split, hooks)


def zodiac(least=3, third=False):
    """The loans with a sensitive column, or two in different houses, that forbid some proposals."""
    split = loans()
    split.names, split.class_holders = ("ann", "bob", "cat", "dan"), ("ann",)
    split.holders = {"Sex": "ann", "Job": "ann", "Salary": "bob", "Zodiac": "cat", "Moon": "dan"}
    for i, row in enumerate(split.case.rows):
        row["Zodiac"] = str(i % 4 if row["Job"] not in ("Janitor", "Mover") else 0)
        row["Moon"] = str(i % 3)
    split.models = {0: ("Zodiac", DistinctDiversity(least))}
    if third:
        split.models[1] = ("Moon", model_from_options({"alpha": 0.5}))
    return split


@pytest.mark.parametrize("third", [False, True])
def test_proposals_are_rejected_and_accepted_by_one_holder_and_by_several(third):
    split = zodiac(third=third)
    outcomes, free = split.run(), loans().single()
    single = split.single()
    for outcome in outcomes.values():
        assert_equal(outcome, single)
    assert 0 < len(single.winners) < len(free.winners)


def test_a_model_without_a_form_is_refused_on_shares():
    split = zodiac()
    split.models = {0: ("Zodiac", EntropyDiversity(1.5))}
    with pytest.raises(UsageError, match="needs 'conditions: holder'"):
        split.run()
    split.conditions = "holder"
    single = split.single()
    for outcome in split.run().values():
        assert_equal(outcome, single)


def test_a_model_that_only_its_own_party_can_violate_needs_no_form():
    split = zodiac()
    split.case.requirements = [(["Salary"], 2), (["Sex", "Job"], 2)]
    split.models = {
        0: ("Moon", EntropyDiversity(1.2)),
        1: ("Zodiac", DistinctDiversity(2)),
    }
    split.holders["Moon"] = "bob"
    assert conditions_of(split.requirements, {"Moon": "bob", "Zodiac": "cat"}, split.holders)
    single = split.single()
    for outcome in split.run().values():
        assert_equal(outcome, single)


# What the parties see. Of four values of s one has a single record, and all four must be in every
# group: whatever divides a group is rejected.

SIZE = 60


def rejected_table(me, columns, codes):
    trees = {n: continuous_column(n, [str(i % 8) for i in range(SIZE)], (0, 7)) for n in "abc"}
    own = {n: continuous_column(n, [str(v) for v in values], (0, 7)) for n, values in columns}
    labels = {"class": Labels(np.arange(SIZE) % 2, ("n", "y"))}
    held = {"bob": "s", "cat": "t"}
    for name, party in (("s", "bob"), ("t", "cat")):
        if me == party:
            labels[name] = Labels(codes[held[me]], ("p", "q", "r", "u"))
    requirements = [
        Requirement(("a", "b"), 3, "s", DistinctDiversity(4)),
        Requirement(("b", "c"), 3, "t", model_from_options({"alpha": 0.5})),
    ]
    made = {name: column.tree for name, column in trees.items()}
    made |= {name: column.tree for name, column in own.items()}
    return Specializer(made, own if me == "ann" else {}, labels, requirements, SIZE, "class")


def decision(watched, world, names):
    """Ann's first candidate, of an attribute and with a split that depend on the world."""
    draw = np.random.default_rng(5)
    columns = {name: draw.integers(0, 8, SIZE) for name in "abc"}
    other = {name: np.random.default_rng(6).integers(0, 8, SIZE) for name in "abc"}
    codes = {"s": np.r_[3, np.arange(SIZE - 1) % 3], "t": np.arange(SIZE) % 2}
    if world and watched != "ann":
        columns = other
    if world and watched == "ann":
        codes = {"s": np.r_[np.arange(SIZE - 1) % 3, 3], "t": 1 - codes["t"]}
    columns["c"][:] = 0  # has no candidate, so that every proposal concerns both

    def party(channel, rng):
        me = channel.me
        table = rejected_table(me, list(columns.items()), codes)
        sensitive = {"s": "bob", "t": "cat"} if "cat" in names else {"s": "bob"}
        held = [r for r in table.requirements if r.sensitive in sensitive]
        found = conditions_of(held, sensitive, dict.fromkeys("abc", "ann"))
        shared = SharedConditions(channel, names, found, table, rng)
        instruction = table.instruction(table.propose()) if me == "ann" else None
        return shared.decide("ann", [0, 1, 2], instruction)

    return dict.fromkeys(names, party)


@pytest.mark.parametrize(
    "names", [("ann", "bob"), ("ann", "bob", "cat"), ("ann", "bob", "cat", "x")]
)
@pytest.mark.parametrize("watched", ["ann", "bob", "cat", "x"])
def test_a_rejected_proposal_tells_nothing_but_that_it_was_rejected(names, watched):
    if watched in names:
        # The holder's numbers change places between the worlds: only many runs compare places.
        runs = 16 if watched == "ann" and len(names) == 2 else 2
        assert_alike(lambda world: decision(watched, world, names), watched, runs)


def test_a_holder_that_rejects_everything_learns_how_often_and_nothing_else():
    """A whole run with hidden scores: other columns, and the attributes in the other order."""

    def scene(world):
        draw = np.random.default_rng(40)
        first, second = ("a", "b") if world else ("b", "a")
        rows = [
            {
                first: str(draw.integers(0, 8)),
                second: str(draw.integers(0, 4) + 4 * (i % 2)),
                "class": "xy"[i % 2],
            }
            for i in range(SIZE)
        ]
        for i, row in enumerate(rows):
            row["s"] = str(i % 3 if i else 3)
        case = Case(rows, {"a": ("range", (0, 7)), "b": ("range", (0, 7))}, [(["a", "b"], 3)])
        case.attributes["s"] = ("range", None)
        split = Split(case, ("ann", "bob"), {"a": "ann", "b": "ann", "s": "bob"}, ("bob",))
        split.models = {0: ("s", DistinctDiversity(4))}

        def party(name):
            def run(channel, rng):
                winner = HiddenWinner(rng.fork("winner"), 2, rejectable=True)
                outcome = split.party(name, rng.fork("run"), find_winner=winner)(channel)
                return [outcome.table.winners, outcome.contributions]

            return run

        return {name: party(name) for name in split.names}

    assert_alike(scene, "bob")


# Deviating parties


def test_a_proposer_that_asks_more_often_than_it_can_is_named(monkeypatch):
    split = zodiac(least=4)

    monkeypatch.setattr(Specializer, "drop", lambda self, candidate: None)
    with pytest.raises(PeerFaultError, match="proposes more often than it has values"):
        split.run()


def test_a_proposer_that_asks_about_one_thing_and_instructs_another_is_named(monkeypatch):
    """Every proposal is asked about as if it divided nothing, and then instructed as it is."""
    split = zodiac()
    monkeypatch.setattr(
        conditions,
        "assigned_slots",
        lambda table, j, layout, instruction: np.zeros(len(layout.records), np.int64),
    )
    with pytest.raises(PeerFaultError, match="instructs what a sensitive column forbids"):
        split.run()


def test_slots_are_no_more_than_children_nor_than_groups_of_k():
    table = rejected_table("ann", [], {})
    layout = layout_of(table, 0, [0])
    assert (layout.sizes.tolist(), layout.widths.tolist()) == ([SIZE], [2])
    assert sorted(layout.records.tolist()) == list(range(SIZE))
    table.requirements[0] = Requirement(("a", "b"), 31)
    assert layout_of(table, 0, [0]).slots == 0
    assert layout_of(table, 0, [2]).slots == 0
