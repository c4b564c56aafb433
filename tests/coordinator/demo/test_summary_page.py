"""The page that ends the demo says what is in the release, and what the invented people have in truth."""

import csv
import json
import re
from fractions import Fraction

import numpy as np
import pytest

from coterie.coordinator.demo import demo, population
from coterie.coordinator.demo.summary_page import find, write_summary
from coterie.jobs.data.release_file import read_release
from coterie.jobs.kinds.job_file import load_job
from tests.coordinator.support import coterie

NAMES = ["Sex", "Age", "Municipality", "Job", "Salary", "Spending", "Class"]
EARN, SPEND = (0, 30, 40, 1000), (0, 8, 12, 1000)


def played(folder, people):
    """The demo's job in one process, and its page."""
    demo.prepare(folder, people, 7, "integrate", demo.Setting.local())
    job = folder / "analyst" / "job.yaml"
    assert coterie("simulate", job, "--out", folder / "result").code == 0
    result = json.loads((folder / "result" / "result.json").read_text())
    return write_summary(folder, load_job(job), result).read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("summary")
    played(folder, 5000)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "summary.html").read_text()


def part(value, low, high):
    """The part of a released value in [low, high), by hand."""
    numbers = [Fraction(n) for n in re.findall(r"-?\d+(?:\.\d+)?", value)]
    start, end = numbers if len(numbers) == 2 else (numbers[0], numbers[0] + 1)
    return max(min(end, high) - max(start, low), Fraction(0)) / (end - start)


def test_the_grid_is_that_of_a_plain_count_of_the_release(folder):
    release = folder / "result" / "release.csv"
    with release.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = find(read_release(release, NAMES, "the job"))
    for i in range(3):
        for j in range(3):
            weights = [
                part(r["Salary"], *EARN[i : i + 2]) * part(r["Spending"], *SPEND[j : j + 2])
                for r in rows
            ]
            behind = sum(w for w, r in zip(weights, rows, strict=True) if r["Class"] == "behind")
            assert found.both[i][j].people == pytest.approx(float(sum(weights)))
            assert found.both[i][j].share == pytest.approx(float(behind / sum(weights)))
    assert found.all.share == pytest.approx(np.mean([r["Class"] == "behind" for r in rows]))


def test_the_exact_rows_which_only_the_demo_has_say_the_same_and_more_sharply(folder):
    people = population.generate(5000, 7)
    common = np.logical_and.reduce(list(people.known.values()))
    columns = {name: values[common] for name, values in people.columns.items()}
    behind = columns["Class"] == "behind"
    poor_lavish = behind[(columns["Salary"] < 30) & (columns["Spending"] >= 12)].mean()
    rich_thrifty = behind[(columns["Salary"] >= 40) & (columns["Spending"] < 8)].mean()
    found = find(read_release(folder / "result" / "release.csv", NAMES, "the job"))
    high, low = found.corners
    assert high / low > 4
    assert poor_lavish > high > low > rich_thrifty
    for alone in (found.salary, found.spending):
        shares = [rate.share for rate in alone]
        assert max(shares) / min(shares) < 2.5


def test_the_figures_on_the_page_are_those_of_the_result(folder, page):
    result = json.loads((folder / "result" / "result.json").read_text())
    text = re.sub(r"<[^>]+>", " ", page)
    assert f"{result['records']:,} people" in text
    for name, share in result["detail"].items():
        assert re.search(rf"{name}\s+(lender|bank|card company)\s+{share:.0%}", text)
        assert share > 0.5
    assert f"1 in {result['anonymity'][0]['smallest']}" in text
    assert not result["risk"]["below"]["10"]
    assert "The people are invented" in text


def test_too_few_people_are_said_and_nothing_is_claimed(tmp_path):
    page = played(tmp_path, 120)
    assert "Too few people are left" in page
    assert "times as often" not in page
