"""The one door: openings are declared once, noted where they happen, and put together in the end."""

import pytest

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.opening import (
    COORDINATOR,
    Opening,
    declare,
    declared,
    put_together,
)

SCORE = declare(
    "test: score",
    what="The score of a party.",
    to="every party",
    why="The test wants to know it.",
)


def test_no_two_openings_have_the_same_name():
    with pytest.raises(ValueError, match="declared twice"):
        declare("test: score", what="Another.", to="nobody", why="It is an error.")
    assert declared()["test: score"] is SCORE


@pytest.mark.parametrize(
    ("name", "what", "why"),
    [
        ("score", "A.", "B."),
        ("test: ", "A.", "B."),
        ("test: a", "a.", "B."),
        ("test: b", "A.", "B"),
    ],
)
def test_an_opening_has_a_part_a_name_and_whole_sentences(name, what, why):
    with pytest.raises(ValueError):
        declare(name, what=what, to="nobody", why=why)
    assert name not in declared()


def test_a_channel_notes_what_was_opened_to_whom_and_how_often():
    def party(channel):
        assert channel.open(SCORE, 7) == 7
        channel.open(SCORE, 8)
        channel.open(SCORE, 9, to="a")
        channel.open(SCORE, 9, to=["a", COORDINATOR])
        return channel.opened.listed()

    for listed in run_parties({"a": party, "b": party}).values():
        assert [(entry["to"], entry["times"]) for entry in listed] == [
            (["a", "b"], 2),
            (["a"], 1),
            (["a", COORDINATOR], 1),
        ]
        assert {entry["what"] for entry in listed} == {"test: score"}


def test_nothing_is_opened_undeclared_or_to_a_stranger():
    def party(channel):
        with pytest.raises(ValueError, match="takes no part"):
            channel.open(SCORE, 7, to="z")
        with pytest.raises(ValueError, match="is not declared"):
            channel.open(Opening("test: other", "What.", "nobody", "Why."), 7)
        return channel.opened.listed()

    assert run_parties({"a": party, "b": party}) == {"a": [], "b": []}


def entry(to, times):
    return {"what": "test: score", "to": to, "times": times}


def test_what_several_parties_note_is_counted_once():
    [both, one] = put_together(
        {"a": [entry(["a", "b"], 2)], "b": [entry(["b", "a"], 2), entry([COORDINATOR], 1)]},
        ["b", "a"],
    )
    assert (both["to"], both["times"]) == (["b", "a"], 2)
    assert (one["to"], one["times"]) == ([COORDINATOR], 1)
    assert (both["meaning"], both["why"]) == (SCORE.what, SCORE.why)


@pytest.mark.parametrize(
    "listed",
    [
        None,
        ["x"],
        [{"what": "test: score"}],
        [entry(["z"], 1)],
        [entry(["a"], 0)],
        [entry(["a"], True)],
        [entry("a", 1)],
        [{**entry(["a"], 1), "what": "test: unknown"}],
        [{**entry(["a"], 1), "what": ["test: score"]}],
    ],
)
def test_a_list_of_openings_that_cannot_be_names_its_party(listed):
    with pytest.raises(ValueError, match=r"^b$"):
        put_together({"a": [entry(["a"], 1)], "b": listed}, ["a", "b"])
