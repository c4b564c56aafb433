"""Delta and Iceberg tables, written by the libraries of these formats."""

import sys

import pyarrow as pa
import pytest

from coterie.base.errors import DataError
from coterie.jobs.data.sources import parse_source
from coterie.jobs.file.document import read_document

ROWS = pa.table({"ID": ["01", "2"], "Pay": [32.0, None], "Name": ["Åsa", ""]})


def source(text, folder):
    return parse_source(read_document(f"data: {text}", "party.yaml").required("data"), folder)


@pytest.fixture
def delta(tmp_path):
    written = pytest.importorskip("deltalake", reason="deltalake is not installed")
    written.write_deltalake(tmp_path / "people", ROWS)
    written.write_deltalake(tmp_path / "people", ROWS.slice(0, 1), mode="append")
    return source("{delta: people}", tmp_path)


@pytest.fixture
def iceberg(tmp_path):
    catalogue = pytest.importorskip("pyiceberg.catalog.memory", reason="pyiceberg is not installed")
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    made = catalogue.InMemoryCatalog("here", warehouse=f"file://{tmp_path}")
    made.create_namespace("bank")
    for _ in range(11):  # so that metadata 10 comes after metadata 9
        table = (
            made.load_table("bank.people")
            if made.table_exists("bank.people")
            else made.create_table("bank.people", schema=ROWS.schema)
        )
        table.append(ROWS.slice(0, 1))
    table.overwrite(pa.concat_tables([ROWS, ROWS.slice(0, 1)]))
    return source("{iceberg: bank/people}", tmp_path)


@pytest.mark.parametrize("lake", ["delta", "iceberg"])
def test_the_newest_rows_have_the_texts_of_every_other_source(lake, request):
    table = request.getfixturevalue(lake)
    assert table.names() == ["ID", "Pay", "Name"]
    found = table.read(["Name", "ID", "Pay"])
    assert found.column_names == ["Name", "ID", "Pay"]
    assert sorted(map(str, found.to_pylist())) == sorted(
        map(
            str,
            [
                {"Name": "Åsa", "ID": "01", "Pay": "32"},
                {"Name": "Åsa", "ID": "01", "Pay": "32"},
                {"Name": None, "ID": "2", "Pay": None},
            ],
        )
    )
    with pytest.raises(DataError, match=r"no column 'Nmae'; did you mean 'Name'\?"):
        table.read(["Nmae"])


@pytest.mark.parametrize(
    ("kind", "module", "extra"),
    [("delta", "deltalake", "delta"), ("iceberg", "pyiceberg.table", "iceberg")],
)
def test_what_is_no_such_table_and_a_missing_package_are_errors(
    kind, module, extra, tmp_path, monkeypatch
):
    with pytest.raises(DataError, match="none: no such folder"):
        source(f"{{{kind}: none}}", tmp_path).names()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=rf"pip install 'coterie\[{extra}\]'"):
        source(f"{{{kind}: .}}", tmp_path).names()


def test_a_folder_without_a_log_is_no_delta_table(tmp_path):
    pytest.importorskip("deltalake", reason="deltalake is not installed")
    with pytest.raises(DataError, match="cannot be read"):
        source("{delta: .}", tmp_path).names()


def test_a_folder_without_metadata_is_no_iceberg_table(tmp_path):
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed")
    with pytest.raises(DataError, match="no Iceberg table"):
        source("{iceberg: .}", tmp_path).names()
