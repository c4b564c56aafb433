"""The parts of a report on a release say what plain counting says."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.anonymity.models.audit import Released
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.scales import DATE, NUMBER
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.jobs.pages.markup import element
from coterie.jobs.pages.page import Opinion, page
from coterie.jobs.pages.release import Release, _by_size, read_release, release_parts
from tests.jobs.pages.reading import Reading

JOBS = taxonomy_of([["Nurse", "Care", "Any"], ["Doctor", "Care", "Any"], ["Cook", "Any"]])
ROWS = (
    [("Care", "[0, 10)", "x")] * 3
    + [("Cook", "[10, 40]", "y")] * 2
    + [("Care", "[10, 40]", "y")] * 4
)


def attribute(name, taxonomy=None, limits=None, in_qid=True, scale=NUMBER):
    return SimpleNamespace(name=name, taxonomy=taxonomy, limits=limits, in_qid=in_qid, scale=scale)


ATTRIBUTES = [
    attribute("Job", JOBS), attribute("Age", limits=(0.0, 40.0)), attribute("Late", in_qid=False),
]  # fmt: skip


@pytest.fixture
def release():
    columns = {}
    for at, name in enumerate(("Job", "Age", "Late")):
        values = sorted({row[at] for row in ROWS})
        columns[name] = Released(np.array([values.index(row[at]) for row in ROWS]), tuple(values))
    return Release(columns, ATTRIBUTES, [Requirement(("Job", "Age"), 2)], None, 1)


def words(part):
    return Reading(str(element("div", *part.content))).words


def test_the_promise_names_the_smallest_group_and_what_it_does_not_cover(release):
    promise, _, _ = release_parts(release)
    groups = Counter((job, age) for job, age, _ in ROWS)
    assert f"Job , Age 2 {min(groups.values())} {len(groups)}" in words(promise)
    assert "Someone who knows them about a person may find that person: Late" in words(promise)
    assert "Left out: 1 of 10 records (10.00%)" in words(promise)


def test_risk_is_that_of_the_smallest_and_of_the_mean_group(release):
    _, risk, _ = release_parts(release)
    assert "50.00% 50.00% 33.33%" in words(risk)  # smallest group 2; 3 groups of 9 records


def test_the_risk_of_all_lines_together_is_told_where_there_are_several(release):
    requirements = [Requirement(("Job",), 2), Requirement(("Age", "Late"), 2)]
    _, risk, _ = release_parts(replace(release, requirements=requirements))
    groups = Counter(ROWS)
    together = f"{1 / min(groups.values()):.2%} {len(groups) / len(ROWS):.2%}"
    worst, mean = together.split()
    assert f"all of these columns at once (not covered by the promise) {worst} {worst} {mean}" in words(risk)  # fmt: skip
    _, alone, _ = release_parts(release)
    assert "together" not in words(alone)


def test_who_knows_a_column_is_counted_by_the_groups_of_that_column(release):
    _, risk, _ = release_parts(release)
    hit = np.mean([len({row[at] for row in ROWS}) / 9 for at in range(3)])
    assert f"1 3 of 3 {hit:.2%}" in words(risk)


def test_detail_kept_is_one_less_the_mean_width_and_none_of_a_record_that_is_left_out(release):
    *_, detail = release_parts(release)
    job = 1 - np.mean([0.5 if row[0] == "Care" else 0 for row in ROWS] + [1])
    age = 1 - np.mean([0.25 if row[1] == "[0, 10)" else 0.75 for row in ROWS] + [1])
    assert f"Job {job:.0%} Age {age:.0%}" in words(detail)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (("[2000-01-01, 2000-01-11)", "[2000-01-11, 2000-01-21]"), 0.5),
        (("2000-01-01", "*"), 0.5),  # a flat column whose values look like dates
    ],
)
def test_the_detail_of_dates_is_that_of_their_intervals(values, shown):
    born = Released(np.array([0, 0, 1, 1]), values)
    release = Release(
        {"Born": born}, [attribute("Born", scale=DATE)], [Requirement(("Born",), 2)], None, 0
    )
    *_, detail = release_parts(release)
    assert f"Born {shown:.0%}" in words(detail)
    *_, told = release_parts(replace(release, detail={"Born": 0.34}))
    assert "Born 34%" in words(told)


def test_the_cut_is_framed_in_the_taxonomy_and_nothing_below_it_is_drawn(release):
    *_, detail = release_parts(release)
    assert "Any Care 2 values, 77.8% of the records Cook 22.2% of the records" in words(detail)
    assert "Nurse" not in words(detail)


def test_columns_that_say_nothing_are_named(release):
    top = Release(
        {"Job": Released(np.zeros(4, np.int64), ("Any",))}, ATTRIBUTES[:1],
        [Requirement(("Job",), 2)], None, 0,
    )  # fmt: skip
    *_, detail = release_parts(top)
    assert "Fully generalised, of no use for an analysis: Job" in words(detail)


def test_parts_of_a_release_may_be_public(release):
    assert all(part.public for part in release_parts(release))


def test_an_empty_release_is_said_to_be_empty(tmp_path):
    (tmp_path / "release.csv").write_text("Job\n")
    empty = read_release(
        tmp_path / "release.csv", ATTRIBUTES[:1], [Requirement(("Job",), 2)], None, 5
    )
    assert [words(part) for part in release_parts(empty)] == ["The release has no records."]


LEAVES = taxonomy_of([[f"leaf {n} of many", f"branch {n // 20}", "Any"] for n in range(400)])


@pytest.fixture
def wide():
    """500 columns with long names, of 400 leaves or 300 intervals each, and 200 lines of a promise."""
    rng = np.random.default_rng(1)
    edges = [f"[{n}, {n + 1})" for n in range(300)]
    attributes, columns = [], {}
    for at in range(500):
        name = f"{'a very long name of a column ' * 3}{at}"
        leaves = at % 2 == 0
        attributes.append(
            attribute(name, LEAVES if leaves else None, None if leaves else (0.0, 300.0))
        )
        values = [f"leaf {n} of many" for n in range(400)] if leaves else edges
        columns[name] = Released(rng.integers(0, len(values), 900), tuple(values))
    names = list(columns)
    promise = [Requirement(tuple(names), 1)]
    promise += [Requirement((names[at], names[at + 1]), 1) for at in range(199)]
    return Release(columns, attributes, promise, None, 0)  # fmt: skip


def test_the_page_of_a_release_of_500_columns_weighs_less_than_3_megabytes(wide):
    whole = page("Report", [], Opinion("holds", "Holds", []), release_parts(wide))
    assert len(whole.encode()) < 3_000_000
    told = Reading(whole).words
    assert "and 480 more" in told  # columns of the first line
    assert "150 more lines of the promise are in result.json." in told
    assert "The 60 columns that have lost most are drawn." in told
    assert "460 more columns are not drawn." in told


def test_a_taxonomy_with_too_many_leaves_is_drawn_from_above(wide):
    few = Release(wide.columns, wide.attributes[:1], wide.requirements[:1], None, 0)
    *_, detail = release_parts(few)
    drawn = words(detail)
    assert "branch 0" in drawn
    assert "branch 19" in drawn
    assert "leaf 399 of many" not in drawn
    assert "The rest of the taxonomy is not drawn." in drawn


@pytest.mark.parametrize(
    ("sizes", "classes"),
    [
        ([1, 3, 7], [("1", 1), ("2–4", 3), ("5–9", 7)]),
        ([700, 1500], [("500–999", 700), ("1k–2k", 1500)]),
        ([3, 2_000_000], ["1–9", "10–99", "100–999", "1k–10k", "10k–100k", "100k–1M", "1M–10M"]),
    ],
)
def test_groups_are_counted_in_classes_of_sizes_that_everybody_reads(sizes, classes):
    found = _by_size(np.array(sizes))
    assert (found if isinstance(classes[0], tuple) else [name for name, _ in found]) == classes
    assert sum(records for _, records in found) == sum(sizes)
