"""The steward's own filter: people who objected, and a fixed `where`."""

import pytest

from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.filtered import filtered, left_out
from coterie.jobs.data.sources import file_source
from coterie.jobs.file.document import read_document

PEOPLE = """\
ID,Country,Year,Since,Status
1,DE,2019,2019-05-01,open
2,AT,2020,2020-01-31,open
3,DE,2021,2021-07-01,closed
4,FR,2022,2022-01-01,open
 5x ,DE,2023,2023-01-01,
"""


def kept(folder, keys, columns=("ID",)):
    (folder / "people.csv").write_text(PEOPLE)
    section = read_document(keys, "party.yaml")
    where, exclude = section.optional("where"), section.optional("exclude")
    source = filtered(file_source(folder / "people.csv"), where, exclude, folder)
    return source.read(list(columns))


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("{Country: DE}", ["1", "3", " 5x "]),
        ("{Country: [DE, AT]}", ["1", "2", "3", " 5x "]),
        ("{Year: {at_least: 2020, at_most: 2022}}", ["2", "3", "4"]),
        ("{Since: {at_least: 2021-07-01}}", ["3", "4", " 5x "]),
        ("{Status: {not: closed}}", ["1", "2", "4"]),  # an empty value satisfies nothing
        ("{Country: DE, Status: {not: [closed]}}", ["1"]),
    ],
)
def test_a_fixed_filter_lets_its_rows_through_alone(tmp_path, where, ids):
    table = kept(tmp_path, f"where: {where}")
    assert table.column("ID").to_pylist() == ids
    assert left_out(table) == {"where": 5 - len(ids)}
    assert table.column_names == ["ID"]


def test_who_objected_is_left_out_however_the_identifier_is_written(tmp_path):
    (tmp_path / "objections.csv").write_text("ID\n 2 \n5X\n77\n")
    table = kept(tmp_path, "exclude: {data: objections.csv, on: ID}", ("Country", "ID"))
    assert table.column("ID").to_pylist() == ["1", "3", "4"]
    assert left_out(table) == {"objections": 2, "unknown": 1}


def test_objections_by_several_columns(tmp_path):
    (tmp_path / "objections.csv").write_text("Country,Year\nde,2021\nDE,2022\n")
    table = kept(tmp_path, "exclude: {data: objections.csv, on: [Country, Year]}")
    assert table.column("ID").to_pylist() == ["1", "2", "4", " 5x "]


def test_an_objection_counts_before_the_filter(tmp_path):
    (tmp_path / "objections.csv").write_text("ID\n1\n")
    keys = "exclude: {data: objections.csv, on: ID}\nwhere: {Country: DE}"
    assert left_out(kept(tmp_path, keys)) == {"objections": 1, "unknown": 0, "where": 2}


def test_without_the_list_nothing_is_read(tmp_path):
    with pytest.raises(DataError, match="list of people who objected cannot be read"):
        kept(tmp_path, "exclude: {data: none.csv, on: ID}")


@pytest.mark.parametrize("where", ["{Shoe: 42}", "{Country: {at_least: 3}}"])
def test_a_filter_that_cannot_be_applied_is_an_error(tmp_path, where):
    with pytest.raises(DataError) as error:
        kept(tmp_path, f"where: {where}")
    assert "Shoe" not in str(error.value)  # no job names it


@pytest.mark.parametrize("keys", ["where: {A: {}}", "where: {A: {over: 3}}", "exclude: {on: ID}"])
def test_a_filter_that_makes_no_sense_names_its_key(tmp_path, keys):
    with pytest.raises(UsageError, match=r"party\.yaml"):
        kept(tmp_path, keys)
