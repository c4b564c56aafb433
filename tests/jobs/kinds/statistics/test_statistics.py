"""Counts, trees and nets as jobs: what they answer, and what they refuse before they start."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import CoterieError, DataError, UsageError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.registry import KINDS
from tests.jobs.kinds.statistics.mixed_tables import write_mixed
from tests.protocols.statistics.plain_models import id3, k2

N = 300
SEED = 28  # whose best splits are better than the next by more than the bound


def write(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def people(seed=1):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], N)
    job = rng.choice(["A", "B", "C"], N, p=[0.5, 0.48, 0.02])
    age = rng.integers(18, 80, N)
    late = np.where(rng.random(N) < 0.8, np.where(sex == "F", "0", "1"), "0")
    label = np.where((job == "A") & (age < 50) | (rng.random(N) < 0.1), "Y", "N")
    return {
        "ID": [f"p{i}" for i in range(N)], "Sex": sex.tolist(), "Job": job.tolist(),
        "Age": age.tolist(), "Late": late.tolist(), "Class": label.tolist(),
    }  # fmt: skip


VERTICAL = {"lender": ["ID", "Sex", "Class"], "bank": ["ID", "Job", "Age"], "card": ["ID", "Late"]}
ATTRIBUTES = """
attributes:
  Sex: {party: lender}
  Job: {party: bank, values: [A, B, C]}
  Age: {party: bank, cuts: [30, 50]}
  Late: {party: card}
"""


def age_group(age):
    return "<30" if age < 30 else "[30, 50)" if age < 50 else ">=50"


def rows_of(table):
    keep = [name for name in table if name != "ID"]
    rows = [
        dict(zip(keep, row, strict=True)) for row in zip(*(table[n] for n in keep), strict=True)
    ]
    return [{**row, "Age": age_group(row["Age"])} for row in rows]


def vertical_job(folder, kind, keys, table=None, attributes=ATTRIBUTES):
    table = table or people()
    for party, names in VERTICAL.items():
        order = np.random.default_rng(len(party)).permutation(N)
        write(folder / f"{party}.csv", {n: [table[n][i] for i in order] for n in names})
    parties = "\n".join(f"  {party}: {{data: {party}.csv}}" for party in VERTICAL)
    path = folder / "job.yaml"
    path.write_text(
        f"kind: {kind}\nname: test\nparties:\n{parties}\nid: ID\nclass: Class\n{attributes}\n{keys}\n"
    )
    return path


def horizontal_job(folder, kind, keys, table):
    parts = np.array_split(np.arange(N), 3)
    for party, part in zip(VERTICAL, parts, strict=True):
        names = [name for name in table if name != "ID"]
        write(folder / f"{party}.csv", {n: [table[n][i] for i in part] for n in names})
    parties = "\n".join(f"  {party}: {{data: {party}.csv}}" for party in VERTICAL)
    path = folder / "job.yaml"
    path.write_text(
        f"kind: {kind}\nname: test\npartition: horizontal\nparties:\n{parties}\nclass: Class\n"
        "attributes:\n  Sex: {values: [F, M]}\n  Job: {values: [A, B, C]}\n"
        f"  Age: {{cuts: [30, 50]}}\n  Late: {{values: ['0', '1']}}\n{keys}\n"
    )
    return path


def mixed_job(folder, kind, keys, table):
    attributes = (
        "attributes:\n  Sex: {values: [F, M]}\n  Job: {values: [A, B, C]}\n"
        "  Age: {cuts: [30, 50]}\n  Late: {values: ['0', '1']}\n"
    )
    return write_mixed(
        folder, table, f"kind: {kind}\nclass: Class\n{keys}\n", attributes, whole=("Class",)
    )


def run(path):
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), path.parent, out, seed="7")


def check_table(table, rows, minimum):
    counts = Counter(tuple(row[name] for name in table["attributes"]) for row in rows)
    for *values, count in table["cells"]:
        if count is None:
            continue
        assert count == counts[tuple(values)]
        assert count >= minimum
    hidden = {tuple(values) for *values, count in table["cells"] if count is None}
    assert {key for key, count in counts.items() if 0 < count < minimum} <= hidden


@pytest.mark.parametrize("make", [vertical_job, horizontal_job, mixed_job])
def test_counts_are_the_counts_of_the_joined_table(tmp_path, make):
    table = people()
    result = run(
        make(
            tmp_path,
            "count",
            "tables: [[Sex, Job], [Job, Class], [Sex, Age, Late]]\nminimum: 5",
            table,
        )
    )
    assert result["records"] == N
    assert [t["attributes"] for t in result["tables"]] == [
        ["Sex", "Job"], ["Job", "Class"], ["Sex", "Age", "Late"],
    ]  # fmt: skip
    for found in result["tables"]:
        check_table(found, rows_of(table), 5)
    assert any(count is None for *_, count in result["tables"][0]["cells"])
    with (tmp_path / "out/tables/1-Sex-Job.csv").open() as file:
        assert next(csv.reader(file)) == ["Sex", "Job", "count"]


def visible(result):
    return {
        (at, *values): count
        for at, table in enumerate(result["tables"])
        for *values, count in table["cells"]
        if count is not None
    }


def test_empty_cells_look_like_small_ones_unless_zeros_are_shown(tmp_path):
    table = people()
    table["Job"] = ["B" if job == "C" else job for job in table["Job"]]
    table["Job"][5] = "C"  # one person, so that Job C is empty for one sex
    hidden = visible(run(vertical_job(tmp_path, "count", "tables: [[Sex, Job]]", table)))
    assert {job for _, _, job in hidden} <= {"A", "B"}
    assert 0 not in hidden.values()
    keys = "tables: [[Sex, Job]]\nzeros: show"
    shown = visible(run(vertical_job(tmp_path, "count", keys, table)))
    assert 1 not in shown.values()


def test_a_table_alone_is_decided_cell_by_cell_and_several_by_what_they_share(tmp_path):
    table = people()
    alone = visible(run(vertical_job(tmp_path, "count", "tables: [[Age, Late]]", table)))
    assert len(alone) == 6
    keys = "tables: [[Sex, Job], [Job, Age]]\nminimum: 3"
    together = visible(run(vertical_job(tmp_path, "count", keys, table)))
    # Job C has small cells, and one more job is hidden with it: in both tables the same.
    assert {job for at, _, job in together if at == 0} == {"B"}
    assert {job for at, job, _ in together if at == 1} == {"B"}


def test_where_nothing_could_be_hidden_the_job_is_refused(tmp_path):
    table = people()
    table["Late"] = ["0"] * N
    for kind, keys in (
        ("count", "tables: [[Sex, Late]]"),
        ("bayesnet", "order: [Sex, Late]\nparameters: true"),
    ):
        with pytest.raises(DataError, match="Late has one value only, so whoever knows"):
            run(vertical_job(tmp_path, kind, keys, table))


def test_counts_may_stay_shares(tmp_path):
    table = people()
    result = run(vertical_job(tmp_path, "count", "tables: [[Sex, Job]]\noutput: shares", table))
    assert result["tables"] == [{"attributes": ["Sex", "Job"]}]
    total = Counter()
    for party in ("lender", "bank"):
        with (tmp_path / "out/parties" / party / "table-1.csv").open() as file:
            _, *lines = csv.reader(file)
        for sex, job, share in lines:
            total[sex, job] = (total[sex, job] + int(share)) % 2**32
    assert total == Counter((row["Sex"], row["Job"]) for row in rows_of(table))
    assert not (tmp_path / "out/parties/card/table-1.csv").exists()


DOMAINS = {
    "Sex": ["F", "M"],
    "Job": ["A", "B", "C"],
    "Age": ["<30", "[30, 50)", ">=50"],
    "Late": ["0", "1"],
    "Class": ["N", "Y"],
}


def plain_id3(table, depth, minimum):
    gaps = []
    tree = id3(rows_of(table), DOMAINS, "Class", depth, minimum, gaps=gaps)
    return tree, min(gap / rows for gap, rows in gaps)


def without_parties(tree):
    return {
        key: {value: without_parties(branch) for value, branch in item.items()}
        if key == "branches"
        else item
        for key, item in tree.items()
        if key != "party"
    }


@pytest.mark.parametrize("make", [vertical_job, horizontal_job, mixed_job])
def test_an_open_tree_is_the_plain_tree(tmp_path, make):
    table = people(SEED)
    result = run(make(tmp_path, "tree", "open: true\nmax_depth: 2\nminimum: 40", table))
    expected, gap = plain_id3(table, 2, 40)
    assert gap > 4 * result["precision"]["logarithm_error"]  # so the answer must be the same
    assert without_parties(result["tree"]) == expected
    assert (tmp_path / "out/tree.svg").read_text().startswith("<svg")


def test_a_closed_tree_shows_numbers_that_only_the_owner_can_read(tmp_path):
    table = people(SEED)
    result = run(vertical_job(tmp_path, "tree", "max_depth: 2\nminimum: 40\npredict: card", table))
    meaning = {}
    for party in VERTICAL:
        with (tmp_path / "out/parties" / party / "branches.csv").open() as file:
            for row in csv.DictReader(file):
                meaning[row["attribute"], row["branch"]] = row["value"]
                assert row["attribute"] in VERTICAL[party]

    def read(tree):
        if "class" in tree:
            return tree
        name = tree["attribute"]
        branches = {meaning[name, number]: read(b) for number, b in tree["branches"].items()}
        return {"attribute": name, "branches": {v: branches[v] for v in DOMAINS[name]}}

    tree = read(result["tree"])
    assert tree == plain_id3(table, 2, 40)[0]
    text = json.dumps(result)
    assert "[30, 50)" not in text

    def walk(row, node):
        while "class" not in node:
            node = node["branches"][row[node["attribute"]]]
        return node["class"]

    by_id = dict(zip(table["ID"], rows_of(table), strict=True))
    with (tmp_path / "out/parties/card/predictions.csv").open() as file:
        predicted = {row["ID"]: row["predicted"] for row in csv.DictReader(file)}
    assert predicted == {name: walk(row, tree) for name, row in by_id.items()}
    assert not (tmp_path / "out/parties/bank/predictions.csv").exists()


def test_pruning_and_a_minimum_gain_make_smaller_trees(tmp_path):
    def leaves(tree):
        return 1 if "class" in tree else sum(map(leaves, tree["branches"].values()))

    sizes = []
    for number, keys in enumerate(["", "prune: true", "minimum_gain: 0.3"]):
        folder = tmp_path / str(number)
        folder.mkdir()
        sizes.append(
            leaves(run(vertical_job(folder, "tree", f"max_depth: 3\nminimum: 2\n{keys}"))["tree"])
        )
    assert sizes[1] < sizes[0]
    assert sizes[2] < sizes[0]


@pytest.mark.parametrize("make", [vertical_job, horizontal_job, mixed_job])
def test_a_net_is_the_plain_net(tmp_path, make):
    table = people(2)
    keys = "order: [Sex, Job, Age, Late, Class]\nmax_parents: 2\nparameters: true\nminimum: 6"
    result = run(make(tmp_path, "bayesnet", keys, table))
    gaps = []
    order = ["Sex", "Job", "Age", "Late", "Class"]
    assert result["edges"] == k2(rows_of(table), order, DOMAINS, 2, gaps)
    assert min(gaps) > 2 * (2 * N + 60) * result["precision"]["logarithm_error"]
    assert ["Sex", "Late"] in result["edges"]
    for found in result["tables"]:
        check_table(found, rows_of(table), 6)
    assert (tmp_path / "out/net.svg").exists()


BAD_JOBS = [
    ("count", "tables: []", "at least one table"),
    ("count", "tables: [[Sex, Nope]]", "one of Sex"),
    ("count", "tables: [[Sex, Sex]]", "different attributes"),
    ("count", "tables: [[Sex]]\nminimum: 0", "at least 1"),
    ("count", "tables: [[Sex]]\nservers: [lender, lender]", "two different parties"),
    ("count", "tables: [[Sex]]\nservers: [lender, nobody]", "one of lender"),
    ("count", "tables: [[Sex]]\noutput: all", "one of table, shares"),
    ("count", "tables: [[Sex]]\nzeros: some", "one of hide, show"),
    ("count", "tables: [[Sex], [Class]]", "class alone"),
    ("count", "tables: [[Sex]]\npartition: diagonal", "one of vertical"),
    ("tree", "max_depth: -1", "at least 0"),
    ("tree", "precision: best", "one of standard, high"),
    ("tree", "predict: nobody", "one of lender"),
    ("bayesnet", "order: [Sex]", "at least two"),
    ("bayesnet", "max_parents: many", "whole number"),
    ("tree", "minimun: 4", "did you mean 'minimum'"),
]


@pytest.mark.parametrize(("kind", "keys", "words"), BAD_JOBS)
def test_a_job_that_cannot_be_meant_names_key_and_line(tmp_path, kind, keys, words):
    path = vertical_job(tmp_path, kind, keys)
    with pytest.raises(UsageError, match=words) as caught:
        load_job(path)
    assert f"{path}:" in str(caught.value)


def test_domains_must_fit_the_data(tmp_path):
    table = people()
    table["Job"][7] = "Z"
    path = vertical_job(tmp_path, "count", "tables: [[Job]]", table)
    with pytest.raises(DataError, match=r"bank.csv: row \d+: column 'Job': 'Z' is not among"):
        run(path)


def test_numbers_must_be_numbers(tmp_path):
    table = people()
    table["Age"][7] = "old"
    path = vertical_job(tmp_path, "count", "tables: [[Age]]", table)
    with pytest.raises(DataError, match=r"row \d+: column 'Age': 'old' is not a number"):
        run(path)


def test_numbers_may_have_blanks_and_values_stay_with_their_holder(tmp_path):
    table = people()
    plain = rows_of(table)
    table["Age"] = [f" {age}" for age in table["Age"]]
    result = run(vertical_job(tmp_path, "count", "tables: [[Age]]", table))
    check_table(result["tables"][0], plain, 5)
    table["Sex"][3] = "x" * 300
    with pytest.raises(DataError, match="is too long") as caught:
        run(vertical_job(tmp_path, "count", "tables: [[Sex]]", table))
    assert "xxx" not in caught.value.message(rows=True)


def test_a_class_with_one_value_is_refused(tmp_path):
    table = people()
    table["Class"] = ["Y"] * N
    with pytest.raises(CoterieError, match="one value only"):
        run(vertical_job(tmp_path, "tree", "", table))


def test_tables_that_are_too_large_are_refused(tmp_path):
    cuts = f"[{', '.join(map(str, range(300)))}]"
    attributes = ATTRIBUTES.replace("[30, 50]", cuts).replace("values: [A, B, C]", f"cuts: {cuts}")
    with pytest.raises(UsageError, match="has 90601 cells, more than 65536"):
        load_job(vertical_job(tmp_path, "count", "tables: [[Job, Age]]", None, attributes))


def test_horizontal_jobs_have_no_identifiers_and_declared_domains(tmp_path):
    path = horizontal_job(tmp_path, "count", "tables: [[Sex]]\nid: ID", people())
    with pytest.raises(UsageError, match="records are not matched"):
        load_job(path)
    Path(path).write_text(path.read_text().replace("id: ID", "").replace("{values: [F, M]}", "{}"))
    with pytest.raises(UsageError, match="domain must be declared"):
        load_job(path)


def test_no_common_record_ends_the_job(tmp_path):
    path = vertical_job(tmp_path, "count", "tables: [[Sex]]")
    text = (tmp_path / "card.csv").read_text().replace("p", "q")
    (tmp_path / "card.csv").write_text(text)
    with pytest.raises(DataError, match="no common records"):
        run(path)


HORIZONTAL_KEYS = """
partition: horizontal
class: Class
attributes: {Sex: {values: [m, f]}}
tables: [[Sex, Class]]
"""
ASKED = """
kind: count
name: c
parties: {bank: {}, card: {}}
id: ID
attributes:
  ID: {party: bank}
  Age: {party: bank, cuts: [30]}
  Sex: {party: card, values: [m, f]}
tables: [[ID, Sex]]
"""


def test_values_that_are_told_to_all_must_be_permitted_to_leave():
    """Else a column that may only be used, the identifiers even, would be read by asking for counts."""
    job = parse_job(ASKED, {})
    assert KINDS["count"].needs(job, "bank").columns.released == ("ID",)
    assert KINDS["count"].needs(job, "card").columns.released == ()
    across = f"kind: count\nname: c\nparties: {{a: {{}}, b: {{}}}}\n{HORIZONTAL_KEYS}"
    job = parse_job(across, {})
    columns = KINDS["count"].needs(job, "a").columns
    assert (columns.label, columns.owes) == ("Class", True)


def test_an_identifier_may_be_an_attribute_of_another_party():
    job = parse_job(ASKED, {})
    table = pa.table({"ID": ["1", "2"], "Sex": ["m", "f"]})
    prepared = KINDS["count"].prepare(job, "card", table, "card.csv")
    assert set(prepared.codes) == {"Sex"}
