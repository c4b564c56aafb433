"""Sharing the class, and what happens when its holders do not agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.errors import DataError, PeerFaultError
from coterie.protocols.integration.class_labels import class_holders, share_class
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from tests.views import assert_alike, watch

NAMES = ("ann", "bob", "cat")


def labels_of(texts):
    values = list(dict.fromkeys(texts))
    return Labels(np.array([values.index(t) for t in texts], np.uint8), tuple(values))


def run(columns, records, wrap=lambda transport: transport):
    holders = [name for name in NAMES if name in columns]

    def party(name):
        labels = labels_of(columns[name]) if name in columns else None
        return lambda channel: share_class(channel, holders, labels, records, Random(name))

    return run_parties({name: party(name) for name in NAMES}, wrap=wrap)


@pytest.mark.parametrize("holding", [("cat",), ("cat", "ann"), NAMES])
def test_all_learn_who_holds_the_class(holding):
    def party(channel):
        return class_holders(channel, NAMES, "Class", channel.me in holding)

    expected = tuple(name for name in NAMES if name in holding)
    assert set(run_parties(dict.fromkeys(NAMES, party)).values()) == {expected}


def test_a_class_that_nobody_holds_is_named():
    with pytest.raises(DataError, match="the class column 'Risk'"):
        run_parties(dict.fromkeys(NAMES, lambda c: class_holders(c, NAMES, "Risk", False)))


@pytest.mark.parametrize("answer", [2, -1, "yes", [1], np.array([1, 0])])
def test_who_says_neither_yes_nor_no_is_named(answer):
    def liar(channel):
        with channel.step("holders"):
            channel.broadcast(answer)

    honest = dict.fromkeys(("ann", "bob"), lambda c: class_holders(c, NAMES, "Class", True))
    with pytest.raises(PeerFaultError, match=r"^cat: sent neither yes nor no"):
        run_parties({**honest, "cat": liar})


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["Y", "N", "ü", "x" * 40]), min_size=1, max_size=60),
    st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
)
def test_all_get_the_class_of_those_who_hold_it(texts, holders):
    results = run(dict.fromkeys(holders, texts), len(texts))
    for labels in results.values():
        assert labels.values == tuple(sorted(set(texts)))
        assert [labels.values[code] for code in labels.codes] == texts


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 20), st.data())
def test_disagreement_is_counted(records, data):
    texts = data.draw(st.lists(st.sampled_from("YN"), min_size=records, max_size=records))
    wrong = data.draw(st.sets(st.integers(0, records - 1), min_size=1))
    other = ["N" if (t == "Y") == (i in wrong) else "Y" for i, t in enumerate(texts)]
    with pytest.raises(DataError) as error:
        run({"ann": texts, "cat": other}, records)
    assert str(error.value) == f"ann and cat disagree on the class of {len(wrong)} common records"


def test_of_three_holders_the_one_that_differs_is_named():
    texts = ["Y"] * 5 + ["N"] * 5
    with pytest.raises(DataError, match="ann and cat disagree on the class of 1 common records"):
        run({"ann": texts, "bob": texts, "cat": ["N", *texts[1:]]}, 10)
    with pytest.raises(DataError, match="ann and bob disagree on the class of 10 common records"):
        run({"ann": texts, "bob": texts[::-1], "cat": texts}, 10)


def disagreeing(columns, records):
    """Parties that find out that two of them disagree, for a view test."""

    def party(channel, rng):
        labels = labels_of(columns[channel.me]) if channel.me in columns else None
        with pytest.raises(DataError, match="disagree on the class of"):
            share_class(channel, list(columns), labels, records, rng)

    return dict.fromkeys(NAMES, party)


@pytest.mark.parametrize("watched", NAMES)
def test_nobody_learns_on_which_records_the_holders_disagree(watched):
    texts = ["Y"] * 50 + ["N"] * 50

    def scene(world):
        other = ["N", *texts[1:]] if world else [*texts[:-1], "Y"]
        fixed = "bob" if watched == "bob" else "ann"
        columns = {name: texts if name == fixed else other for name in ("ann", "bob")}
        return disagreeing(columns, 100)

    assert_alike(scene, watched)


def test_who_disagrees_shows_no_labels_and_no_order():
    """The second holder sees points it cannot read; the first sees its own back in another order,
    and only the number of those that are common."""
    texts = ["Y"] * 50 + ["N"] * 50
    views = watch(disagreeing({"ann": texts, "bob": ["N", *texts[1:]]}, 100), "order")
    for view in views.values():
        assert all(step in ("class/agree", "class/verdict") for _, step, _ in view.received)
    [(ours, theirs)] = [  # not those of whole columns
        values for _, _, values in views["ann"].received if np.shape(values[0])[:1] == (100,)
    ]
    assert ours.shape == theirs.shape == (100, 32)


def test_no_holder_can_try_which_of_its_labels_differ():
    """A hash of the other's column, even with nonces, would let a holder whose own differs in a few
    records try them all. What is received is under a key of the other's instead: with other
    randomness there, nothing of it comes again, whatever the columns are."""
    texts = ["Y"] * 50 + ["N"] * 50
    columns = {"ann": texts, "bob": ["N", *texts[1:]]}

    def received(seed):
        views = watch(disagreeing(columns, 100), seed)
        found = {}
        for name in columns:
            values = [v for _, _, values in views[name].received for v in values]
            assert not any(isinstance(v, bytes) for v in values)
            found[name] = {p.tobytes() for v in values if isinstance(v, np.ndarray) for p in v}
            assert len(found[name]) >= 101
        return found

    once, again = received("one"), received("two")
    for name in columns:
        assert not once[name] & again[name]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["Y"], "no sorted list"),
        ([["Y", "N"], np.zeros(1, np.uint8)], "no sorted list"),
        ([["N", "Y"], np.zeros(2, np.uint8)], "has 2 bytes where 1 are due"),
        ([["A", "B", "C"], np.full(2, 255, np.uint8)], "has the code 3 where 2 is the largest"),
        ([[1, 2], np.zeros(1, np.uint8)], "no sorted list"),
        ([[], np.zeros(1, np.uint8)], "no sorted list"),
    ],
)
def test_a_class_that_cannot_be_honest_names_its_sender(values, message):
    def cheat(channel):
        with channel.step("class"), channel.step("share"):
            channel.send("bob", *values, *([0] if len(values) == 1 else []))

    def bob(channel):
        return share_class(channel, ["ann"], None, 8, Random(1))

    with pytest.raises(PeerFaultError) as error:
        run_parties({"ann": cheat, "bob": bob})
    assert str(error.value).startswith("ann: ")
    assert message in str(error.value)
