"""Tables behind ODBC drivers: a real MariaDB server, started here, and a SQLite file."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from coterie.base.errors import DataError, UsageError
from coterie.coordinator.demo.ports import free_ports
from coterie.jobs.data.odbc import Odbc
from coterie.jobs.data.sources import parse_source
from coterie.jobs.file.document import read_document


def drivers():
    listed = shutil.which("odbcinst") and subprocess.run(
        ["odbcinst", "-q", "-d"], capture_output=True, text=True
    )
    return listed.stdout if listed else ""


def source(text):
    return parse_source(read_document(f"data: {text}", "party.yaml").required("data"), Path())


def refusal(act):
    with pytest.raises(DataError) as caught:
        act()
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    return str(caught.value)


PEOPLE = """CREATE DATABASE bank; USE bank;
CREATE TABLE `My people` (ID varchar(9), `Na me` text CHARACTER SET utf8mb4, `order` double,
    n decimal(10,2), d date, t datetime(3), `Say "x"` int);
INSERT INTO `My people` VALUES
    ('01', 'Åsa', 3, 1.5, '2020-01-02', '2020-01-02 03:04:05.5', 7),
    ('2', '', 0.1, NULL, NULL, NULL, NULL);
CREATE USER reader@127.0.0.1 IDENTIFIED BY 'secret'; GRANT SELECT ON bank.* TO reader@127.0.0.1;"""


@pytest.fixture(scope="module")
def maria():
    if not shutil.which("mariadbd") or "[MariaDB Unicode]" not in drivers():
        pytest.skip("Debian's mariadb-server and odbc-mariadb are not installed")
    pytest.importorskip("arrow_odbc", reason="arrow-odbc is not installed")
    [port] = free_ports(1)
    folder = Path(tempfile.mkdtemp(prefix="coterie-my-"))
    user = [f"--user={'mysql' if os.getuid() == 0 else os.getlogin()}"]
    shutil.chown(folder, "mysql") if os.getuid() == 0 else None
    made = ["mariadb-install-db", *user, f"--datadir={folder}/d", "--skip-test-db"]
    subprocess.run([*made, "--auth-root-authentication-method=normal"], check=True,
                   capture_output=True, timeout=120)  # fmt: skip
    server = subprocess.Popen(
        ["mariadbd", *user, f"--datadir={folder}/d", f"--socket={folder}/s", f"--port={port}",
         "--bind-address=127.0.0.1", f"--pid-file={folder}/p", "--skip-name-resolve"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        filled = ["mariadb", "-uroot", f"-S{folder}/s"]
        subprocess.run(filled, input=PEOPLE, text=True, check=True, timeout=60)
        yield (
            f"Driver={{MariaDB Unicode}};Server=127.0.0.1;Port={port};Database=bank;"
            "User=reader;Password=secret"
        )
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_table_of_mariadb_has_the_texts_of_every_other_source(maria):
    table = source(f'{{odbc: "{maria}", table: My people}}')
    assert table.names() == ["ID", "Na me", "order", "n", "d", "t", 'Say "x"']
    assert table.read(table.names()).to_pydict() == {
        "ID": ["01", "2"], "Na me": ["Åsa", None], "order": ["3", "0.1"], "n": ["1.50", None],
        "d": ["2020-01-02", None], "t": ["2020-01-02 03:04:05.5", None], 'Say "x"': ["7", None],
    }  # fmt: skip
    assert [piece.num_rows for piece in table.pieces(["ID"])] == [2]
    query = f'{{odbc: "{maria}", query: "SELECT ID AS Person FROM `My people` WHERE n > 1;"}}'
    assert source(query).read(["Person"]).to_pydict() == {"Person": ["01"]}


def test_what_mariadb_lacks_is_named_without_the_password(maria):
    table = source(f'{{odbc: "{maria}", table: My peple}}')
    assert "(table My peple): no table 'My peple'; did you mean" in refusal(table.names)
    table = source(f'{{odbc: "{maria}", table: My people}}')
    assert "no column 'Id'; it has" in refusal(lambda: table.read(["Id"]))
    assert "Access denied" in refusal(source(f'{{odbc: "{maria}t", table: My people}}').names)


def test_a_sqlite_file_behind_odbc_is_read_and_what_is_not_there_is_named(tmp_path):
    if "[SQLite3]" not in drivers():
        pytest.skip("Debian's libsqliteodbc is not installed")
    pytest.importorskip("arrow_odbc", reason="arrow-odbc is not installed")
    with sqlite3.connect(tmp_path / "t.db") as made:
        made.execute("CREATE TABLE people (ID text, Age int)")
        made.execute("INSERT INTO people VALUES ('01', 32), ('2', NULL)")
    file = f"Driver={{SQLite3}};Database={tmp_path}/t.db;PWD=secret"
    table = source(f'{{odbc: "{file}", table: people}}')
    assert table.read(["Age", "ID"]).to_pydict() == {"Age": ["32", None], "ID": ["01", "2"]}
    assert "no such table" in refusal(source(f'{{odbc: "{file}", table: x}}').names)
    unknown = source('{odbc: "Driver={No driver};PWD=secret", table: x}')
    assert "'odbcinst -q -d' lists the drivers" in refusal(unknown.names)
    assert "lists the sources" in refusal(source('{odbc: "DSN=nothing", table: x}').names)


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "arrow_odbc", None)
    table = source('{odbc: "DSN=bank;PWD=secret", table: people}')
    assert isinstance(table, Odbc)
    assert refusal(table.names) == (
        "odbc bank (table people): needs a package that is not installed: "
        "pip install 'coterie[odbc]'"
    )


def test_an_address_is_no_connection_string():
    with pytest.raises(UsageError, match='must be a connection string, as in "DSN=bank"'):
        source("{odbc: 'mysql://db', table: people}")
