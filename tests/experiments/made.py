"""Runs the command of an experiment on the Adult table."""

import json

import pytest

from coterie.__main__ import run
from tests import ADULT

needs_adult = pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not at hand")


def made(folder, name):
    """The result of the experiment's command."""
    line = ["experiment", name, "--data", str(ADULT), "--out", str(folder), "--quick", "--json"]
    assert run(line) == 0
    assert (folder / f"{name}.md").read_text().startswith("# ")
    return json.loads((folder / f"{name}.json").read_text())
