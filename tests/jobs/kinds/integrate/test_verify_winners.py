"""The scores of `coterie verify` are computed by their definition, and are those of the search."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.specialization.scores import gain_ratio, information_gain
from coterie.jobs.kinds.integrate.verify_winners import plain_score

COUNTS = st.integers(1, 4).flatmap(
    lambda classes: st.lists(
        st.lists(st.integers(0, 5000), min_size=classes, max_size=classes), min_size=1, max_size=5
    ).filter(lambda rows: any(map(any, rows)))
)


@pytest.mark.parametrize(
    ("rule", "counts", "score"),
    [
        ("information-gain", [[4, 0], [0, 4]], 1.0),
        ("information-gain", [[2, 2], [2, 2]], 0.0),
        # Paper 1, Table 2: White-collar -> Admin, Tech: 8 and 4 of 12 records.
        ("gain-ratio", [[1, 1], [1, 1], [0, 4]], (1 - 1 / 2 * 1 - 0.188721875540867) / 1.5),
        ("gain-ratio", [[3, 5], [0, 0]], 0.0),
    ],
)
def test_a_score_is_what_its_definition_says(rule, counts, score):
    assert plain_score(rule, counts) == pytest.approx(score * 2**30, abs=1)


@settings(deadline=None)
@given(COUNTS)
def test_the_search_and_the_check_give_the_same_whole_number(counts):
    """Two ways of computing: whole numbers with a bound on the error, and decimals of 60 digits."""
    assert plain_score("information-gain", counts) == information_gain(counts)
    assert plain_score("gain-ratio", counts) == gain_ratio(counts)
