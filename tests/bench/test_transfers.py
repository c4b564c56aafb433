"""The estimates of the code of silent transfers, and the measures of transfers, on a small scale."""

import pytest

from coterie.bench._lpn_estimates import SETS, estimates
from coterie.bench.transfers import SIZES, speed
from coterie.protocols.primitives.local_code import SIZES as OURS


def test_our_sizes_are_harder_than_128_bits_by_both_estimates():
    for size in OURS.values():
        found = estimates(size.outputs, size.secret, size.trees)
        assert found["hybrid_bits"] > 170
        assert found["sub_code_bits"] > 145


@pytest.mark.parametrize("name", ["emp-ot 1.0, b11", "emp-ot 1.0, b10"])
def test_sets_that_were_chosen_for_128_bits_against_the_hybrid_attack_have_them(name):
    assert estimates(*SETS[name])["hybrid_bits"] == pytest.approx(128, abs=1)


def test_more_errors_and_a_longer_secret_are_harder():
    n, k, t = SETS["emp-ot 1.0, b10"]
    plain = estimates(n, k, t)
    for other in (estimates(n, k * 3 // 2, t), estimates(n * 2, k, t * 2)):
        assert other["hybrid_bits"] != plain["hybrid_bits"]
    harder = estimates(n, k * 3 // 2, t)
    assert harder["hybrid_bits"] > plain["hybrid_bits"]
    assert harder["sub_code_bits"] > plain["sub_code_bits"]


def test_silent_transfers_send_less_where_there_are_many():
    [few, many] = speed((SIZES[0], SIZES[3]), 1)
    assert few["checked_bytes"] < few["silent_bytes"]
    assert many["silent_bytes"] < many["checked_bytes"] / 3
    assert all(
        entry[f"{way}_nanoseconds"] > 0 for entry in (few, many) for way in ("checked", "silent")
    )
