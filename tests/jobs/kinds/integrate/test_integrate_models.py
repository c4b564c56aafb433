"""Privacy models in whole jobs: the sensitive column is at one party, the QID at two others."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job

JOB = """\
kind: integrate
name: models
parties:
  north: {data: north.csv}
  south: {data: south.csv}
  clinic: {data: clinic.csv}
id: ID
class: Class
attributes:
  Town: {party: north, taxonomy: Town.csv}
  Age: {party: south, range: [0, 100]}
  Disease: {party: clinic}
  Days: {party: clinic}
requirement:
  - {qid: [Town, Age], k: 5%s}
"""
BY_HOLDER = ("entropy", "joint")
DISEASES = ["cold", "flu", "gout", "HIV"]
MODELS: dict[str, dict[str, Any]] = {
    "distinct": {"sensitive": "Disease", "l": 3},
    "entropy": {"sensitive": "Disease", "l": 2.4, "diversity": "entropy"},
    "recursive": {"sensitive": "Disease", "l": 2, "c": 2, "diversity": "recursive"},
    "alpha": {"sensitive": "Disease", "alpha": 0.6},
    "confidence": {"sensitive": "Disease", "confidence": {"HIV": 0.15, "flu": 0.5}},
    "variational": {"sensitive": "Disease", "t": 0.2},
    "ordered": {"sensitive": "Days", "t": 0.1, "distance": "ordered"},
    "an order": {"sensitive": "Disease", "t": 0.15, "distance": "ordered", "order": DISEASES},
    "joint": {"sensitive": ["Disease", "Days"], "l": 3, "most": {"Disease": 2}},
    "of the class": {"sensitive": "Class", "alpha": 0.9},
}


def write(folder: Path, options: dict[str, Any]) -> Path:
    rng = np.random.default_rng(11)
    size = 400
    towns = [f"t{i}" for i in range(8)]
    town, age = rng.integers(0, 8, size), rng.integers(0, 100, size)
    label = (age + 8 * town + rng.integers(0, 40, size) > 90).astype(int)
    # Diseases and days depend on town and age, so that fine groups are not alike.
    disease = np.minimum(rng.integers(0, 4, size), (town + age // 30) % 5)
    days = 1 + (age // 25) * 2 + rng.integers(0, 3, size)
    files = {
        "north.csv": ["ID,Town,Class"] + [f"{i},{towns[town[i]]},{label[i]}" for i in range(size)],
        "south.csv": ["ID,Age"] + [f"{i},{age[i]}" for i in range(size)],
        "clinic.csv": ["ID,Disease,Days"]
        + [f"{i},{DISEASES[disease[i]]},{days[i]}" for i in range(size)],
        "Town.csv": [f"{t};{'east' if i < 4 else 'west'};any" for i, t in enumerate(towns)],
        "costs.csv": [
            ",cold,flu,gout,HIV",
            "cold,0,1,2,3",
            "flu,1,0,2,3",
            "gout,2,2,0,3",
            "HIV,3,3,3,0",
        ],
        "job.yaml": [JOB % "".join(f", {key}: {json.dumps(v)}" for key, v in options.items())],
    }
    folder.mkdir()
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder / "job.yaml"


def run(
    folder: Path, options: dict[str, Any], more: str = "", seed: str = "models"
) -> tuple[Path, dict[str, Any]]:
    job = write(folder, options)
    job.write_text(job.read_text() + more)
    out = folder / "out"
    out.mkdir()
    return out, simulate(load_job(job), folder, out, seed=seed)


@pytest.mark.parametrize("name", MODELS)
def test_a_release_satisfies_the_model_and_would_not_without_it(tmp_path: Path, name: str) -> None:
    more = "conditions: holder\n" if name in BY_HOLDER else ""
    out, result = run(tmp_path / "with", MODELS[name], more)
    found = verify(out)
    assert len(found["requirements"][0]["models"]) == 1
    free, free_result = run(tmp_path / "without", {})
    assert len(free_result["winners"]) > len(result["winners"]) > 0
    # The release that ignores the model, judged by the job that has it.
    (free / "job" / "job.yaml").write_text((out / "job" / "job.yaml").read_text())
    with pytest.raises(VerificationError, match=r"the group .* violates"):
        verify(free)


@pytest.mark.parametrize("name", BY_HOLDER)
def test_a_model_that_is_not_decided_on_shares_needs_a_holder(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        UsageError, match=r"job.yaml:\d+: .* cannot be decided on shares; 'conditions: holder'"
    ):
        run(tmp_path / "job", MODELS[name])


@pytest.mark.parametrize("name", ["distinct", "recursive", "confidence", "ordered"])
@pytest.mark.parametrize(
    "more", ["hide_scores: true\n", "adversary: malicious\nepsilon: 9\n", "conditions: holder\n"]
)
def test_the_release_is_the_same_however_a_condition_is_decided(
    tmp_path: Path, name: str, more: str
) -> None:
    out, result = run(tmp_path / "shares", MODELS[name])
    other, again = run(tmp_path / "other", MODELS[name], more)
    assert (out / "release.csv").read_bytes() == (other / "release.csv").read_bytes()
    assert result["winners"] == again["winners"]
    told = {entry["what"] for entry in again["opened"]}
    assert ("integrate: proposal" in told) == (more == "conditions: holder\n")


def test_a_value_that_no_common_record_has_changes_nothing(tmp_path: Path) -> None:
    """The clinic has patients of its own, who stayed for longer than anybody else."""
    _, result = run(tmp_path / "job", MODELS["ordered"])
    job = write(tmp_path / "more", MODELS["ordered"])
    with (job.parent / "clinic.csv").open("a") as file:
        file.write("".join(f"{1000 + i},flu,{20 + i}\n" for i in range(30)))
    out = tmp_path / "out"
    out.mkdir()
    again = simulate(load_job(job), job.parent, out, seed="models")
    assert again["winners"] == result["winners"]
    verify(out)


def test_a_release_with_records_left_out_is_verified(tmp_path: Path) -> None:
    job = write(tmp_path / "job", {})
    text = job.read_text() + "  - {qid: [Town], k: 40}\nmax_suppression: 0.05\n"
    job.write_text(text)
    out = tmp_path / "out"
    out.mkdir()
    simulate(load_job(job), job.parent, out, seed="models")
    found = verify(out)
    assert 0 < found["suppressed"] <= 20
    assert found["records"] + found["suppressed"] == 400
    (out / "job" / "job.yaml").write_text(text.replace("0.05", "0.001"))
    with pytest.raises(VerificationError, match=r"the job allows a share of 0\.001"):
        verify(out)


def test_the_sensitive_column_is_released_as_it_was_read(tmp_path: Path) -> None:
    out, _ = run(tmp_path / "job", MODELS["distinct"])
    with (out / "release.csv").open() as file:
        released = sorted(row["Disease"] for row in csv.DictReader(file))
    with (tmp_path / "job" / "clinic.csv").open() as file:
        assert released == sorted(row["Disease"] for row in csv.DictReader(file))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"sensitive": "Disease", "confidence": {"plague": 0.1}},
            r"clinic\.csv: column 'Disease': confidence names 'plague', which no record has",
        ),
        (
            {"sensitive": "Disease", "t": 0.2, "distance": "ordered"},
            r"clinic\.csv: column 'Disease': an ordered distance needs numbers",
        ),
        (
            {"sensitive": "Disease", "l": 5},
            "not even the whole table satisfies distinct 5-diversity",
        ),
    ],
)
def test_a_model_that_cannot_hold_is_refused(
    tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(DataError, match=complaint):
        run(tmp_path / "job", options)


def test_a_value_that_the_order_lacks_is_for_its_holder_alone(tmp_path: Path) -> None:
    options = {"sensitive": "Disease", "t": 0.2, "distance": "ordered", "order": ["plague"]}
    with pytest.raises(DataError, match=r"column 'Disease': order lacks the value '\w+'") as caught:
        run(tmp_path / "job", options)
    assert caught.value.message(rows=True).endswith("column 'Disease': order lacks the value …")
    assert caught.value.message(rows=False) == caught.value.message(rows=True)


def test_sensitive_columns_of_two_houses_are_diverse_together(tmp_path: Path) -> None:
    job = write(tmp_path / "job", {"sensitive": ["Disease", "Days"], "l": 3})
    text = job.read_text().replace("Days: {party: clinic}", "Days: {party: south}")
    job.write_text(text + "conditions: holder\n")
    folder = job.parent
    clinic = [line.split(",") for line in (folder / "clinic.csv").read_text().splitlines()]
    south = (folder / "south.csv").read_text().splitlines()
    (folder / "clinic.csv").write_text("".join(f"{row[0]},{row[1]}\n" for row in clinic))
    joined = zip(south, clinic, strict=True)
    (folder / "south.csv").write_text("".join(f"{line},{row[2]}\n" for line, row in joined))
    out = tmp_path / "out"
    out.mkdir()
    result = simulate(load_job(job), folder, out, seed="models")
    assert result["winners"]
    assert verify(out)["requirements"][0]["models"]
