"""What a command imports, in a process of its own: it starts as fast as this is little.

Facts about modules rather than seconds, which depend on the machine.
"""

import json
import subprocess
import sys

import pytest

from tests.coordinator.support import coterie

# The packages that take longest to import.
HEAVY = ["adbc_driver_manager", "cryptography", "dask", "duckdb", "gmpy2", "grpc", "numba", "numpy",
         "pandas", "phe", "pyarrow", "rbcl", "rich", "scipy", "yaml"]  # fmt: skip
TABLES = {"numpy", "pyarrow", "yaml", "gmpy2", "cryptography"}

RUN = """\
import json, sys
from coterie.__main__ import run
run(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
"""
SERVE = """\
import json, sys
from pathlib import Path
from coterie.party.cli import party
party.get_command(None, "serve")
from coterie.party.config import load_party
from coterie.party.server import PartyServer
server = PartyServer(load_party(Path(sys.argv[1])))
server.start()
server.stop()
print(json.dumps(sorted(sys.modules)))
"""


def modules(code, *words, cwd):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def heavy(found):
    return {name for name in HEAVY if name in found}


def kinds(found):
    """The kinds that were imported, by the folders or modules that only their jobs need."""
    inside = {name.removeprefix("coterie.jobs.kinds.") for name in found}
    return inside & {"intersect", "integrate.kind", "aggregate.kind", "identify.kind", "rules.kind",
                     "predict.kind", "models.regress", "models.cluster", "statistics.count",
                     "statistics.tree", "statistics.bayesnet"}  # fmt: skip


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The demo's files, and the result of a simulation of its job."""
    made = tmp_path_factory.mktemp("start") / "demo"
    assert coterie("demo", "--prepare-only", "--people", 300, "--out", made).code == 0
    done = coterie("simulate", made / "analyst" / "job.yaml", "--out", made / "result")
    assert done.code == 0, done.err
    return made


def test_a_release_is_verified_without_compiled_loops_and_without_other_kinds(prepared):
    found = modules(RUN, "verify", "result", cwd=prepared)
    assert heavy(found) <= TABLES
    assert kinds(found) == {"integrate.kind"}


def test_doctor_imports_the_network_and_the_jobs_kind(prepared):
    words = ("doctor", "analyst/job.yaml", "--identity", "analyst")
    found = modules(RUN, *words, cwd=prepared)
    assert heavy(found) <= {*TABLES, "grpc", "rich"}
    assert kinds(found) == {"integrate.kind"}


def test_a_server_is_ready_without_compiled_loops_and_without_any_kind(prepared):
    found = modules(SERVE, "lender/party.yaml", cwd=prepared)
    assert heavy(found) <= {*TABLES, "grpc"}
    assert kinds(found) == set()


def test_certificates_are_made_without_tables(tmp_path):
    found = modules(RUN, "certs", "init", "authority", cwd=tmp_path)
    assert heavy(found) <= {"cryptography", "yaml", "grpc"}


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["simulate", "--help"], ["run"]])
def test_help_imports_nothing_heavy(tmp_path, words):
    assert heavy(modules(RUN, *words, cwd=tmp_path)) == set()
