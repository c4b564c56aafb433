"""Every complaint about a YAML file names the file, the line and the key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.base.errors import UsageError
from coterie.jobs.file.document import LARGEST, read_document, read_text
from coterie.jobs.file.plain_yaml import DEEPEST


def complaint(text, act=lambda section: section.close()):
    with pytest.raises(UsageError) as caught:
        act(read_document(text, "f.yaml"))
    message = str(caught.value)
    assert "\n" not in message
    return message


BROKEN = {
    "empty": ("", "f.yaml: the file is empty"),
    "only a comment": ("# nothing\n", "f.yaml: the file is empty"),
    "a list": ("- 1\n", "f.yaml:1: must be a mapping, not a list"),
    "a word": ("word", "f.yaml:1: must be a mapping, not a single value"),
    "a key twice": ("a: 1\nb: 2\na: 3\n", "f.yaml:3: a: the key stands here twice"),
    "a nested key twice": ("a:\n  b: 1\n  b: 2\n", "f.yaml:3: a.b: the key stands here twice"),
    "a tab": ("a:\n\tb: 1\n", "f.yaml:2: not YAML: "),
    "an open quote": ("a: 'x\n", "f.yaml:2: not YAML: "),
    "an open bracket": ("a: [1, 2\nb: 3\n", "f.yaml:2: not YAML: "),
    "two documents": ("a: 1\n---\nb: 2\n", "f.yaml:2: not YAML: expected a single document"),
    "a control character": ("a: 1\nb: \x01\n", "f.yaml:2: not YAML: the character U+0001"),
    "an anchor": ("a: &x 1\n", "f.yaml:1: anchors and aliases"),
    "an alias": ("a: 1\nb: *x\n", "f.yaml:2: anchors and aliases"),
    "a recursive alias": ("a: &x [*x]\n", "f.yaml:1: anchors and aliases"),
    "a merge key": ("a:\n  <<: {b: 1}\n", "f.yaml:2: a: merge keys"),
    "a tag": ("a: !!python/object/apply:os.system [x]\n", "f.yaml:1: tags ("),
    "a key that is a list": ("? [a]\n: 1\n", "f.yaml:1: must be a text, not a list"),
    "an empty key": ("'': 1\n", "f.yaml:1: must not be empty"),
    "deep nesting": ("a: " + "[" * 5000, f"f.yaml:1: nested deeper than {DEEPEST} levels"),
    "deep mappings": ("{a: " * 200, f"f.yaml:1: nested deeper than {DEEPEST} levels"),
    "a huge text": ("a: " + "x" * LARGEST, f"f.yaml: longer than {LARGEST:,} characters"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_document_is_refused_with_its_line(case):
    text, message = BROKEN[case]

    def read_all(section):
        for _, node in section.entries():
            if node.is_mapping:
                node.section()

    assert complaint(text, read_all).startswith(message)


WRONG = {
    ("integer", "ten"): "must be a whole number, not 'ten'",
    ("integer", "1.5"): "must be a whole number, not '1.5'",
    ("integer", "'5'"): "must be a whole number, not the text '5' in quotation marks",
    ("integer", "0x10"): "must be a whole number, not '0x10'",
    ("integer", "1:30"): "must be a whole number, not '1:30'",
    ("integer", "010"): "must be a whole number, not '010'",
    ("integer", "1_000"): "must be a whole number, not '1_000'",
    ("integer", "9" * 30): "must be a whole number, not '" + "9" * 30 + "'",
    ("integer", "[1]"): "must be a whole number, not a list",
    ("integer", "{b: 1}"): "must be a whole number, not a mapping",
    ("number", ".nan"): "must be a number, not '.nan'",
    ("number", ".inf"): "must be a number, not '.inf'",
    ("number", "1e999"): "must be finite, not '1e999'",
    ("number", "1,5"): "must be a number, not '1,5'",
    ("boolean", "yes"): "must be true or false, not 'yes'",
    ("boolean", "'true'"): "must be true or false, not the text 'true' in quotation marks",
    ("text", ""): "must not be empty",
    ("text", "~"): "must not be empty",
    ("text", "[a]"): "must be a text, not a list",
    ("items", "a"): "must be a list, not a single value",
    ("texts", "[a, [b]]"): "must be a text, not a list",
    ("section", "a"): "must be a mapping, not a single value",
}


@pytest.mark.parametrize(("reader", "value"), WRONG)
def test_a_value_of_the_wrong_type_is_refused_with_key_and_line(reader, value):
    message = complaint(
        f"first: 1\nkey: {value}\n", lambda section: getattr(section.required("key"), reader)()
    )
    assert message.startswith("f.yaml:2: key")
    assert message.endswith(WRONG[reader, value])


def test_names_that_yaml_would_convert_stay_as_they_are_written():
    section = read_document("yes: 010\n1: no\n2020-01-01: 1:30\n", "f")
    assert [(key, node.text()) for key, node in section.entries()] == [
        ("yes", "010"),
        ("1", "no"),
        ("2020-01-01", "1:30"),
    ]


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_known_one():
    def read(section):
        section.optional("requirement")
        section.optional("id")
        section.close()

    message = complaint("id: ID\nrequirment: []\n", read)
    assert message == "f.yaml:2: requirment: unknown key; did you mean 'requirement'?"
    assert complaint("zzz: 1\n", read) == "f.yaml:1: zzz: unknown key"


def test_a_missing_key_does_not_hide_the_misspelt_one():
    message = complaint("id: ID\nrequirment: []\n", lambda s: s.required("requirement"))
    assert message == "f.yaml:2: requirment: unknown key; did you mean 'requirement'?"
    message = complaint("id: ID\nother: []\n", lambda s: s.required("requirement"))
    assert message.endswith("the key 'requirement' is missing")


def test_a_missing_key_is_named():
    assert complaint("a: 1\n", lambda s: s.required("kind")) == (
        "f.yaml:1: the key 'kind' is missing"
    )


def test_a_choice_among_nothing_is_refused():
    message = complaint("k: a", lambda s: s.required("k").choice())
    assert message == "f.yaml:1: k: must not be here, since there is nothing to choose 'a' from"


def test_a_number_out_of_range_is_refused():
    assert "must be at least 2, not 1" in complaint("k: 1", lambda s: s.required("k").integer(2))
    assert "must be at most 1.0, not 1.5" in complaint(
        "e: 1.5", lambda s: s.required("e").number(0.0, 1.0)
    )


@given(st.integers(-(10**17), 10**17))
def test_whole_numbers_are_read_as_python_writes_them(number):
    assert read_document(f"k: {number}", "f").required("k").integer() == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_as_python_writes_them(number):
    assert read_document(f"k: {number!r}", "f").required("k").number() == number


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        said = " ".join(read_document(text, "f").keys())
    except UsageError as error:
        said = str(error)
        assert said.startswith("f")
    assert said


def test_a_mark_of_the_byte_order_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfkey: value\n")
    text = read_text(path)
    mark = read_document(text, "f").required("key").raw.start_mark
    assert text[mark.index :] == "value\n"
    assert read_document(f"\ufeff{text}", "f").keys() == ["key"]
