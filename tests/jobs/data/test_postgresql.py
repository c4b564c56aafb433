"""Tables in a real PostgreSQL server, started here on a free port."""

import contextlib
import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from coterie.base.errors import DataError
from coterie.coordinator.demo.ports import free_ports
from coterie.jobs.data.databases import PostgreSql, Selection

_BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
pytestmark = pytest.mark.skipif(not _BIN, reason="Debian's postgresql is not installed")


def as_server_user(*command):
    """PostgreSQL refuses to run as root."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    return subprocess.run([*prefix, *command], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def server():
    programs = _BIN[-1].parent
    [port] = free_ports(1)
    folder = Path(tempfile.mkdtemp(prefix="coterie-pg-"))
    user = "postgres" if os.getuid() == 0 else getpass.getuser()
    try:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        data = str(folder / "data")
        as_server_user(str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "owner", "-N")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -F"
        pg_ctl = [str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log")]
        as_server_user(*pg_ctl, "-o", options, "start")
        try:
            yield f"postgresql://owner@127.0.0.1:{port}/postgres"
        finally:
            as_server_user(*pg_ctl, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def people(server):
    import adbc_driver_postgresql.dbapi as driver

    with (
        contextlib.closing(driver.connect(server, autocommit=True)) as connection,
        connection.cursor() as cursor,
    ):
        for statement in (
            "CREATE SCHEMA bank",
            "CREATE SEQUENCE bank.counter",
            "CREATE TYPE mood AS ENUM ('ok', 'sad')",
            'CREATE TABLE bank."My people" (id bigint, "Na me" text, r float8, n numeric(10,2),'
            " b boolean, d date, t timestamp, z timestamptz, u uuid, m mood)",
            """INSERT INTO bank."My people" VALUES
                   (1, 'Åsa', 3.0, 1.5, true, '2020-01-02', '2020-01-02 03:04:00',
                    '2020-01-02 03:00:00+02', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'ok'),
                   (2, '', 0.1, NULL, false, NULL, NULL, NULL, NULL, NULL)""",
        ):
            cursor.execute(statement)
    return server


COLUMNS = ["id", "Na me", "r", "n", "b", "d", "t", "z", "u", "m"]


def refusal(source, columns=("id",)):
    with pytest.raises(DataError) as caught:
        source.read(list(columns))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_values_have_one_text(people):
    table = PostgreSql(people, Selection("bank.My people", None)).read(COLUMNS)
    assert table.to_pylist() == [
        {
            "id": "1",
            "Na me": "Åsa",
            "r": "3",
            "n": "1.50",
            "b": "true",
            "d": "2020-01-02",
            "t": "2020-01-02 03:04:00",
            "z": "2020-01-02 01:00:00+00",
            "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "m": "ok",
        },
        {"id": "2", "r": "0.1", "b": "false"} | dict.fromkeys(["Na me", *"ndtzum"]),
    ]


def test_a_query_is_read(people):
    query = 'SELECT id * 10 AS "Ten" FROM bank."My people" ORDER BY id;'
    table = PostgreSql(people, Selection(None, query)).read(["Ten"])
    assert table.to_pydict() == {"Ten": ["10", "20"]}


def test_a_query_can_only_read(people):
    query = 'DELETE FROM bank."My people" RETURNING id'
    assert "syntax error" in refusal(PostgreSql(people, Selection(None, query)))
    counts = "SELECT nextval('bank.counter') AS id"
    assert "read-only transaction" in refusal(PostgreSql(people, Selection(None, counts)))
    many = "SELECT 1 AS id) AS x; DROP SCHEMA bank CASCADE; SELECT * FROM (SELECT 1"
    refusal(PostgreSql(people, Selection(None, many)))
    assert PostgreSql(people, Selection("bank.My people", None)).read(["id"]).num_rows == 2


def test_what_is_not_there_is_named(people):
    table = PostgreSql(people, Selection("bank.My people", None))
    assert "no column 'Nope'" in refusal(table, ["id", "Nope"])
    said = refusal(PostgreSql(people, Selection("bank.nobody", None)))
    assert "no table 'bank.nobody'; it has " in said
    assert "bank.My people" in said
    wrong = people.rpartition("/")[0] + "/nothing"
    assert 'database "nothing" does not exist' in refusal(PostgreSql(wrong, Selection("t", None)))


def test_a_value_in_a_drivers_words_is_for_the_holder_alone(people):
    query = 'SELECT CAST("Na me" AS integer) AS id FROM bank."My people"'
    with pytest.raises(DataError) as caught:
        PostgreSql(people, Selection(None, query)).read(["id"])
    assert "Åsa" in str(caught.value)
    assert "Åsa" not in caught.value.message(rows=True)
    assert caught.value.message(rows=True).startswith("postgresql://127.0.0.1")


def test_a_server_that_is_not_there_is_named_without_the_password():
    [port] = free_ports(1)
    source = PostgreSql(f"postgresql://me:secret@127.0.0.1:{port}/bank", Selection("t", None))
    said = refusal(source)
    assert said.startswith(f"postgresql://127.0.0.1:{port}/bank (table t): ")
    assert "refused" in said
    assert "secret" not in said
