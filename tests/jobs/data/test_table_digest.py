"""The digest of a table knows its values and their order, and nothing of how they were read."""

import pyarrow as pa
import pytest

from coterie.jobs.data.table_digest import column_digests, order_of

KEY = bytes(32)


def table_digest(table, key=KEY):
    return column_digests(table, key)


TABLE = pa.table({"ID": ["a", "b", None], "Age": ["1", "22", ""]})


def test_chunks_and_slices_leave_no_trace():
    halves = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)])
    longer = pa.concat_tables([TABLE, TABLE]).slice(3)
    assert table_digest(halves) == table_digest(TABLE) == table_digest(longer)


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"ID": ["a", "b", ""], "Age": ["1", "22", ""]}),
        pa.table({"ID": ["a", "b", None], "Age": ["12", "2", ""]}),
        pa.table({"ID": ["b", "a", None], "Age": ["22", "1", ""]}),
        pa.table({"id": ["a", "b", None], "Age": ["1", "22", ""]}),
        TABLE.slice(0, 2),
    ],
)
def test_another_value_order_or_name_has_another_digest(other):
    assert table_digest(other) != table_digest(TABLE)


def test_numbers_have_digests_too():
    tables = [pa.table({"n": pa.array(values)}) for values in ([1, 2, None], [1, 2, 0], [1.5])]
    assert len({table_digest(table)[column] for table in tables for column in ("n",)}) == 3


def test_the_digest_of_a_column_depends_on_the_key_and_on_no_other_column():
    one, other = table_digest(TABLE), table_digest(TABLE, b"another key")
    assert not set(one.values()) & set(other.values())
    assert table_digest(TABLE.select(["Age"])) == {"Age": one["Age"]}
    equal = pa.table({"a": ["x"], "b": ["x"]})
    assert (
        len(set(table_digest(equal).values())) == 2
    )  # nor does it tell that two columns are equal


PEOPLE = pa.table({"ID": ["b", "a", "c"], "First": ["x", "x", "y"], "Age": ["2", "1", None]})
BY = [["ID"], ["First", "ID"]]


def ordered_digest(table, by):
    return column_digests(table, KEY, order_of(table, by))


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("rows", [[0, 1, 2], [1, 0, 2], [2, 0, 1]])
def test_the_order_of_the_rows_changes_nothing(by, rows):
    chunks = pa.concat_tables([PEOPLE.take(rows).slice(0, 1), PEOPLE.take(rows).slice(1)])
    assert ordered_digest(chunks, by) == ordered_digest(PEOPLE, by)


@pytest.mark.parametrize("by", BY)
def test_two_people_who_have_changed_places_have_another_digest(by):
    swapped = PEOPLE.set_column(2, "Age", [["1", "2", None]])
    changed = ordered_digest(swapped, by)
    assert {n for n, d in ordered_digest(PEOPLE, by).items() if d != changed[n]} == {"Age"}


def test_a_table_in_order_is_not_sorted_again():
    table = PEOPLE.take([1, 0, 2])
    assert order_of(table, ["ID"]) is None
    assert ordered_digest(table, ["ID"]) == column_digests(table, KEY)
    assert order_of(PEOPLE, []) is None
    assert order_of(table.set_column(0, "ID", [["a", None, "c"]]), ["ID"]) is not None
