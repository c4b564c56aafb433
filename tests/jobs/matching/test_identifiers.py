"""Identifier columns: rules applied alike, nothing ambiguous, and every complaint by row."""

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, UsageError
from coterie.jobs.file.document import read_document
from coterie.jobs.matching.identifiers import Matching, prepare_identifiers, read_matching


def matching(text: str) -> Matching:
    section = read_document(text, "job.yaml")
    read = read_matching(section)
    section.close()
    return read


def prepared(text: str, **columns) -> list[bytes]:
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    result = prepare_identifiers(matching(text), table, "people.csv")
    packed = result.identifiers
    data = packed.data.tobytes()
    assert len(packed) == len(result.rows) == len(result)
    return [data[a:b] for a, b in zip(packed.offsets, packed.offsets[1:], strict=False)]


def test_the_keys_have_defaults():
    read = matching("id: ID")
    assert read == Matching(("ID",), {}, "error", "intersection", "auto", None, "local")


def test_all_keys_are_read():
    read = matching(
        "id: [Name, Born]\nnormalise: {Name: [trim, lower], Born: [{date: '%d.%m.%Y'}]}\n"
        "deduplicate: first\nreveal: pairwise\nprotocol: ring\npad_to: 100\n"
        "compute: dask://cluster:8786\n"
    )
    assert read.columns == ("Name", "Born")
    assert [rule.name for rule in read.normalise["Name"]] == ["trim", "lower"]
    assert read.normalise["Born"][0].formats == ("%d.%m.%Y",)
    assert (read.deduplicate, read.reveal, read.protocol) == ("first", "pairwise", "ring")
    assert (read.pad_to, read.compute) == (100, "dask://cluster:8786")


FILL = "; people are matched by it: fill it in, or remove the rows"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: x", "'id' is missing"),
        ("id: [A, A]", "different"),
        ("id: []", "different"),
        ("id: A\nnormalise: [shout]", "must be one of trim"),
        ("id: A\nnormalise: {B: [trim]}", "'B' is not among the columns of 'id'"),
        ("id: A\nnormalise: [{date: '%d.%m'}]", "lacks a year"),
        ("id: A\nnormalise: [{day: '%d'}]", "'date' is missing"),
        ("id: A\ndeduplicate: last", "must be one of error, first"),
        ("id: A\nreveal: all", "must be one of intersection, pairwise"),
        ("id: A\nprotocol: magic", "must be one of auto, ring, oprf"),
        ("id: A\nreveal: pairwise\nprotocol: oprf", "belongs to the ring"),
        ("id: A\npad_to: 0", "at least 1"),
        ("id: A\ncompute: http://x", "must be local or dask://HOST:PORT"),
        ("id: A\ncompute: dask://x", "must be local or dask://HOST:PORT"),
    ],
)
def test_a_mistake_names_its_line(text, complaint):
    with pytest.raises(UsageError, match=r"job\.yaml:\d+") as caught:
        matching(text)
    assert complaint in str(caught.value)


def test_one_column_is_taken_as_it_is():
    assert prepared("id: ID", ID=["7", " 7", "é"]) == [b"7", b" 7", "é".encode()]


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ("trim", "\t Ann \u00a0", "Ann"),
        ("lower", "STRASSE ÄÖ", "strasse äö"),
        ("upper", "ann", "ANN"),
        ("nfc", "e\u0301", "\u00e9"),
        ("nfkc", "\uff21\uff22\u2460", "AB1"),
        ("digits", "DE-12 34/5", "12345"),
        ("digits", "555.123.4567", "5551234567"),
        ("number", "1", "1"),
        ("number", "1.0", "1"),
        ("number", "01", "1"),
        ("number", " +10 ", "10"),
        ("number", "100", "100"),
        ("number", "-0.0", "0"),
        ("number", "-01.250", "-1.25"),
        ("number", "0.0500", "0.05"),
        ("date", "1990-02-01", "1990-02-01"),
        ("{date: ['%d.%m.%Y', '%Y%m%d']}", "01.02.1990", "1990-02-01"),
        ("{date: ['%d.%m.%Y', '%Y%m%d']}", "19900201", "1990-02-01"),
        ("{date: '%m/%d/%Y'}", "2/1/1990", "1990-02-01"),
    ],
)
def test_each_rule(rule, value, expected):
    assert prepared(f"id: ID\nnormalise: [{rule}]", ID=[value]) == [expected.encode()]


def test_rules_apply_in_the_order_given():
    assert prepared("id: ID\nnormalise: [nfkc, lower, trim]", ID=["\u3000ＡNN"]) == [b"ann"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=8, unique=True)
)
def test_unicode_forms_are_those_of_python(texts):
    forms = list(dict.fromkeys(unicodedata.normalize("NFC", text) for text in texts))
    found = prepared("id: ID\nnormalise: [nfc]\ndeduplicate: first", ID=texts)
    assert [value.decode() for value in found] == forms


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text("ab:1,", min_size=1, max_size=4), st.text("ab:1,", min_size=1, max_size=4)
        ),
        min_size=1,
        max_size=12,
        unique=True,
    )
)
def test_different_rows_of_two_columns_never_give_one_identifier(pairs):
    found = prepared("id: [A, B]", A=[a for a, _ in pairs], B=[b for _, b in pairs])
    assert len(set(found)) == len(pairs)


def test_several_columns_are_told_apart_by_length():
    found = prepared("id: [A, B]", A=["x", "x1:y"], B=["1:y2:zz", "zz"])
    assert found == [b"1:x7:1:y2:zz", b"4:x1:y2:zz"]


@pytest.mark.parametrize(
    ("text", "columns", "complaint"),
    [
        ("id: ID", {"ID": ["a", None, "b", None]}, "people.csv: rows 2, 4: column 'ID' has no value (2 of 4 rows are empty)" + FILL),
        ("id: ID", {"ID": [None] * 8}, "people.csv: rows 1, 2, 3, 4, 5 and 3 more: column 'ID' has no value (8 of 8 rows are empty)" + FILL),
        ("id: [A, B]", {"A": ["x"], "B": [None]}, "people.csv: row 1: column 'B' has no value (1 of 1 rows are empty)" + FILL),
        (
            "id: ID\nnormalise: [digits]", {"ID": ["1", "1.0"]},
            "people.csv: row 2: column 'ID' has a decimal point, of which 'digits' would make another "
            "number; use the rule 'number'",
        ),
        (
            "id: ID\nnormalise: [number]", {"ID": ["1", "1e5"]},
            "people.csv: row 2: column 'ID' is not a number",
        ),
        (
            "id: ID\nnormalise: [digits]", {"ID": ["1", "none"]},
            "people.csv: row 2: nothing is left of column 'ID' by 'normalise'",
        ),
        (
            "id: ID\nnormalise: [date]", {"ID": ["1990-01-31", "31.1.1990"]},
            "people.csv: row 2: column 'ID' is no date of the form '%Y-%m-%d'",
        ),
        (
            "id: ID", {"ID": ["a", "b", "a", "b", "a"]},
            "people.csv: column 'ID': row 3 repeats 1, 4 repeats 2, 5 repeats 1; "
            "remove the repeats or set 'deduplicate: first'",
        ),
        (
            "id: ID\nnormalise: [lower]", {"ID": ["Ann", "ANN"]},
            "people.csv: column 'ID': row 2 repeats 1; remove the repeats or set 'deduplicate: first'",
        ),
        ("id: ID\npad_to: 2", {"ID": ["a", "b", "c"]}, "people.csv: has '3' records, more than the 2 of 'pad_to'"),
    ],
)  # fmt: skip
def test_bad_data_is_named_by_row(text, columns, complaint):
    with pytest.raises(DataError) as caught:
        prepared(text, **columns)
    assert str(caught.value) == complaint


def test_an_impossible_date_is_refused():
    with pytest.raises(DataError, match="no date"):
        prepared("id: ID\nnormalise: [date]", ID=["1990-13-01"])


def test_the_first_of_equal_identifiers_is_kept():
    table = pa.table({"ID": ["b", "a", "b", "c", "a"]})
    result = prepare_identifiers(matching("id: ID\ndeduplicate: first"), table, "x")
    assert result.rows.tolist() == [0, 1, 3]


def test_no_records_and_sliced_tables_work():
    assert prepared("id: ID", ID=[]) == []
    assert prepared("id: [A, B]", A=[], B=[]) == []
    table = pa.table({"ID": [str(i) for i in range(10)]}).slice(3, 4)
    result = prepare_identifiers(matching("id: ID"), table, "x")
    packed = result.identifiers
    assert packed.data[packed.offsets[0] : packed.offsets[-1]].tobytes() == b"3456"


def test_a_table_in_chunks_is_one_table():
    chunks = pa.chunked_array([["a", "b"], [], ["c"]], pa.string())
    result = prepare_identifiers(matching("id: ID"), pa.table({"ID": chunks}), "x")
    assert result.identifiers.offsets.tolist() == [0, 1, 2, 3]
