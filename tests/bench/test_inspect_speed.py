"""The benchmark of `coterie inspect`, on tiny inputs."""

import sys

import pytest

from coterie.bench._inspect_speed import (
    adult_entries,
    random_columns,
    wide_entry,
)
from tests import ADULT, ROOT


def test_a_wide_table_has_a_separation_key_and_a_minimum_key():
    found = wide_entry(500, 6)
    assert found["separation_key"]["separation"] >= 0.99
    assert found["minimum_key"]["at_least"] <= found["minimum_key"]["size"]
    assert len(random_columns(10, 3)) == 3


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the project")
def test_the_risk_of_adult_beside_a_peer_that_may_be_missing():
    found = adult_entries(
        ADULT, [sys.executable, str(ROOT / "bench/peers/anonymise.py")], quick=True
    )
    assert found["records"] == 3000
    assert [entry["coterie"]["prosecutor"] for entry in found["risk"]] == [1, 1, 1]
    for entry in found["risk"]:
        assert "error" in entry["pycanon"] or entry["pycanon"]["prosecutor"] == 1
