"""`coterie doctor`: one line a check, and an exit code that says what failed first."""

import socket

from coterie.coordinator.run.doctor import examine
from tests.coordinator.support import coterie

JUDGED = ("coordinator", "job", "policy", "data")  # by the party itself

APART = """\
kind: integrate
name: apart
parties: {office: {}, clinic: {}}
id: ID
class: Class
attributes:
  Age: {party: office, range: [0, 100]}
  Sex: {party: office, range: [0, 1]}
  Disease: {party: clinic}
  Treatment: {party: clinic}
requirement:
  - {qid: [Age, Sex], k: 4, sensitive: Disease, l: 3}
  - {qid: [Age], k: 4, sensitive: Treatment, l: 3}
"""


def doctor(organisations, *options, job=None):
    return coterie(
        "doctor", job or organisations.job, "--identity", organisations.identity, *options
    )


def states(done, subject):
    return {c["name"]: c["state"] for c in done.json["checks"] if c["subject"] == subject}


def test_all_is_well(organisations):
    done = doctor(organisations, "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    for party in ("lender", "bank", "card"):
        assert states(done, party) == dict.fromkeys(
            ("name", "port", "tls", "expiry", "clock", "version", "wire", *JUDGED), "ok"
        )
    assert set(states(done, "you")) == {"expiry", "key", "permissions", "chain"}


def test_a_check_is_a_line(organisations):
    done = doctor(organisations)
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) == len(doctor(organisations, "--json").json["checks"])
    assert all(line.startswith("ok ") for line in lines)


def test_nothing_is_started(organisations):
    before = organisations.jobs("bank")
    doctor(organisations)
    assert organisations.jobs("bank") == before


def test_a_party_that_is_down_does_not_hide_the_others(organisations, tmp_path):
    job = tmp_path / "job.yaml"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        text = organisations.job.read_text()
        job.write_text(text.replace(organisations.layout.addresses["lender"], address))
        done = doctor(organisations, "--json", job=job)
    assert (done.code, done.json["ok"]) == (5, False)
    assert states(done, "lender") == {"name": "ok", "port": "failed"}
    assert states(done, "card")["data"] == "ok"


def test_policy_and_data_are_checked_at_the_party(organisations, tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(organisations.job.read_text().replace("id: ID", "id: ID\nnormalise: digits"))
    done = doctor(organisations, "--json", job=job)
    assert states(done, "bank")["policy"] == "ok"
    job.write_text(organisations.job.read_text().replace("id: ID", "id: Job"))
    done = doctor(organisations, "--json", job=job)
    assert done.code == 4
    assert states(done, "card")["policy"] == states(done, "bank")["policy"] == "failed"


def test_a_job_file_that_is_wrong_is_the_first_thing_told(organisations, tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text("kind: nonsense\n")
    done = doctor(organisations, job=job)
    assert done.code == 2
    [line] = done.out.splitlines()
    assert line.startswith("failed ")
    assert "kind: must be one of" in line


def test_an_identity_that_is_wrong_is_told(organisations, tmp_path):
    done = coterie("doctor", organisations.job, "--identity", tmp_path)
    assert done.code == 2
    assert "no certificate here" in done.out


def test_a_clock_that_is_off_is_told(organisations):
    checks = list(examine(organisations.job, organisations.identity, clock=lambda: 1_000_000.0))
    off = [check for check in checks if check.name == "clock"]
    assert [check.state for check in off] == ["failed"] * 3
    assert off[0].detail.endswith(" days ahead of this one")


def test_entries_that_bound_different_columns_of_the_same_groups_are_a_warning(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(APART)
    checks = list(examine(job, tmp_path / "nobody"))
    assert [(check.name, check.state) for check in checks[:2]] == [
        ("file", "ok"),
        ("requirement", "warning"),
    ]
    assert checks[1].detail.startswith("entries 1 and 2 bound different sensitive columns")
