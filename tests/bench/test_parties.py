"""What benchmarks measure at each party is right and whole, here on a small scale without a network."""

import numpy as np
import pytest

from coterie.bench import conditions, dka, fair, scalar_products
from coterie.bench.peers import question_jobs
from coterie.bench.question_parts import lined_up
from coterie.protocols.messaging.memory import run_same

UNITS = {"seconds", "cpu_seconds", "sent_bytes"}


def of_all(names, party, argument):
    """What each party of a benchmark reports."""
    return run_same(names, lambda channel: party(channel, names, argument))


@pytest.mark.parametrize(("party", "argument"), [("coterie_party", 10), ("hidden_party", 3)])
def test_the_rounds_of_a_fair_job_are_measured_in_all_units(party, argument):
    found = of_all(["a", "b", "c"], getattr(fair, party), argument)
    for report in found.values():
        assert all(set(spent) == UNITS for spent in report.values())
    assert sum(found["a"][what]["sent_bytes"] for what in found["a"]) > 0


def test_the_parts_of_scalar_products_are_measured_in_all_units():
    arguments = {"records": 50, "products": 3, "key_bits": 2048, "kinds": ["transfer"]}
    for report in of_all(["a", "b"], scalar_products.party, arguments).values():
        assert list(report["transfer"]) == ["set_up", "offline", "online"]
        assert all(set(spent) == UNITS for spent in report["transfer"].values())


def test_proposals_are_timed_from_the_first_message_to_the_verdict(monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr(conditions.time, "perf_counter", lambda: float(next(now)))
    watch = conditions.Proposals()
    steps = ["winner", "propose", "propose/sums", "propose/tell", "instruct", "winner", "propose",
             "instruct"]  # fmt: skip
    for step in steps:
        watch.listen(f"specialize/{step}", 0, 0)
    assert watch.seconds == [3.0]  # the second proposal was the holder's own


def test_the_growth_of_dka_counts_encryptions_and_bytes():
    small, large = dka.growth([20, 40], k=5)
    assert small["encryptions_per_round"] == 2 * 20 * (20 // 5 + 1)
    assert large["encryptions_per_round"] == 2 * 40 * (40 // 5 + 1)
    assert 0 < small["sent_bytes"] / small["rounds"] < large["sent_bytes"] / large["rounds"]


def test_sums_by_group_are_measured_in_all_units():
    names = ["p0", "p1"]
    codes = {name: np.arange(1200) % size for name, size in lined_up._axes()}

    def party(channel):
        mine = {"codes": codes, "rows": None} if channel.me == "p1" else {"codes": {}}
        rows = np.ones((1200, 2), np.uint64)
        owners = dict.fromkeys(codes, "p1")
        argument = {"records": 1200, "owners": owners, "rows": rows, "noisy": False, **mine}
        return lined_up.aggregate_party(channel, names, argument)

    for report in run_same(names, party).values():
        assert {*UNITS, "rounds", "found", "peak_mb"} == set(report)
        _, counts, sums = report["found"]
        assert counts == sums
        assert min(counts) >= lined_up.MINIMUM


def test_sums_of_mixed_cells_are_measured_in_all_units():
    names = ["p0", "p1"]
    codes = {name: np.arange(1200) % size for name, size in lined_up._axes()}

    def party(channel):
        mine = (np.arange(1200) % 2 == 0) == (channel.me == "p0")
        held = {name: np.where(mine, column, -1) for name, column in codes.items()}
        rows = np.stack([mine, mine], axis=1).astype(np.uint64)
        return lined_up.mixed_party(channel, names, {"records": 1200, "codes": held, "rows": rows})

    for report in run_same(names, party).values():
        assert {*UNITS, "rounds", "found", "peak_mb"} == set(report)
        assert sum(report["found"]) == 2 * 1200


def test_a_job_is_measured_whole_and_its_answer_is_that_of_the_pooled_table():
    names, table = ["p0", "p1"], question_jobs.people(240)
    tables = dict(zip(names, question_jobs.in_parts(table, 2), strict=True))
    keys = "partition: horizontal\nmodel: linear\noutcome: cost\nfeatures: [x0, x1]\n"
    text = question_jobs.job_text("regress", names, keys)

    def party(channel):
        mine = question_jobs.as_text(tables[channel.me])
        argument = {"job": text, "table": mine, "small": mine.slice(0, 60)}
        return question_jobs.job_party(channel, names, argument)

    x = np.column_stack([np.ones(240), table["x0"], table["x1"]])
    due = np.linalg.lstsq(x, table["cost"])[0]
    for report in run_same(names, party).values():
        assert {*UNITS, "rounds", "found", "peak_mb"} == set(report)
        found = [entry["value"] for entry in report["found"]["coefficients"].values()]
        assert found == pytest.approx(due[1:])
