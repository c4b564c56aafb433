"""What `make test` measures: tests that are marked so are not traced, whatever process they run in."""

import sys

import pytest


@pytest.mark.slow
def test_nothing_traces_a_slow_test():
    tracer = sys.gettrace()
    assert tracer is None or "coverage" not in type(tracer).__module__
