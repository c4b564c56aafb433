"""A table's place becomes a data key that reads the same table."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coterie.base.errors import UsageError
from coterie.jobs.data.odbc import Odbc
from coterie.onetable.starting.look import look, roles
from coterie.onetable.starting.place import find_place


@pytest.mark.parametrize(
    ("name", "content", "key"),
    [
        ("a.csv", "ID,A\n1,é\n".encode(), "a.csv"),
        ("a.csv", "ID;A\n1;é\n".encode("cp1252"), '{csv: a.csv, delimiter: ";", encoding: cp1252}'),
        ("a.tsv", b"ID\tA\n1\tx\n", '{csv: a.tsv, delimiter: "\\t"}'),
        ("a b.csv", b"ID,A\r\n1,x", '"a b.csv"'),
        ("a.csv", "ID,A\n1,x\n".encode("utf-16"), "a.csv"),
        ("a.csv", "ID,A\n1,é\n".encode("utf-16-le"), "{csv: a.csv, encoding: utf-16-le}"),
    ],
)
def test_a_text_file_is_read_as_it_is_written(name, content, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    place = find_place(name, None)
    assert place.key(tmp_path) == key
    assert place.source().read(["ID"]).to_pydict() == {"ID": ["1"]}
    (tmp_path / "below").mkdir()
    assert "../" in place.key(tmp_path / "below")


def test_a_file_is_known_by_its_bytes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"ID": ["1"]}), "people.data")
    assert find_place("people.data", None).key(tmp_path) == "{parquet: people.data}"
    (tmp_path / "people.png").write_bytes(b"\x89PNG....")
    with pytest.raises(UsageError, match=r"people\.png: is not a CSV, Parquet or spreadsheet file"):
        find_place("people.png", None)


def test_columns_that_single_people_out_are_left_out(tmp_path):
    rows = "".join(f"{n},{n % 7},note {n // 2},x,{n}@example\n" for n in range(40))
    (tmp_path / "a.csv").write_text("ID,Age,Note,One,Mail\n" + rows)
    found = roles(look(str(tmp_path / "a.csv")), ["ID"])
    assert [column.name for column in found.usable] == ["Age", "Note"]
    assert found.left_out == {
        "One": "only one value", "Mail": "a different value in every record",
    }  # fmt: skip
    rows = "".join(f"{n},{n % 7},note {n * 2 // 3}\n" for n in range(40))
    (tmp_path / "b.csv").write_text("ID,Age,Note\n" + rows)
    found = roles(look(str(tmp_path / "b.csv")), ["ID"])
    assert list(found.left_out) == ["Note"]


def test_folders_of_delta_and_iceberg_and_a_connection_string_are_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d" / "_delta_log").mkdir(parents=True)
    (tmp_path / "i" / "metadata").mkdir(parents=True)
    assert find_place("d", None).key(tmp_path) == "{delta: d}"
    assert find_place("i", None).key(tmp_path) == "{iceberg: i}"
    monkeypatch.setattr(Odbc, "table_names", lambda self: ["people"])
    assert find_place("DSN=bank", None).key(tmp_path) == '{odbc: "DSN=bank", table: people}'
    with pytest.raises(UsageError, match="DSN=bank: has no table 'x', but people"):
        find_place("DSN=bank", "x")
