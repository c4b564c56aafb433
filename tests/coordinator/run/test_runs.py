"""A job outlives its coordinator: `run --detach`, `jobs`, `attach` and `fetch` by id."""

import json
import time

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.run import runs
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import attach_job
from coterie.coordinator.run.runs import Run, folder_of, known_runs, remember, state_folder
from coterie.jobs.kinds.job_file import parse_job
from coterie.protos import jobs_pb2 as pb
from coterie.trust.identity import find_identity
from tests.coordinator.support import coterie


def detach(path, out):
    done = coterie("run", path, "--out", out, "--detach", "--json")
    assert done.code == 0, done.err
    return done.json


def approve(houses, job_id):
    config = houses.path("bank")
    return coterie("party", "approve", job_id, "--config", config)


def end_at(houses, name, job_id):
    return houses.coordinator().end(job_id, name)


def test_a_detached_job_begins_when_the_operator_agrees_and_is_collected_later(asked):
    houses, path, out = asked
    told = detach(path, out)
    assert told["parties"] == {
        "lender": "accepted",
        "bank": "waits for consent",
        "card": "accepted",
    }
    [listed] = coterie("jobs", "--json").json["jobs"]
    assert (listed["job"], listed["state"], listed["name"]) == (told["job"], "open", "common")
    assert approve(houses, told["job"]).code == 0
    for name in houses.names:  # nobody of the analyst's is there
        assert end_at(houses, name, told["job"]).state == pb.FINISHED
    done = coterie("attach", told["job"][:8], "--json")
    assert done.code == 0, done.err
    assert done.json["records"] == 18
    assert done.json["job"]["id"] == told["job"]
    assert json.loads((out / "result.json").read_text())["records"] == 18
    assert [run["state"] for run in coterie("jobs", "--json").json["jobs"]] == ["collected"]
    assert coterie("jobs", "--open").out == "no jobs yet\n"
    again = coterie("attach", told["job"])
    assert again.error == f"the run '{told['job']}' is over: its result is in {out}"


def test_a_finished_job_is_fetched_by_its_name(asked):
    houses, path, out = asked
    told = detach(path, out)
    approve(houses, told["job"])
    end_at(houses, "card", told["job"])
    done = coterie("fetch", "common", "--json")
    assert done.code == 0, done.err
    assert done.json["records"] == 18


def test_consent_that_comes_after_a_restart_starts_the_job_too(asked):
    houses, path, out = asked
    told = detach(path, out)
    houses.servers.pop("bank").stop()
    houses.serve("bank")
    assert approve(houses, told["job"]).code == 0
    assert end_at(houses, "bank", told["job"]).state == pb.FINISHED


def test_attach_tells_that_the_operator_said_no(asked):
    houses, path, out = asked
    told = detach(path, out)
    config = houses.path("bank")
    coterie("party", "approve", told["job"], "--no", "--reason", "not now", "--config", config)
    done = coterie("attach", told["job"])
    assert done.code != 0
    assert "bank: the operator says no: not now" in done.error
    assert [run.state for run in known_runs()] == ["ended"]


def test_a_job_that_a_party_cancelled_while_nobody_followed_is_over(asked):
    houses, path, out = asked
    told = detach(path, out)
    config = houses.path("card")
    coterie("party", "cancel", told["job"], "--reason", "steward away", "--config", config)
    done = coterie("attach", told["job"])
    assert done.code == 10
    assert done.error.endswith("card: cancelled by card: steward away")  # card's word, or passed on
    assert [run.state for run in known_runs()] == ["ended"]
    assert not (out / "run.json").exists()


def test_a_refused_job_is_no_run(asked):
    houses, path, out = asked
    houses.write("card", policy={"kinds": []})
    houses.servers["card"]._live.look(at_once=True)
    done = coterie("run", path, "--out", out, "--detach")
    assert "card: policy.kinds does not list the kind 'intersect'" in done.error
    assert known_runs() == []
    assert not (out / "run.json").exists()


def test_an_attached_command_may_end_without_the_job(asked):
    houses, path, out = asked
    told = detach(path, out)
    end = time.monotonic() + 1

    def interrupt():
        if time.monotonic() > end:
            raise KeyboardInterrupt

    who = find_identity(houses.folder / "certs" / "analyst.crt")
    with pytest.raises(KeyboardInterrupt):
        attach_job(out, who, Board(["lender", "bank", "card"], show=False), check=interrupt)
    approve(houses, told["job"])
    assert end_at(houses, "lender", told["job"]).state == pb.FINISHED


def test_runs_are_found_by_id_name_and_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_STATE", str(tmp_path))
    job = parse_job("kind: intersect\nname: pilot\nparties: {a: {}, b: {}}\nid: ID\n", {})
    for letter in "ab":
        out = tmp_path / letter
        out.mkdir()
        (out / "run.json").write_text(json.dumps({"job": letter * 32, "parties": {}}))
        remember(job, letter * 32, out)
    assert folder_of("bbbb") == tmp_path / "b"
    assert folder_of(str(tmp_path / "a")) == tmp_path / "a"
    assert [run.state for run in known_runs()] == ["open", "open"]
    (tmp_path / "runs" / "x.json").write_text("nonsense")
    assert len(known_runs()) == 2
    with pytest.raises(UsageError, match="no run 'cccc'; 'coterie jobs' lists them"):
        folder_of("cccc")


def test_the_state_folder_is_the_users(tmp_path):
    assert state_folder({"COTERIE_STATE": "/x"}).as_posix() == "/x"
    assert state_folder({"XDG_STATE_HOME": "/y"}).as_posix() == "/y/coterie"
    assert Run("a", "b", "c", (), "", str(tmp_path)).state == "ended"


def test_runs_that_are_over_leave_the_list_and_open_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_STATE", str(tmp_path))
    monkeypatch.setattr(runs, "_MOST_OVER", 3)
    job = parse_job("kind: intersect\nname: pilot\nparties: {a: {}, b: {}}\nid: ID\n", {})
    still = tmp_path / "open"
    still.mkdir()
    (still / "run.json").write_text(json.dumps({"job": "0" * 32, "parties": {}}))
    remember(job, "0" * 32, still)
    for letter in "123456":
        remember(job, letter * 32, tmp_path / letter)
    assert [run.job[0] for run in known_runs()] == ["0", "4", "5", "6"]
    old = tmp_path / "runs" / f"{'6' * 32}.json"
    old.write_text(old.read_text().replace(known_runs()[-1].date, "2001-01-01T00:00:00Z"))
    remember(job, "7" * 32, tmp_path / "7")
    assert [run.job[0] for run in known_runs()] == ["0", "4", "5", "7"]
