"""The garbling benchmark measures right results, here on a small scale and without a network."""

from coterie.bench.garbling import aes_blocks_a_second, party, product_circuit
from coterie.protocols.messaging.memory import run_same


def test_both_parties_report_the_same_measures():
    sizes = {"instances": 3, "comparisons": 4, "transfers": 100, "products": 5}
    names = ["p0", "p1"]
    results = run_same(names, lambda channel: party(channel, names, sizes))
    assert list(results["p0"]) == list(results["p1"])
    for result in results.values():
        assert all(spent["seconds"] > 0 for spent in result.values())
    assert all(results["p0"][what]["sent_bytes"] > 0 for what in ("instances", "products"))


def test_the_yardsticks_are_there():
    assert aes_blocks_a_second(quick=True) > 0
    assert product_circuit().ands == 2 * 32**2 - 32
