"""The demo's people: valid numbers, columns that depend on each other, nobody known to all alike."""

import csv
from datetime import date

import numpy as np
import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.demo.population import (
    BEHIND,
    CLASS,
    COLUMNS,
    ID,
    LENDER,
    check_digits,
    generate,
    taxonomies,
    write_csv,
    write_taxonomy,
)


@pytest.fixture(scope="module")
def people():
    return generate(3000, seed=7)


def luhn(digits):
    """The check of a whole number, as anyone would do it by hand."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value // 10 + value % 10
    return total % 10


def test_the_check_digit_is_that_of_the_tax_agencys_example():
    # 811218-9876 is the number with which the Swedish authorities explain the rule.
    assert check_digits(np.array(["19811218987"])).tolist() == [6]


def test_personal_numbers_are_valid_unique_and_fit_age_and_sex(people):
    columns = people.columns
    assert len(set(columns[ID].tolist())) == 3000
    for number, age, sex in zip(columns[ID], columns["Age"], columns["Sex"], strict=True):
        day, serial = str(number).split("-")
        assert luhn(day[2:] + serial) == 0
        assert 980 <= int(serial[:3]) <= 999
        born = date.fromisoformat(day)
        assert age - 1 <= (date(2026, 1, 1) - born).days / 365.2425 <= age + 1.01
        assert (int(serial[2]) % 2 == 0) == (sex == "Female")


def test_a_large_population_still_has_unique_numbers():
    numbers = generate(120_000, seed=1).columns[ID]
    assert len(np.unique(numbers)) == 120_000


def test_the_same_seed_gives_the_same_people(people):
    again, other = generate(3000, seed=7), generate(3000, seed=8)
    assert all((people.columns[name] == again.columns[name]).all() for name in people.columns)
    assert (people.columns["Salary"] != other.columns["Salary"]).any()


def correlation(people, one, two):
    return np.corrcoef(people.columns[one], people.columns[two])[0, 1]


def test_columns_depend_on_each_other_as_in_life(people):
    assert correlation(people, "Salary", "Spending") > 0.4
    assert correlation(people, "Salary", "Limit") > 0.4
    assert correlation(people, "Age", "Salary") > 0.2
    doctors = people.columns["Education"] == "Doctorate"
    assert (people.columns["Job"][doctors] == "Researcher").mean() > 0.3


def test_who_is_behind_depends_on_salary_and_spending_together(people):
    """By each alone the usual factor is about 2, by both about 10: neither table shows it."""
    behind = people.columns[CLASS] == BEHIND
    salary, spending = people.columns["Salary"], people.columns["Spending"]
    poor, rich = salary < 30, salary >= 40
    thrifty, lavish = spending < 8, spending >= 12
    assert 0.2 < behind.mean() < 0.3
    assert 1.5 < behind[poor].mean() / behind[rich].mean() < 3
    assert 1 < behind[lavish].mean() / behind[thrifty].mean() < 2.2
    assert behind[poor & lavish].mean() > 6 * behind[rich & thrifty].mean()


def test_some_people_are_known_to_only_one_organisation(people):
    count = sum(known.astype(int) for known in people.known.values())
    assert 0 < people.common == int((count == 3).sum()) < 3000
    assert all(((count == 1) & known).any() for known in people.known.values())


def test_each_organisation_has_its_own_columns_and_order(people):
    tables = {party: people.table(party) for party in COLUMNS}
    for party, table in tables.items():
        assert list(table) == [ID, *COLUMNS[party], *([CLASS] if party == LENDER else [])]
    common = set(tables["lender"][ID]) & set(tables["bank"][ID]) & set(tables["card"][ID])
    assert len(common) == people.common
    order = [[n for n in tables[party][ID] if n in common] for party in tables]
    assert order[0] != order[1]


def test_taxonomies_cover_every_value(people, tmp_path):
    for name, paths in taxonomies().items():
        assert {path[0] for path in paths} >= set(people.columns[name].tolist())
        assert len({path[-1] for path in paths}) == 1
        write_taxonomy(tmp_path / "t.csv", paths)
        with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
            assert [tuple(row) for row in csv.reader(file, delimiter=";")] == paths


def test_a_table_is_read_back_as_written(people, tmp_path):
    from coterie.jobs.data.sources import CsvFile

    table = people.table("lender")
    write_csv(tmp_path / "t.csv", table)
    assert CsvFile(tmp_path / "t.csv").read(list(table)).to_pydict() == table


@pytest.mark.parametrize("size", [0, 9, 10**9])
def test_a_population_of_no_sensible_size_is_refused(size):
    with pytest.raises(UsageError, match="a population has 10 to"):
        generate(size, 1)
