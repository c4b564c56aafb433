"""From Python, a job gives what its command gives."""

import csv

import pyarrow as pa
import pytest

import coterie
from coterie.base.errors import UsageError, VerificationError
from tests.coordinator.interface.test_jobs import KEYS
from tests.coordinator.support import coterie as command
from tests.jobs.loans import JOB_FILE, loan_folder


def frames(folder):
    found = {}
    for party in ("lender", "bank"):
        with (folder / f"{party}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        found[party] = pa.Table.from_pylist(rows)
    return found


def test_frames_give_the_release_that_the_command_gives(tmp_path):
    path = loan_folder(tmp_path, JOB_FILE)
    assert command("simulate", path, "--out", tmp_path / "out").code == 0
    outcome = coterie.simulate(coterie.Job(**KEYS), frames(tmp_path))
    expected = (tmp_path / "out" / "release.csv").read_bytes()
    assert (outcome.folder / "release.csv").read_bytes() == expected
    assert coterie.verify(outcome.folder)["verdict"].startswith("holds")


def test_a_file_of_a_job_is_simulated_on_the_data_that_it_names(tmp_path):
    outcome = coterie.simulate(loan_folder(tmp_path, JOB_FILE), out=tmp_path / "out")
    assert outcome["records"] == outcome.table.num_rows
    assert outcome.table.column_names == ["Sex", "Job", "Salary", "Zodiac", "Class"]
    assert (tmp_path / "out" / "report.html").exists()


def test_columns_of_numbers_are_as_good_as_text(tmp_path):
    loan_folder(tmp_path, JOB_FILE)
    tables = frames(tmp_path)
    bank = tables["bank"]
    at = bank.column_names.index("Salary")
    typed = {
        **tables,
        "bank": bank.set_column(at, "Salary", bank.column("Salary").cast(pa.int64())),
    }
    first, second = (coterie.simulate(coterie.Job(**KEYS), one) for one in (tables, typed))
    assert first.table.equals(second.table)


def test_an_outcome_shows_its_report_in_a_frame_of_its_own(tmp_path):
    outcome = coterie.simulate(loan_folder(tmp_path, JOB_FILE))
    shown = outcome._repr_html_()
    assert shown.startswith('<iframe sandbox=""')
    assert "but not all columns together" in shown
    assert "<script" not in shown


def test_a_temporary_folder_lives_as_long_as_its_outcome(tmp_path):
    outcome = coterie.simulate(loan_folder(tmp_path, JOB_FILE))
    folder = outcome.folder
    assert folder.exists()
    del outcome
    assert not folder.exists()


@pytest.mark.parametrize(
    ("names", "error"),
    [(["lender"], "'bank' has no frame"), (["lender", "bank", "card"], "'card' is not a party")],
)
def test_frames_are_those_of_the_parties(tmp_path, names, error):
    loan_folder(tmp_path, JOB_FILE)
    tables = frames(tmp_path)
    with pytest.raises(UsageError, match=error):
        coterie.simulate(coterie.Job(**KEYS), {name: tables.get(name) for name in names})


def test_a_frame_without_a_column_says_whose_it_is(tmp_path):
    loan_folder(tmp_path, JOB_FILE)
    tables = frames(tmp_path)
    tables["bank"] = tables["bank"].drop_columns(["Salary"])
    with pytest.raises(coterie.CoterieError, match="bank's frame"):
        coterie.simulate(coterie.Job(**KEYS), tables)


def test_a_changed_release_is_not_verified(tmp_path):
    outcome = coterie.simulate(loan_folder(tmp_path, JOB_FILE))
    path = outcome.folder / "release.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(VerificationError):
        coterie.verify(outcome.folder)


def test_a_run_without_servers_names_the_party(tmp_path):
    parties = {"lender": {"address": "127.0.0.1:1"}, "bank": {"address": "127.0.0.1:2"}}
    with pytest.raises(UsageError, match="no such identity folder"):
        coterie.run(coterie.Job(**{**KEYS, "parties": parties}), identity=tmp_path / "nobody")


def test_a_mapping_is_a_job_and_an_outcome_is_its_folder(tmp_path):
    loan_folder(tmp_path, JOB_FILE)
    outcome = coterie.simulate(KEYS, frames(tmp_path))
    assert coterie.verify(outcome)["verdict"].startswith("holds")


@pytest.mark.parametrize(
    ("job", "tables", "said"),
    [
        (KEYS, [1, 2], "frames: must be a mapping from the names of parties to their tables"),
        (7, None, "job: must be a Job, a mapping or the name of a file, not 7"),
    ],
)
def test_what_is_no_job_and_no_frames_is_named(job, tables, said):
    with pytest.raises(UsageError, match=f"^{said}$"):
        coterie.simulate(job, tables)


def test_a_folder_that_is_not_empty_is_replaced_only_by_force(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("")
    loan_folder(tmp_path, JOB_FILE)
    with pytest.raises(UsageError, match="choose another `out`, or say force=True"):
        coterie.simulate(KEYS, frames(tmp_path), out=tmp_path / "out")


def test_the_public_names_are_those_that_are_listed():
    assert dir(coterie) == sorted([*coterie.__all__, "__version__"])
