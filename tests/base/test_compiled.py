"""A compiled loop computes the same, also where nothing can be cached."""

import subprocess
import sys

import numba
import numpy as np

from coterie.base.compiled import compiled


def total(values):
    found = 0
    for value in values:
        found += value
    return found


def test_a_compiled_loop_computes_the_same():
    assert compiled(total)(np.arange(10)) == total(range(10)) == 45


def test_a_loop_compiles_where_no_folder_can_be_cached_in(monkeypatch):
    def njit(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    assert compiled(len)(["one"]) == 1


LOOPS = """
import numba

from coterie.base.compiled import compiled


def times(factor):
    @numba.njit
    def total(x):
        return 0 if x <= 0 else factor + total(x - 1)

    return total


two, three = times(2), times(3)


@compiled
def doubled(x):
    return two(x)


@compiled
def tripled(x):
    return three(x)
"""


def test_code_of_several_processes_on_disk_is_not_mixed_up(tmp_path):
    """Two processes each compile a loop whose inner function has the name of the other's."""
    (tmp_path / "loops.py").write_text(LOOPS)

    def run(*names):
        code = f"import loops\nfor name in {names}: print(getattr(loops, name)(10))"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run("doubled") == ["20"]
    assert run("tripled") == ["30"]
    assert run("doubled", "tripled") == ["20", "30"]
    assert list((tmp_path / "__pycache__").glob("*.nbc"))
