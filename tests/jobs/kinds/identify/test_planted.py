"""Sets that single people out in a population are named by a job on a sample, whatever its columns."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

import coterie

POPULATION, RECORDS, ALPHA, LONGEST = 20_000, 2_000, 0.2, 3


def unique_share(columns):
    """The share of people who are alone with their values, by counting."""
    _, numbers = np.unique(np.stack(columns), axis=1, return_inverse=True)
    counts = np.bincount(numbers.ravel())
    return float((counts == 1).sum()) / len(columns[0])


def zipf(rng, values, power):
    weights = 1.0 / np.arange(1, values + 1) ** power
    return rng.choice(values, POPULATION, p=weights / weights.sum())


def population(seed):
    """Columns of few, of many and of mostly rare values; `Card` and `Plate` together are a key."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(POPULATION)
    return {
        "Sex": rng.integers(0, 2, POPULATION),
        "Age": rng.integers(18, 90, POPULATION),
        "Town": zipf(rng, 6_000, 1.1),
        "Street": np.where(rng.random(POPULATION) < 0.6, 0, rng.integers(1, 9_000, POPULATION)),
        "Card": order // 150,
        "Plate": order % 150,
    }


def sets_of(table, owners):
    rng = np.random.default_rng(7)
    rows = np.sort(rng.choice(POPULATION, RECORDS, replace=False))
    ids = [f"p{row}" for row in rows]
    frames = {}
    for party in ("a", "b"):
        own = {name: table[name][rows] for name, owner in owners.items() if owner == party}
        frames[party] = {"ID": ids} | {name: list(map(str, v)) for name, v in own.items()}
    job = coterie.Job(
        kind="identify", name="planted", parties={"a": {}, "b": {}}, id="ID",
        attributes={name: {"party": owner} for name, owner in owners.items()},
        population=POPULATION, alpha=ALPHA, longest=LONGEST,
    )  # fmt: skip
    found = coterie.simulate(job, {party: pa.table(frame) for party, frame in frames.items()})
    return found, [set(one["columns"]) for one in found["sets"]]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_set_that_enumeration_finds_in_the_population_is_named(seed):
    table = population(seed)
    owners = {name: "ab"[at % 2] for at, name in enumerate(table)}
    found, named = sets_of(table, owners)
    assert found["distinct"]["Sex"] == 2
    assert found["distinct"]["Age"] == 72
    planted = 0
    for size in range(1, LONGEST + 1):
        for chosen in itertools.combinations(table, size):
            if unique_share([table[name] for name in chosen]) >= ALPHA:
                planted += 1
                assert any(one <= set(chosen) for one in named), chosen
    assert planted > 10
    assert any(one <= {"Card", "Plate"} for one in named)


@pytest.mark.parametrize("own", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("values", [40_000, 10**9])
def test_a_column_of_few_common_and_many_rare_values_is_named(own, values):
    """Most people share one of 50 values, the others have one of very many, or one of their own."""
    rng = np.random.default_rng(4)
    rare = rng.integers(100, values, POPULATION)
    street = np.where(rng.random(POPULATION) < own, rare, rng.integers(0, 50, POPULATION))
    share = unique_share([street])
    assert share > 0.19
    table = population(3) | {"Street": street}
    found, named = sets_of(table, {"Street": "a", "Sex": "b"})
    assert share < ALPHA or {"Street"} in named
    assert found["distinct"]["Street"] >= len(set(street.tolist()))


def test_the_exact_number_on_shares_stands_beside_a_bound_that_is_far_above_it():
    """Correlated columns of many combinations: the bound knows nothing of the correlation."""
    rng = np.random.default_rng(6)
    town = rng.integers(0, 120, 400)
    code = (town + np.where(rng.random(400) < 0.8, 0, rng.integers(0, 120, 400))) % 120
    ids = [f"p{row}" for row in range(400)]
    job = coterie.Job(
        kind="identify", name="exact", parties={"a": {}, "b": {}}, id="ID",
        attributes={"Town": {"party": "a"}, "Code": {"party": "b"}}, uniques=[["Town", "Code"]],
    )  # fmt: skip
    frames = {
        "a": pa.table({"ID": ids, "Town": list(map(str, town))}),
        "b": pa.table({"ID": ids, "Code": list(map(str, code))}),
    }
    found = coterie.simulate(job, frames)
    [one] = found["uniques"]
    assert one["cells"] > 10_000
    assert one["uniques"] == round(400 * unique_share([town, code]))
    [bound] = [each["bound"] for each in found["sets"]]
    assert one["uniques"] / 400 < bound - 0.4
