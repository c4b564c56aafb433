"""A run's folders: what is released apart from what is kept, and a place that outlives the run."""

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
