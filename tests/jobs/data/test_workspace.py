"""A run's folders: what is released apart from what is kept, and a place that outlives the run."""

import os

from coterie.jobs.data.workspace import Workspace


def test_released_and_kept_files_are_apart(tmp_path):
    workspace = Workspace(tmp_path / "run")
    workspace.create()
    assert workspace.released.is_dir()
    assert workspace.kept.is_dir()
    assert workspace.released not in workspace.kept.parents


def test_two_runs_of_a_job_resume_from_one_place(tmp_path):
    assert Workspace(tmp_path / "one").resume == Workspace(tmp_path / "two").resume
    assert Workspace(tmp_path / "one").folder not in Workspace(tmp_path / "one").resume.parents


def test_everything_that_a_run_leaves_is_synced(tmp_path, monkeypatch):
    workspace = Workspace(tmp_path / "run")
    workspace.create()
    (workspace.released / "deep").mkdir()
    for path in (workspace.released / "summary.json", workspace.released / "deep" / "a.csv"):
        path.write_text("1")
    (workspace.kept / "common.csv").write_text("2")
    synced = set()
    monkeypatch.setattr(os, "fsync", lambda file: synced.add(os.fstat(file).st_ino))
    workspace.sync()
    left = {path.stat().st_ino for path in workspace.folder.rglob("*")}
    assert len(left) == 6
    assert synced == left
