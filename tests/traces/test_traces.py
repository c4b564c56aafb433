"""The wire does not change by accident: seeded runs send the same bytes as when last recorded."""

import pytest

from coterie.jobs.kinds.registry import KINDS
from tests.traces.cases import CASES, JOBS, ROUNDED
from tests.traces.record import known, recorded

RENEW = "if the wire was meant to change, run 'make traces' and say why in CHANGELOG.md"


@pytest.mark.parametrize("name", CASES)
def test_a_seeded_run_sends_what_it_sent_when_it_was_recorded(name, tmp_path):
    shown = counts if name in ROUNDED else dict
    assert shown(recorded(CASES[name], tmp_path)) == shown(known().get(name, {})), RENEW


def counts(trace):
    """The messages and bytes of every pair of parties, without their digest."""
    return {pair: text.rpartition(",")[0] for pair, text in trace.items()}


def test_every_kind_of_job_has_a_trace():
    traced = {name.split()[0] for name in JOBS}
    assert set(KINDS) <= traced, "add a job of the kind to tests/traces/cases.py"


def test_no_digest_is_left_of_a_case_that_is_gone():
    assert set(known()) == set(CASES), RENEW
