"""Which entries of a requirement give less than they seem to."""

import pytest

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import UsageError
from coterie.jobs.kinds.integrate.requirement_warnings import (
    apart_warnings,
    covered_warnings,
    lone_warnings,
)
from coterie.jobs.kinds.job_file import load_job


def entry(qid, sensitive):
    return Requirement(tuple(qid), 4, sensitive, DistinctDiversity(2))


@pytest.mark.parametrize(
    ("entries", "warned"),
    [
        ([("ab", "s"), ("ab", "t")], True),
        ([("ab", "s"), ("a", "t")], True),
        ([("ab", "s"), ("bc", "t")], False),
        ([("ab", "s"), ("ab", "s")], False),
        ([("ab", "s"), ("ab", None)], False),
        ([("ab", "s"), ("ab", "t"), ("ab", ("s", "t"))], False),
        ([("ab", "s"), ("a", "t"), ("a", ("s", "t"))], False),
        ([("ab", "s"), ("ab", "t"), ("a", ("s", "t"))], True),
        ([("ab", ("s", "t")), ("ab", ("t", "u"))], True),
        ([("ab", ("s", "t")), ("ab", "s")], False),
    ],
)
def test_entries_on_nested_qids_with_different_sensitive_columns_are_warned_of(entries, warned):
    assert bool(apart_warnings([entry(*e) for e in entries])) == warned


JOB = """\
kind: integrate
name: x
parties: {a: {}, b: {}, c: {}}
id: ID
class: C
attributes: {Q: {party: a}, S: {party: a}, T: {party: b}, U: {party: c}}
conditions: holder
requirement:
  - {qid: [Q], k: 2, sensitive: %s, l: 2}
"""


def test_sensitive_columns_of_one_entry_in_three_houses_are_refused(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(JOB % "[S, T, U]")
    with pytest.raises(
        UsageError, match=r"at one party or at two \('S' is a's, 'T' is b's, 'U' is c"
    ):
        load_job(job)


def test_sensitive_columns_in_two_houses_are_judged_by_their_frequencies(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(JOB % "[S, T]")
    assert load_job(job).requirements[0].model.by_frequency
    job.write_text(JOB.replace("conditions: holder\n", "") % "[S, T]")
    with pytest.raises(UsageError, match="by frequencies cannot be decided on shares; 'conditions"):
        load_job(job)


def test_k_of_one_is_warned_of():
    [warning] = lone_warnings([Requirement(("Sex",), 1), Requirement(("Job",), 2)])
    assert "entry 1 (Sex) has 'k: 1'" in warning


def test_an_entry_that_another_one_implies_is_named():
    wide, narrow = Requirement(("Sex", "Job"), 5), Requirement(("Sex",), 5)
    [warning] = covered_warnings([narrow, wide])
    assert "entry 1 (Sex, k = 5) is covered by entry 2" in warning
    assert covered_warnings([Requirement(("Sex",), 6), wide]) == []
    assert covered_warnings([entry("a", "s"), Requirement(("a", "b"), 9)]) == []
    [warning] = covered_warnings([wide, wide])
    assert "entry 2 (Sex, Job, k = 5) is covered by entry 1" in warning
