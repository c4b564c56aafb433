"""A release that is as it should be passes; every way of changing it is found out."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie.base.errors import CoterieError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.kind import Verdict
from coterie.jobs.kinds.registry import KINDS
from tests.coordinator.support import coterie
from tests.papers.loans import JOB, ROWS, SEX

JOB_FILE = """\
kind: integrate
name: loans
parties:
  lender: {data: lender.csv}
  bank: {data: bank.csv}
id: ID
class: Class
attributes:
  Sex: {party: lender, taxonomy: taxonomies/Sex.csv}
  Job: {party: bank, taxonomy: taxonomies/Job.csv}
  Salary: {party: bank, range: [1, 99]}
  Zodiac: {party: lender}
  Height: {party: lender, range: [150, 200]}
  Origin: {party: bank, taxonomy: taxonomies/Sex.csv}
requirement:
  - {qid: [Sex, Job], k: 4, sensitive: Zodiac, l: 2}
  - {qid: [Sex, Salary], k: 5, sensitive: Class, alpha: 0.95}
"""


def write_job(folder: Path, text: str = JOB_FILE) -> Path:
    (folder / "taxonomies").mkdir(parents=True)
    for name, paths in {"Sex": SEX, "Job": JOB}.items():
        lines = [";".join(path) + "\n" for path in paths]
        (folder / "taxonomies" / f"{name}.csv").write_text("".join(lines))
    rows = list(enumerate(ROWS))
    lender = [f"{i},{r['Sex']},z{i % 5},{150 + i},{r['Class']}\n" for i, r in rows]
    bank = [f"{i},{r['Job']},{r['Salary']},{r['Sex']}\n" for i, r in reversed(rows)]
    (folder / "lender.csv").write_text("ID,Sex,Zodiac,Height,Class\n" + "".join(lender))
    (folder / "bank.csv").write_text("ID,Job,Salary,Origin\n" + "".join(bank))
    (folder / "job.yaml").write_text(text)
    return folder / "job.yaml"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loans")
    job = write_job(folder / "job")
    out = folder / "out"
    out.mkdir()
    simulate(load_job(job), job.parent, out, seed="verify")
    return out


@pytest.fixture
def result(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "result")


Rows = list[dict[str, str]]


def change_rows(folder: Path, change: Callable[[Rows], Any], sort: bool = True) -> None:
    path = folder / "release.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(rows[0])
    change(rows)
    if sort:
        rows.sort(key=lambda row: [row[name] for name in names])
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def change_result(folder: Path, change: Callable[[Any], Any]) -> None:
    path = folder / "result.json"
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def test_an_untouched_release_is_verified_and_agrees_with_its_result(result: Path) -> None:
    found = verify(result)
    told = json.loads((result / "result.json").read_text())
    assert found["records"] == told["records"] == 34
    assert [entry["smallest"] for entry in found["requirements"]] == [
        entry["smallest"] for entry in told["anonymity"]
    ]
    first, second = found["requirements"]
    assert first["models"] == {"distinct 2-diversity": 4.0}
    assert second["models"]["alpha 0.95"] <= 0.95


def replace(column: str, old: str, new: str, rows: Rows) -> None:
    next(row for row in rows if row[column] == old)[column] = new


RELEASE_CHANGES: dict[str, tuple[Callable[[Rows], Any], str]] = {
    "a record is missing": (lambda rows: rows.pop(), "has 33 records, but result.json says 34"),
    "a record is added": (lambda rows: rows.append(rows[0]), "has 35 records"),
    "a raw value": (
        lambda rows: replace("Job", "Professional", "Lawyer", rows),
        "column 'Job': 'Lawyer' is not in the cut",
    ),
    "a value of no taxonomy": (
        lambda rows: replace("Job", "Professional", "Dentist", rows),
        "column 'Job': 'Dentist' is not in the cut",
    ),
    "a number for an interval": (
        lambda rows: rows[0].update(Salary="42"),
        "column 'Salary': '42' is not in the cut",
    ),
    "a number out of its range": (
        lambda rows: rows[0].update(Height="210"),
        "column 'Height': '210' is not a number in its range",
    ),
    "a text for a number": (
        lambda rows: rows[0].update(Height="tall"),
        "column 'Height': 'tall' is not a number in its range",
    ),
    "a value that is no leaf": (
        lambda rows: rows[0].update(Origin="ANY_Sex"),
        "column 'Origin': 'ANY_Sex' is not a leaf of its taxonomy",
    ),
    "records moved to another group": (
        lambda rows: [
            row.update(Job="Manager") for row in [r for r in rows if r["Job"] == "Professional"][:7]
        ],
        r"requirement 1 \(Sex, Job\): the group Sex=\w+, Job=Professional has \d records, "
        "fewer than k = 4",
    ),
    "a group with one sensitive value": (
        lambda rows: [row.update(Zodiac="z1") for row in rows if row["Job"] == "Manager"],
        r"requirement 1 \(Sex, Job\): the group Sex=\w+, Job=Manager violates "
        "distinct 2-diversity of Zodiac: 1",
    ),
    "a group with one class": (
        lambda rows: [row.update(Class="N") for row in rows],
        r"requirement 2 \(Sex, Salary\): the group .* violates alpha 0.95 of Class: 1",
    ),
    "another class": (lambda rows: replace("Class", "N", "Y", rows), "the release gives"),
}


@pytest.mark.parametrize("change", RELEASE_CHANGES)
def test_a_changed_release_is_found_out(result: Path, change: str) -> None:
    function, complaint = RELEASE_CHANGES[change]
    change_rows(result, function)
    with pytest.raises(VerificationError, match=complaint):
        verify(result)


def test_rows_in_another_order_are_found_out(result: Path) -> None:
    change_rows(result, lambda rows: rows.insert(0, rows.pop()), sort=False)
    with pytest.raises(VerificationError, match="row 2 is out of order"):
        verify(result)


@pytest.mark.parametrize(
    ("old", "new"),
    [("Zodiac", "ID"), ("Zodiac", "Zodiac,ID"), ("Zodiac,", ""), ("Sex,Job", "Job,Sex")],
)
def test_other_columns_are_found_out(result: Path, old: str, new: str) -> None:
    path = result / "release.csv"
    header, _, rest = path.read_text().replace('"', "").partition("\n")
    assert old in header
    path.write_text(header.replace(old, new) + "\n" + rest)
    with pytest.raises(VerificationError, match="the job releases Sex, Job, Salary, Zodiac"):
        verify(result)


def test_a_row_that_is_too_short_is_found_out(result: Path) -> None:
    with (result / "release.csv").open("a") as file:
        file.write("Male,Manager\n")
    with pytest.raises(VerificationError, match=r"release\.csv"):
        verify(result)


RESULT_CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a smaller k": (lambda r: r["anonymity"][0].update(k=2), "says k = 2, the release 4"),
    "a larger group": (lambda r: r["anonymity"][0].update(smallest=9), "says smallest = 9"),
    "a requirement less": (lambda r: r["anonymity"].pop(), "another number of requirements"),
    "a requirement more": (
        lambda r: r["anonymity"].append(r["anonymity"][0]),
        "another number of requirements",
    ),
    "more records": (lambda r: r.update(records=35), "result.json says 35"),
    "records said to be suppressed": (
        lambda r: r.update(suppressed=1),
        "1 of 35 records were suppressed; the job allows a share of 0",
    ),
    "a cut with a hole": (lambda r: r["cut"]["Job"].remove("Manager"), "'Manager' is not in the"),
    "a cut that overlaps": (
        lambda r: r["cut"]["Sex"].append("ANY_Sex"),
        "does not cover each value once",
    ),
    "a cut of no taxonomy": (lambda r: r["cut"]["Sex"].append("X"), "'X' is not in its taxonomy"),
    "a gap between intervals": (
        lambda r: r["cut"]["Salary"].append("[99, 120)"),
        "does not cover each value once",
    ),
    "two closed intervals": (
        lambda r: r["cut"].update(Salary=[v.replace(")", "]") for v in r["cut"]["Salary"]]),
        "is not in the cut",
    ),
    "no interval": (lambda r: r["cut"]["Salary"].append("99"), "'99' is not an interval"),
    "a score": (lambda r: r["winners"][0].update(score=0.9), "has the score 0.9, the release"),
    "a winner less": (lambda r: r["winners"].pop(), "the winners do not lead to the cut"),
    "a winner twice": (
        lambda r: r["winners"].append(r["winners"][0]),
        "winner 6 puts .* in the place of",
    ),
    "another party": (
        lambda r: r["winners"][0].update(party="lender", attribute="Salary"),
        "winner 1 is of no attribute of lender",
    ),
    "a contribution": (
        lambda r: r["contributions"].update(bank=0.0),
        "bank contributed .*, not 0.0",
    ),
    "a risk": (lambda r: r["risk"].update(marketer=0.0), "the marketer risk by .* not 0.0"),
    "no cut": (lambda r: r.pop("cut"), "not the result of such a job"),
    "no list": (lambda r: r.update(winners=7), "not the result of such a job"),
    "a number beyond all": (
        lambda r: r["utility"].update(precision=10**400),
        "not the result of such a job",
    ),
}


@pytest.mark.parametrize("change", RESULT_CHANGES)
def test_a_changed_result_is_found_out(result: Path, change: str) -> None:
    function, complaint = RESULT_CHANGES[change]
    change_result(result, function)
    with pytest.raises(VerificationError, match=complaint):
        verify(result)


def test_a_stricter_job_does_not_fit_the_release(result: Path) -> None:
    path = result / "job" / "job.yaml"
    path.write_text(path.read_text().replace("k: 4", "k: 8"))
    with pytest.raises(VerificationError, match="fewer than k = 8"):
        verify(result)


@pytest.mark.parametrize("name", ["release.csv", "result.json", "job/job.yaml"])
def test_a_missing_file_is_named(result: Path, name: str) -> None:
    (result / name).unlink()
    with pytest.raises(UsageError, match=name):
        verify(result)


@pytest.mark.parametrize("name", ["release.csv", "result.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe{", b"[1, 2", b'"a\nb,c'])
def test_a_file_of_something_else_is_refused(result: Path, name: str, content: bytes) -> None:
    (result / name).write_bytes(content)
    with pytest.raises(CoterieError, match=name.replace(".", r"\.")):
        verify(result)


def test_a_split_at_the_largest_value_can_be_replayed(tmp_path: Path) -> None:
    """Then an interval and its left part were once called the same."""
    text = JOB_FILE.replace("range: [1, 99]", "range: [1, 44]").replace("alpha: 0.95", "alpha: 1")
    text = text.replace("- {qid: [Sex, Salary], k: 5, sensitive: Class, alpha: 1}",
                        "- {qid: [Salary], k: 2}")  # fmt: skip
    job = write_job(tmp_path / "job", text)
    out = tmp_path / "out"
    out.mkdir()
    told = simulate(load_job(job), job.parent, out, seed="verify")
    assert "[44, 44]" in told["cut"]["Salary"]
    assert verify(out)["records"] == 34


@pytest.mark.parametrize("score", ["information-gain", "discernibility",
                                   "information-gain-per-anonymity-loss"])  # fmt: skip
def test_releases_by_other_scores_are_verified(tmp_path: Path, score: str) -> None:
    job = write_job(tmp_path / "job", JOB_FILE + f"score: {score}\n")
    out = tmp_path / "out"
    out.mkdir()
    simulate(load_job(job), job.parent, out, seed="verify")
    assert verify(out)["records"] == 34


def test_the_command_says_what_holds(result: Path) -> None:
    done = coterie("verify", result, "--json")
    assert (done.code, done.json["records"]) == (0, 34)
    assert done.json["verdict"].startswith("holds: 34 records")
    first, *_ = coterie("verify", result).out.splitlines()
    assert first == done.json["verdict"]


def test_the_command_says_what_is_violated(result: Path) -> None:
    change_rows(result, lambda rows: rows.pop())
    done = coterie("verify", result)
    assert done.code == VerificationError.exit_code
    assert done.out.startswith("violated: ")
    assert "has 33 records" in done.out
    done = coterie("verify", result, "--json")
    assert done.json["exit_code"] == done.code == VerificationError.exit_code
    assert done.json["verdict"] == f"violated: {done.json['error']}"


def test_a_kind_whose_verification_checks_nothing_does_not_pass(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Verdict([], ["everything"], {})
    monkeypatch.setattr(KINDS["integrate"], "verify", lambda *_: nothing)
    with pytest.raises(VerificationError, match="nothing was verified: everything"):
        verify(result)


def random_job(folder: Path, seed: int) -> Path:
    """Two or three parties, attributes of every sort, odd values, one to three QIDs."""
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(20, 200)), int(rng.integers(2, 4))
    parties = ["p0", "p1", "p2"][:count]
    label = rng.integers(0, 3, size)
    columns: dict[str, list[str]] = {}
    lines, in_qid = [], []
    folder.mkdir()
    for number in range(int(rng.integers(2, 7))):
        name, party = f"c{number}", parties[int(rng.integers(0, count))]
        noisy = (label + rng.integers(0, 4, size)) % 5
        entry = f"party: {party}"
        sort = int(rng.integers(0, 4)) if number else 0
        if sort == 0:
            odd = ["a,b", 'say "x"', "é", " padded ", "plain"]
            columns[name] = [odd[value] for value in noisy]
            paths = [[v, "low" if i < 2 else "high", "any"] for i, v in enumerate(odd)]
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, delimiter=";").writerows(paths)
            entry += f", taxonomy: {name}.csv"
        elif sort == 1:
            columns[name] = [f"{value - 2.5:.2f}" for value in noisy]
            entry += ", range: [-2.5, 2.5]"
        elif sort == 2:
            columns[name] = [str(value * 1000 - 1500) for value in noisy]
        else:
            columns[name] = ["" if value == 0 else f"free {value}" for value in noisy]
        if sort < 3:
            in_qid.append(name)
        lines.append(f"  {name}: {{{entry}}}")
    for place, party in enumerate(parties):
        own = [name for name, line in zip(columns, lines, strict=True) if f"party: {party}" in line]
        with (folder / f"{party}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["ID", *own, *(["Class"] if place == 0 else [])])
            for row in rng.permutation(size):
                tail = [f"k{label[row]}"] if place == 0 else []
                writer.writerow([row, *(columns[name][row] for name in own), *tail])
    qids = [in_qid] + [in_qid[i:] for i in range(1, min(3, len(in_qid)))]
    text = ["kind: integrate", "name: random", "parties:"]
    text += [f"  {party}: {{data: {party}.csv}}" for party in parties]
    text += ["id: ID", "class: Class", "attributes:", *lines, "requirement:"]
    text += [f"  - {{qid: [{', '.join(q)}], k: {int(rng.integers(1, 9))}}}" for q in qids]
    text += [f"max_suppression: {[0, 0.1][seed % 2]}"]
    (folder / "job.yaml").write_text("\n".join(text) + "\n")
    return folder / "job.yaml"


@pytest.mark.parametrize("seed", range(12))
def test_every_honest_release_is_verified(tmp_path: Path, seed: int) -> None:
    job = random_job(tmp_path / "job", seed)
    out = tmp_path / "out"
    out.mkdir()
    told = simulate(load_job(job), job.parent, out)
    assert verify(out)["records"] == told["records"]
