"""`coterie demo`: from nothing to a verified release, and no process left behind."""

import csv
import os
import signal
from collections import Counter

import pytest

from coterie.coordinator.demo import demo
from coterie.jobs.kinds.job_file import load_job
from tests.coordinator.support import coterie, finish, process, wait_for


def servers_of(folder):
    """The processes on this machine that serve a party file of this folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and any(str(folder).encode() in word for word in words):
                found.append(int(entry))
    return found


def test_the_demo_leaves_a_release_that_keeps_its_promise(tmp_path):
    out = tmp_path / "demo"
    done = finish(process("demo", "--out", out, "--people", "400", "--json"), 110)
    assert (done.code, done.err) == (0, "")
    with (out / "result" / "release.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == done.json["records"] > 200
    assert "ID" not in rows[0]
    groups = Counter(tuple(row.values())[:-1] for row in rows)
    behind = Counter(tuple(row.values())[:-1] for row in rows if row["Class"] == "behind")
    assert list(rows[0])[-1] == "Class"
    assert min(groups.values()) >= 10
    assert all(behind[group] <= 0.75 * size for group, size in groups.items())
    assert min(done.json["detail"].values()) > 0
    assert "What nobody saw" in (out / "summary.html").read_text()
    assert servers_of(out) == []
    assert str(out) not in coterie("jobs").out  # whoever tries Coterie proposed no job
    simulated = coterie(
        "simulate", out / "analyst" / "job.yaml", "--out", tmp_path / "simulated", "--json"
    )
    assert simulated.json["tree"] == done.json["tree"]
    release = (tmp_path / "simulated" / "release.csv").read_bytes()
    assert release == (out / "result" / "release.csv").read_bytes()


def test_a_demo_that_is_interrupted_stops_its_servers(tmp_path):
    started = process("demo", "--out", tmp_path, "--people", "30", "--kind", "intersect")
    wait_for(lambda: len(servers_of(tmp_path)) == 3, "the servers")
    started.send_signal(signal.SIGTERM)
    done = finish(started)
    assert done.code == 130
    assert servers_of(tmp_path) == []


def test_what_the_demo_writes_is_an_example_to_read(tmp_path):
    done = coterie("demo", "--out", tmp_path, "--prepare-only", "--people", "50")
    assert done.code == 0
    job = load_job(tmp_path / "analyst" / "job.yaml")
    assert job.party_names == ("lender", "bank", "card")
    for party in job.parties:
        assert (tmp_path / "analyst" / party.data.text()).is_file()
        assert {path.name for path in (tmp_path / party.name).iterdir()} == {
            "party.yaml",
            "people.csv",
            f"{party.name}.crt",
            f"{party.name}.key",
            "ca.crt",
        }
    assert coterie("certs", "check", tmp_path).code == 0


def test_the_compose_layout_has_container_addresses_and_no_data_with_the_analyst(tmp_path):
    done = coterie("demo", "--out", tmp_path, "--prepare-only", "--layout", "compose")
    assert done.code == 0
    job = load_job(tmp_path / "analyst" / "job.yaml")
    assert [party.address for party in job.parties] == ["lender:7000", "bank:7000", "card:7000"]
    assert all(party.data is None for party in job.parties)
    assert "state: /state" in (tmp_path / "bank" / "party.yaml").read_text()


def test_an_earlier_demo_is_replaced_and_nothing_else(tmp_path):
    options = ["--prepare-only", "--people", "20", "--kind", "intersect"]
    assert coterie("demo", "--out", tmp_path / "a", *options).code == 0
    assert coterie("demo", "--out", tmp_path / "a", *options).code == 0
    (tmp_path / "a" / "mine.txt").write_text("x")
    done = coterie("demo", "--out", tmp_path / "a", *options)
    assert (done.code, "holds other files" in done.error) == (2, True)
    (tmp_path / "b" / "lender").mkdir(parents=True)
    (tmp_path / "b" / "lender" / "mine.txt").write_text("x")
    done = coterie("demo", "--out", tmp_path / "b", *options)
    assert (done.code, "holds other files" in done.error) == (2, True)
    assert (tmp_path / "b" / "lender" / "mine.txt").exists()


def test_what_a_person_changed_in_a_demo_is_kept(tmp_path):
    options = ["--prepare-only", "--people", "20", "--kind", "intersect"]
    assert coterie("demo", "--out", tmp_path, *options).code == 0
    job = tmp_path / "analyst" / "job.yaml"
    job.write_text(job.read_text() + "protocol: ring\n")
    done = coterie("demo", "--out", tmp_path, *options)
    assert (done.code, "'analyst/job.yaml' was changed" in done.error) == (2, True)
    assert job.read_text().endswith("protocol: ring\n")
    assert coterie("demo", "--out", tmp_path / "other", *options).code == 0


def test_empty_folders_of_mounted_volumes_are_filled(tmp_path):
    for name in (*demo.PARTIES, demo.ANALYST):
        (tmp_path / name).mkdir()
    done = coterie("demo", "--out", tmp_path, "--prepare-only", "--people", "20")
    assert done.code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--people", "3"], "a population has 10 to"),
        (["--kind", "dance"], "the demo has no job of kind 'dance'"),
    ],
)
def test_a_demo_that_cannot_be_is_refused(tmp_path, options, message):
    done = coterie("demo", "--out", tmp_path / "demo", *options)
    assert done.code == 2
    assert done.error.startswith(message)
    assert not (tmp_path / "demo").exists()
