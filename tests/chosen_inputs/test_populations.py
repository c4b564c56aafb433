"""`population` of `identify`, varied over jobs: what the coordinator finds of an owner's number of records."""

from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.anonymity.risk.quasi_identifiers import least_cells, values_in_population
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.identify.kind import _share_told, _values_told
from coterie.jobs.kinds.job_file import load_job

RECORDS, COMMON, ALPHA = 300, 5, 0.2
JOB = (
    "kind: identify\nname: who\nparties: {a: {data: a.csv}, b: {data: b.csv}}\nid: ID\n"
    "pad_to: 1000\nalpha: 0.2\npopulation: POPULATION\n"
    "attributes: {Zip: {party: a}, Sex: {party: b, values: [f, m]}}\n"
)
POPULATIONS = (COMMON, 10**9)  # one that no table is larger than, and one beyond all tables


def told(folder, distinct, population, attribute=""):
    """How many values the job says that Zip has; both parties pad their sets to 1,000."""
    rows = "".join(f"p{at},{at % distinct}\n" for at in range(RECORDS))
    (folder / "a.csv").write_text("ID,Zip\n" + rows)
    rows = "".join(f"p{at},{'fm'[at % 2]}\n" for at in range(COMMON))
    (folder / "b.csv").write_text("ID,Sex\n" + rows)
    path = folder / "job.yaml"
    text = JOB.replace("POPULATION", str(population)).replace("party: a", f"party: a{attribute}")
    path.write_text(text)
    (folder / "out").mkdir(exist_ok=True)
    return simulate(load_job(path), folder, folder / "out", seed="1")["distinct"]["Zip"]


def answer(records, distinct, once, population):
    job = SimpleNamespace(population=population, alpha=ALPHA)
    columns = {"Zip": SimpleNamespace(distinct=distinct, once=once)}
    return _values_told(job, SimpleNamespace(columns=columns, records=records), "Zip")


def possible(answers: Iterable[tuple[int | None, int]], distinct: int) -> tuple[set[int], set[int]]:
    """All numbers of records up to 1,000, and of values that occur once, of a table with these answers."""
    answers = list(answers)
    tables = {
        (records, once)
        for once in range(distinct + 1)
        for records in range(2 * distinct - once, 1001)
        if all(answer(records, distinct, once, people) == told for people, told in answers)
    }
    return {records for records, _ in tables}, {once for _, once in tables}


def test_no_series_of_populations_tells_how_many_records_a_column_of_many_values_has(tmp_path):
    """The padding hides the number; of 200 values 100 occur once, which is a third of the records."""
    answers = [(population, told(tmp_path, 200, population)) for population in POPULATIONS]
    for people, number in answers:
        assert number == answer(RECORDS, 200, 100, people)
    series = (*range(5, 1000, 35), 10**6, 10**12)
    every = [(people, answer(RECORDS, 200, 100, people)) for people in series]
    records, once = possible([*answers, *every], 200)
    assert records == set(range(291, 800))
    assert len(once) > 100


def test_without_a_population_the_number_of_records_is_not_told_either():
    """Tables of 200 values that all occur once, or nearly, among 200 to 220 records; and half of them."""
    nearly_all = {answer(n, 200, 2 * 200 - n, None) for n in range(200, 221)}
    assert nearly_all == {least_cells(0.999, 200)}
    records, _ = possible([(None, answer(300, 200, 100, None))], 200)
    assert records == set(range(291, 800))


def test_an_estimate_is_no_lower_than_that_of_the_exact_numbers():
    rng = np.random.default_rng(3)
    for _ in range(500):
        records = int(rng.integers(2, 400))
        distinct = int(rng.integers(1, records + 1))
        population = int(rng.integers(records, 10**6))
        once = int(rng.integers(max(0, 2 * distinct - records), distinct + 1))
        exact = values_in_population(distinct, once / records, records, population, ALPHA)
        told = answer(records, distinct, once, population)
        assert told <= distinct + 1000 * population
        assert told >= exact or once < 8


@pytest.mark.parametrize("distinct", [2, RECORDS // 2])
def test_a_column_of_values_that_repeat_tells_only_that_there_are_twice_as_many_records(
    tmp_path, distinct
):
    answers = [(population, told(tmp_path, distinct, population)) for population in POPULATIONS]
    assert {answer for _, answer in answers} == {distinct}
    records, once = possible(answers, distinct)
    assert {*range(2 * distinct, 1001)} <= records
    assert {*range(min(distinct, 7) + 1)} <= once


@pytest.mark.parametrize(
    ("once", "share"),
    [
        (0, 0), (15, 0), (16, 1 / 32), (31, 1 / 32), (32, 1 / 16), (62, 1 / 16), (63, 1 / 8),
        (130, 2 / 8), (876, 1), (1000, 1),
    ],
)  # fmt: skip
def test_the_share_that_is_told_is_coarse(once, share):
    assert _share_told(once, 1000) == share
    assert _share_told(min(once, 7), 20) == 0


def test_declared_values_tell_nothing_of_the_table(tmp_path):
    declared = f", values: {[str(at) for at in range(250)]}"
    assert {told(tmp_path, 200, population, declared) for population in POPULATIONS} == {250}
