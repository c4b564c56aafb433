"""`population` of `identify`, varied over jobs: what the coordinator finds of an owner's number of records."""

from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.anonymity.risk.quasi_identifiers import values_in_population
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.identify.kind import _values_told
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


def answer(records, distinct, population):
    job = SimpleNamespace(population=population, alpha=ALPHA)
    columns = {"Zip": SimpleNamespace(distinct=distinct)}
    return _values_told(job, SimpleNamespace(columns=columns, records=records), "Zip")


def possible(answers: Iterable[tuple[int, int]]) -> set[int]:
    """All numbers of records up to 1,000 by which a table gives these answers."""
    answers = list(answers)
    return {
        records
        for records in range(1, 1001)
        for distinct in range(1, records + 1)
        if all(answer(records, distinct, people) == told for people, told in answers)
    }


def test_no_series_of_populations_tells_how_many_records_a_column_of_many_values_has(tmp_path):
    """The padding hides the number; of a column with 200 values it is known to an eighth of a share."""
    answers = [(population, told(tmp_path, 200, population)) for population in POPULATIONS]
    for people, number in answers:
        assert number == answer(RECORDS, 200, people)
    every = [
        (people, answer(RECORDS, 200, people)) for people in (*range(5, 1000, 7), 10**6, 10**12)
    ]
    assert possible([*answers, *every]) == set(range(291, 320))


def test_an_estimate_is_no_lower_than_that_of_the_exact_numbers():
    rng = np.random.default_rng(3)
    for _ in range(500):
        records = int(rng.integers(2, 400))
        distinct = int(rng.integers(1, records + 1))
        population = int(rng.integers(records, 10**6))
        once = max(0, 2 * distinct - records)
        exact = values_in_population(distinct, once, records, population, ALPHA)
        assert exact <= answer(records, distinct, population) <= distinct + population


@pytest.mark.parametrize("distinct", [2, RECORDS // 2])
def test_a_column_of_few_values_tells_only_that_there_are_twice_as_many_records(tmp_path, distinct):
    answers = [(population, told(tmp_path, distinct, population)) for population in POPULATIONS]
    assert {answer for _, answer in answers} == {distinct}
    assert possible(answers) == set(range(2 * distinct, 1001))


def test_declared_values_tell_nothing_of_the_table(tmp_path):
    declared = f", values: {[str(at) for at in range(250)]}"
    assert {told(tmp_path, 200, population, declared) for population in POPULATIONS} == {250}
