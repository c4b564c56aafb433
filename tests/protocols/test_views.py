"""Every protocol, every party: what it receives does not tell two secrets of the others apart.

A scene gives the parties of a world (0 or 1) as the watched party meets them: its own inputs are the
same in both worlds, the others' are as far apart as equal outputs permit. `PROTOCOLS` says which
modules a scene stands for; every module that sends something has one.
"""

from __future__ import annotations

import ast
from functools import partial
from itertools import product as pairs_of

import pytest

from tests import ROOT
from tests.protocols.scenes import SCENES
from tests.secrecy.mutants import MUTANTS
from tests.test_openings import SENDING, called, functions
from tests.views import assert_alike


@pytest.mark.parametrize(
    ("case", "watched"),
    [(case, watched) for case in SCENES for watched in case.watched],
    ids=lambda value: value if isinstance(value, str) else value.name.replace(" ", "_"),
)
def test_nobody_can_tell_the_others_secrets_apart(case, watched):
    assert_alike(
        partial(case.world, watched),
        watched,
        case.runs,
        shares=case.shares,
        drawn=case.drawn,
    )


# Modules whose view tests stand in a file of their own.
ELSEWHERE = {
    "multiparty/coin_toss": "tests/protocols/multiparty/test_coin_toss.py",
    "patterns/frequent_sets": "tests/protocols/patterns/test_frequent_sets.py",
    "patterns/joint_counts": "tests/protocols/patterns/test_joint_counts.py",
    "patterns/unique_cells": "tests/protocols/patterns/test_unique_cells.py",
    "patterns/separation": "tests/protocols/patterns/test_separation.py",
    "integration/bounds": "tests/protocols/integration/test_bounds.py",
    "integration/sensitive/holders": "tests/jobs/test_views.py",
    "integration/sensitive/joint_frequencies": (
        "tests/protocols/integration/sensitive/test_joint_frequencies.py"
    ),
}


def test_every_protocol_that_sends_something_has_a_scene():
    known = {name for case in SCENES for name in case.protocols} | set(ELSEWHERE)
    for place in ELSEWHERE.values():
        assert "assert_alike(" in (ROOT / place).read_text()
    for folder, path in pairs_of([ROOT / "protocols"], (ROOT / "protocols").rglob("*.py")):
        name = str(path.relative_to(folder).with_suffix(""))
        calls = {
            called(node)
            for _, function in functions(ast.parse(path.read_text()))
            for node in ast.walk(function)
            if isinstance(node, ast.Call)
        }
        if calls & SENDING and not name.startswith("messaging/"):
            assert name in known, f"{name} sends something and has no view test"
    for name in known:
        assert (ROOT / f"protocols/{name}.py").exists(), name


def test_every_scene_fails_on_some_mutant():
    """`make secrecy` tries whether each named test does fail."""
    killers = {test for mutant in MUTANTS for test in mutant.tests}
    here = "tests/protocols/test_views.py::test_nobody_can_tell_the_others_secrets_apart"
    for case in SCENES:
        start = f"{here}[{case.name.replace(' ', '_')}-"
        assert any(test.startswith(start) for test in killers), case.name
    for place in ELSEWHERE.values():
        assert any(test.startswith(f"{place}::") for test in killers), place
