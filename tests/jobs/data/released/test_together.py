"""Entries that hold one by one, and what is said of all their columns together."""

import numpy as np
import pytest

from coterie.anonymity.specialization.specialize import Requirement
from coterie.jobs.data.released.together import (
    apart,
    together_claimed,
    together_counted,
    together_of,
    together_warnings,
)


def entries(*qids, k=5):
    return [Requirement(tuple(qid), k) for qid in qids]


@pytest.mark.parametrize(
    ("qids", "expected"),
    [
        ([], False),
        (["ab"], False),
        (["a", "b"], True),
        (["ab", "b"], False),
        (["ab", "ba"], False),
        (["ab", "bc"], True),
        (["ab", "bc", "abc"], False),
    ],
)
def test_entries_are_apart_if_none_has_all_columns(qids, expected):
    assert apart(entries(*qids)) is expected
    assert bool(together_warnings(entries(*qids))) is expected
    assert bool(together_of(entries(*qids), 10, 1, 4)) is expected


def test_sizes_and_the_claimed_risk_say_the_same():
    counted = together_counted(entries("a", "b"), np.array([1, 1, 7]))
    claimed = together_claimed(entries("a", "b"), 9, {"prosecutor": 1.0, "uniques": 2})
    assert counted == claimed
    assert counted.facts == {"columns": ["a", "b"], "smallest": 1, "uniques": 2}
    assert "2 of 9 records are unique in these columns" in counted.sentence


@pytest.mark.parametrize(
    ("smallest", "k", "exposed"), [(1, 1, True), (2, 1, False), (4, 5, True), (5, 5, False)]
)
def test_groups_as_large_as_every_entry_promises_are_not_exposed(smallest, k, exposed):
    found = together_of(entries("a", "b", k=k), 50, smallest, int(smallest == 1))
    assert found.exposed is exposed
    assert f"at least {smallest} record" in found.clause


def test_without_a_unique_record_the_smallest_group_is_named():
    found = together_of(entries("a", "b"), 50, 3, 0)
    assert "the smallest group has 3 records, fewer than the k = 5 of every entry" in found.sentence


def test_nothing_is_said_of_a_release_without_records():
    assert together_of(entries("a", "b"), 0, 0, 0) is None
