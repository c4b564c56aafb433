"""A result folder is all of one job, and nothing that Coterie did not write is touched."""

import json

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.results.folder import MANIFEST, continued_folder, result_folder
from tests.coordinator.support import coterie
from tests.jobs.loans import JOB_FILE, loan_folder


def write(out, *names):
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(name)


def contents(out):
    return {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()} - {MANIFEST}


def test_files_of_an_earlier_job_of_another_kind_are_all_removed(job, tmp_path):
    out = tmp_path / "out"
    loans = tmp_path / "loans"
    loans.mkdir()
    assert coterie("simulate", loan_folder(loans, JOB_FILE), "--out", out).code == 0
    assert coterie("simulate", job, "--out", out, "--force").code == 0
    fresh = tmp_path / "fresh"
    assert coterie("simulate", job, "--out", fresh).code == 0
    assert contents(out) == contents(fresh)
    assert coterie("verify", out).code == 0


def test_files_of_others_stay(tmp_path):
    out = tmp_path / "out"
    with result_folder(out, force=False):
        write(out, "result.json", "tables/1-Sex.csv", "odd/name.txt")
    write(out, "mine.txt", "notes/today.txt", "odd/mine.txt")
    with result_folder(out, force=True):
        write(out, "result.json")
    assert contents(out) == {"mine.txt", "notes/today.txt", "odd/mine.txt", "result.json"}
    assert json.loads((out / MANIFEST).read_text())["files"] == ["result.json"]


@pytest.mark.parametrize("name", ["release.csv", "tables/mine.csv", "job/job.yaml"])
def test_a_file_of_others_where_a_result_would_stand_is_named_and_stays(tmp_path, name):
    out = tmp_path / "out"
    with result_folder(out, force=False):
        write(out, "result.json", "tables/1-Sex.csv")
    write(out, name)
    with (
        pytest.raises(UsageError, match=f"{name}: Coterie did not write it"),
        result_folder(out, force=True),
    ):
        write(out, "result.json")
    assert (out / name).read_text() == name


def test_a_result_without_a_list_of_its_files_is_nobodys(tmp_path):
    write(tmp_path, "result.json")
    with (
        pytest.raises(UsageError, match=r"result\.json: Coterie did not write it"),
        result_folder(tmp_path, force=True),
    ):
        pass
    assert contents(tmp_path) == {"result.json"}


def test_what_a_failed_job_left_is_removed_too(tmp_path):
    def fail():
        write(tmp_path, "parties/bank/common.csv")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), result_folder(tmp_path, force=False):
        fail()
    with result_folder(tmp_path, force=True):
        pass
    assert not list(tmp_path.iterdir())


def test_a_job_that_left_nothing_leaves_the_folder_empty(tmp_path):
    with pytest.raises(ZeroDivisionError), result_folder(tmp_path, force=False):
        _ = 1 / 0
    assert not list(tmp_path.iterdir())


def test_after_a_crash_only_what_has_a_results_name_is_removed(tmp_path):
    with result_folder(tmp_path, force=False):
        write(tmp_path, "release.csv", "mine.txt")
        at_the_crash = (tmp_path / MANIFEST).read_text()
    (tmp_path / MANIFEST).write_text(at_the_crash)
    with result_folder(tmp_path, force=True):
        pass
    assert contents(tmp_path) == {"mine.txt"}


def test_what_a_later_command_adds_to_a_result_is_part_of_it(tmp_path):
    with result_folder(tmp_path, force=False):
        write(tmp_path, "run.json")
    write(tmp_path, "mine.txt")
    with continued_folder(tmp_path):
        write(tmp_path, "result.json")
    with result_folder(tmp_path, force=True):
        pass
    assert contents(tmp_path) == {"mine.txt"}


def test_a_list_that_names_files_elsewhere_removes_none_of_them(tmp_path):
    out, other = tmp_path / "out", tmp_path / "other"
    write(tmp_path, "out/result.json", "other/mine.txt", "secret.txt")
    (out / "parties").symlink_to(other)
    listed = ["result.json", "../secret.txt", str(tmp_path / "secret.txt"), "parties/mine.txt"]
    (out / MANIFEST).write_text(json.dumps({"finished": True, "files": listed}))
    with (
        pytest.raises(UsageError, match="parties: Coterie did not write it"),
        result_folder(out, force=True),
    ):
        pass
    assert (tmp_path / "secret.txt").exists()
    assert (other / "mine.txt").exists()


def test_a_list_that_cannot_be_read_removes_nothing(tmp_path):
    write(tmp_path, "result.json", MANIFEST)
    with (
        pytest.raises(UsageError, match=r"files\.json: cannot be read"),
        result_folder(tmp_path, force=True),
    ):
        pass
    assert contents(tmp_path) == {"result.json"}
