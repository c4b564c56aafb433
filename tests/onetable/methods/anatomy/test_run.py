"""`method: anatomy` from the table file to what it leaves, its verification and the attack."""

import csv
import json

import pytest

from coterie.__main__ import run
from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from tests.onetable.people import anonymised, write_people

ANATOMY = """\
data: people.csv
method: anatomy
id: ID
attributes:
  Age: {range: [17, 90]}
  Place: {taxonomy: taxonomies/Place.csv}
  Sex: {flat: true}
  Ill: {}
  Class: {}
requirement:
  - {qid: [Age, Place, Sex], k: 3, sensitive: [Ill, Class], l: 2}
"""
JOINT = ANATOMY + "sensitive_table: joint\n"


def lines(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def each(tmp_path_factory):
    folder = tmp_path_factory.mktemp("each")
    return folder, anonymised(folder, ANATOMY)


def test_it_leaves_exact_values_with_groups_and_a_table_for_each_sensitive_column(each):
    folder, result = each
    out = folder / "out"
    rows = lines(out / "release.csv")
    source = lines(folder / "people.csv")
    shown = sorted((r["Age"], r["Place"], r["Sex"]) for r in rows)
    assert shown == sorted((r["Age"], r["Place"], r["Sex"]) for r in source)
    assert list(rows[0]) == ["Age", "Place", "Sex", "Group"]
    assert result["sensitive_tables"] == [
        {"file": "sensitive/1.csv", "columns": ["Ill"]},
        {"file": "sensitive/2.csv", "columns": ["Class"]},
    ]
    assert result["raw"] == ["Age", "Place", "Sex"]
    assert result["risk"]["uniques"] == len({tuple(row) for row in shown})
    ill = lines(out / "sensitive/1.csv")
    assert sum(int(line["Count"]) for line in ill) == len(rows) == result["records"]
    text = (out / "report.html").read_text()
    assert "This is not k-anonymity" in text
    assert "Do not use" not in text


def test_verify_says_what_it_cannot_see_and_checks_it_with_the_table(each, capsys):
    folder, _ = each
    found = verify(folder / "out")
    assert found["verdict"].endswith("published without any change: Age, Place, Sex")
    assert any("links are not published" in clause for clause in found["unchecked"])
    again = verify(folder / "out", folder / "people.csv")
    assert again["unchecked"] == ["the query error"]


def test_the_attack_finds_people_and_infers_shares_of_the_group(each, capsys):
    folder, _ = each
    assert run(["attack", str(folder / "out"), "--known", str(folder / "people.csv"),
                "--columns", "Age,Place,Sex", "--json"]) == 0  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["found"] == len(found["people"])
    group = {tuple(list(r.values())[:3]): r["Group"] for r in lines(folder / "out/release.csv")}
    ill = lines(folder / "out/sensitive/1.csv")
    for person, row in zip(found["people"], lines(folder / "people.csv"), strict=True):
        own = [r for r in ill if r["Group"] == group[row["Age"], row["Place"], row["Sex"]]]
        total = sum(int(r["Count"]) for r in own)
        expected = {r["Ill"]: int(r["Count"]) / total for r in own}
        assert person["inferred"]["Ill"] == pytest.approx(expected)
        assert "Group" not in person["inferred"]
    assert found["certain"] == {"Ill": 0, "Class": 0}


def test_a_joint_table_keeps_the_links_and_is_checked_alone(tmp_path):
    anonymised(tmp_path, JOINT)
    found = verify(tmp_path / "out")
    assert not any("links" in clause for clause in found["unchecked"])
    assert list(lines(tmp_path / "out/sensitive/joint.csv")[0]) == [
        "Group",
        "Ill",
        "Class",
        "Count",
    ]
    verify(tmp_path / "out", tmp_path / "people.csv")


CHANGES = [
    ("sensitive/joint.csv", lambda t: t.replace('"flu"', '"cold"'), "is not a count|out of order"),
    (
        "sensitive/joint.csv",
        lambda t: t.rsplit("\n", 2)[0] + "\n",
        "counts .* records, release.csv",
    ),
    ("release.csv", lambda t: t.rsplit("\n", 2)[0] + "\n", "counts .* records, release.csv has"),
    ("release.csv", lambda t: t.replace("San Diego", "West"), "not a leaf|out of order|risk"),
    ("result.json", lambda t: t.replace('"smallest": ', '"smallest": 1'), "says smallest"),
    ("result.json", lambda t: t.replace('"raw": [', '"raw": ["Zip", '), "says raw"),
    ("result.json", lambda t: t.replace("sensitive/joint.csv", "../joint.csv"), "not a file of"),
    ("job/people.yaml", lambda t: t.replace("l: 2", "l: 3"), "violates joint 3-diversity"),
    ("job/people.yaml", lambda t: t.replace("k: 3", "k: 30"), "fewer than k = 30"),
]


def test_verify_finds_every_change(tmp_path):
    anonymised(tmp_path, JOINT)
    out = tmp_path / "out"
    names = {p.name for p in (out / "job").iterdir()}
    for name, change, complaint in CHANGES:
        path = out / name
        if not path.exists():
            path = next(out / "job" / n for n in names if n.endswith(".yaml"))
        before = path.read_text()
        changed = change(before)
        assert changed != before, name
        path.write_text(changed)
        with pytest.raises(VerificationError, match=complaint):
            verify(out)
        path.write_text(before)
    verify(out)


def test_values_moved_between_groups_are_found_with_the_table(each):
    folder, _ = each
    path = folder / "out/sensitive/2.csv"
    before = path.read_text()
    changed = before.replace('"y","2"', '"y","9"').replace('"y","9"', '"y","2"', 1)
    rows = [line.split(",") for line in before.splitlines()]
    one = next(i for i, r in enumerate(rows[1:-1], 1) if rows[i][0] == rows[i + 1][0]
               and rows[i][2] != rows[i + 1][2])  # fmt: skip
    rows[one][2], rows[one + 1][2] = rows[one + 1][2], rows[one][2]
    path.write_text("\n".join(",".join(r) for r in rows) + "\n")
    verify(folder / "out")
    with pytest.raises(VerificationError, match="has other counts of Class"):
        verify(folder / "out", folder / "people.csv")
    path.write_text(before)
    assert changed.count("\n") == before.count("\n")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (ANATOMY.replace(", sensitive: [Ill, Class], l: 2", ""), "needs 'sensitive' and a bound"),
        (ANATOMY.replace("[Ill, Class], l", "Ill, l"), "would publish 'Class' beside exact"),
        (ANATOMY.replace("  Class: {}\n", "").replace("[Ill, Class]", "Ill") + "class: Class\n",
         "would publish 'Class' beside exact"),
        (ANATOMY.replace("Place.csv}", "Place.csv, at_most: [West]}"), "'at_most' of 'Place'"),
        (ANATOMY.replace("Class", "Count"), "has a column 'Count' of its own"),
        (ANATOMY.replace("method: anatomy", "method: mondrian") + "sensitive_table: joint\n",
         "is only for 'method: anatomy'"),
        (ANATOMY + "sensitive_table: both\n", "each"),
        (ANATOMY + "rule: spread\n", "is only for 'method: mondrian'"),
    ],
)  # fmt: skip
def test_what_anatomy_must_not_publish_is_refused_before_anything_is_read(
    tmp_path, capsys, text, complaint
):
    path = write_people(tmp_path, text)
    (tmp_path / "people.csv").unlink()
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) != 0
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
