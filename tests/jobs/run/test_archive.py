from __future__ import annotations

from pathlib import Path

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.file.job import Job, PartyEntry
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.archive import save_job, saved_job

TEXT = """\
kind: intersect
name: common
parties:
  a: {address: "a:1"}
  b: {address: "b:1"}
id: ID
"""


def test_a_saved_job_is_the_same_job(tmp_path: Path) -> None:
    job = parse_job(TEXT, {})
    save_job(job, tmp_path)
    assert saved_job(tmp_path) == job
    assert saved_job(tmp_path).digest == job.digest


def test_files_outside_the_jobs_folder_stay_inside_the_result(tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = {"../../shared/Sex.csv": b"M;Any\n", "here/Job.csv": b"x;Any\n"}
    job = Job("intersect", "common", (PartyEntry("a", None, None),), TEXT, files)
    save_job(job, out)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    home = out / "job" / "inner" / "inner"
    assert {path: (home / path).read_bytes() for path in files} == files
    assert saved_job(out).text == TEXT


def test_a_folder_without_a_job_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no job/job\.yaml; is it a result folder"):
        saved_job(tmp_path)
