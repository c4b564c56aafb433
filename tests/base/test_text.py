"""Text of others cannot steer a terminal or forge a line."""

import pytest

from coterie.base.text import first_names, numbered, one_line, printable, quoted_list


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a b"),
        ("\x1b[1mx\x00", "?[1mx?"),
        ("  a \t b ", "a b"),
        ("é…", "é…"),
        ("a\u202eb", "a?b"),
    ],
)
def test_text_of_others_becomes_one_printable_line(text, line):
    assert one_line(text) == line


def test_a_long_text_is_cut_unless_the_caller_wants_all_of_it():
    assert one_line("x" * 1000) == "x" * 500 + "…"
    assert one_line("x" * 1000, None) == "x" * 1000


def test_aligned_columns_keep_their_blanks():
    assert printable("ok       bank\n\x1b[2J") == "ok       bank ?[2J"


def test_names_in_a_sentence():
    assert quoted_list(["Sex"]) == "'Sex'"
    assert quoted_list(["Sex", "Job", "Salary"]) == "'Sex', 'Job' and 'Salary'"


def test_of_many_names_the_first_are_told_and_how_many_are_left():
    assert first_names(["Sex", "Job"]) == "Sex, Job"
    assert first_names(["Sex", "Job", "Age"], 2) == "Sex, Job and 1 more"
    assert first_names([f"{at}" for at in range(1021)]).endswith("18, 19 and 1,001 more")


def test_one_of_something_is_not_several():
    assert numbered(1, "requirement") == "1 requirement"
    assert numbered(0, "requirement") == "0 requirements"
    assert numbered(1200, "record") == "1,200 records"
