"""A slow link of a benchmark: what its text means, its proxy's delay and rate, and what is kept of it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from coterie.base.errors import UsageError
from coterie.bench._link import current, parsed, run_within, through, with_link

SIZE = 200_000


@pytest.mark.parametrize(
    ("text", "rate", "delay"),
    [
        ("100mbit", 1e8, 0),
        ("100mbit,20ms", 1e8, 0.02),
        ("1.5gbit,0.5ms", 1.5e9, 0.0005),
        ("64kbit", 64e3, 0),
    ],
)
def test_a_link_has_a_rate_and_a_delay(text, rate, delay):
    link = parsed(text)
    assert (link.rate, link.delay) == (rate, delay)
    assert text.split(",")[0] in str(link)


@pytest.mark.parametrize(
    "text", ["", "100", "100 mbit", "20ms", "0mbit", "100mbit,20", "100mbit;ls", "1mbit,1ms x"]
)
def test_another_text_is_refused(text):
    with pytest.raises(UsageError, match="--link must be as 100mbit"):
        parsed(text)


@pytest.fixture
def server():
    """A port that answers a line with as many bytes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as file:
                for line in file:
                    file.write(b"x" * int(line))
                    file.flush()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    listening.close()


def asked(port, size):
    """The seconds until the first byte of an answer, and until the last."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        start = time.monotonic()
        connection.sendall(b"%d\n" % size)
        assert connection.recv(1) == b"x"
        first, got = time.monotonic() - start, 1
        while got < size:
            got += len(connection.recv(1 << 16))
        return first, time.monotonic() - start


def test_a_proxy_delays_each_way_and_keeps_the_rate(server, monkeypatch):
    monkeypatch.setenv("COTERIE_BENCH_LINK", "8mbit,60ms proxy")
    with through([server]) as [seen]:
        assert seen != server
        first, last = asked(seen, SIZE)
    assert first >= 0.12
    assert last >= 0.12 + SIZE * 8 / 8e6 * 0.6  # a socket's first piece may be smaller than 64 kB


def test_a_proxy_leaves_the_rate_to_a_bucket(server, monkeypatch):
    monkeypatch.setenv("COTERIE_BENCH_LINK", "1kbit,10ms bucket")
    with through([server]) as [seen]:
        first, last = asked(seen, SIZE)
    assert first >= 0.02
    assert last < 30  # at 1 kbit/s it would take half an hour


def test_without_a_link_nothing_is_in_between(monkeypatch):
    monkeypatch.delenv("COTERIE_BENCH_LINK", raising=False)
    assert current() is None
    with through([1, 2]) as seen:
        assert seen == [1, 2]


def test_a_bucket_without_a_delay_needs_no_proxy(monkeypatch):
    monkeypatch.setenv("COTERIE_BENCH_LINK", "100mbit bucket")
    with through([1, 2]) as seen:
        assert seen == [1, 2]


def test_a_command_runs_under_the_link_and_knows_who_keeps_the_rate(tmp_path):
    note = tmp_path / "note"
    code = f"import os; open({str(note)!r}, 'w').write(os.environ['COTERIE_BENCH_LINK']); raise SystemExit(7)"
    assert run_within("50mbit,5ms", [sys.executable, "-c", code]) == 7
    assert note.read_text() in ("50mbit,5ms bucket", "50mbit,5ms proxy")


def test_where_namespaces_are_not_permitted_the_proxy_keeps_the_rate(tmp_path, monkeypatch):
    note, tools = tmp_path / "note", tmp_path / "tools"
    tools.mkdir()
    (tools / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tools / "unshare").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    code = f"import os; open({str(note)!r}, 'w').write(os.environ['COTERIE_BENCH_LINK'])"
    assert run_within("50mbit", [sys.executable, "-c", code]) == 0
    assert note.read_text() == "50mbit proxy"


def test_results_of_a_link_replace_those_of_the_same_name_and_link(tmp_path):
    path = tmp_path / "links.json"
    for name, text, figure in (
        ("a", "1mbit", 1),
        ("a", "2mbit", 2),
        ("b", "1mbit", 3),
        ("a", "1mbit", 4),
    ):
        result = {"measured": {"date": figure}, "figure": figure}
        path.write_text(json.dumps(with_link(path, name, parsed(text), result)))
    found = json.loads(path.read_text())
    assert found["measured"] == {"date": 4}
    kept = {(entry["name"], entry["link"]): entry["figure"] for entry in found["results"]}
    assert kept == {("a", "1mbit"): 4, ("a", "2mbit"): 2, ("b", "1mbit"): 3}


def test_a_wrong_link_is_an_error_of_one_line():
    command = [sys.executable, "-m", "coterie", "bench", "--link", "fast", "tables"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: --link must be as 100mbit or 100mbit,20ms, not 'fast'"
