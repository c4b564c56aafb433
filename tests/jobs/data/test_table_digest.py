"""The digest of a table knows its values and their order, and nothing of how they were read."""

import pyarrow as pa
import pytest

from coterie.jobs.data.table_digest import table_digest

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
        pa.table({"Age": ["1", "22", ""], "ID": ["a", "b", None]}),
        TABLE.slice(0, 2),
    ],
)
def test_another_value_order_or_name_has_another_digest(other):
    assert table_digest(other) != table_digest(TABLE)


def test_numbers_have_digests_too():
    tables = [pa.table({"n": pa.array(values)}) for values in ([1, 2, None], [1, 2, 0], [1.5])]
    assert len({table_digest(table) for table in tables}) == 3
