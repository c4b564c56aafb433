"""Entries `[{qid: [A]}, {qid: [B]}]` meet every k while the joined line is unique.

A coordinator who wants lines of single people asks for many small entries. The judge counts the rows
of the release that no other row equals in the columns of all entries; no page and no command may call
such a release safe, and each says how many these rows are.
"""

import csv
import random
from collections import Counter

import pytest

from coterie.base.text import numbered
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.policy import Policy, asks_about_together
from tests.coordinator.support import coterie
from tests.jobs.pages.reading import Reading

JOB = """\
kind: integrate
name: lines
parties: {bank: {data: bank.csv}, lender: {data: lender.csv}}
id: ID
score: discernibility
attributes:
  A: {party: bank, flat: true}
  B: {party: lender, flat: true}
requirement:
"""
TABLE = """\
data: people.csv
attributes: {A: {flat: true}, B: {flat: true}}
requirement:
"""
APART = "  - {qid: [A], k: 5}\n  - {qid: [B], k: 5}\n"
WHOLE = "  - {qid: [A, B], k: 5}\n"
PEOPLE = 120


def people():
    """Everybody shares A with others and B with others, and most have a pair of their own."""
    draw = random.Random(8)
    pairs = [(f"a{i % 12}", f"b{i // 10}") for i in range(PEOPLE)]
    draw.shuffle(pairs)
    return [(f"p{i}", a, b) for i, (a, b) in enumerate(pairs)]


def written(path, names, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture
def results(tmp_path):
    """Result folder and printed lines of a job, or of one table, with a requirement."""
    rows = people()
    written(tmp_path / "people.csv", ["A", "B"], [row[1:] for row in rows])
    written(tmp_path / "bank.csv", ["ID", "A"], [(i, a) for i, a, _ in rows])
    written(tmp_path / "lender.csv", ["ID", "B"], [(i, b) for i, _, b in rows])

    def made(command, requirement):
        path = tmp_path / f"{command}.yaml"
        path.write_text((JOB if command == "simulate" else TABLE) + requirement)
        done = coterie(command, path, "--out", tmp_path / "out", "--force")
        assert done.code == 0, done.err
        return tmp_path / "out", done

    return made


def judged(out):
    """The rows that no other row equals, and the fewest equal rows, by counting."""
    with (out / "release.csv").open(newline="") as file:
        sizes = Counter(map(tuple, list(csv.reader(file))[1:])).values()
    return sum(size == 1 for size in sizes), min(sizes)


@pytest.mark.parametrize("command", ["simulate", "anonymise"])
def test_nothing_calls_unique_lines_safe(results, command):
    out, done = results(command, APART)
    uniques, smallest = judged(out)
    assert uniques > PEOPLE / 2  # the choice works, and must be seen
    found = coterie("verify", out, "--json").json
    assert found["together"] == {"columns": ["A", "B"], "smallest": smallest, "uniques": uniques}
    sentence = (
        f"protection from someone who knows all of A, B at once: {uniques} of "
        f"{numbered(found['records'], 'record')} are unique in these columns"
    )
    assert found["not_promised"][0].startswith(sentence)
    assert f"not promised: {sentence}" in coterie("verify", out).out
    assert f"not promised: {sentence}" in done.out
    for name in ("report.html", "public.html"):
        page = (out / name).read_text(encoding="utf-8")
        assert 'class="verdict partly"' in page
        assert "The promise holds" not in page
        words = Reading(page).words
        assert "Each of the 2 entries holds, but not all columns together" in words
        assert f"Not promised: {sentence}" in words
        assert words.index("Not promised") < words.index("The files of this result were checked")
        assert "all of these columns at once (not covered by the promise)" in words


@pytest.mark.parametrize("command", ["simulate", "anonymise"])
def test_one_entry_with_all_columns_is_a_promise(results, command):
    out, done = results(command, WHOLE)
    assert judged(out)[1] >= 5
    assert "not promised" not in done.out
    found = coterie("verify", out, "--json").json
    assert found["not_promised"] == []
    assert "together" not in found
    page = (out / "report.html").read_text(encoding="utf-8")
    assert 'class="verdict holds"' in page
    assert "which no line promises" not in page


def test_the_analyst_is_warned_with_the_line_to_write(results, tmp_path):
    _, done = results("simulate", APART)
    assert "{qid: [A, B], k: 5}" in done.err
    results("anonymise", APART)
    advised = coterie("advise", tmp_path / "anonymise.yaml", "--json")
    assert any("none of the 2 entries has all columns" in w for w in advised.json["warnings"])
    few = coterie("advise", tmp_path / "people.csv", "--known", "1", "--alpha", "0.01", "--json")
    proposed = few.json["requirement"]
    assert (len(proposed) > 1) == any("has all columns" in w for w in few.json["warnings"])


def test_the_steward_is_told_and_asked(results, tmp_path):
    for requirement, expected in ((APART, True), (WHOLE, False)):
        results("simulate", requirement)
        job = load_job(tmp_path / "simulate.yaml")
        kind = KINDS["integrate"]
        needs = kind.needs(job, "bank")
        told = "\n".join(kind.told_of(job, "bank"))
        assert ("rows that may be of one person alone" in told) is expected
        assert asks_about_together(Policy(), needs) is expected
        assert asks_about_together(Policy(together="allow"), needs) is False
