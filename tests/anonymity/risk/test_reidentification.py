"""Risk: plain counts, and the negative binomial model against drawing."""

import numpy as np
import pytest

from coterie.anonymity.risk.reidentification import expected_inverse, known_at_random, risk_of
from tests.anonymity.risk.people import ROWS, codes_of


def test_groups_of_known_sizes():
    risk = risk_of(np.array([1, 1, 3, 5]))
    assert (risk.prosecutor, risk.marketer, risk.uniques, risk.journalist) == (1, 0.4, 2, None)
    assert risk.below == {2: 2, 5: 5, 10: 10}
    assert risk_of(np.array([4, 4])).prosecutor == 0.25


def test_no_records_are_at_no_risk():
    assert risk_of(np.zeros(0, np.int64), 10).as_dict() == {
        "prosecutor": 0.0, "journalist": 0.0, "marketer": 0.0, "uniques": 0,
        "below": {"2": 0, "5": 0, "10": 0},
    }  # fmt: skip


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.501, 0.7, 0.99])
@pytest.mark.parametrize("records", [1, 2, 7])
def test_the_journalist_faces_the_population(records, share):
    rng = np.random.default_rng(5)
    people = records + rng.negative_binomial(records, share, 400_000)
    assert expected_inverse(records, share) == pytest.approx((1 / people).mean(), rel=0.02)


def test_where_the_table_is_the_population_the_journalist_is_a_prosecutor():
    assert risk_of(np.array([3, 5]), 8).journalist == 1 / 3
    assert expected_inverse(1, 0.25) == pytest.approx(0.25 / 0.75 * np.log(4))


def test_random_columns_single_out_their_share():
    found = known_at_random(codes_of(ROWS), 5, 1, 200, np.random.default_rng(1))
    assert set(np.round(found, 6)) == {0.2, 0.0, 0.4}
    assert (known_at_random(codes_of(ROWS), 5, 3, 2, np.random.default_rng(1)) == 1).all()
