"""The command as a whole: help, errors, exit codes, what is loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coterie import __version__
from coterie.__main__ import COMMANDS
from coterie.coordinator.simulate import simulation as simulate
from tests.coordinator.support import coterie

SNAPSHOTS = Path(__file__).parent / "snapshots"
OURS = [name for name in COMMANDS if name != "party"]


@pytest.mark.parametrize(
    "words",
    [[], *([name] for name in OURS)]
    + [["certs", name] for name in ("init", "issue", "request", "sign", "revoke", "check")],
    ids=lambda words: " ".join(words) or "coterie",
)
def test_help_is_as_it_was(words, monkeypatch):
    """After a wanted change: COTERIE_SNAPSHOTS=1 pytest tests/coordinator/cli/test_commands.py"""
    monkeypatch.setenv("COLUMNS", "80")
    done = coterie(*words, "--help")
    assert (done.code, done.err) == (0, "")
    path = SNAPSHOTS / f"{'-'.join(words) or 'coterie'}.txt"
    if os.environ.get("COTERIE_SNAPSHOTS"):
        path.write_text(done.out)
    assert done.out == path.read_text()


def test_the_version_is_told():
    assert coterie("--version").out == f"coterie {__version__}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nonsense"], "No such command 'nonsense'."),
        (["simulate"], "Missing argument 'JOB'."),
        (["simulate", "job.yaml"], "Missing option '--out'."),
        (["run", "job.yaml", "--out", "x"], "Missing option '--identity'"),
        (["simulate", "job.yaml", "--out", "x", "--wrong"], "No such option '--wrong'."),
        (["certs", "init", "x", "--days", "0"], "Invalid value for '--days'"),
        (
            ["certs", "issue", "bank"],
            "Missing option '--dir'. Name the authority's folder; 'coterie certs init FOLDER'",
        ),
        (["bench", "intersct"], "no benchmark 'intersct'; did you mean 'intersect'?"),
        (["experiment", "crwd"], "no experiment 'crwd'; did you mean 'crowd'?"),
        (["bench", "nonsense"], "no benchmark 'nonsense'; there are: "),
        (["experiment", "nonsense"], "no experiment 'nonsense'; there are: "),
        (["demo", "--layout", "compose"], "--layout compose writes files"),
    ],
)
def test_a_command_that_cannot_be_meant_exits_with_2(words, message):
    done = coterie(*words)
    assert done.code == 2
    assert done.error.startswith(message)


def test_no_command_shows_the_help():
    done = coterie()
    assert done.code == 2
    assert done.out.startswith("Usage: coterie")


def test_an_error_is_json_where_json_is_asked_for():
    done = coterie("simulate", "missing.yaml", "--out", "x", "--json")
    assert (done.code, done.err) == (2, "")
    assert done.json == {"error": "missing.yaml: No such file or directory", "exit_code": 2}


def break_it(monkeypatch, error):
    def broken(*arguments, **keys):
        raise error

    monkeypatch.setattr(simulate, "simulate", broken)


def test_a_defect_is_one_line_and_exits_with_70(job, tmp_path, monkeypatch):
    break_it(monkeypatch, ValueError("two\nlines"))
    done = coterie("simulate", job, "--out", tmp_path / "out")
    assert done.code == 70
    assert done.error.startswith("internal: ValueError: two lines (a defect of Coterie;")


def test_a_defect_shows_its_place_in_debug(job, tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_DEBUG", "1")
    break_it(monkeypatch, ValueError("wrong"))
    done = coterie("simulate", job, "--out", tmp_path / "out")
    assert done.code == 70
    assert "Traceback" in done.err


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (MemoryError(), 9), (OSError(28, "No space left", "x"), 9)],
)
def test_what_the_machine_does_has_its_own_code(job, tmp_path, monkeypatch, error, code):
    break_it(monkeypatch, error)
    done = coterie("simulate", job, "--out", tmp_path / "out", "--json")
    assert (done.code, done.json["exit_code"]) == (code, code)


def test_output_into_a_closed_pipe_is_no_traceback(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "coterie", "certs", "init", str(tmp_path / "ca")]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_bench_runs_the_named_benchmark(monkeypatch, tmp_path):
    (tmp_path / "nothing.py").write_text(
        "import json\ndef main(argv=None):\n    print(json.dumps(argv))\n    return 0\n"
    )
    from coterie import bench

    monkeypatch.setattr(bench, "__path__", [str(tmp_path)])
    done = coterie("bench", "nothing", "--quick", "--help", "5")
    assert (done.code, json.loads(done.out)) == (0, ["--quick", "--help", "5"])
    assert coterie("bench").out == "nothing\n"


APART = """kind: integrate
name: clinic
parties:
  town: {address: "localhost:1"}
  clinic: {address: "localhost:2"}
id: ID
score: discernibility
attributes:
  Age: {party: town, range: [0, 99]}
  Disease: {party: clinic}
  Treatment: {party: clinic}
requirement:
  - {qid: [Age], k: 2, sensitive: Disease, l: 2}
  - {qid: [Age], k: 2, sensitive: Treatment, l: 2}
"""


def test_run_warns_of_sensitive_columns_that_are_bounded_apart_before_it_asks_anybody(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(APART)
    nobody = tmp_path / "nobody"
    done = coterie("run", job, "--out", tmp_path / "out", "--identity", nobody, "--json")
    assert done.code != 0
    assert "nobody" in done.json["error"]
    assert done.err.startswith(
        "warning: requirement: entries 1 and 2 bound different sensitive columns of the same groups"
    )
    job.write_text(APART.replace("sensitive: Treatment", "sensitive: Disease"))
    done = coterie("run", job, "--out", tmp_path / "out", "--identity", nobody, "--json")
    assert done.err == ""


def test_a_command_that_is_nearly_right_is_named():
    assert "did you mean 'anonymise'?" in coterie("anonymize", "x.csv").error
    assert "did you mean 'simulate'?" in coterie("simulat").error
