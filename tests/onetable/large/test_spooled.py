"""What cannot be read twice is read once, into a file that only its owner can read."""

import os
import sqlite3
import threading

import pytest

from coterie.base.errors import DataError
from coterie.jobs.data.batches import batches
from coterie.jobs.data.databases import Selection, Sqlite
from coterie.jobs.data.sources import CsvFile, ParquetFile, file_source
from coterie.onetable.large.spooled import rereadable


def test_a_file_is_its_own_copy(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    source = file_source(tmp_path / "t.csv")
    assert rereadable(source, ["a"], tmp_path / "nowhere", 1 << 20) is source


def test_a_database_is_copied_once_with_its_gaps(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (a TEXT, b REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [("x", 0.1), (None, 2.0)])
    connection.close()
    database = Sqlite(tmp_path / "t.db", Selection("t", None))
    source = rereadable(database, ["b", "a"], tmp_path, 1 << 20)
    assert isinstance(source, ParquetFile)
    assert str(source) == str(database)
    assert source.path.stat().st_mode & 0o777 == 0o600
    for _ in range(2):
        (piece,) = batches(source, ["a", "b"])
        assert piece.to_pydict() == {"a": ["x", None], "b": ["0.1", "2"]}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_copied_and_errors_name_the_pipe(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    writer = threading.Thread(target=(tmp_path / "t.csv").write_text, args=("a;b\n1;2\n",))
    writer.start()
    (tmp_path / "copies").mkdir()
    pipe = CsvFile(tmp_path / "t.csv", ";")
    source = rereadable(pipe, ["a"], tmp_path / "copies", 1 << 20)
    writer.join()
    assert source.read(["b"]).to_pydict() == {"b": ["2"]}
    with pytest.raises(DataError, match=f"{pipe}: no column 'c'"):
        source.read(["c"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        rereadable(file_source(tmp_path / "none.csv"), ["a"], tmp_path, 1 << 20)
