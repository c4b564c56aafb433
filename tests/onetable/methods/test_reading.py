"""A table file's mistakes are told with the line and the key, as a job file's are."""

import pytest

from coterie.base.errors import UsageError
from coterie.onetable.methods.reading import load_table_file
from tests.onetable.people import TABLE_FILE, write_people


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("method: mondrian", "method: magic", "people.yaml:2: method: must be one of mondrian"),
        ("method: mondrian", "method: perturb", "the command `coterie perturb` takes this file"),
        ("method:", "methode:", "people.yaml:2: methode: unknown key; did you mean 'method'?"),
        ("k: 3", "k: 0", ":11: requirement[0].k: must be at least 1"),
        ("[17, 90]", "[90, 17]", "the lowest value must be below the highest"),
        ("Age, Place, Sex]", "Age, Ill]", "the sensitive 'Ill' is in a qid"),
        ("Sex: {flat: true}", "Sex: {flat: true, range: [1, 2]}", "has both a range and 'flat'"),
        ("Place.csv}", "Nowhere.csv}", "'taxonomies/Nowhere.csv': No such file"),
        ("Place.csv}", "Place.csv, at_most: [Utopia]}", "'Utopia' is not in the taxonomy"),
        ("Sex: {flat: true}", "Sex: {flat: true, at_most: [F]}", "needs a taxonomy"),
        ("id: ID", "id: Age", "attributes.Age: is a column of 'id'"),
        ("class: Class", "class: Class\ncost: entropy", "is only for 'method: incognito'"),
        ("[17, 90]}", "[17, 90], keep: true}", "'keep' is for columns in no qid"),
        ("data: people.csv", "data: people.txt", "does not end in .csv, .parquet"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(tmp_path, old, new, error):
    assert old in TABLE_FILE
    path = write_people(tmp_path, TABLE_FILE.replace(old, new))
    with pytest.raises(UsageError) as told:
        load_table_file(path)
    assert error in str(told.value)


def test_the_digest_is_that_of_the_text_and_the_taxonomies(tmp_path):
    path = write_people(tmp_path)
    first = load_table_file(path).digest
    assert load_table_file(path).digest == first
    with (tmp_path / "taxonomies/Place.csv").open("a") as file:
        file.write("Omaha;Nebraska;Midwest;USA\n")
    assert load_table_file(path).digest != first


@pytest.mark.parametrize(
    "data",
    [
        'data: {postgresql: "postgresql://me:secret@db:5432/x", table: people}',
        "data:\n  postgresql: postgresql://me:secret@db:5432/x\n  table: people",
    ],
)
def test_the_password_of_a_database_is_not_kept_beside_the_release(tmp_path, data):
    path = write_people(tmp_path, TABLE_FILE.replace("data: people.csv", data))
    read = load_table_file(path)
    assert "secret" not in read.text
    path.write_text(read.text)
    again = load_table_file(path)
    assert (again.attributes, again.method) == (read.attributes, "mondrian")
    assert again.digest == read.digest
