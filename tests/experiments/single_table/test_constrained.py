"""`coterie experiment constrained`: the shape of the article's two tables."""

import pytest

from tests.experiments.made import made, needs_adult

pytestmark = needs_adult


def test_violations_without_bounds_and_none_with_them(tmp_path):
    found = {row["k"]: row for row in made(tmp_path, "constrained")["thresholds"]}
    for row in found.values():
        assert row["country"] == pytest.approx(row["printed"][0], rel=0.14)
        assert row["suppressed_country"] == 0
        assert row["left_over"] == 0
        assert row["loss_both"] > row["loss"]
    assert found[2]["suppressed_both"] == 6
    assert found[10]["suppressed_both"] == 54
    assert found[10]["loss_country"] < found[10]["loss"]  # the article's surprise
    # Another program, with other trees of these heights, comes close: 686, 2,440 and 5,831.
    assert found[2]["country"] == pytest.approx(686, rel=0.06)
    assert found[2]["age"] == pytest.approx(2_440, rel=0.06)
    assert found[2]["loss"] == pytest.approx(5_831, rel=0.03)
