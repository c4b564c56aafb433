"""`coterie taxonomy`: a file drawn, and a file built from a column that a release can use."""

from coterie.__main__ import run
from tests.onetable.people import TABLE_FILE, write_people


def test_a_taxonomy_is_drawn(tmp_path, capsys):
    write_people(tmp_path)
    assert run(["taxonomy", str(tmp_path / "taxonomies/Place.csv")]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "USA", "├─ West", "│  └─ California", "│     ├─ San Diego",
    ]  # fmt: skip


def test_a_taxonomy_that_was_built_serves_a_release(tmp_path):
    text = TABLE_FILE.replace("{range: [17, 90]}", "{taxonomy: taxonomies/Age.csv}")
    path = write_people(tmp_path, text.replace("method: mondrian", "method: incognito"))
    out = str(tmp_path / "taxonomies/Age.csv")
    data = str(tmp_path / "people.csv")
    assert (
        run(["taxonomy", "--data", data, "--column", "Age", "--equal", "5,10", "--out", out]) == 0
    )
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    assert run(["verify", str(tmp_path / "out")]) == 0


def test_what_cannot_be_built_is_one_line(tmp_path, capsys):
    write_people(tmp_path)
    data = str(tmp_path / "people.csv")
    assert run(["taxonomy", "--data", data, "--column", "Sex", "--equal", "5"]) == 3
    assert "column 'Sex': 'F' is not a number" in capsys.readouterr().err
    assert run(["taxonomy", "--data", data, "--column", "Age", "--equal", "x"]) == 2
    assert run(["taxonomy"]) == 2


def test_a_catalogue_of_codes_serves_and_a_gap_names_value_and_row(tmp_path, capsys):
    (tmp_path / "codes.csv").write_text("I21;I20-I25\nI20-I25;IX\nE10;IV\n")
    (tmp_path / "ill.csv").write_text("Ill\nI21.0\nE10\n")
    built = ["taxonomy", "--data", str(tmp_path / "ill.csv"), "--column", "Ill"]
    built += ["--codes", str(tmp_path / "codes.csv")]
    assert run([*built, "--out", str(tmp_path / "Ill.csv")]) == 0
    # ARX wants rows of one length.
    assert (tmp_path / "Ill.csv").read_text() == "E10;E10;E10;IV;*\nI21.0;I21;I20-I25;IX;*\n"
    (tmp_path / "ill.csv").write_text("Ill\nE10\n\nX1\n")
    capsys.readouterr()
    assert run(built) == 3
    told = capsys.readouterr().err
    assert "row" in told
    assert "'X1' is not in the catalogue" in told
