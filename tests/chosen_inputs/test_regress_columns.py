"""A partner that writes the columns of a model: one person in a sum, in any coding.

The bank has salaries; the lender writes columns of its own about the same people, and reads the result
that both get. A column that singles a person out makes the model answer that person's salary exactly:
the model's answer for the person is the salary itself, whatever the others earn.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import yaml

from coterie.base.errors import DataError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.party.policy import Budget, Policy, judge
from tests.jobs.kinds.models.people import write

PEOPLE = 200
POLICY = Policy(
    coordinators=frozenset({"analyst"}), kinds=frozenset({"regress"}), peers=frozenset({"lender"}),
    use=frozenset({"Salary"}), release=frozenset({"Salary"}), ids=frozenset({frozenset({"ID"})}), smallest_k=5,
)  # fmt: skip
SALARIES = np.random.default_rng(8).integers(20_000, 90_000, PEOPLE).astype(float)


def job(folder, columns, minimum=5, **keys):
    """The lender's columns, by name, beside the bank's salaries."""
    ids = [f"p{i}" for i in range(len(SALARIES))]
    write(folder / "lender.csv", {"ID": ids} | columns)
    write(folder / "bank.csv", {"ID": ids, "Salary": SALARIES})
    content = {
        "kind": "regress", "name": "chosen", "id": "ID", "model": "linear", "outcome": "Salary",
        "parties": {name: {"data": f"{name}.csv"} for name in ("lender", "bank")},
        "features": list(columns), "minimum": minimum,
        "attributes": {"Salary": {"party": "bank", "range": [0, 100_000]}},
    }  # fmt: skip
    for name, values in columns.items():
        ends = [float(np.min(values)), float(np.max(values))]
        content["attributes"][name] = {"party": "lender", "range": ends}
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump({**content, **keys}, sort_keys=False))
    return load_job(path)


def run(folder, *args, **keys):
    wanted = job(folder, *args, **keys)
    (folder / "out").mkdir(exist_ok=True)
    return simulate(wanted, folder, folder / "out", seed="4")


def answers(result, columns):
    """What the lender computes from the result for each of its people."""
    found = np.full(PEOPLE, result["intercept"])
    for name, values in columns.items():
        found += result["coefficients"][name]["value"] * np.asarray(values)
    return found


def singled_out(people, low, high):
    """A column for each person: that one has `high`, all others `low`."""
    return {f"C{p}": np.where(np.arange(PEOPLE) == p, high, low) for p in people}


@pytest.mark.parametrize("codes", [(2, 3), (0, 1), (3, 2), (-7.5, 40)])
def test_columns_that_each_single_out_one_person_are_refused_in_any_coding(tmp_path, codes):
    people = list(range(0, PEOPLE, 35))
    columns = singled_out(people, *codes)
    told = answers(run(tmp_path, columns, minimum=1), columns)
    assert np.abs(told - SALARIES)[people].max() < 1  # the attack works where nothing is checked
    with pytest.raises(DataError, match="fewer than 5 records, but some"):
        run(tmp_path, columns)


def test_58_columns_for_58_people_are_refused(tmp_path):
    with pytest.raises(DataError, match="fewer than 5 records, but some"):
        run(tmp_path, singled_out(range(58), 2, 3))


def spread(people, values):
    """Columns where nobody is alone, but the two columns together single out the people."""
    base = np.arange(PEOPLE) < 100
    return {
        "A": np.where(base, *values),
        "B": np.where(base | np.isin(np.arange(PEOPLE), people), *values),
    }


@pytest.mark.parametrize("values", [(2, 3), (1, 0)])
def test_two_columns_that_differ_in_one_person_are_refused(tmp_path, values):
    columns = spread([150], values)
    told = run(tmp_path, columns, minimum=1)
    assert abs(answers(told, columns)[150] - SALARIES[150]) < 1
    with pytest.raises(DataError, match="fewer than 5 records, but some"):
        run(tmp_path, columns)
    assert run(tmp_path, spread(range(150, 155), values))["records"] == PEOPLE


def test_three_columns_that_single_out_one_person_are_left_to_the_policy(tmp_path):
    """A, B and both with one person more: any two differ in many people, all three in one.

    Joint values of three and more columns of honest parties are rare, so that they cannot be refused.
    """
    at = np.arange(PEOPLE)
    first, second = at < 40, (at >= 40) & (at < 90)
    columns = {"A": first * 1, "B": second * 1, "C": (first | second | (at == 150)) * 1}
    wanted = job(tmp_path, columns)
    (tmp_path / "out").mkdir()
    told = answers(simulate(wanted, tmp_path, tmp_path / "out", seed="4"), columns)
    assert abs(told[150] - SALARIES[150]) < 1
    [reason] = judge(POLICY, wanted, "bank", "analyst")
    assert reason.startswith("policy.exact does not list lender")


@pytest.mark.parametrize("seed", range(6))
def test_a_column_from_which_a_sum_over_a_few_follows_is_refused(tmp_path, seed):
    """Judged by arithmetic: the sums of a column and of ones give those over its every value, if it
    has two values; a person alone with one of few values stands out however the values are coded."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation([2, 3, 11, 1000])[: rng.integers(2, 5)]
    column = rng.choice(codes, PEOPLE, p=rng.dirichlet(np.full(len(codes), 0.6)))
    counts = np.unique(column, return_counts=True)[1]
    if len(counts) == 1:
        column[:3], counts = codes[0] + 1, np.array([3])
    if counts.min() < 5:
        with pytest.raises(DataError, match="fewer than 5 records, but some"):
            run(tmp_path, {"X": column})
    else:
        assert run(tmp_path, {"X": column})["records"] == PEOPLE


def far(person, many):
    """A column with one far value; `many`: behind noise, so that two such columns are needed."""
    alone = np.where(np.arange(PEOPLE) == person, 1e6, 0.0)
    if not many:
        return {"X": alone}
    noise = np.random.default_rng(1).uniform(0, 1e6, PEOPLE)
    return {"X": noise, "Y": noise + alone}


def test_a_far_value_is_refused_and_behind_noise_left_to_the_policy(tmp_path):
    """No count sees that two columns of many values differ in one person: the model tells its salary.

    So only a partner that `policy.exact` names may bring columns; another one gets noise or nothing.
    """
    with pytest.raises(DataError, match="fewer than 5 records, but some"):
        run(tmp_path, far(17, many=False))
    columns = far(17, many=True)
    told = answers(run(tmp_path, columns), columns)
    assert abs(told[17] - SALARIES[17]) < 1
    assert np.median(np.abs(told - SALARIES)) > 1000

    plain, noisy = job(tmp_path, columns), job(tmp_path, columns, noise={"epsilon": 1})
    [reason] = judge(POLICY, plain, "bank", "analyst")
    assert reason.startswith("policy.exact does not list lender")
    assert judge(replace(POLICY, exact=frozenset({"lender"})), plain, "bank", "analyst") == []
    budget = Budget(Fraction(2), Fraction(0), 30)
    hidden = replace(POLICY, release=frozenset())  # with noise nothing exact leaves the bank
    assert judge(replace(hidden, budget=budget), noisy, "bank", "analyst") == []
    [reason] = judge(hidden, noisy, "bank", "analyst")
    assert reason.startswith("policy.budget is not set")


def test_with_noise_the_same_columns_do_not_tell_the_salary(tmp_path):
    """Between any two salaries of the person the odds change by a factor of at most e to epsilon: with
    epsilon 1, nobody can be within a hundredth of the range of the truth much oftener than by guessing."""
    columns = far(17, many=True)
    near = 0
    for seed in range(12):
        wanted = job(tmp_path, columns, noise={"epsilon": 1})
        (tmp_path / "out").mkdir(exist_ok=True)
        result = simulate(wanted, tmp_path, tmp_path / "out", seed=str(seed))
        near += abs(answers(result, columns)[17] - SALARIES[17]) < 1000
    assert near <= 4
