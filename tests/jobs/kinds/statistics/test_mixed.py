"""Tables whose cells are divided arbitrarily: refused unless each cell lies at exactly one party.

That counts, trees and nets are those of the joined table is tested in test_statistics.py.
"""

import csv

import numpy as np
import pytest

from coterie.base.errors import DataError, UsageError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.kinds.aggregate.samples import BASIC, BASIC_SQL, check
from tests.jobs.kinds.aggregate.samples import people as paid_people
from tests.jobs.kinds.statistics.mixed_tables import PARTIES, write_mixed

SEX_JOB = "attributes:\n  Sex: {values: [F, M]}\n  Job: {values: [A, B]}\n"
COUNT = "kind: count\ntables: [[Sex, Job]]\nminimum: 1\n"
PAID = """attributes:
  Sex: {values: [F, M]}
  Pay: {range: [0, 5000], decimals: 2}
  Job: {values: [A, B, C, D]}
  Age: {range: [18, 90]}
  Late: {values: ['0', '1']}
  Debt: {range: [-100, 900.5]}
"""


def people(records=40):
    rng = np.random.default_rng(3)
    return {
        "ID": [f"p{i}" for i in range(records)],
        "Sex": rng.choice(["F", "M"], records),
        "Job": rng.choice(["A", "B"], records),
    }


def run(path):
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), path.parent, out, seed="7")


def held_by(*holders):
    """Lets these parties hold one cell of the column Job, and nobody else."""

    def spoil(cells):
        cells["Job"][:, 17] = [at in holders for at in range(len(cells["Job"]))]

    return spoil


@pytest.mark.parametrize("holders", [(), (0, 2), (0, 1, 2)])
def test_a_cell_of_two_parties_or_of_none_is_found_and_its_column_named(tmp_path, holders):
    path = write_mixed(tmp_path, people(), COUNT, SEX_JOB, spoil=held_by(*holders))
    with pytest.raises(DataError, match=r"column 'Job': .*at two parties or at none") as caught:
        run(path)
    assert "Sex" not in str(caught.value)
    assert not any(party in str(caught.value) for party in PARTIES)


def test_two_wrongs_in_one_column_do_not_make_a_right(tmp_path):
    def spoil(cells):
        cells["Job"][:, 3] = False
        cells["Job"][:, 4] = [True, True, False]

    with pytest.raises(DataError, match="'Job'"):
        run(write_mixed(tmp_path, people(), COUNT, SEX_JOB, spoil=spoil))


def test_cells_of_people_who_are_not_common_do_not_matter(tmp_path):
    table = people()
    result = run(write_mixed(tmp_path, table, COUNT, SEX_JOB, parties=PARTIES[:2]))
    counts = {tuple(values): count for *values, count in result["tables"][0]["cells"]}
    for (sex, job), count in counts.items():
        assert count == ((table["Sex"] == sex) & (table["Job"] == job)).sum()
    assert verify(tmp_path / "out")["records"] == 40


@pytest.mark.parametrize("keys", [BASIC, f"{BASIC}minimum: 1\nround: 10\n".replace("", "")])
def test_sums_are_those_of_duckdb_on_the_joined_table(tmp_path, keys):
    table = paid_people(records=120)
    path = write_mixed(tmp_path, table, f"kind: aggregate\nby: [Sex]\n{BASIC}", PAID)
    assert check(run(path), table, ("Sex",), BASIC_SQL) == 2


def test_sums_of_mixed_cells_may_have_noise(tmp_path):
    table = paid_people(records=120)
    keys = (
        "kind: aggregate\nby: [Sex]\nmeasures: [{count: true}, {mean: Age}]\nnoise: {epsilon: 20}\n"
    )
    for group in run(write_mixed(tmp_path, table, keys, PAID))["groups"]:
        ages = table["Age"][table["Sex"] == group["by"][0]]
        assert abs(group["measures"][0] - len(ages)) < 10
        assert group["measures"][1] == pytest.approx(ages.mean(), abs=8)


def test_predictions_follow_the_tree_without_showing_whose_cells_decide(tmp_path):
    table = people(60)
    table["Class"] = np.where(table["Job"] == "A", "Y", "N")
    keys = "kind: tree\nclass: Class\nmax_depth: 1\nminimum: 5\npredict: card\n"
    run(write_mixed(tmp_path, table, keys, SEX_JOB, whole=("Class",)))
    with (tmp_path / "out/parties/card/predictions.csv").open() as file:
        found = {row["ID"]: row["predicted"] for row in csv.DictReader(file)}
    assert found == dict(zip(table["ID"], table["Class"], strict=True))


@pytest.mark.parametrize(
    ("keys", "attributes", "said"),
    [
        (COUNT, SEX_JOB.replace("Sex: {", "Sex: {party: lender, "), "unknown key"),
        (COUNT, SEX_JOB.replace("values: [A, B]", "flat: true"), "'partition: mixed' a domain"),
        (COUNT + "missing: drop\n", SEX_JOB, "empty cell is at another party"),
        (COUNT, SEX_JOB.replace("[A, B]", "[A, B], missing: value"), "empty cell is at another"),
        ("kind: tree\nclass: Class\nshow: [records]\n", SEX_JOB, "take off the records"),
        ("kind: rules\nsupport: 0.1\nconfidence: 0.5\n", SEX_JOB, "one of vertical, horizontal"),
        ("kind: aggregate\nmeasures: [{quantile: [Age, 0.5]}]\n", PAID, "not offered with"),
        ("kind: aggregate\nmeasures: [{sum: Pay}]\ndominance: 0.5\n", PAID, "not offered with"),
    ],
)
def test_keys_that_have_no_meaning_are_refused(tmp_path, keys, attributes, said):
    with pytest.raises(UsageError, match=said):
        load_job(write_mixed(tmp_path, paid_people(records=9), keys, attributes))


def test_a_value_outside_the_domain_is_named_with_its_row(tmp_path):
    table = people()
    table["Job"] = np.where(np.arange(40) == 5, "Z", table["Job"])
    with pytest.raises(DataError, match=r"Job.*'Z' is not among the attribute's values"):
        run(write_mixed(tmp_path, table, COUNT, SEX_JOB))
