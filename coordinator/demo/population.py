"""A generated population for the loan case: the tables of a lender, a bank and a card company.

The people do not exist. Columns depend on each other as in real life: education depends on age and
place, the job on education, the salary on job and age, spending and credit limit on the salary. Who
falls behind with a loan (the class, which the lender alone has) depends on salary and spending together:
the bank has the one, the card company the other, and neither column alone shows much. Most people are
customers of all three organisations, some of only one or two. Identifiers are Swedish personal numbers
with a correct check digit, of the serials that are set aside for tests unless the population is too
large for them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import UsageError

ID, CLASS, LENDER = "ID", "Class", "lender"
BEHIND, ON_TIME = "behind", "on time"
COLUMNS = {
    "lender": ("Sex", "Age", "Municipality", "Children"),
    "bank": ("Job", "Salary", "Education"),
    "card": ("Spending", "Limit", "Late"),
}
LARGEST_POPULATION = 5_000_000
_KNOWN_TO = {"lender": 0.92, "bank": 0.90, "card": 0.88}
_TODAY = date(2026, 1, 1)
_YOUNGEST, _OLDEST = 20, 69

# municipality: county, part of the country, inhabitants in thousands, odds of higher education
_MUNICIPALITIES: dict[str, tuple[str, str, float, float]] = {
    "Stockholm": ("Stockholm County", "Svealand", 984, 1.5),
    "Nacka": ("Stockholm County", "Svealand", 110, 1.5),
    "Södertälje": ("Stockholm County", "Svealand", 102, 0.8),
    "Uppsala": ("Uppsala County", "Svealand", 242, 1.6),
    "Enköping": ("Uppsala County", "Svealand", 48, 0.9),
    "Örebro": ("Örebro County", "Svealand", 158, 1.0),
    "Göteborg": ("Västra Götaland County", "Götaland", 604, 1.4),
    "Borås": ("Västra Götaland County", "Götaland", 114, 0.8),
    "Trollhättan": ("Västra Götaland County", "Götaland", 59, 0.8),
    "Malmö": ("Skåne County", "Götaland", 362, 1.2),
    "Lund": ("Skåne County", "Götaland", 130, 2.0),
    "Helsingborg": ("Skåne County", "Götaland", 151, 0.9),
    "Umeå": ("Västerbotten County", "Norrland", 132, 1.5),
    "Skellefteå": ("Västerbotten County", "Norrland", 76, 0.8),
    "Luleå": ("Norrbotten County", "Norrland", 79, 1.1),
    "Kiruna": ("Norrbotten County", "Norrland", 22, 0.6),
}
# education: group, share among people of 45 in a place of average odds
_EDUCATION: dict[str, tuple[str, float]] = {
    "Compulsory school": ("No degree", 0.12),
    "Upper secondary": ("No degree", 0.43),
    "Vocational college": ("No degree", 0.13),
    "Bachelor": ("Degree", 0.18),
    "Master": ("Degree", 0.12),
    "Doctorate": ("Degree", 0.02),
}
# job: group, branch, salary at 40 in thousands a month, weight by education in the order above
_JOBS: dict[str, tuple[str, str, float, tuple[float, ...]]] = {
    "Cleaner": ("Services", "Manual", 25, (9, 3, 1, 0.3, 0.1, 0.01)),
    "Cook": ("Services", "Manual", 27, (5, 5, 3, 0.5, 0.1, 0.01)),
    "Driver": ("Transport and trades", "Manual", 30, (6, 7, 2, 0.5, 0.1, 0.01)),
    "Electrician": ("Transport and trades", "Manual", 35, (1, 8, 5, 0.3, 0.1, 0.01)),
    "Carpenter": ("Transport and trades", "Manual", 34, (2, 7, 3, 0.2, 0.1, 0.01)),
    "Shop assistant": ("Office and sales", "Office", 28, (4, 8, 3, 2, 0.5, 0.05)),
    "Accountant": ("Office and sales", "Office", 41, (0.1, 2, 5, 6, 4, 0.1)),
    "Administrator": ("Office and sales", "Office", 33, (0.5, 5, 4, 5, 2, 0.1)),
    "Nurse": ("Care and teaching", "Professional", 39, (0.1, 0.5, 2, 9, 2, 0.1)),
    "Teacher": ("Care and teaching", "Professional", 38, (0.1, 0.5, 1, 8, 6, 1)),
    "Engineer": ("Technology and science", "Professional", 50, (0.1, 1, 4, 6, 9, 3)),
    "Programmer": ("Technology and science", "Professional", 52, (0.1, 2, 4, 6, 7, 2)),
    "Researcher": ("Technology and science", "Professional", 46, (0.01, 0.05, 0.1, 0.3, 2, 30)),
    "Lawyer": ("Law and management", "Professional", 60, (0.01, 0.05, 0.1, 0.5, 8, 2)),
    "Manager": ("Law and management", "Professional", 63, (0.3, 2, 3, 4, 5, 3)),
}
Column: TypeAlias = Array


@dataclass(frozen=True)
class Population:
    """Every person's values by column, and the customers of each organisation."""

    columns: Mapping[str, Column]
    known: Mapping[str, Column]

    @property
    def common(self) -> int:
        """The number of people who are customers of all three."""
        return int(np.logical_and.reduce(list(self.known.values())).sum())

    def table(self, party: str) -> dict[str, list[str]]:
        """One organisation's table, in an order of its own."""
        rows = np.flatnonzero(self.known[party])
        order = np.random.default_rng(len(party) + len(rows)).permutation(rows)
        names = (ID, *COLUMNS[party], *([CLASS] if party == LENDER else []))
        return {name: [str(value) for value in self.columns[name][order]] for name in names}


def generate(people: int, seed: int) -> Population:
    """The same people for the same seed."""
    if not 10 <= people <= LARGEST_POPULATION:
        raise UsageError(f"a population has 10 to {LARGEST_POPULATION:,} people, not {people:,}")
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(43, 13, people).round(), _YOUNGEST, _OLDEST).astype(int)
    women = rng.random(people) < 0.5
    places = list(_MUNICIPALITIES.values())
    place = _choose(rng, np.tile([item[2] for item in places], (people, 1)))
    education = _education(rng, age, np.array([item[3] for item in places])[place])
    jobs = list(_JOBS.values())
    job = _choose(rng, np.array([item[3] for item in jobs]).T[education])
    level = np.array([item[2] for item in jobs])[job]
    career = 1 + 0.35 * np.tanh((age - 38) / 14)
    salary = level * career * np.where(women, 0.95, 1.0) * rng.lognormal(0, 0.14, people)
    salary = np.clip(salary.round(), 18, 120).astype(int)
    children = np.minimum(rng.poisson(np.clip((age - 24) / 9, 0, 1.7)), 5)
    children = np.where(age > 55, np.minimum(children, 1), children)
    thrift = rng.normal(0, 1, people)
    usual = salary * 0.22 + children * 0.8
    spending = usual * np.exp(-0.3 * thrift)
    spending = np.clip(spending.round(), 1, 60).astype(int)
    limit = salary * rng.lognormal(0.3, 0.35, people) * np.exp(0.15 * thrift)
    limit = np.clip((limit / 5).round() * 5, 10, 250).astype(int)
    strain = spending / limit + 0.15 * children - 0.02 * (age - 43) - 0.5 * thrift
    late = np.minimum(rng.poisson(np.exp(np.clip(strain - 1.3, -5, 2.2))), 9)
    # Little money and much spending together; of one alone the other takes back most.
    burden = (np.log(spending / 9) - 1.45 * np.log(usual / 9)) / 0.3
    behind = rng.random(people) < 1 / (1 + np.exp(1.7 - 1.6 * burden))
    return Population(
        {
            ID: _personal_numbers(rng, age, women),
            "Sex": np.where(women, "Female", "Male"),
            "Age": age,
            "Municipality": np.array(list(_MUNICIPALITIES))[place],
            "Children": children,
            "Job": np.array(list(_JOBS))[job],
            "Salary": salary,
            "Education": np.array(list(_EDUCATION))[education],
            "Spending": spending,
            "Limit": limit,
            "Late": late,
            CLASS: np.where(behind, BEHIND, ON_TIME),
        },
        {party: rng.random(people) < share for party, share in _KNOWN_TO.items()},
    )


def _choose(rng: np.random.Generator, weights: Column) -> Column:
    """One random index per row, with probabilities proportional to the row's weights."""
    edges = weights.cumsum(axis=1)
    draws = rng.random(len(weights)) * edges[:, -1]
    chosen: Column = (draws[:, None] > edges).sum(axis=1)
    return chosen


def _education(rng: np.random.Generator, age: Column, odds: Column) -> Column:
    shares = np.tile([share for _, share in _EDUCATION.values()], (len(age), 1))
    shares[:, 3:] *= odds[:, None]
    shares[:, 0] *= np.exp((age - 45) / 15)  # older people left school earlier
    shares[:, 3:] *= np.where(age < 25, 0.3, 1.0)[:, None]
    shares[:, 5] *= np.where(age < 29, 0.0, 1.0)
    return _choose(rng, shares)


def _personal_numbers(rng: np.random.Generator, age: Column, women: Column) -> Column:
    """YYYYMMDD-SSSC: the serial is even for women, and C is the check digit."""
    start = np.datetime64(_TODAY, "D")
    born = start - (age * 365.2425 + rng.random(len(age)) * 365).astype("timedelta64[D]")
    order = np.lexsort((women, born))
    same = (born[order][1:] == born[order][:-1]) & (women[order][1:] == women[order][:-1])
    at = np.arange(len(age))
    first = np.concatenate([[True], ~same])
    rank = at - np.maximum.accumulate(np.where(first, at, 0))
    lowest = 980 if rank.max(initial=0) < 10 else 2
    if lowest + 2 * int(rank.max(initial=0)) + 1 > 999:
        raise UsageError("too many people were born on one day; ask for a smaller population")
    serial = np.empty(len(age), int)
    serial[order] = lowest + 2 * rank + np.where(women[order], 0, 1)
    days = np.char.replace(born.astype("datetime64[D]").astype(str), "-", "")
    nine = np.char.add(days, np.char.zfill(serial.astype(str), 3))
    check = check_digits(nine)
    text = np.char.add(np.char.add(days, "-"), np.char.zfill(serial.astype(str), 3))
    return np.char.add(text, check.astype(str))


def check_digits(numbers: Column) -> Column:
    """The Luhn digit of each text YYYYMMDDSSS, over its last nine digits."""
    digits = np.array([list(text) for text in numbers.tolist()], dtype=int)[:, -9:]
    doubled = digits * np.array([2, 1, 2, 1, 2, 1, 2, 1, 2])
    total = (doubled // 10 + doubled % 10).sum(axis=1)
    check: Column = -total % 10
    return check


def taxonomies() -> dict[str, list[tuple[str, ...]]]:
    """Leaf-to-root paths of the categorical columns, in the convention of ARX."""
    return {
        "Sex": [(sex, "Any sex") for sex in ("Female", "Male")],
        "Municipality": [
            (name, county, part, "Sweden") for name, (county, part, *_) in _MUNICIPALITIES.items()
        ],
        "Education": [(name, group, "Any education") for name, (group, _) in _EDUCATION.items()],
        "Job": [(name, group, branch, "Any job") for name, (group, branch, *_) in _JOBS.items()],
    }


def write_csv(path: Path, table: Mapping[str, Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def write_taxonomy(path: Path, paths: Sequence[tuple[str, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(paths)
