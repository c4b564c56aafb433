"""A compiled loop computes the same, also where nothing can be cached."""

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
