"""Which entries of a requirement give less than they seem to."""

import pytest

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import UsageError
from coterie.jobs.kinds.integrate.job import apart_warnings, lone_warnings
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


def test_sensitive_columns_of_one_entry_in_two_houses_are_refused(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(
        "kind: integrate\nname: x\nparties: {a: {}, b: {}}\nid: ID\nclass: C\n"
        "attributes: {Q: {party: a}, S: {party: a}, T: {party: b}}\n"
        "requirement:\n  - {qid: [Q], k: 2, sensitive: [S, T], l: 2}\n"
    )
    with pytest.raises(UsageError, match=r"must be in one house \('S' is a's, 'T' is b's\)"):
        load_job(job)


def test_k_of_one_is_warned_of():
    [warning] = lone_warnings([Requirement(("Sex",), 1), Requirement(("Job",), 2)])
    assert "entry 1 (Sex) has 'k: 1'" in warning
