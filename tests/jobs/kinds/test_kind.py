"""A kind is one declaration: one from outside is simulated, served, judged and verified like any other."""

import dataclasses
import json
import shutil

import pytest
import yaml

from coterie.base.errors import RefusedError, UsageError
from coterie.coordinator.results.verify import verify
from coterie.jobs.kinds.kind import Kind, registered
from coterie.jobs.kinds.needs import Columns, Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.protocols.messaging import opening
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie
from tests.jobs.kinds.toy import TOTAL, Silent, Total

NUMBERS = {"lender": [4, 5, 6], "bank": [10, 20], "card": [100, 1, 7]}


@pytest.fixture
def total(monkeypatch):
    monkeypatch.setitem(KINDS, "total", registered(Total()))
    monkeypatch.setitem(opening._declared, TOTAL.name, TOTAL)


@pytest.fixture
def silent(monkeypatch):
    monkeypatch.setitem(KINDS, "total", registered(Silent()))


def write(folder, addresses=None):
    """A job of the toy kind and its data; the job refers to one more file."""
    (folder / "euro.txt").write_text("EUR\n")
    parties = {}
    for name, numbers in NUMBERS.items():
        (folder / f"{name}.csv").write_text("Paid\n" + "".join(f"{n}\n" for n in numbers))
        parties[name] = {"data": f"{name}.csv", **(addresses or {}).get(name, {})}
    job = {"kind": "total", "name": "paid", "parties": parties, "column": "Paid", "minimum": 2}
    (folder / "job.yaml").write_text(yaml.safe_dump(job | {"unit": "euro.txt"}, sort_keys=False))
    return folder / "job.yaml"


def test_a_kind_from_outside_is_simulated_told_and_verified(total, tmp_path):
    done = coterie("simulate", write(tmp_path), "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert "153 EUR" in done.out
    assert (tmp_path / "out" / "total.csv").read_text() == "EUR\n153\n"
    done = coterie("verify", tmp_path / "out", "--json")
    assert done.json["verdict"] == "holds: a total of 8 records"
    path = tmp_path / "out" / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"total": 154}))
    done = coterie("verify", tmp_path / "out")
    assert done.out.startswith("violated: result.json: total: total.csv says something else")


def served(houses, **policy):
    addresses = {n: {"address": f"127.0.0.1:{port}"} for n, port in houses.ports.items()}
    job = write(houses.folder, addresses)
    for name in houses.names:
        columns = {"use": ["Paid"], "release": ["Paid"]}
        rules = {"kinds": ["total"], "columns": columns, "smallest_k": 2, **policy}
        houses.write(name, policy=rules)
    houses.serve_all()
    return job


def identity(houses):
    folder = houses.folder / "identity"
    folder.mkdir()
    for name in ("analyst.crt", "analyst.key", "ca.crt"):
        shutil.copy(houses.folder / "certs" / name, folder / name)
    return folder


def test_a_kind_from_outside_runs_at_real_party_servers(total, houses):
    job = served(houses)
    out = houses.folder / "out"
    who = identity(houses)
    assert coterie("doctor", job, "--identity", who).code == 0
    done = coterie("run", job, "--identity", who, "--out", out, "--json")
    assert done.code == 0, done.out
    assert done.json["total"] == 153
    assert verify(out)["records"] == 8


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({"kinds": ["intersect"]}, "policy.kinds does not list the kind 'total'"),
        ({"columns": {"use": ["Paid"]}}, "policy.columns.release does not list the column 'Paid'"),
        ({"smallest_k": 3}, "policy.smallest_k is 3, and the job releases groups of 2"),
    ],
)
def test_a_kind_from_outside_is_judged_by_the_policy(total, houses, policy, reason):
    text = served(houses, **policy).read_text()
    _, decisions = houses.coordinator().propose(text, files={"euro.txt": b"EUR\n"})
    for decision in decisions.values():
        assert (decision.state, decision.reason) == (pb.REFUSED, reason)


def test_a_kind_that_declares_nothing_is_refused(silent, houses):
    text = served(houses).read_text()
    _, decisions = houses.coordinator().propose(text, files={"euro.txt": b"EUR\n"})
    for decision in decisions.values():
        assert decision.state == pb.REFUSED
        assert "'total' does not declare what its jobs need of a party" in decision.reason


def test_a_kind_that_declares_nothing_is_not_simulated_either(silent, tmp_path):
    done = coterie("simulate", write(tmp_path), "--out", tmp_path / "out")
    assert done.code == RefusedError.exit_code
    assert "does not declare" in done.error


def test_a_kind_without_a_member_cannot_be_made():
    class Half(Kind):
        needs = Total.needs

    with pytest.raises(TypeError, match="abstract"):
        Half()


@pytest.mark.parametrize("group", [field.name for field in dataclasses.fields(Needs)])
def test_a_group_of_needs_that_is_left_out_is_refused(total, tmp_path, monkeypatch, group):
    from coterie.jobs.kinds.job_file import load_job

    whole = Total.needs
    monkeypatch.setattr(
        Total,
        "needs",
        lambda *args: dataclasses.replace(whole(*args), **{group: getattr(Needs, group)}),
    )
    with pytest.raises(RefusedError, match="does not declare what its jobs need"):
        KINDS["total"].needs(load_job(write(tmp_path)), "lender")


@pytest.mark.parametrize("change", [{"released": ("Age",)}, {"raw": ("Sex",)}])
def test_needs_that_contradict_each_other_cannot_be_declared(change):
    with pytest.raises(ValueError, match="too many"):
        Columns(used=("Sex",), **change)


def test_a_job_of_another_kind_is_not_taken(total, job):
    from coterie.jobs.kinds.job_file import load_job

    with pytest.raises(TypeError, match="a job of kind 'intersect' was given to Total"):
        KINDS["total"].needs(load_job(job), "lender")


def test_a_file_that_the_kind_declares_must_be_there(total, tmp_path):
    job = write(tmp_path)
    (tmp_path / "euro.txt").unlink()
    done = coterie("simulate", job, "--out", tmp_path / "out")
    assert done.code == UsageError.exit_code
    assert "unit: 'euro.txt': No such file" in done.error
