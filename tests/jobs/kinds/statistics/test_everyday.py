"""Everyday data in counts, trees and nets: missing values, dates as cuts, other spellings."""

import csv
from collections import Counter

import pytest

from coterie.base.errors import DataError, UsageError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.pages.markup import element
from coterie.jobs.results.folder import summary
from tests.jobs.kinds.statistics.test_statistics import (
    ATTRIBUTES,
    N,
    horizontal_job,
    people,
    rows_of,
    vertical_job,
    write,
)

MISSING = """
attributes:
  Sex: {party: lender, values: [F, M], missing: value}
  Job: {party: bank, flat: true, missing: value}
  Age: {party: bank, cuts: [30, 50], missing: value}
  Late: {party: card}
"""
TABLES = "tables: [[Sex, Age], [Job, Late]]\nminimum: 1"


def with_gaps():
    table = people()
    for name, start, gap in (("Sex", 0, ""), ("Job", 20, "?"), ("Age", 40, "")):
        for row in range(start, start + 30):
            table[name][row] = gap
    return table


def counted(folder, path):
    out = folder / "out"
    out.mkdir()
    result = simulate(load_job(path), folder, out)
    assert verify(out)["verdict"].startswith("holds")
    cells = []
    for number in range(2):
        with (
            out / "tables" / sorted(p.name for p in (out / "tables").iterdir())[number]
        ).open() as f:
            cells.append({tuple(row[:-1]): int(row[-1]) for row in list(csv.reader(f))[1:]})
    return result, cells


def group(age):
    return "?" if age == "" else "<30" if age < 30 else "[30, 50)" if age < 50 else ">=50"


def test_missing_values_are_counted_as_a_value_of_their_own(tmp_path):
    table = with_gaps()
    result, (first, second) = counted(
        tmp_path, vertical_job(tmp_path, "count", TABLES, table, MISSING)
    )
    assert result["records"] == N
    plain = Counter(
        (sex or "?", group(age)) for sex, age in zip(table["Sex"], table["Age"], strict=True)
    )
    assert {k: v for k, v in first.items() if v} == dict(plain)
    plain = Counter(zip(table["Job"], table["Late"], strict=True))
    assert {k: v for k, v in second.items() if v} == dict(plain)


def test_rows_with_missing_values_take_no_part_if_the_job_says_so(tmp_path):
    table = with_gaps()
    keys = f"{TABLES}\nmissing: drop"
    attributes = MISSING.replace(", missing: value", "")
    result, _ = counted(tmp_path, vertical_job(tmp_path, "count", keys, table, attributes))
    assert result["records"] == N - 70
    kept = tmp_path / "out" / "parties"
    assert len((kept / "bank" / "dropped.csv").read_text().splitlines()) == 51
    assert not (kept / "card" / "dropped.csv").exists()


@pytest.mark.parametrize(("kind", "keys"), [("tree", "minimum: 5"), ("bayesnet", "max_parents: 1")])
def test_trees_and_nets_take_missing_values_too(tmp_path, kind, keys):
    path = vertical_job(tmp_path, kind, keys, with_gaps(), MISSING)
    (tmp_path / "out").mkdir()
    assert simulate(load_job(path), tmp_path, tmp_path / "out")["records"] == N
    assert verify(tmp_path / "out")["verdict"].startswith("holds")


def test_missing_values_are_an_error_that_counts_them(tmp_path):
    path = vertical_job(tmp_path, "count", TABLES, with_gaps())
    with pytest.raises(
        DataError, match=r"column 'Sex' has no value \(30 of 300 rows are empty\)"
    ) as e:
        counted(tmp_path, path)
    told = e.value.message(rows=False).replace(str(tmp_path), "")  # the folder's name has numbers
    assert "30" not in told


def test_a_question_mark_in_a_domain_that_nobody_declares_is_a_value_as_before(tmp_path):
    table = people()
    table["Sex"][:30] = ["?"] * 30
    _, (first, _) = counted(tmp_path, vertical_job(tmp_path, "count", TABLES, table))
    assert sum(value for (sex, _), value in first.items() if sex == "?") == 30


def test_with_horizontal_partition_every_party_knows_the_value_for_missing_ones(tmp_path):
    table = people()
    for row in (0, 100, 200):
        table["Age"][row] = ""
    path = horizontal_job(tmp_path, "count", TABLES + "\nmissing: value", table)
    _, (first, _) = counted(tmp_path, path)
    assert sum(value for (_, age), value in first.items() if age == "?") == 3


def test_cuts_may_be_dates_in_the_form_of_the_source(tmp_path):
    table = people()
    table["Age"] = [f"0{1 + i % 9}.06.{1950 + i % 50}" for i in range(N)]
    attributes = """
attributes:
  Sex: {party: lender}
  Job: {party: bank, values: [A, B, C]}
  Age: {party: bank, cuts: [1970-06-05, 1990-01-01]}
  Late: {party: card}
"""
    path = vertical_job(tmp_path, "count", TABLES, table, attributes)
    text = path.read_text().replace(
        "{data: bank.csv}", '{data: {csv: bank.csv, dates: "%d.%m.%Y"}}'
    )
    path.write_text(text)
    _, (first, _) = counted(tmp_path, path)
    found = Counter()
    for (_, born), value in first.items():
        found[born] += value
    days = [(int(t[6:]), 6, int(t[:2])) for t in table["Age"]]
    assert found == {
        "<1970-06-05": sum(day < (1970, 6, 5) for day in days),
        "[1970-06-05, 1990-01-01)": sum((1970, 6, 5) <= day < (1990, 1, 1) for day in days),
        ">=1990-01-01": sum(day >= (1990, 1, 1) for day in days),
    }


def test_a_type_without_cuts_is_refused(tmp_path):
    path = vertical_job(
        tmp_path, "count", TABLES, None, MISSING.replace("flat: true", "type: date")
    )
    with pytest.raises(UsageError, match="'type' is only for 'cuts'"):
        load_job(path)
    write(tmp_path / "x.csv", {"a": ["1"]})


def shown(folder, keys, table=None):
    path = vertical_job(folder, "tree", keys, table or people())
    (folder / "out").mkdir()
    job = load_job(path)
    result = simulate(job, folder, folder / "out")
    assert verify(folder / "out")["verdict"].startswith("holds")
    return result, summary(job, result, folder / "out")


def leaves(tree, path=()):
    if "class" in tree:
        return [(path, tree["class"])]
    return [
        leaf
        for value, branch in tree["branches"].items()
        for leaf in leaves(branch, (*path, (tree["attribute"], value)))
    ]


def test_a_tree_shows_the_records_of_its_leaves_and_how_often_it_is_right(tmp_path):
    table = people()
    for row in range(N):  # no value so rare that a part of a leaf would be small
        table["Job"][row] = "AB"[row % 2] if table["Job"][row] == "C" else table["Job"][row]
    attributes = ATTRIBUTES.replace("[A, B, C]", "[A, B]")
    keys = "max_depth: 1\nminimum: 3\nopen: true\nshow: [records, accuracy]"
    path = vertical_job(tmp_path, "tree", keys, table, attributes)
    (tmp_path / "out").mkdir()
    job = load_job(path)
    result = simulate(job, tmp_path, tmp_path / "out")
    rows = rows_of(table)
    fits = [
        [row for row in rows if all(row[name] == value for name, value in path)]
        for path, _ in leaves(result["tree"])
    ]
    assert result["shown"]["records"] == [len(part) for part in fits]
    right = sum(
        row["Class"] == label
        for part, (_, label) in zip(fits, leaves(result["tree"]), strict=True)
        for row in part
    )
    most = Counter(row["Class"] for row in rows).most_common(1)[0][1]
    assert result["shown"]["accuracy"] == {"tree": right / N, "most_frequent_class": most / N}
    lines = summary(job, result, tmp_path / "out")
    told = (
        f"the tree is right for {right / N:.1%} of these records; whoever always answers the most "
        f"frequent class is right for {most / N:.1%}"
    )
    assert f"  {told}" in lines
    [part] = KINDS["tree"].report(job, Claim(result), tmp_path / "out")
    for content in (part.content, part.instead):
        assert f"T{told[1:]}." in str(element("div", *content))
    assert verify(tmp_path / "out")["verdict"].startswith("holds")


def test_a_tree_with_small_parts_says_that_they_stay_hidden(tmp_path):
    result, lines = shown(tmp_path, "max_depth: 3\nminimum: 5\nshow: [records]")
    assert result["shown"] == {"records": None}
    assert any(line.startswith("  records of the leaves stay hidden: from them") for line in lines)


def test_a_tree_tells_no_more_than_before_unless_the_job_asks(tmp_path):
    result, _ = shown(tmp_path, "max_depth: 1\nminimum: 5")
    assert "shown" not in result
    names = {entry["what"] for entry in result["opened"]}
    assert not names & {"tree: leaves are large enough", "tree: records of leaves"}


def test_where_no_count_is_small_a_leaf_may_have_no_record(tmp_path):
    table = people()
    table["Job"] = ["AB"[row % 2] for row in range(N)]
    table["Class"] = ["yes" if job == "A" else "no" for job in table["Job"]]
    result, _ = shown(tmp_path, "max_depth: 1\nminimum: 1\nshow: [records, accuracy]", table)
    assert sorted(result["shown"]["records"]) == [0, N // 2, N - N // 2]


def test_records_of_leaves_are_not_shown_of_horizontal_tables(tmp_path):
    path = horizontal_job(tmp_path, "tree", "show: [records]", people())
    with pytest.raises(UsageError, match="a party could take off the records that it knows"):
        load_job(path)
