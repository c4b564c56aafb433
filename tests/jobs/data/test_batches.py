"""Pieces of a source are together what reading it whole gives."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie.base.errors import DataError
from coterie.jobs.data import batches as module
from coterie.jobs.data.batches import batches, column_names
from coterie.jobs.data.filtered import filtered
from coterie.jobs.data.sources import file_source, parse_source
from coterie.jobs.file.document import read_document


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 200)
    monkeypatch.setattr(module, "_BYTES", 28)


def write(tmp_path, kind):
    table = pa.table({"a": [str(i % 7) if i % 5 else None for i in range(100)],
                      "b": ["x,y\nz" if i % 9 == 0 else f"v{i}" for i in range(100)]})  # fmt: skip
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        rows = zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True)
        text = "".join(f'{a or ""},"{b}"\n' for a, b in rows)
        path.write_text("a,b\n" + text)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_pieces_are_the_whole(tmp_path, kind, small_pieces):
    source = file_source(write(tmp_path, kind))
    assert column_names(source) == ["a", "b"]
    pieces = list(batches(source, ["b", "a"]))
    assert len(pieces) > 3
    assert pa.concat_tables(pieces).to_pydict() == source.read(["b", "a"]).to_pydict()


def test_a_database_is_read_in_one_piece(tmp_path):
    import sqlite3

    from coterie.jobs.data.databases import DuckDb, Selection, Sqlite

    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (a TEXT, b INTEGER)")
        connection.execute("INSERT INTO t VALUES ('x', 1), ('y', 2)")
    connection.close()
    import duckdb

    with duckdb.connect(str(tmp_path / "t.duckdb")) as other:
        other.execute("CREATE TABLE t AS SELECT 'x' AS a, 1 AS b")
    for source in (
        Sqlite(tmp_path / "t.db", Selection("t", None)),
        DuckDb(tmp_path / "t.duckdb", Selection("t", None)),
    ):
        assert column_names(source) == ["a", "b"]
        (piece,) = batches(source, ["b"])
        assert piece.column("b").to_pylist()[0] == "1"


def test_a_bad_row_is_told_with_its_number(tmp_path, small_pieces):
    path = write(tmp_path, "csv")
    path.write_text(path.read_text() + "1,2,3\n")
    with pytest.raises(DataError, match="row 101"):
        list(batches(file_source(path), ["a"]))


def test_a_column_that_stands_twice_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(DataError, match="has the column 'a' twice"):
        column_names(file_source(tmp_path / "t.csv"))


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(DataError, match="No such file"):
        column_names(file_source(tmp_path / name))


def test_a_source_with_marks_of_its_own_or_a_filter_has_the_columns_of_its_table(tmp_path):
    path = write(tmp_path, "csv")
    section = read_document(f"data: {{csv: {path}, decimal: ','}}\nwhere: {{a: 3}}", "party.yaml")
    source = parse_source(section.required("data"), tmp_path)
    assert column_names(source) == ["a", "b"]
    assert column_names(filtered(source, section.required("where"), None, tmp_path)) == ["a", "b"]
