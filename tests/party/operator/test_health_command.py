"""`coterie party health`: right in every case, and cheap when the server serves."""

import subprocess
import sys

import pytest
import yaml

from tests import ROOT
from tests.coordinator.support import coterie

QUICK = """
import sys
from coterie.__main__ import run
code = run(["party", "health", "--config", sys.argv[1]])
heavy = [name for name in sys.modules if name.startswith("coterie.jobs") or name == "numpy"]
sys.exit(code or len(heavy))
"""


@pytest.fixture
def file(houses):
    houses.serve("bank")
    return houses.path("bank")


def test_a_server_that_serves_is_asked_without_importing_the_kinds_of_jobs(file):
    done = subprocess.run(
        [sys.executable, "-c", QUICK, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stdout) == (0, "serving\n"), done.stderr


def test_the_answer_also_comes_as_json(file):
    done = coterie("party", "health", "--config", file, "--json")
    assert done.json == {"party": "bank", "state": "serving"}


def test_a_server_that_does_not_serve_yet_is_named(houses, file):
    houses.servers["bank"]._health.stop()
    done = coterie("party", "health", "--config", file)
    assert (done.code, done.error) == (5, "bank: not serving")


def test_a_server_that_is_not_there_is_named(houses):
    done = coterie("party", "health", "--config", houses.path("bank"))
    assert done.code == 5
    assert done.error.startswith("bank: ")


def test_a_file_that_is_no_party_file_is_named(file):
    broken = yaml.safe_load(file.read_text())
    del broken["tls"]
    file.write_text(yaml.safe_dump(broken))
    done = coterie("party", "health", "--config", file)
    assert done.code == 2
    assert "tls" in done.error
