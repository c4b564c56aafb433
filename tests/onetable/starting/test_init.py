"""`coterie init`: what it writes about real files passes what the next commands check."""

import os
import pty
import random
import socket
import sqlite3
import subprocess
import sys

import duckdb
import openpyxl
import pytest

from coterie.__main__ import run
from tests import ROOT, forks
from tests.coordinator.support import coterie, wait_for

RNG = random.Random(35)
BANK = [
    [f"{n:06}", 900 + 7 * (n % 90), RNG.choice(["cook", "nurse", "clerk"]), f"Name {n}"]
    for n in range(200)
]
CLINIC = [
    [
        str(n),
        RNG.randint(18, 90),
        RNG.choice(["yes", "no", ""]),
        f"{1 + n % 28:02}.0{1 + n % 9}.2001",
    ]
    for n in range(20, 220)
]
BANK_COLUMNS, CLINIC_COLUMNS = ["ID", "Income", "Job", "Name"], ["ID", "Age", "Smoker", "Visit"]


def as_csv(path, columns, rows):
    """As a German office saves it: semicolons, an old encoding, Windows line ends."""
    lines = [";".join(map(str, row)) for row in [columns, *rows]]
    text = "\r\n".join(lines).replace("nurse", "Ärztin")
    path.write_bytes(text.encode("cp1252"))


def as_sheet(path, columns, rows):
    book = openpyxl.Workbook()
    book.active.title = "People"
    for row in [columns, *rows]:
        book.active.append(row)
    book.create_sheet("Notes").append(["nothing"])
    book.save(path)


def as_sqlite(path, columns, rows):
    with sqlite3.connect(path) as made:
        made.execute(f"CREATE TABLE people ({', '.join(columns)})")
        made.executemany(f"INSERT INTO people VALUES ({','.join('?' * len(columns))})", rows)
        made.execute("CREATE TABLE other (x)")
        made.execute("INSERT INTO other VALUES ('y')")


def as_duckdb(path, columns, rows):
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE people ({', '.join(c + ' text' for c in columns)})")
        made.executemany(f"INSERT INTO people VALUES ({','.join('?' * len(columns))})", rows)


WAYS = {
    "csv": (as_csv, "bank.csv", []),
    "xlsx": (as_sheet, "clinic.xlsx", ["--table", "People"]),
    "sqlite": (as_sqlite, "bank.db", ["--table", "people"]),
    "duckdb": (as_duckdb, "clinic.duckdb", []),
}


def free_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def done_well(*words):
    done = coterie(*words)
    assert done.code == 0, (words, done.out, done.err)
    return done


@pytest.mark.slow
@pytest.mark.parametrize(("bank", "clinic"), [("csv", "xlsx"), ("sqlite", "duckdb")])
def test_first_files_pass_party_check_doctor_and_simulate(bank, clinic, tmp_path):
    done_well("certs", "init", tmp_path / "ca")
    data, addresses, processes = {}, {}, []
    for name, way, columns, rows in (
        ("bank", bank, BANK_COLUMNS, BANK),
        ("clinic", clinic, CLINIC_COLUMNS, CLINIC),
    ):
        write, file, _ = WAYS[way]
        write(tmp_path / file, columns, rows)
        data[name], addresses[name] = tmp_path / file, free_address()
    for name in ("bank", "clinic", "analyst"):
        done_well("certs", "issue", name, "--dir", tmp_path / "ca", "--host", "127.0.0.1")
    try:
        for name, other, way in (("bank", "clinic", bank), ("clinic", "bank", clinic)):
            party = tmp_path / f"{name}.yaml"
            done_well(
                "init", "party", data[name], *WAYS[way][2], "--name", name, "--out", party,
                "--peer", f"{other}={addresses[other]}", "--coordinator", "analyst",
                "--listen", addresses[name], "--certificates", tmp_path / "ca" / name,
            )  # fmt: skip
            party.write_text(party.read_text().replace("state: state", f"state: state-{name}"))
            checked = done_well("party", "check", party, "--json").json["checks"]
            # Of what is not ok, nothing is a fault of the file.
            other_than_ok = {c["name"] for c in checked if c["state"] != "ok"}
            assert other_than_ok <= {"listed", other, "columns"}
            processes.append(forks.start(["-m", "coterie", "party", "serve", party]))
        tables = [
            f"{name}={data[name]}" + (f"#{WAYS[way][2][1]}" if WAYS[way][2] else "")
            for name, way in (("bank", bank), ("clinic", clinic))
        ]
        job = tmp_path / "job.yaml"
        known = [word for name in addresses for word in ("--address", f"{name}={addresses[name]}")]
        done_well("init", "job", *tables, *known, "--out", job)
        assert "normalise: {ID: [number]}" in job.read_text()  # 000001 and 1 are one person
        made = done_well("simulate", job, "--out", tmp_path / "try", "--json").json
        assert made["records"] == 180
        assert made["anonymity"][0]["smallest"] >= made["anonymity"][0]["k"] == 10

        def ready():
            done = coterie("doctor", job, "--identity", tmp_path / "ca" / "analyst", "--json")
            return done.code == 0 and done.json["ok"]

        wait_for(ready, "both servers to permit the job")
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.parametrize("way", WAYS)
def test_a_first_table_file_is_released_and_verified(way, tmp_path):
    write, file, more = WAYS[way]
    write(tmp_path / file, CLINIC_COLUMNS, CLINIC)
    table, out = tmp_path / "table.yaml", tmp_path / "out"
    done_well("init", "table", tmp_path / file, *more, "--out", table)
    text = table.read_text()
    assert 'dates: "%d.%m.%Y"' in text
    for line in text.splitlines():  # every key has its explanation, beside or above it
        before = text[: text.index(line)].rstrip("\n").splitlines() or ["#"]
        assert not line or "#" in line or "#" in before[-1], line
    done_well("anonymise", table, "--out", out)
    done_well("verify", out)


def test_what_is_there_is_not_replaced_and_what_is_missing_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    as_csv(tmp_path / "bank.csv", BANK_COLUMNS, BANK)
    as_sqlite(tmp_path / "two.db", BANK_COLUMNS, BANK)
    (tmp_path / "table.yaml").write_text("mine")
    for words, said in (
        (["table", "bank.csv"], "table.yaml: exists already; choose another --out"),
        (["table", "none.csv", "--out", "x"], "none.csv: no such file"),
        (["table", "two.db", "--out", "x"], "two.db: has the tables other, people; name one with"),
        (["table", "--out", "x"], "DATA is missing"),
        (["bank.csv"], "say what to write about it: coterie init table bank.csv"),
        (["tabel"], "No such command 'tabel'; did you mean 'table'?"),
        (["party", "bank.csv"], "--name is missing"),
        (["party", "bank.csv", "--name", "a", "--peer", "b"], "'b' is not of the form NAME=HOST"),
        (["party", "bank.csv", "--name", "a", "--peer", "b=c"], "'c' is not HOST:PORT"),
        (["job", "a=bank.csv"], "a job has at least two parties"),
        (["job", "a=bank.csv", "b=two.db#other"], "no column that identifies people has the same"),
    ):
        done = coterie("init", *words)
        assert (done.code, done.error.startswith(said)) == (2, True), (words, done.error)
    assert (tmp_path / "table.yaml").read_text() == "mine"
    assert coterie("init", "table", "bank.csv", "--force").code == 0


def test_without_a_certificate_the_next_step_is_to_ask_for_one(tmp_path):
    as_csv(tmp_path / "bank.csv", BANK_COLUMNS, BANK)
    out = tmp_path / "party.yaml"
    done = done_well(
        "init", "party", tmp_path / "bank.csv", "--name", "bank", "--out", out, "--json"
    )
    assert done.json["next"] == [
        f"coterie certs request bank --out {tmp_path}",
        f"coterie party check {out}",
    ]


def at_a_terminal(folder, what, *answers):
    """What a command says to somebody who gives these answers."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "coterie", "init", what],
        cwd=folder, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    os.write(own, ("\n".join(answers) + "\n").encode())
    said = process.communicate(timeout=120)[0].decode()
    os.close(own)
    os.close(theirs)
    assert process.returncode == 0, said
    return said


def test_at_a_terminal_it_asks(tmp_path):
    """What the command line leaves open is asked; an empty line takes the guess."""
    as_csv(tmp_path / "bank.csv", BANK_COLUMNS, BANK)
    place = "clinic=clinic.example:7000"
    at_a_terminal(tmp_path, "party", "bank.csv", "bank", place, "", "ann,ben", "")
    text = (tmp_path / "party.yaml").read_text()
    assert "name: bank\n" in text
    assert 'clinic: {address: "clinic.example:7000"}' in text
    assert "coordinators: [ann, ben]" in text
    assert "id: [ID]" in text
    assert "Name" not in text.partition("use: ")[2].partition("\n")[0]


def test_a_wrong_answer_is_asked_for_again(tmp_path):
    as_csv(tmp_path / "bank.csv", BANK_COLUMNS, BANK)
    as_csv(tmp_path / "clinic.csv", CLINIC_COLUMNS, CLINIC)
    said = at_a_terminal(
        tmp_path, "party", "bnk.csv", "bank.csv", "the bank", "bank", "clinic", "clinic=here",
        "clinic=clinic.example:7000", "clinic=other.example:7000", "", "a b", "ann", "Id", "ID",
    )  # fmt: skip
    for wrong in (
        "bnk.csv: no such file", "'the bank' is not a name", "'clinic' is not of the form",
        "'here' is not HOST:PORT", "'clinic' is named twice", "'a b' is not a name",
        "no column 'Id'",
    ):  # fmt: skip
        assert wrong in said
    text = (tmp_path / "party.yaml").read_text()
    assert 'clinic: {address: "clinic.example:7000"}' in text
    assert "coordinators: [ann]" in text
    said = at_a_terminal(
        tmp_path, "job", "bank", "bank=bank.csv", "bank=clinic.csv", "clinic=no.csv",
        "clinic=clinic.csv", "here", "bank.example:7000", "", "Ilness", "ID",
    )  # fmt: skip
    assert "'bank' is named twice" in said
    assert "no.csv: no such file" in said
    assert "'here' is not HOST:PORT" in said
    assert "no column 'Ilness'" in said
    assert "bank.example:7000" in (tmp_path / "job.yaml").read_text()
    (tmp_path / "job.yaml").unlink()  # no guess: values of the one common column repeat
    (tmp_path / "visits.csv").write_text(
        "ID,Ward\n" + "".join(f"{i % 40},{i % 3}\n" for i in range(80))
    )
    said = at_a_terminal(tmp_path, "job", "bank=bank.csv", "ward=visits.csv", "", "", "Ward", "ID")
    assert "no column that identifies people has the same name" in said
    assert "no column 'Ward'" in said
    assert "id: ID" in (tmp_path / "job.yaml").read_text()
    said = at_a_terminal(tmp_path, "table", "bank.csv", "Jb", "Job,Income", "Incme", "", "ten", "3")
    assert "did you mean 'Job'?" in said
    assert "did you mean 'Income'?" in said
    assert "k must be a whole number of at least 1, not 'ten'" in said
    assert "k: 3" in (tmp_path / "table.yaml").read_text()


def test_every_option_of_a_party_file_stands_where_it_should(tmp_path):
    as_csv(tmp_path / "bank.csv", BANK_COLUMNS, BANK)
    out = tmp_path / "party.yaml"
    done_well(
        "init", "party", tmp_path / "bank.csv", "--name", "bank", "--class", "Job", "--out", out
    )
    text = out.read_text()
    assert "    class: [Job]\n" in text
    assert "    use: [Income]\n" in text
    assert "    # not listed: Name: a different value in every record\n" in text


def test_a_party_file_finds_the_certificates_that_certs_issue_made_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("ID,Age\n" + "".join(f"{i},{i % 5}\n" for i in range(50)))
    assert run(["certs", "init", "."]) == 0
    assert run(["certs", "issue", "bank", "--dir", "."]) == 0
    party = ["init", "party", "people.csv", "--name", "bank", "--peer", "lender=localhost:7001"]
    assert run([*party, "--coordinator", "analyst"]) == 0
    assert 'certificate: "bank/bank.crt"' in (tmp_path / "party.yaml").read_text()
    assert run(["party", "check", "party.yaml"]) == 0
