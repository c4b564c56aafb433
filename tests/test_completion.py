"""The shell completes commands and options, by the line that the documents give."""

import os
import subprocess
import sys

import pytest

from tests import ROOT


def completed(words):
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "_COTERIE_COMPLETE": "bash_complete",
        "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1),
    }  # fmt: skip
    call = "import sys; sys.argv = ['coterie']; from coterie.__main__ import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", call], env=environment, capture_output=True, text=True, timeout=120
    )
    return [line.partition(",")[2] for line in found.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("coterie sim", ["simulate"]),
        ("coterie party ch", ["check"]),
        ("coterie init ", ["job", "party", "table"]),
        ("coterie verify --da", ["--data"]),
    ],
)
def test_a_shell_completes(words, found):
    assert completed(words) == found


def test_bash_takes_the_documented_line(tmp_path):
    program = tmp_path / "coterie"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m coterie "$@"\n')
    program.chmod(0o755)
    line = 'eval "$(_COTERIE_COMPLETE=bash_source coterie)"; complete -p coterie'
    assert line.split(";")[0] in (ROOT / "docs" / "questions.md").read_text()
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    told = subprocess.run(
        ["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=120
    )
    assert "_coterie_completion coterie" in told.stdout
