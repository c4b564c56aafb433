"""`make secrecy` tells a mutant that its tests notice from one that they do not."""

import shutil
import subprocess
import sys

import pytest

from tests.secrecy.mutants import Mutant
from tests.secrecy.run import Copy, judge, parts_of
from tests.secrecy.warm import NO_END, OTHER_TREE, changed_functions

HIDDEN = "def shown(value):\n    return value if value > 9 else None\n"
TEST = """\
import subprocess, sys, time
from coterie.hiding import shown

def test_small():
    assert shown(3) is None

def test_large():
    assert shown(30) == 30

def test_another_process():
    code = "from coterie.hiding import shown; assert shown(3) is None"
    subprocess.run([sys.executable, "-c", code], check=True)

def test_endless():
    time.sleep(60)

def test_elsewhere():
    import coterie, importlib.util, pathlib, sys
    path = pathlib.Path(coterie.__path__[0]).parents[1] / "tree" / "coterie" / "hiding.py"
    spec = importlib.util.spec_from_file_location("coterie.copy", path)
    sys.modules["coterie.copy"] = importlib.util.module_from_spec(spec)
"""
FILE = "tests/test_hiding.py"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A project with one hiding step; its package has the name of this one."""
    folder = tmp_path_factory.mktemp("secrecy")
    for name, text in {
        "coterie/__init__.py": "",
        "coterie/hiding.py": HIDDEN,
        "tests/__init__.py": "",
        FILE: TEST,
    }.items():
        path = folder / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    made = Copy(folder / "tree", folder / "copy", 0)
    yield made
    made.close()


def mutant(new, *tests):
    return Mutant("m", "coterie/hiding.py", "value > 9", new, tuple(f"{FILE}::{t}" for t in tests))


def test_a_step_that_is_removed_is_noticed(copy):
    assert judge(copy, mutant("True", "test_small")) == ""
    assert (copy.tree / "coterie/hiding.py").read_text() == HIDDEN


def test_the_mutant_is_what_other_processes_import(copy):
    assert judge(copy, mutant("True", "test_another_process")) == ""


def test_a_mutant_that_hides_as_well_survives(copy):
    assert judge(copy, mutant("value > 8", "test_small")) == f"survives {FILE}::test_small"


def test_every_test_that_is_named_must_notice(copy):
    assert judge(copy, mutant("True", "test_small", "test_large")) == f"survives {FILE}::test_large"


def test_mutants_of_one_length_in_one_second_are_told_apart(copy):
    for _ in range(2):
        assert judge(copy, mutant("value > 1", "test_small")) == ""
        assert judge(copy, mutant("value > 8", "test_small")).startswith("survives")


def test_a_test_that_does_not_exist_notices_nothing(copy):
    assert "could not be run" in judge(copy, mutant("True", "test_gone"))


def test_the_unharmed_tree_passes_and_an_endless_test_is_ended(copy):
    assert copy.run_tests([f"{FILE}::test_small"], 60, keep=True)[0] == 0
    assert copy.run_tests([f"{FILE}::test_endless"], 1.0)[0] == NO_END


def test_a_module_of_another_tree_is_found_out(copy):
    assert copy.run_tests([f"{FILE}::test_elsewhere"], 60)[0] == OTHER_TREE


def test_the_tests_of_a_file_stay_together():
    tests = ["a.py::1", "b.py::1", "a.py::2", "c.py", "a.py::1"]
    assert parts_of(tests, 2) == [["a.py::1", "a.py::2", "c.py"], ["b.py::1"]]
    assert parts_of(tests[:1], 4) == [["a.py::1"]]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("def f():\n    return 1\n", "def f():\n\n    return 2\n", ["f"]),
        ("class A:\n    def f(self):\n        return 1\n", "class A:\n    def f(self):\n        return 2\n", ["A.f"]),
        ("def f():\n    return lambda: 1\n", "def f():\n    return lambda: 2\n", ["f"]),
        ("def f():\n    return 1\n", "\n\ndef f():\n    return 1\n", []),
        ("x = 1\n", "x = 2\n", None),
        ("def f(a=1):\n    return a\n", "def f(a=2):\n    return a\n", None),
        ("class A:\n    x = 1\n", "class A:\n    x = 2\n", None),
        ("def f():\n    return 1\n", "def g():\n    return 1\n", None),
    ],
)  # fmt: skip
def test_only_changes_within_functions_are_made_without_importing(old, new, changed):
    found = changed_functions(*(compile(text, "any", "exec") for text in (old, new)))
    assert changed == (None if found is None else [code.co_qualname for code, _ in found])


def test_a_mutant_is_noticed_where_the_project_was_imported_before_the_fork(copy, tmp_path):
    tree = tmp_path / "tree"
    shutil.copytree(copy.tree, tree)
    (tree / "coterie/ready.py").write_text(
        "import coterie.hiding\nfrom coterie.hiding import shown\n\ndef prepare():\n    pass\n"
    )
    (tree / "coterie/hiding.py").write_text(f"LIMIT = 9\n\n{HIDDEN.replace('> 9', '> LIMIT')}")
    made = Copy(tree, tmp_path / "copy", 0, ("coterie.ready", "prepare"))
    tests = (f"{FILE}::test_small",)
    try:
        for old, new in (("value > LIMIT", "True"), ("LIMIT = 9", "LIMIT = 1")):
            assert judge(made, Mutant("m", "coterie/hiding.py", old, new, tests)) == ""
        for old, new in (("value > LIMIT", "value > 8"), ("LIMIT = 9", "LIMIT = 8")):
            fault = judge(made, Mutant("m", "coterie/hiding.py", old, new, tests))
            assert fault == f"survives {FILE}::test_small"
    finally:
        made.close()


def test_a_mutant_that_is_made_at_once_is_in_no_later_fork(copy, tmp_path):
    tree = tmp_path / "tree"
    shutil.copytree(copy.tree, tree)
    (tree / "coterie/ready.py").write_text("import coterie.hiding\n\ndef prepare():\n    pass\n")
    (tree / "coterie/other.py").write_text("def other():\n    return 1 + 1\n")
    made = Copy(tree, tmp_path / "copy", 0, ("coterie.ready", "prepare"))
    try:
        assert judge(made, mutant("True", "test_small")) == ""
        other = Mutant("m", "coterie/other.py", "1 + 1", "2", (f"{FILE}::test_small",))
        assert judge(made, other) == f"survives {FILE}::test_small"
    finally:
        made.close()


def test_a_mutant_of_a_compiled_loop_is_imported_anew(copy, tmp_path):
    """A loop that was compiled before the fork would not change with its function's code."""
    tree = tmp_path / "tree"
    shutil.copytree(copy.tree, tree)
    loop = "import numba\n\n@numba.njit(cache=True)\ndef shown(value):\n    return value if value > 9 else None\n"
    (tree / "coterie/hiding.py").write_text(loop)
    (tree / "coterie/ready.py").write_text(
        "from coterie.hiding import shown\n\ndef prepare():\n    shown(3)\n"
    )
    code = "from coterie.hiding import shown; shown(3)"  # so that the copy loads the loop
    subprocess.run([sys.executable, "-c", code], cwd=tree, check=True)
    made = Copy(tree, tmp_path / "copy", 0, ("coterie.ready", "prepare"))
    try:
        assert judge(made, mutant("value > -1", "test_small")) == ""
        assert judge(made, mutant("value > 8 - 0", "test_small")) == f"survives {FILE}::test_small"
    finally:
        made.close()
