"""Spreadsheets as sources, written by another library than the one that reads them."""

import datetime

import pytest

from coterie.__main__ import run
from coterie.base.errors import DataError
from coterie.jobs.data.sources import file_source, parse_source
from coterie.jobs.file.document import read_document

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
ROWS = [
    ["ID", "Age", "Born", "Pay", "Member", "Seen"],
    ["0001", 32, datetime.date(1977, 1, 31), 3.5, True, datetime.datetime(2020, 1, 1, 10, 5)],
    ["0002", None, datetime.date(1987, 1, 1), 1e6, False, None],
]


@pytest.fixture
def book(tmp_path):
    made = openpyxl.Workbook()
    made.active.title = "People"
    for row in ROWS:
        made.active.append(row)
    made.save(tmp_path / "people.xlsx")
    return tmp_path / "people.xlsx"


def test_cells_are_the_texts_that_a_csv_file_would_have(book):
    table = file_source(book)
    assert table.names() == ROWS[0]
    assert table.read(["Born", "ID", "Age", "Pay", "Member", "Seen"]).to_pydict() == {
        "Born": ["1977-01-31", "1987-01-01"], "ID": ["0001", "0002"], "Age": ["32", None],
        "Pay": ["3.5", "1000000"], "Member": ["true", "false"], "Seen": ["2020-01-01 10:05:00", None],
    }  # fmt: skip


def test_one_of_several_sheets_is_named(book):
    made = openpyxl.load_workbook(book)
    made.create_sheet("Others").append(["A"])
    made["Others"].append([5])
    made.save(book)
    with pytest.raises(DataError, match=r"several sheets; say data: .* one of 'People, Others'"):
        file_source(book).names()
    for sheet, names in (("Others", ["A"]), ("People", ROWS[0])):
        text = f"data: {{excel: people.xlsx, sheet: {sheet}}}"
        node = read_document(text, "party.yaml").required("data")
        assert parse_source(node, book.parent).names() == names
    node = read_document("data: {excel: people.xlsx, sheet: X}", "party.yaml").required("data")
    with pytest.raises(DataError, match="has no sheet of the name"):
        parse_source(node, book.parent).read(["A"])


def test_what_is_no_spreadsheet_is_an_error(tmp_path, book):
    (tmp_path / "text.xlsx").write_text("ID,Age\n")
    with pytest.raises(DataError, match="not a spreadsheet file"):
        file_source(tmp_path / "text.xlsx").names()
    with pytest.raises(DataError, match="No such file"):
        file_source(tmp_path / "none.xlsx").names()
    with pytest.raises(DataError, match="no column 'Agge'; did you mean 'Age'"):
        file_source(book).read(["Agge"])
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(DataError, match="must begin with a row of column names"):
        file_source(tmp_path / "empty.xlsx").names()


def test_a_spreadsheet_is_inspected(book, capsys):
    assert run(["inspect", str(book)]) == 0
    assert "Member" in capsys.readouterr().out


def test_sheets_of_the_same_columns_are_read_one_after_another(book):
    made = openpyxl.load_workbook(book)
    for name, rows in {"2024": [["Age", "ID"], [7, "0003"]], "Others": [["A"], [5]]}.items():
        made.create_sheet(name)
        for row in rows:
            made[name].append(row)
    made["People"].delete_cols(3, 4)
    made.save(book)
    both = parse_source(
        read_document("data: {excel: people.xlsx, sheet: [People, 2024]}", "p").required("data"),
        book.parent,
    )
    assert both.names() == ["ID", "Age"]
    assert both.read(["Age", "ID"]).to_pydict() == {
        "Age": ["32", None, "7"], "ID": ["0001", "0002", "0003"],
    }  # fmt: skip
    mixed = read_document("data: {excel: people.xlsx, sheet: [People, Others]}", "p")
    with pytest.raises(DataError, match="'People' and 'Others' have different columns"):
        parse_source(mixed.required("data"), book.parent).names()
