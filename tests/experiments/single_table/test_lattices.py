"""`coterie experiment lattices`: the counts of a search of every node."""

import json

import pytest

from coterie.__main__ import run
from tests import ADULT

pytestmark = pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not at hand")


def made(folder, name):
    """The result of the experiment's command."""
    line = ["experiment", name, "--data", str(ADULT), "--out", str(folder), "--quick", "--json"]
    assert run(line) == 0
    assert (folder / f"{name}.md").read_text().startswith("# ")
    return json.loads((folder / f"{name}.json").read_text())


def test_the_counts_are_those_of_the_reference(tmp_path):
    found = made(tmp_path, "lattices")["lattices"]
    assert len(found) == 4
    assert all(entry["as_the_reference"] for entry in found)
