"""`coterie verify` on `identify` results, sound and spoilt."""

import copy

import pytest

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.identify.verify_sets import largest_share
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from tests.jobs.kinds.identify.test_kind import ATTRIBUTES, PARTIES, run

KEYS = "population: 5000\nalpha: 0.15\nlongest: 3\n"


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run(tmp_path_factory.mktemp("identify"), KEYS)


def verified(result, keys=KEYS):
    job = parse_job(f"kind: identify\n{PARTIES}id: ID\n{ATTRIBUTES}{keys}", {})
    kind = KINDS["identify"]
    kind.summary(job, Claim(result))
    kind.report(job, Claim(result), None)
    return kind.verify(job, Claim(result), None)


def test_a_sound_result_is_verified_shown_and_summed_up(result):
    verdict = verified(result)
    assert verdict.facts["sets"] == len(result["sets"]) > 1
    assert "exactly the smallest" in verdict.holds[0]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda r: r["sets"].pop(), "lacks the set"),
        (lambda r: r["sets"].append(copy.deepcopy(r["sets"][0])), "twice"),
        (lambda r: r["sets"][0].update(columns=["Age", "Sex"]), "no such set|lacks"),
        (lambda r: r["sets"][0].update(cells=7), "cells"),
        (lambda r: r["sets"][0].update(bound=0.9), "bound"),
        (lambda r: r["sets"][0].update(separation=0.99999), "whole number of steps"),
        (lambda r: r["sets"][0].update(separation=2), "outside"),
        (lambda r: r.update(step=1), "steps of 1"),
        (lambda r: r.update(population=4999), "population"),
        (lambda r: r["distinct"].pop("Age"), "other columns"),
    ],
)
def test_a_spoilt_result_is_rejected(result, spoil, message):
    wrong = copy.deepcopy(dict(result))
    spoil(wrong)
    with pytest.raises(VerificationError, match=message):
        verified(wrong)


def test_declared_values_bind_the_result(result):
    job = parse_job(
        f"kind: identify\n{PARTIES}id: ID\n{KEYS}attributes: {{Age: {{party: a, values: [x]}}, "
        "Sex: {party: a}, Zip: {party: b}, Born: {party: c}}\n",
        {},
    )
    with pytest.raises(VerificationError, match="the job declares 1"):
        KINDS["identify"].verify(job, Claim(result), None)


def test_the_bound_is_attained_by_the_worst_distribution():
    """Two people in two cells: one half is unique on average; three in two cells: 2 * 1/3 * 4/9."""
    assert largest_share(2, 2) == pytest.approx(0.5)
    assert largest_share(2, 3) == pytest.approx(2 / 3 * 4 / 9)
    assert largest_share(10**9, 3 * 10**8) == pytest.approx(0.7408182, rel=1e-6)
    assert largest_share(10**400, 2) == pytest.approx(1.0)
