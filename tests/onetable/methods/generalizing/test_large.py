"""A table that the memory does not hold: the release of the table in memory, and bounded memory."""

import json
from pathlib import Path

import pytest

from coterie.__main__ import run
from coterie.base.errors import DataError
from coterie.onetable.methods.generalizing.large import anonymise_large, is_large
from coterie.onetable.methods.generalizing.run import anonymise_file
from coterie.onetable.methods.reading import load_table_file
from tests.onetable.people import TABLE_FILE, rows, write_people

TWO = TABLE_FILE.replace(
    "  - {qid: [Age, Place, Sex], k: 3, sensitive: Ill, l: 2}",
    "  - {qid: [Place, Sex], k: 3}\n  - {qid: [Age], k: 5}",
)
VARIANTS = {
    "a sensitive column": TABLE_FILE,
    "two requirements": TWO,
    "regions": TABLE_FILE + "boxes: regions\nrule: spread\n",
    "relaxed cuts": TABLE_FILE + "cuts: relaxed\n",
    "bounds": TABLE_FILE.replace("Place.csv}", "Place.csv, at_most: [Kansas, West]}").replace(
        "k: 3, sensitive: Ill, l: 2", "k: 12"
    )
    + "max_suppression: 0.5\n",
    "priorities": TABLE_FILE.replace("[17, 90]}", "[17, 90], priority: 3}"),
    "gaps shown": TABLE_FILE.replace(", sensitive: Ill, l: 2", "") + "missing: value\n",
    "gaps dropped": TABLE_FILE + "missing: drop\n",
}


def with_gaps() -> list[list[str]]:
    people = rows()
    people[3][2], people[5][1], people[7][4] = "?", "", "?"
    return people


def nearly(one, other):
    """Equal, but for the rounding of sums."""
    if isinstance(one, float):
        return one == pytest.approx(other, abs=1e-12)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(nearly(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(nearly, one, other))
    return one == other


def both_ways(path: Path, folder: Path) -> None:
    """Anonymises in memory and on disk, some records at a time, and compares what is left."""
    file = load_table_file(path)
    one, other = folder / "memory", folder / "disk"
    one.mkdir()
    other.mkdir()
    made = anonymise_file(file)
    made.write(one, parquet=True)
    with anonymise_large(file, 10**7, most=7) as large:
        large.write(other, parquet=True)
    assert (one / "release.csv").read_bytes() == (other / "release.csv").read_bytes()
    found = json.loads((other / "result.json").read_text())
    assert found.pop("on_disk") is True
    for volatile in ("seconds", "job"):
        found.pop(volatile)
        made.result.pop(volatile)
    assert nearly(json.loads(json.dumps(made.result)), found)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_release_on_disk_is_that_in_memory(tmp_path, variant):
    people = with_gaps() if "gaps" in variant else None
    both_ways(write_people(tmp_path, VARIANTS[variant], people), tmp_path)


def error_of(work) -> str:
    with pytest.raises(DataError) as raised:
        work()
    return str(raised.value)


def on_disk(file):
    with anonymise_large(file, 10**7):
        raise AssertionError("there should be an error")


@pytest.mark.parametrize("missing", ["", "missing: drop\n"])
@pytest.mark.parametrize(
    ("column", "value", "at"),
    [(1, "200", 9), (1, "old", 0), (2, "Paris", 4), (2, "", 1), (3, "*", 6), (4, "?", 2),
     (5, "", 3), (1, "nan", 8), (1, "inf", 8)],
)  # fmt: skip
def test_an_unusable_value_is_the_same_line_with_the_same_row(tmp_path, column, value, at, missing):
    people = rows()
    people[0][2] = "?" if missing else people[0][2]
    people[at + 5][column] = people[at + 9][column] = value
    file = load_table_file(write_people(tmp_path, TABLE_FILE + missing, people))
    try:
        anonymise_file(file)
    except DataError:
        assert error_of(lambda: on_disk(file)) == error_of(lambda: anonymise_file(file))
    else:
        with anonymise_large(file, 10**7):
            pass


@pytest.mark.parametrize("people", [[], rows(1), [[*row[:2], "", *row[3:]] for row in rows()]])
@pytest.mark.parametrize("missing", ["", "missing: drop\n"])
def test_a_table_of_no_use_is_the_same_line(tmp_path, people, missing):
    file = load_table_file(write_people(tmp_path, TABLE_FILE + missing, people))
    assert error_of(lambda: on_disk(file)) == error_of(lambda: anonymise_file(file))


def test_the_command_keeps_a_table_on_disk_that_its_memory_does_not_hold(tmp_path, capsys):
    path = write_people(tmp_path, people=rows() * 2000)
    file = load_table_file(path)
    assert is_large(file, 16 * 10**6)
    assert not is_large(file, 10**10)
    for name, memory in (("disk", "16MB"), ("memory", "4GB")):
        out = str(tmp_path / name)
        assert run(["anonymise", str(path), "--out", out, "--memory", memory, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told.get("on_disk", False) == (name == "disk")
        assert (tmp_path / name / "report.html").exists()
        assert run(["verify", out]) == 0
        capsys.readouterr()
    first, second = (tmp_path / name / "release.csv" for name in ("disk", "memory"))
    assert first.read_bytes() == second.read_bytes()


def test_other_methods_do_not_go_with_a_cluster(tmp_path, capsys):
    path = write_people(tmp_path, TABLE_FILE.replace("mondrian", "incognito"))
    code = run(
        ["anonymise", str(path), "--out", str(tmp_path / "o"), "--compute", "dask://127.0.0.1:9"]
    )
    assert code == 2
    assert "method: incognito has the whole table in memory" in capsys.readouterr().err


def test_a_size_that_is_none(tmp_path, capsys):
    path = write_people(tmp_path)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "o"), "--memory", "much"]) == 2
    assert "--memory must be a size such as 512MB" in capsys.readouterr().err


def test_cuts_by_width_say_at_once_that_the_memory_does_not_hold_the_table(tmp_path, capsys):
    path = write_people(tmp_path, people=rows() * 2000)
    path.write_text(path.read_text() + "rule: width\n")
    out = str(tmp_path / "out")
    assert run(["anonymise", str(path), "--out", out, "--memory", "16MB"]) == 2
    told = capsys.readouterr().err
    assert "may take 0.016 GB; raise --memory" in told
    assert "work on disk" in told
    assert not (tmp_path / "out").exists()
    assert run(["anonymise", str(path), "--out", out, "--memory", "4GB"]) == 0
