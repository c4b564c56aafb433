"""The same table from any source gives the same text, and a bad one is named by file, row, column."""

import csv
import datetime
import decimal
import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.sources import CsvFile, file_source, parse_source, remarks
from coterie.jobs.file.document import read_document


def source(text, folder):
    return parse_source(read_document(f"data: {text}", "party.yaml").required("data"), folder)


def read_csv(tmp_path, content, columns=("ID", "A")):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    return CsvFile(path).read(columns)


def refusal(act):
    with pytest.raises(DataError) as caught:
        act()
    message = str(caught.value)
    assert "\n" not in message
    return message


# CSV: what is written is what is read.


@pytest.mark.parametrize(
    ("content", "ids", "values"),
    [
        (b"ID,A\n01,1.50\n2,1e3\n", ["01", "2"], ["1.50", "1e3"]),
        (b"\xef\xbb\xbfID,A\r\n1,x\r\n2,y\r\n", ["1", "2"], ["x", "y"]),
        (b"ID,A\r1,x\r", ["1"], ["x"]),
        (b'ID,A\n1,"a, ""b"""\n2,"two\nlines"\n', ["1", "2"], ['a, "b"', "two\nlines"]),
        (b"ID,A\n1, x \n2,NA\n3,null\n", ["1", "2", "3"], [" x ", "NA", "null"]),
        (b'ID,A\n1,\n2,""\n', ["1", "2"], [None, None]),
        (b"ID,A\n1,x\n\n2,y\n\n", ["1", "2"], ["x", "y"]),
        (b"ID,A\n1,x", ["1"], ["x"]),
        (b"A,B,ID\nx,9,1\n", ["1"], ["x"]),
        ("ID,A\n1,Malmö\n".encode(), ["1"], ["Malmö"]),
        (b'ID,A\n1,5" nail\n', ["1"], ['5" nail']),
        (b"ID,A\n", [], []),
        (b"ID,A", [], []),
    ],
)
def test_csv_values_come_out_exactly_as_written(tmp_path, content, ids, values):
    table = read_csv(tmp_path, content)
    assert table.to_pydict() == {"ID": ids, "A": values}
    assert set(table.schema.types) == {pa.string()}


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1),
            st.text(st.characters(codec="utf-8", exclude_characters="\r\0")),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_what_pythons_csv_module_writes_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["ID", "A"])
        writer.writerows(rows)
    table = CsvFile(path).read(["ID", "A"])
    assert table.column("ID").to_pylist() == [row[0] for row in rows]
    assert table.column("A").to_pylist() == [row[1] or None for row in rows]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "t.csv: the file is empty; it must begin with a header"),
        (b"ID,A\n1,x\n2\n", "t.csv: row 2: has 1 value where the header has 2 columns"),
        (b"ID,A\n1,x\n2,y,z\n", "t.csv: row 2: has 3 values where the header has 2 columns"),
        (b"ID,A\n1,x\n2,\xff\n", "t.csv: row 2: column 'A' is not UTF-8 text"),
        (b"ID,A\n1,x\n2,'y'\n3,\"z\n4,w\n", "t.csv: row 3: a quotation mark is not closed"),
        (b"ID,A\n1,x\n2," + b"y" * 3_000_000 + b"\n", "t.csv: a row is longer than a megabyte"),
        (b"\xff\xfeI\0D\0", "t.csv: no column 'A'"),
        (b"ID,B\n1,x\n", "t.csv: no column 'A'"),
        (b"id,a\n1,x\n", "t.csv: no columns 'ID', 'A'"),
        (b"ID,A,A\n1,x,y\n", "t.csv: the header has the column 'A' twice"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_a_bad_csv_file_is_refused_with_its_row(tmp_path, content, message):
    said = refusal(lambda: read_csv(tmp_path, content))
    assert said.removeprefix(f"{tmp_path}/").startswith(message)


def test_a_missing_column_is_named_with_the_nearest_one(tmp_path):
    with pytest.raises(DataError) as caught:
        read_csv(tmp_path, b"ID,Salery\n1,2\n", ["ID", "Salary"])
    assert str(caught.value).endswith("no column 'Salary'; did you mean 'Salery'?")
    assert "Salery" not in caught.value.message(rows=True)


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path):
    assert "No such file" in refusal(lambda: CsvFile(tmp_path / "x.csv").read(["ID"]))
    assert "Is a directory" in refusal(lambda: CsvFile(tmp_path).read(["ID"]))
    assert "No such file" in refusal(lambda: file_source(tmp_path / "x.parquet").read(["ID"]))


def test_a_delimiter_may_be_given(tmp_path):
    (tmp_path / "t.txt").write_text("ID;A\n1;x,y\n")
    table = source("{csv: t.txt, delimiter: ;}", tmp_path).read(["A"])
    assert table.to_pydict() == {"A": ["x,y"]}


# Typed sources: one text a value.

TYPED = {
    "whole": pa.array([1, -20, None], pa.int64()),
    "small": pa.array([1, 255, None], pa.uint8()),
    "real": pa.array([3.0, 0.1, None], pa.float64()),
    "minus_zero": pa.array([-0.0, 1e22, None], pa.float64()),
    "truth": pa.array([True, False, None]),
    "text": pa.array(["x", "", None]),
    "big_text": pa.array(["x", "", None], pa.large_string()),
    "coded": pa.array(["x", "y", None]).dictionary_encode(),
    "money": pa.array([decimal.Decimal("1.50"), decimal.Decimal("-2.00"), None]),
    "day": pa.array([datetime.date(2020, 1, 2), datetime.date(1812, 3, 4), None]),
    "moment": pa.array(
        [datetime.datetime(2020, 1, 2, 3, 4, 50), datetime.datetime(2020, 1, 2, 3, 4, 5, 120), None]
    ),
    "zoned": pa.array([datetime.datetime(2020, 1, 2, 3, 0, 0, tzinfo=datetime.UTC), None, None]),
    "hour": pa.array([datetime.time(10, 20, 0), datetime.time(1, 2, 3, 400000), None]),
    "nothing": pa.nulls(3),
}
TEXTS = {
    "whole": ["1", "-20", None],
    "small": ["1", "255", None],
    "real": ["3", "0.1", None],
    "minus_zero": ["0", "1e+22", None],
    "truth": ["true", "false", None],
    "text": ["x", None, None],
    "big_text": ["x", None, None],
    "coded": ["x", "y", None],
    "money": ["1.50", "-2.00", None],
    "day": ["2020-01-02", "1812-03-04", None],
    "moment": ["2020-01-02 03:04:50", "2020-01-02 03:04:05.00012", None],
    "zoned": ["2020-01-02 03:00:00+00", None, None],
    "hour": ["10:20:00", "01:02:03.4", None],
    "nothing": [None, None, None],
}


def test_parquet_values_have_one_text(tmp_path):
    pq.write_table(pa.table(TYPED), tmp_path / "t.parquet")
    table = source("t.parquet", tmp_path).read(list(TYPED))
    assert table.to_pydict() == TEXTS
    assert set(table.schema.types) == {pa.string()}
    assert source("{parquet: t.parquet}", tmp_path).read(["day", "whole"]).column_names == [
        "day",
        "whole",
    ]


def test_a_type_without_text_and_a_number_that_is_none_are_refused(tmp_path):
    columns = {"ID": [1, 2], "L": [[1], [2]], "B": [b"a", b"b"], "N": [1.0, float("nan")]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    read = source("t.parquet", tmp_path).read
    assert "column 'L' is of type list" in refusal(lambda: read(["L"]))
    assert "column 'B' is of type binary" in refusal(lambda: read(["B"]))
    assert "row 2: column 'N' is not a finite number" in refusal(lambda: read(["N"]))
    assert "no column 'X'" in refusal(lambda: read(["X"]))


def test_a_file_that_only_looks_like_parquet_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    said = refusal(lambda: source("t.parquet", tmp_path).read(["ID"]))
    assert said == f"{tmp_path / 't.parquet'}: not a Parquet file, or a damaged one"


@pytest.fixture
def sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute('CREATE TABLE "my people" (ID, "A b", R, M, X)')
        # A column may hold values of several types, and begin with nulls.
        rows = [(None, "", None, None, b"\0")] + [(None, None, None, None, None)] * 2000
        rows += [("01", "ö'\"", 3.0, 5, None), (7, "x", 0.1 + 0.2, "five", None)]
        rows += [(8, "y", 2, 5.25, None)]
        connection.executemany('INSERT INTO "my people" VALUES (?, ?, ?, ?, ?)', rows)
    connection.close()
    return tmp_path


def test_sqlite_values_have_one_text_whatever_their_types(sqlite):
    table = source("{sqlite: t.db, table: my people}", sqlite).read(["ID", "A b", "R", "M"])
    assert table.num_rows == 2004
    assert table.slice(0, 2001).to_pylist()[0] == {"ID": None, "A b": None, "R": None, "M": None}
    assert table.slice(2001).to_pydict() == {
        "ID": ["01", "7", "8"],
        "A b": ["ö'\"", "x", "y"],
        "R": ["3", "0.30000000000000004", "2"],
        "M": ["5", "five", "5.25"],
    }


def test_a_missing_table_is_answered_with_those_that_there_are(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as made:
        made.execute(
            "CREATE TABLE people (ID text); CREATE SCHEMA old; CREATE VIEW old.v AS FROM people"
        )
    with sqlite3.connect(tmp_path / "t.db") as made:
        made.execute("CREATE TABLE people (ID text)")
        made.execute("CREATE VIEW current AS SELECT * FROM people")
    for file, listed in (
        ("duckdb: t.duckdb", "old.v, people"),
        ("sqlite: t.db", "current, people"),
    ):
        for wrong, hint in (("zzz", f"it has '{listed}'"), ("poeple", "did you mean 'people'?")):
            with pytest.raises(DataError) as caught:
                source(f"{{{file}, table: {wrong}}}", tmp_path).names()
            assert str(caught.value).endswith(f"no table '{wrong}'; {hint}")
            assert "people" not in caught.value.message(rows=False)


def test_sqlite_takes_a_query_and_refuses_what_is_not_there(sqlite):
    query = "{sqlite: t.db, query: 'SELECT ID AS Person FROM \"my people\" WHERE R > 1;'}"
    assert source(query, sqlite).read(["Person"]).to_pydict() == {"Person": ["01", "8"]}
    table = source("{sqlite: t.db, table: my people}", sqlite)
    assert "no column 'Nope'" in refusal(lambda: table.read(["Nope"]))
    assert "column 'X' holds binary values" in refusal(lambda: table.read(["X"]))
    said = refusal(lambda: source("{sqlite: t.db, table: nobody}", sqlite).read(["ID"]))
    assert said.endswith("no table 'nobody'; it has 'my people'")
    assert "no such table" in refusal(
        lambda: source("{sqlite: t.db, query: SELECT * FROM nobody}", sqlite).read(["ID"])
    )
    assert "no such file" in refusal(
        lambda: source("{sqlite: none.db, table: t}", sqlite).read(["ID"])
    )
    assert not (sqlite / "none.db").exists()
    (sqlite / "text.db").write_text("not a database at all, but long enough to be looked at")
    assert "not a database" in refusal(
        lambda: source("{sqlite: text.db, table: t}", sqlite).read(["ID"])
    )


@pytest.fixture
def duck(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('ok', 'sad')")
        connection.execute(
            "CREATE TABLE people (ID BIGINT, R DOUBLE, D DATE, T TIMESTAMP, M DECIMAL(10, 2), "
            "E mood, H HUGEINT, U UUID, S VARCHAR)"
        )
        connection.execute(
            "INSERT INTO people VALUES (1, 3.0, '2020-01-02', '2020-01-02 03:04:00', 1.5, 'ok', "
            "17014118346046923173168730371588410572, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ''), "
            "(2, 0.1, NULL, NULL, NULL, NULL, NULL, NULL, 'x')"
        )
    return tmp_path


def test_duckdb_values_have_one_text(duck):
    table = source("{duckdb: t.duckdb, table: people}", duck).read(["ID", *"RDTMEHSU"])
    assert table.to_pylist() == [
        {
            "ID": "1",
            "R": "3",
            "D": "2020-01-02",
            "T": "2020-01-02 03:04:00",
            "M": "1.50",
            "E": "ok",
            "H": "17014118346046923173168730371588410572",
            "S": None,
            "U": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        },
        {
            "ID": "2",
            "R": "0.1",
            "D": None,
            "T": None,
            "M": None,
            "E": None,
            "H": None,
            "S": "x",
            "U": None,
        },
    ]


def test_duckdb_takes_a_query_and_refuses_what_is_not_there(duck):
    query = "{duckdb: t.duckdb, query: SELECT ID + 1 AS N FROM main.people ORDER BY ID}"
    assert source(query, duck).read(["N"]).to_pydict() == {"N": ["2", "3"]}
    table = source("{duckdb: t.duckdb, table: main.people}", duck)
    assert "no column 'Nope'" in refusal(lambda: table.read(["Nope"]))
    assert "nobody" in refusal(
        lambda: source("{duckdb: t.duckdb, table: nobody}", duck).read(["ID"])
    )
    assert "no such file" in refusal(
        lambda: source("{duckdb: none.duckdb, table: t}", duck).read(["ID"])
    )
    assert not (duck / "none.duckdb").exists()


# The `data` key.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("people.txt", "does not end in .csv, .parquet"),
        ("{table: t}", "must have one of the keys csv, parquet, excel, sqlite, duckdb, postgresql"),
        ("{csv: a.csv, parquet: b.parquet}", "must have one of the keys"),
        ("{sqlite: a.db}", "must have one of the keys table, query"),
        ("{sqlite: a.db, table: t, query: q}", "must have one of the keys table, query"),
        ("{csv: a.csv, table: t}", "data.table: unknown key"),
        ("{csv: a.csv, delimiter: ab}", "data.delimiter: must be one ASCII character"),
        ("{postgresql: db.example, table: t}", "data.postgresql: must be an address"),
        ("[a.csv]", "must be a text"),
    ],
)
def test_a_mistaken_data_key_names_key_and_line(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        source(text, tmp_path)
    assert str(caught.value).startswith("party.yaml:1: data")
    assert message in str(caught.value)


def test_a_password_is_not_shown(tmp_path):
    node = "{postgresql: 'postgresql://me:secret@db.example:5/bank', table: s.people}"
    assert str(source(node, tmp_path)) == "postgresql://db.example:5/bank (table s.people)"


def test_a_last_line_without_a_line_break_is_a_remark_and_explains_a_short_row(tmp_path):
    whole, cut = tmp_path / "whole.csv", tmp_path / "cut.csv"
    for content in (
        b"ID,A\n1,x\n",
        b"ID,A\r\n1,x\r\n",
        b"ID,A\r1,x\r",
        "ID,A\n1,x\n".encode("utf-16"),
    ):
        whole.write_bytes(content)
        assert remarks(file_source(whole)) == []
    for content in (b"ID,A\n1,x\n2,y", "ID,A\n1,x\n2,y".encode("utf-16")):
        cut.write_bytes(content)
        told = f"{cut}: the last line has no line break; was the file copied whole?"
        assert remarks(source("{csv: cut.csv, decimal: ','}", tmp_path)) == [told]
        assert file_source(cut).read(["A"]).to_pydict() == {"A": ["x", "y"]}
    cut.write_bytes(b"ID,A\n1,x\n2")
    said = refusal(lambda: file_source(cut).read(["A"]))
    assert said.endswith(
        "the header has 2 columns; the last line has no line break; was the file copied whole?"
    )
    cut.write_bytes(b"ID,A\n1,x\n2\n")
    assert refusal(lambda: file_source(cut).read(["A"])).endswith("the header has 2 columns")


def test_a_misspelt_kind_of_source_is_answered_with_the_nearest(tmp_path):
    with pytest.raises(UsageError, match=r"must have one of the keys .*; did you mean 'csv'\?"):
        source("{cvs: t.csv}", tmp_path)
