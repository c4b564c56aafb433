"""Tables that cannot be used: every command says so in one line, and writes nothing half."""

import json
import shutil

import pytest

from coterie.__main__ import run
from coterie.jobs.file.document import read_document
from coterie.onetable.table_file import without_address

HEADER = "Age,Place,Ill\n"
GOOD = "".join(f"{20 + i % 30},{'XYZ'[i % 3]},{'ab'[i % 2]}\n" for i in range(60))
TABLE_FILE = """\
data: t.csv
method: {method}
attributes:
  Age: {{}}
  Place: {{{place}}}
  Ill: {{}}
requirement:
  - {{qid: [Age, Place], k: {k}, sensitive: Ill, l: 2}}
"""
# The table, k, and what the line about it says; None where the command can use the table.
CASES = {
    "an empty file": ("", 3, "the file is empty; it must begin with a header"),
    "an empty table": (HEADER, 3, "the table has no records"),
    "one row": (HEADER + "20,X,a\n", 3, "the table has 1 record, fewer than the k = 3"),
    "k above the rows": (HEADER + GOOD, 61, "has 60 records, fewer than the k = 61"),
    "all missing": (HEADER + ",,\n" * 30, 3, "column 'Age' has no value (30 of 30 rows are empty)"),
    "a constant sensitive column": (HEADER + "20,X,a\n" * 30, 3, "not even the whole table"),
    "a taxonomy with gaps": (
        HEADER + GOOD + "30,W,a\n",
        3,
        "row 61: column 'Place': 'W' is not in",
    ),
    "NaN": (HEADER + GOOD + "nan,X,a\n", 3, "row 61: column 'Age': 'nan' is not a number"),
    "infinity": (HEADER + GOOD + "-inf,X,a\n", 3, "row 61: column 'Age': '-inf' is not a number"),
    "mixed types": (HEADER + GOOD + "old,X,a\n", 3, "row 61: column 'Age': 'old' is not a number"),
    "a column named twice": ("Age,Place,Ill,Age\n20,X,a,20\n" * 9, 3, "the column 'Age' twice"),
}
ANY = {"an empty file", "an empty table", "a column named twice"}  # of no use to any command


@pytest.fixture
def table(tmp_path):
    def write(text, k=3, method="mondrian", place="taxonomy: P.csv"):
        (tmp_path / "t.csv").write_text(text)
        (tmp_path / "P.csv").write_text("X;*\nY;*\nZ;*\n")
        path = tmp_path / "t.yaml"
        path.write_text(TABLE_FILE.format(method=method, k=k, place=place))
        return path

    return write


@pytest.mark.parametrize(
    "method", ["mondrian", "incognito", "samarati", "datafly", "cluster", "anatomy"]
)
@pytest.mark.parametrize("case", CASES)
def test_anonymise(tmp_path, capsys, table, case, method):
    text, k, complaint = CASES[case]
    path = table(text, k, method)
    before = set(tmp_path.iterdir())
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 3
    error = capsys.readouterr().err
    assert complaint in error
    assert "t.csv: " in error
    assert error.count("\n") == 1
    assert set(tmp_path.iterdir()) == before


OTHERS = {
    "specialize": ("anonymise", "class: Ill\nattributes: {Age: {}, Place: {taxonomy: P.csv}}\n"
                   "requirement: [{qid: [Age, Place], k: 3}]\n"),
    "quantiles": ("anonymise", "attributes: {Age: {}, Ill: {}}\n"
                  "requirement: [{qid: [Age], k: 3, sensitive: Ill, l: 2}]\n"),
    "condense": ("anonymise", "k: 3\nclass: Ill\nattributes: {Age: {}}\n"),
    "condense a stream": ("condense", "k: 3\nclass: Ill\nattributes: {Age: {}}\n"),
    "perturb": ("perturb", "attributes:\n  Age: {range: [17, 90], noise: 50%}\n"
                "  Ill: {values: [a, b], keep: 0.7}\n"),
    "hide-rules": ("hide-rules", "attributes: [Place, Ill]\nsupport: 0.01\nconfidence: 0.01\n"
                   "hide: [{if: {Place: X}, then: {Ill: a}}]\n"),
}  # fmt: skip
# What a command can use all the same: it has no k, no condition on Ill, no taxonomy, no numbers.
USABLE = {
    "specialize": {"k above the rows", "a constant sensitive column"},
    "quantiles": {"k above the rows", "a taxonomy with gaps"},
    "condense": {"k above the rows", "a constant sensitive column", "a taxonomy with gaps"},
    "condense a stream": {
        "k above the rows", "a constant sensitive column", "a taxonomy with gaps",
    },
    "perturb": {
        "one row", "k above the rows", "a constant sensitive column", "a taxonomy with gaps",
    },
    "hide-rules": {
        "one row", "k above the rows", "a constant sensitive column", "a taxonomy with gaps",
        "NaN", "infinity", "mixed types", "a column named twice",
    },
}  # fmt: skip


@pytest.mark.parametrize("way", OTHERS)
def test_other_ways_to_release_a_table(tmp_path, capsys, table, way):
    command, keys = OTHERS[way]
    for case, (text, _, _) in CASES.items():
        path = table(text)
        path.write_text(f"data: t.csv\nmethod: {way.split()[0]}\n{keys}")
        before = set(tmp_path.iterdir())
        out = tmp_path / "state" if command == "condense" else tmp_path / "out"
        option = "--state" if command == "condense" else "--out"
        code = run([command, str(path), option, str(out), "--json"])
        told = json.loads(capsys.readouterr().out)
        assert code == (0 if case in USABLE[way] else 3), (case, told)
        if code:
            assert told["error"].startswith(f"{tmp_path / 't.csv'}: "), case
            assert "\n" not in told["error"]
            assert "taxonomy, or" not in told["error"] or way == "specialize", case
            assert set(tmp_path.iterdir()) == before, case
        elif out.is_dir():
            assert run(["verify", str(out)]) == 0
            shutil.rmtree(out)
        else:
            out.unlink()
        capsys.readouterr()


@pytest.mark.parametrize("case", CASES)
def test_inspect_advise_taxonomy_and_attack(tmp_path, capsys, table, case):
    text, k, complaint = CASES[case]
    assert run(["anonymise", str(table(HEADER + GOOD)), "--out", str(tmp_path / "release")]) == 0
    path = table(text, k)
    data = str(tmp_path / "t.csv")
    capsys.readouterr()
    for command in (
        ["inspect", data],
        ["inspect", str(path)],
        ["advise", data],
        ["advise", str(path)],
        ["attack", str(tmp_path / "release"), "--known", data],
        ["taxonomy", "--data", data, "--column", "Age", "--equal", "5"],
    ):
        before = set(tmp_path.iterdir())
        code = run(command)
        told = capsys.readouterr()
        assert code in ((3,) if case in ANY else (0, 3)), command
        if code:
            assert told.err.count("\n") == 1
            assert "t.csv" in told.err
            assert not told.out
        assert set(tmp_path.iterdir()) == before
        if case in ANY and command[0] in ("inspect", "advise") and path.name not in command[1]:
            assert complaint in told.err


@pytest.mark.parametrize("method", ["mondrian", "incognito", "datafly"])
def test_very_many_different_values_are_anonymised(tmp_path, capsys, table, method):
    text = HEADER + "".join(f"{i},p{i},{'ab'[i % 2]}\n" for i in range(20_000))
    path = table(text, 3, method, "flat: true")
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert result["records"] == 20_000
    assert result["anonymity"][0]["smallest"] >= 3


def test_very_many_different_values_are_inspected_and_advised_on(capsys, table):
    text = HEADER + "".join(f"{i},p{i},{'ab'[i % 2]}\n" for i in range(5_000))
    path = table(text, 3, "mondrian", "flat: true")
    assert run(["inspect", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [column["distinct"] for column in found["columns"]] == [5_000, 5_000, 2]
    assert run(["advise", str(path)]) == 0
    assert "cliffs were not looked for: Age has more than 2,000 values" in capsys.readouterr().out


def test_a_release_keeps_no_connection_string():
    text = "data: {odbc: 'DSN=x;PWD=secret', table: t}\nrequirement: []\n"
    data = read_document(text, "t.yaml").required("data")
    assert "secret" not in without_address(text, data)
