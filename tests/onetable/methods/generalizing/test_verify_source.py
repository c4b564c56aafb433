"""With the table at hand, `coterie verify` counts again what a release keeps of it."""

import json

import pytest

from coterie.base.errors import UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from tests.onetable.methods.generalizing.test_verify_generalized import change
from tests.onetable.people import SEVERAL_COLUMNS, TABLE_FILE, anonymised, rows

PLAIN = TABLE_FILE.replace(", sensitive: Ill, l: 2", "") + "max_suppression: 0.3\n"


@pytest.mark.parametrize("method", SEVERAL_COLUMNS)
@pytest.mark.parametrize("more", ["", "boxes: regions\n"])
def test_the_measures_of_every_method_are_those_of_the_table(tmp_path, method, more):
    if more and method != "mondrian":
        return
    anonymised(tmp_path, PLAIN.replace("mondrian", method) + more)
    found = verify(tmp_path / "out", tmp_path / "people.csv")
    assert set(found["measures"]) == {"normalised_width", "precision", "entropy_loss"}


@pytest.fixture
def folder(tmp_path):
    anonymised(tmp_path)
    return tmp_path / "out"


@pytest.mark.parametrize("measure", ["normalised_width", "precision", "entropy_loss"])
def test_a_measure_that_is_not_the_tables_is_found(folder, measure):
    path = folder / "result.json"
    result = json.loads(path.read_text())
    result["utility"][measure] += 0.001
    path.write_text(json.dumps(result))
    verify(folder)
    with pytest.raises(VerificationError, match=f"says {measure}"):
        verify(folder, folder.parent / "people.csv")


def test_a_table_with_another_number_of_records_is_found(folder):
    change(folder.parent / "people.csv", ",".join(rows()[0]) + "\n", "")
    with pytest.raises(VerificationError, match="has 39 records"):
        verify(folder, folder.parent / "people.csv")


def test_a_released_value_that_the_table_has_less_often_is_found(folder):
    change(folder.parent / "people.csv", ",cold,", ",flu,")
    with pytest.raises(VerificationError, match=r"shows '(cold|flu)' \d+ times"):
        verify(folder, folder.parent / "people.csv")


def test_a_region_with_fewer_records_than_it_shows_is_found(folder):
    path = folder.parent / "people.csv"
    text = path.read_text()
    for city in ("San Diego", "Los Angeles"):
        text = text.replace(f",{city},", ",Lincoln,")
    path.write_text(text)
    with pytest.raises(VerificationError, match=r"records in it|table gives"):
        verify(folder, path)


def test_a_jobs_result_has_no_one_table(tmp_path):
    from coterie.coordinator.simulate.simulation import simulate
    from coterie.jobs.kinds.job_file import load_job
    from tests.jobs.loans import loan_folder

    path = loan_folder(tmp_path)
    (tmp_path / "out").mkdir()
    simulate(load_job(path), tmp_path, tmp_path / "out", seed="1")
    with pytest.raises(UsageError, match="only for one-table releases"):
        verify(tmp_path / "out", tmp_path / "bank.csv")
