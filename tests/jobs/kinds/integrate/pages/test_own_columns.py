"""Each party of a joint release is left its own columns before and after, and nobody else's."""

import csv
import re
from collections import Counter
from html import unescape

import numpy as np
import pytest

from tests.coordinator.support import coterie

N = 120
JOB = """\
kind: integrate
name: before
parties:
  clinic: {data: clinic.csv}
  shop: {data: shop.csv}
id: ID
class: Class
attributes:
  Age: {party: clinic, range: [0, 100]}
  Ward: {party: clinic}
  "<b>Town": {party: shop, taxonomy: Town.csv}
requirement:
  - {qid: [Age, "<b>Town"], k: 10}
"""
TOWNS = {"Ulm": "South", "Trier": "South", "Kiel": "North", "Husum": "North"}


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A simulated job, the people, and its folder."""
    folder = tmp_path_factory.mktemp("before")
    rng = np.random.default_rng(4)
    ages = rng.integers(0, 100, N).tolist()
    towns = rng.choice(list(TOWNS), N).tolist()
    label = ["Y" if age > 50 else "N" for age in ages]
    wards = [f"ward {number}" for number in rng.integers(0, 5, N)]
    people = range(N)
    write(
        folder / "clinic.csv",
        [("ID", "Age", "Ward", "Class"), *zip(people, ages, wards, label, strict=True)],
    )
    write(folder / "shop.csv", [("ID", "<b>Town"), *zip(people, towns, strict=True)])
    (folder / "Town.csv").write_text("".join(f"{t};{s};Any\n" for t, s in TOWNS.items()))
    (folder / "job.yaml").write_text(JOB)
    done = coterie("simulate", folder / "job.yaml", "--out", folder / "out")
    assert done.code == 0, done.err
    return ages, towns, folder / "out"


def lines(page):
    """The cells of the tables of a page, as text."""
    body = page.split("<tbody>", 1)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    return [
        [unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.S)]
        for row in rows
    ]  # fmt: skip


def test_every_released_value_stands_beside_the_values_behind_it(result):
    ages, _, out = result
    rows = lines((out / "parties/clinic/columns.html").read_text())
    with (out / "release.csv").open() as file:
        released = Counter(row["Age"] for row in csv.DictReader(file))
    assert {row[0]: int(row[1]) for row in rows} == released
    assert len(released) > 1
    for shown, number, different, most in rows:
        low, high, end = re.fullmatch(r"\[(\d+), (\d+)([)\]])", shown).groups()
        inside = [a for a in ages if int(low) <= a and (a < int(high) or end == "]")]
        assert int(number) == len(inside)
        assert int(different) == len(set(inside))
        value, times = re.match(r"(\d+) \((\d+)\)", most).groups()
        assert Counter(inside)[int(value)] == int(times) == max(Counter(inside).values())


def test_a_party_has_its_own_columns_and_not_those_of_others(result):
    _, towns, out = result
    clinic = (out / "parties/clinic/columns.html").read_text()
    shop = (out / "parties/shop/columns.html").read_text()
    assert "Town" not in clinic
    assert not any(town in clinic for town in towns)
    assert "Ward" in clinic
    assert "released exactly as your table has it" in clinic
    assert "Age" not in shop
    assert "Ward" not in shop
    assert sum(int(row[1]) for row in lines(shop)) == N


def test_nobody_but_the_party_may_read_the_page_and_names_are_text(result):
    *_, out = result
    page = out / "parties/shop/columns.html"
    assert page.stat().st_mode & 0o077 == 0
    assert "<b>Town" not in page.read_text()
    assert "&lt;b&gt;Town" in page.read_text()
    for told in ("report.html", "public.html", "result.json"):
        assert "columns.html" not in (out / told).read_text()
