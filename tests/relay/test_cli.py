"""`coterie relay serve` as a process: it serves, reads its file again, and ends."""

import json
import re
import signal
import subprocess
import sys

import pytest

from coterie.trust import reach
from coterie.trust.reach import ReachError
from tests.coordinator.support import coterie
from tests.relay.relays import relay_file


def test_a_relay_serves_takes_up_its_file_and_ends_with_0(houses):
    file = relay_file(houses, parties=["lender"], callers=[])
    process = subprocess.Popen(
        [sys.executable, "-m", "coterie", "relay", "serve", file, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        found = json.loads(process.stdout.readline())
        assert (found["relay"], found["pid"]) == ("localhost", process.pid)
        place = "relay://localhost:" + found["listen"].rpartition(":")[2]
        who = houses.authority.identity("analyst").traveller
        with pytest.raises(ReachError, match="'analyst' is not listed"):
            reach.reach(place, "lender", who, 5.0)
        file.write_text(file.read_text().replace("callers: []", "callers: [analyst]"))
        process.send_signal(signal.SIGHUP)
        while "taken up" not in process.stderr.readline():
            pass
        with pytest.raises(ReachError, match="'lender' does not wait for calls"):
            reach.reach(place, "lender", who, 5.0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"listen": "localhost"}, "must be HOST:PORT"),
        ({"limits": {"each": 0}}, "limits.each: must be at least 1"),
        ({"porties": []}, "porties"),
    ],
)
def test_mistakes_in_a_relay_file_are_named(houses, changes, said):
    done = coterie("relay", "serve", relay_file(houses, **changes))
    assert done.code == 2
    assert re.search(said, done.error)
