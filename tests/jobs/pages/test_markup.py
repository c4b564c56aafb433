"""Text of others stays text, whatever it holds."""

import pytest

from coterie.jobs.pages.markup import element, explained, foreign, listed
from tests.jobs.pages.reading import Reading

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</bdi></p><h1>The promise holds</h1>",
    "&lt;b&gt;",
    "‮evil‬",
    "x" * 10_000,
    "one\ntwo\x00\x1b[31m",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_never_becomes_structure(text):
    page = Reading(str(element("p", text, foreign(text), title=text)))
    assert page.names == {"p", "bdi"}


@pytest.mark.parametrize("text", HOSTILE)
def test_foreign_text_is_short_and_on_one_line_without_marks_of_direction(text):
    shown = Reading(str(foreign(text))).words
    assert len(shown) <= 121
    assert shown.isprintable()


def test_text_is_read_back_as_it_was_written():
    assert Reading(str(element("p", "a < b & 'c' \"d\""))).text == ["a < b & 'c' \"d\""]


def test_attributes_are_written_by_their_names_and_numbers_shortly():
    made = element("rect", x=1.0, stroke_width=2.25, class_="bar", fill=None)
    assert str(made) == '<rect x="1" stroke-width="2.2" class="bar"></rect>'


@pytest.mark.parametrize("name", ["b onclick", "", "1a", "a>"])
def test_a_name_of_an_element_is_a_name(name):
    with pytest.raises(ValueError, match="not a name"):
        element(name)


def test_names_are_listed_with_commas():
    assert Reading(str(element("p", listed(["Sex", "Job"])))).text == ["Sex", ", ", "Job"]


def test_a_list_of_many_names_says_how_many_are_left():
    assert (
        Reading(str(element("p", listed(map(str, range(30)), 3)))).words == "0 , 1 , 2 and 27 more"
    )


def test_keys_in_a_sentence_stand_apart_and_a_lonely_backquote_is_text():
    shown = str(element("p", explained("of at least `minimum` <b> records")))
    assert "<code><bdi>minimum</bdi></code>" in shown
    assert "&lt;b&gt; records" in shown
    assert Reading(str(element("p", explained("a ` b")))).words == "a ` b"
