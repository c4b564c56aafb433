"""A taxonomy of whole numbers fits a column as pandas writes it, from the release to an attack."""

from coterie.__main__ import run

TABLE = """\
data: people.csv
id: [ID]
attributes:
  Age: {taxonomy: Age.csv}
requirement:
  - {qid: [Age], k: 2}
method: METHOD
"""


def test_a_release_is_made_verified_and_attacked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ages = [31, 31, 32, 33, 45, 46]
    (tmp_path / "people.csv").write_text(
        "ID,Age\n" + "".join(f"{row},{age}.0\n" for row, age in enumerate(ages))
    )
    made = [
        "taxonomy",
        "--data",
        "people.csv",
        "--column",
        "Age",
        "--cuts",
        "40",
        "--out",
        "Age.csv",
    ]
    assert run(made) == 0
    assert "\n32;" in (tmp_path / "Age.csv").read_text()
    for method in ("incognito", "mondrian"):
        (tmp_path / "table.yaml").write_text(TABLE.replace("METHOD", method))
        assert run(["anonymise", "table.yaml", "--out", method]) == 0
        assert run(["verify", method, "--data", "people.csv"]) == 0
        capsys.readouterr()
        assert run(["attack", method, "--known", "people.csv"]) == 0
        assert "6 match a record, 0 match one record alone" in capsys.readouterr().out
