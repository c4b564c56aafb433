"""`coterie simulate` finds what a plain set intersection finds, and refuses bad input in one line."""

import json
import random

import pytest

from coterie.protocols.messaging.memory import MemoryNetwork
from tests.coordinator.support import coterie


def kept(out, party):
    return (out / "parties" / party / "common.csv").read_text().splitlines()


def test_each_party_is_left_with_its_own_common_records(job, tmp_path):
    out = tmp_path / "out"
    done = coterie("simulate", job, "--out", out)
    assert done.code == 0
    for party in ("lender", "bank", "card"):
        header, *ids = kept(out, party)
        assert header.strip('"') == "ID"
        assert {value.strip('"') for value in ids} == {"3", "4", "5"}
    result = json.loads((out / "result.json").read_text())
    assert result["records"] == 3
    assert set(result["parties"]) == {"lender", "bank", "card"}
    assert all(party["sent_bytes"] > 0 for party in result["parties"].values())
    assert done.out.startswith("pilot: 3 records in common among 3 parties")


def test_the_result_is_that_of_python_sets(job, tmp_path):
    chance = random.Random(5)
    sets = {}
    for party in ("lender", "bank", "card"):
        sets[party] = set(chance.sample(range(400), 250))
        rows = "".join(f"p{n}\n" for n in sets[party])
        (tmp_path / f"{party}.csv").write_text("ID\n" + rows)
    done = coterie("simulate", job, "--out", tmp_path / "out", "--json")
    expected = set.intersection(*sets.values())
    assert done.json["records"] == len(expected)
    for party in sets:
        assert {v.strip('"') for v in kept(tmp_path / "out", party)[1:]} == {
            f"p{n}" for n in expected
        }


def test_a_parquet_file_is_as_good_as_a_csv_file(job, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"ID": [3, 4, 9]}), tmp_path / "bank.parquet")
    job.write_text(job.read_text().replace("bank.csv", "bank.parquet"))
    assert coterie("simulate", job, "--out", tmp_path / "out", "--json").json["records"] == 2


def test_the_same_seed_gives_the_same_messages(job, tmp_path, monkeypatch):
    sent = []

    class Recorded(MemoryNetwork):
        def put(self, sender, receiver, message):
            sent.append((sender, receiver, message.sequence, b"".join(message.body)))
            super().put(sender, receiver, message)

    monkeypatch.setattr("coterie.coordinator.simulate.simulation.MemoryNetwork", Recorded)
    traces = []
    for number, seed in enumerate(["one", "one", "two"]):
        sent.clear()
        out = tmp_path / str(number)
        assert coterie("simulate", job, "--out", out, "--seed", seed).code == 0
        traces.append(sorted(sent))
    assert traces[0] == traces[1]
    assert traces[0] != traces[2]


def test_progress_goes_to_stderr_and_only_without_json(job, tmp_path):
    loud = coterie("simulate", job, "--out", tmp_path / "a")
    assert "lender  read" in loud.err
    assert "card    finished" in loud.err
    quiet = coterie("simulate", job, "--out", tmp_path / "b", "--json")
    assert quiet.err == ""
    assert len(quiet.out.splitlines()) == 1


def test_a_folder_with_something_in_it_is_not_used_unless_forced(job, tmp_path):
    out = tmp_path / "out"
    assert coterie("simulate", job, "--out", out).code == 0
    again = coterie("simulate", job, "--out", out)
    assert (again.code, again.error.startswith(f"{out}: is not empty")) == (2, True)
    (out / "mine.txt").write_text("kept")
    assert coterie("simulate", job, "--out", out, "--force").code == 0
    assert (out / "mine.txt").read_text() == "kept"


def change(job, old, new):
    text = job.read_text()
    assert old in text
    job.write_text(text.replace(old, new))


def rewrite(name, text):
    return lambda job: (job.parent / name).write_text(text)


BAD = {
    "broken YAML": (lambda job: change(job, "id: ID", "id: [ID"), 2, "job.yaml:8: not YAML: "),
    "an unknown key": (
        lambda job: change(job, "id: ID", "id: ID\nepsilom: 1"),
        2,
        "job.yaml:8: epsilom: unknown key",
    ),
    "not text": (lambda job: job.write_bytes(b"\xff\xfe"), 2, "job.yaml: not UTF-8 text"),
    "no file": (lambda job: job.unlink(), 2, "job.yaml: No such file or directory"),
    "no data key": (
        lambda job: change(job, ", data: bank.csv", ""),
        2,
        "parties.bank: the key 'data' is missing",
    ),
    "a missing table": (
        lambda job: (job.parent / "bank.csv").unlink(),
        3,
        "bank.csv: No such file or directory",
    ),
    "a table of another kind": (
        lambda job: change(job, "bank.csv", "bank.txt"),
        2,
        "job.yaml:5: parties.bank.data: 'bank.txt' does not end in .csv, .parquet or .xlsx",
    ),
    "an empty table": (rewrite("bank.csv", ""), 3, "bank.csv: the file is empty"),
    "a wrong column": (
        rewrite("bank.csv", "Id,Job\n3,x\n"),
        3,
        "bank.csv: no column 'ID'",
    ),
    "a ragged row": (
        rewrite("bank.csv", "ID,Job\n3,x\n4\n"),
        3,
        "bank.csv: row 2: has 1 value where the header has 2 columns",
    ),
    "an empty identifier": (
        rewrite("bank.csv", "ID,Job\n3,x\n,y\n"),
        3,
        "bank.csv: ",
        "row 2",
        "'ID'",
    ),
    "an identifier twice": (
        rewrite("bank.csv", "ID,Job\n3,x\n4,y\n3,z\n"),
        3,
        "bank.csv: ",
        "row 3",
        "'ID'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_with_its_exit_code(job, tmp_path, case):
    spoil, code, message, *words = BAD[case]
    spoil(job)
    done = coterie("simulate", job, "--out", tmp_path / "out")
    assert done.code == code
    assert done.error.removeprefix(f"{tmp_path}/").startswith(message)
    assert all(word in done.error for word in words)


def test_an_out_that_is_a_file_or_cannot_be_made_is_named(job, tmp_path):
    done = coterie("simulate", job, "--out", job)
    assert (done.code, done.error) == (2, f"{job}: is a file; --out names a folder")
    done = coterie("simulate", job, "--out", job / "x")
    assert (done.code, done.error) == (9, f"{job / 'x'}: Not a directory")
    done = coterie("simulate", job, "--out", "/proc/coterie")
    assert done.code == 9


def test_a_simulation_leaves_out_who_objected_and_what_the_fixed_filter_does(job, tmp_path):
    (tmp_path / "no.csv").write_text("ID\n 4 \n99\n")
    text = job.read_text().replace(
        "data: bank.csv", "data: bank.csv, exclude: {data: no.csv, on: ID}"
    )
    text = text.replace("data: card.csv", "data: card.csv, where: {ID: {at_least: 4}}")
    job.write_text(text)
    out = tmp_path / "out"
    assert coterie("simulate", job, "--out", out, "--json").json["records"] == 1
    assert [line.strip('"') for line in kept(out, "lender")] == ["ID", "5"]
    told = (out / "parties" / "bank" / "left_out.txt").read_text()
    assert told == ("1 rows of people who objected, 1 entries of 'exclude' that are of nobody\n")
    assert (out / "parties" / "card" / "left_out.txt").read_text().startswith("2 rows that 'where'")
    assert not (out / "parties" / "lender" / "left_out.txt").exists()
    assert "objected" not in (out / "result.json").read_text()


@pytest.mark.parametrize(("named", "records"), [("staff", 1), ("all", 3)])
def test_a_simulation_reads_the_table_that_the_job_names(job, tmp_path, named, records):
    (tmp_path / "staff.csv").write_text("ID,Job\n3,x\n1,y\n")
    tables = "tables: {staff: {data: staff.csv, where: {Job: x}}, all: {data: bank.csv}}"
    job.write_text(job.read_text().replace("data: bank.csv", f"table: {named}, {tables}"))
    done = coterie("simulate", job, "--out", tmp_path / "out", "--json")
    assert done.json["records"] == records


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            "table: old, tables: {new: {data: bank.csv}}",
            "tables: has no table 'old'; there are: new",
        ),
        ("tables: {new: {data: bank.csv}}", "'parties.bank.table' must say which"),
        ("data: bank.csv, where: {Job: {least: 3}}", "parties.bank.where.Job.least: unknown key"),
        ("data: bank.csv, exclude: {data: no.csv}", "the key 'on' is missing"),
        (
            'data: bank.csv, exclude: {data: {postgresql: "postgresql://a:b@c/d", table: t}, on: ID}',
            "has a password",
        ),
        ('data: {postgresql: "postgresql://a@c/d?password=b", table: t}', "put it into PGPASSWORD"),
        ('data: {odbc: "Driver={M};UID=a;Pwd = b", table: t}', "DSN in /etc/odbc.ini"),
        ("data: {odbc: [DSN=x, Driver=y;PASSWORD=b], table: t}", "has a password"),
        ("tables: {t: {data: {odbc: DSN=x;PWD=b, table: t}}}, table: t", "has a password"),
        ('data: {postgresql: "postgresql://[", table: t}', "is not an address of a database"),
    ],
)
def test_what_is_wrong_with_the_source_of_a_simulation(job, tmp_path, entry, said):
    job.write_text(job.read_text().replace("data: bank.csv", entry))
    done = coterie("simulate", job, "--out", tmp_path / "out")
    assert done.code == 2
    assert said in done.err
