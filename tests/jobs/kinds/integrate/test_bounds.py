"""`at_most` in a joint job: where it starts, what it costs, and what verify says of it."""

import json

import numpy as np
import pytest

from coterie.anonymity.algorithms.top_down import specialize_table
from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import categorical_column, continuous_column, encode_text
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.loans import JOB_FILE, SIGNS, loan_folder, release
from tests.papers.loans import JOB, ROWS, SEX

BOUNDED = JOB_FILE.replace(
    "taxonomy: Job.csv}", "taxonomy: Job.csv, at_most: [White-collar, Blue-collar]}"
).replace("taxonomy: Sex.csv}", "taxonomy: Sex.csv, at_most: [Male]}")


def run(folder, job, **options):
    path = loan_folder(folder, job=job, **options)
    out = folder / "out"
    out.mkdir()
    return simulate(load_job(path), folder, out, seed="1"), out


def single(requirements, most):
    """The same in one house, by the code of `coterie anonymise`."""

    def text(name):
        return [row[name] for row in ROWS]

    columns = (
        categorical_column("Sex", text("Sex"), taxonomy_of(SEX)),
        categorical_column("Job", text("Job"), taxonomy_of(JOB)),
        continuous_column("Salary", text("Salary"), (1, 99)),
    )
    codes, values = encode_text("Class", text("Class"), "table")
    marks = {"Sex": ("Male",), "Job": ("White-collar", "Blue-collar")}
    table = Table(columns, {"Class": Labels(codes, tuple(values))}, marks)
    return specialize_table(table, requirements, most, "Class")


def requirement_of(k):
    return [Requirement(("Sex", "Job"), k), Requirement(("Sex", "Salary"), 5)]


@pytest.mark.parametrize("k", [4, 6, 9])
def test_the_joint_release_is_that_of_one_house(tmp_path, k):
    share = 0.45
    job = BOUNDED.replace("k: 4", f"k: {k}") + f"max_suppression: {share}\n"
    result, out = run(tmp_path, job)
    expected = single(requirement_of(k), int(share * len(ROWS)))
    assert result["cut"] == expected.details["cut"]
    assert result["bounds_cost"] == expected.details["bounds_cost"]
    assert result["suppressed"] == expected.suppressed
    shown = sorted(
        tuple(column.labels[code] for column, code in zip(columns, codes, strict=True))
        for columns in [list(expected.columns.values())]
        for codes in np.array([column.codes for column in columns]).T
    )
    assert [tuple(row.values())[:3] for row in release(out)] == shown
    assert "ANY_Sex" not in {row["Sex"] for row in release(out)}
    verify(out)


def test_bounds_that_cost_too_much_are_refused_before_anything_is_specialized(tmp_path):
    with pytest.raises(DataError, match="cost more records than max_suppression permits"):
        run(tmp_path, BOUNDED.replace("k: 4", "k: 9"))
    assert not list((tmp_path / "out").iterdir())


def test_conditions_on_sensitive_columns_are_judged_where_it_starts(tmp_path):
    job = BOUNDED.replace("k: 4}", "k: 2, sensitive: Zodiac, l: 5}").replace("k: 5", "k: 2")
    with pytest.raises(DataError, match="violate a condition on a sensitive column"):
        run(tmp_path, job, zodiac=[*SIGNS[:1] * 20, *SIGNS])


def test_a_value_above_the_bounds_is_found(tmp_path):
    _, out = run(tmp_path, BOUNDED + "max_suppression: 0.45\n")
    path = out / "result.json"
    told = json.loads(path.read_text())
    told["cut"]["Sex"] = [taxonomy_of(SEX).root]
    path.write_text(json.dumps(told))
    text = (out / "release.csv").read_text()
    for value in taxonomy_of(SEX).leaves:
        text = text.replace(f'"{value}"', f'"{taxonomy_of(SEX).root}"')
    lines = text.splitlines()
    (out / "release.csv").write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    with pytest.raises(VerificationError, match="above the bounds Male"):
        verify(out)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[Male]", "[X]", "'X' is not in the taxonomy"),
        ("range: [1, 99]}", "range: [1, 99], at_most: [M]}", "needs a taxonomy"),
        ("Zodiac: {party: lender}", "Zodiac: {party: lender, at_most: [M]}", "needs a taxonomy"),
    ],
)
def test_a_bound_that_cannot_be_is_refused_with_its_line(tmp_path, old, new, told):
    path = loan_folder(tmp_path, job=BOUNDED.replace(old, new))
    with pytest.raises(UsageError, match=told):
        load_job(path)


def test_a_simulation_measures_what_needs_all_tables_and_verify_what_the_release_gives(tmp_path):
    result, out = run(tmp_path, BOUNDED + "max_suppression: 0.45\n")
    expected = single(requirement_of(4), int(0.45 * len(ROWS)))
    utility = expected.utility_by_use("Class").as_dict()
    assert result["utility"]["entropy_loss"] == pytest.approx(utility["entropy_loss"])
    assert result["utility"]["discernibility"] == utility["discernibility"]
    assert result["utility"]["query_error"] == pytest.approx(utility["query_error"], nan_ok=True)
    assert set(result["utility"]["class_error"]) == {"release", "raw", "none"}
    assert set(result["alone"]) == {"lender", "bank"}
    assert all(0 <= error <= 1 for error in result["alone"].values())
    path = out / "result.json"
    for key in ("discernibility", "normalised_width", "precision"):
        told = json.loads(path.read_text())
        told["utility"][key] += 1
        path.write_text(json.dumps(told))
        with pytest.raises(VerificationError, match=f"says {key}"):
            verify(out)
        told["utility"][key] -= 1
        path.write_text(json.dumps(told))
