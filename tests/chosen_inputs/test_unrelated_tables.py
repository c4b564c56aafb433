"""Tables without a common attribute: no sum over cells of several of them is about a few people.

The attacker brings columns that differ in a few people, or chooses among columns of others that say
nearly the same. The judge is that of `test_two_tables`: it has the people and who is in each opened
count, and an integer programme looks for whole factors whose sum is about 1 to minimum-1 people.
"""

import csv
import json

import numpy as np
import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.statistics.count import COUNT
from tests.chosen_inputs.test_two_tables import MINIMUM, fewest_told, opened

PEOPLE = 160


def few(rng):
    return rng.permutation(PEOPLE)[: rng.integers(1, MINIMUM)]


def one_column_twice(rng):
    """The clinic's columns are one under two names; those of the bank differ in a few people."""
    sex, own = rng.integers(0, 2, (2, PEOPLE))
    other = own.copy()
    other[few(rng)] ^= 1
    return {"s": sex, "g": own, "t": sex, "h": other}, ["sg", "th"]


def nearly_one_column(rng):
    columns, tables = one_column_twice(rng)
    columns["t"] = np.where(np.isin(np.arange(PEOPLE), few(rng)), 2, columns["s"])
    return columns, tables


def equal_in_a_class(rng):
    """The clinic's columns differ in many people, and are equal where the bank's are 1."""
    columns, tables = one_column_twice(rng)
    inside = columns["g"] + columns["h"] > 0
    columns["t"] = np.where(inside, columns["s"], rng.integers(0, 2, PEOPLE))
    return columns, tables


def three_that_follow_from_each_other(rng):
    """Each person has one of three values, with a column of zeros and ones for each."""
    value, own = rng.integers(0, 3, PEOPLE), rng.integers(0, 2, PEOPLE)
    other = own.copy()
    other[few(rng)] ^= 1
    named = {name: (value == at) * 1 for at, name in enumerate("stu")}
    return {**named, "g": own, "h": own, "i": other}, ["sg", "th", "ui"]


def three_own_that_follow_from_each_other(rng):
    """The bank's third column is the sum of the others, but for a few people."""
    first, second = rng.integers(0, 2, (2, PEOPLE))
    third = first + second
    third[few(rng)] = 3
    others = dict(zip("stu", rng.integers(0, 2, (3, PEOPLE)), strict=True))
    return {**others, "g": first, "h": second, "i": third}, ["sg", "th", "ui"]


def a_column_at_two_parties(rng):
    """Clinic and lab hold the same of nearly everybody, which neither of them can see."""
    columns, _ = one_column_twice(rng)
    return {**columns, "l": columns["t"], "t": columns["g"]}, ["sg", "lh"]


def single_columns(rng):
    """Nobody's columns are crossed with another's; two differ in a few people."""
    columns, _ = one_column_twice(rng)
    return columns, ["g", "h", "s"]


RELATED = [
    one_column_twice,
    nearly_one_column,
    equal_in_a_class,
    three_that_follow_from_each_other,
    three_own_that_follow_from_each_other,
    a_column_at_two_parties,
    single_columns,
]
OWNER = {"g": "bank", "h": "bank", "i": "bank", "l": "lab"}


def shown(columns, tables, zeros=False):
    sizes = {name: int(column.max()) + 1 for name, column in columns.items()}
    owner = {name: OWNER.get(name, "clinic") for name in columns}
    return opened(columns, sizes, owner, tables, zeros)


@pytest.mark.parametrize("zeros", [False, True], ids=["hidden", "zeros"])
@pytest.mark.parametrize("related", RELATED)
def test_no_sum_over_tables_of_related_columns_is_about_a_few(related, zeros):
    for seed in range(8):
        rows = shown(*related(np.random.default_rng(seed)), zeros)
        assert len(rows), "the first table is shown"
        assert fewest_told(rows) >= MINIMUM


@pytest.mark.parametrize("related", RELATED)
def test_each_of_these_tables_alone_would_be_shown_and_together_they_tell_of_a_few(related):
    """So the test above tries something."""
    worst = []
    for seed in range(8):
        columns, tables = related(np.random.default_rng(seed))
        alone = [rows for rows in (shown(columns, [table]) for table in tables) if len(rows)]
        worst.append(fewest_told(np.concatenate(alone)))
    assert min(worst) < MINIMUM


def test_whatever_people_share_no_sum_is_about_a_few():
    """Random tables, in which the people of each cell are few or many."""
    told = {True: 0, False: 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape = [(2, 2), (3, 3), (2, 2, 2)][seed % 3]
        counts = rng.integers(0, 14, shape) * (rng.random(shape) < 0.7)
        cell = np.repeat(np.arange(counts.size), counts.reshape(-1))
        columns = dict(zip("ghi", np.unravel_index(cell, shape), strict=False))
        sizes = dict(zip("ghi", shape, strict=False))
        names = list(columns)
        try:
            rows = opened(columns, sizes, OWNER, names)
        except ValueError:  # nobody
            continue
        alone = [opened(columns, sizes, OWNER, [name]) for name in names]
        told[len(rows) == sum(map(len, alone))] += 1
        assert not len(rows) or fewest_told(rows) >= MINIMUM
    assert min(told.values()) > 8


def test_tables_of_unrelated_columns_are_shown_as_if_they_were_alone():
    for seed, people in ((1, 300), (2, 1000), (3, 5000)):
        rng = np.random.default_rng(seed)
        sizes = {"s": 2, "g": 14, "t": 8, "h": 16}
        columns = {
            name: rng.choice(size, people, p=np.arange(1, size + 1) * 2 / size / (size + 1))
            for name, size in sizes.items()
        }
        owner = {name: OWNER.get(name, "clinic") for name in columns}
        together = opened(columns, sizes, owner, ["sg", "th"])
        alone = [opened(columns, sizes, owner, [table]) for table in ("sg", "th")]
        assert len(together) == sum(map(len, alone)) > 20


@pytest.mark.parametrize("apart", [0, 1, 4])
def test_whether_a_table_is_hidden_does_not_tell_whether_there_are_exceptions(apart):
    """The clinic's columns are equal, or differ in up to four of the people whom the bank marks."""
    rng = np.random.default_rng(4)
    sex, marked = rng.integers(0, 2, (2, PEOPLE))
    second = sex.copy()
    second[np.flatnonzero(marked)[:apart]] ^= 1
    rows = shown({"s": sex, "g": marked, "t": second, "h": marked}, ["sg", "th"])
    assert len(rows) == 4


def write(path, columns, rows=None):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        every = list(zip(*columns.values(), strict=True))
        writer.writerows(every if rows is None else [every[at] for at in rows])


def asked(folder, head, values, tables):
    """The tables that a simulation of a count shows."""
    attributes = "".join(
        f"  {name}: {{{f'party: {party}, ' if party else ''}values: ['0', '1']}}\n"
        for name, party in values.items()
    )
    path = folder / "job.yaml"
    path.write_text(
        "kind: count\nname: unrelated\nparties:\n  bank: {data: bank.csv}\n"
        f"  clinic: {{data: clinic.csv}}\n{head}attributes:\n{attributes}minimum: 5\n"
        f"tables: {tables}\n"
    )
    (folder / "out").mkdir()
    return simulate(load_job(path), folder, folder / "out", seed="7")["tables"]


def who(tables, columns):
    """Who is in each count that is shown."""
    rows = [
        np.all([columns[n] == int(v) for n, v in zip(table["attributes"], values, strict=True)], 0)
        for table in tables
        for *values, count in table["cells"]
        if count is not None
    ]
    return np.array(rows, int)


def related_columns():
    rng = np.random.default_rng(5)
    sex, own = rng.integers(0, 2, (2, PEOPLE))
    other = own.copy()
    other[7] ^= 1
    return {"Sex": sex, "G1": own, "Gender": sex.copy(), "G2": other}


def test_columns_that_are_equal_on_the_common_people_alone(tmp_path):
    """The clinic's other people have all combinations; the bank chooses whom it brings."""
    columns = related_columns()
    ids = np.array([f"p{at:03}" for at in range(PEOPLE)])
    rng = np.random.default_rng(6)
    more = {name: np.append(columns[name], rng.integers(0, 2, 90)) for name in ("Sex", "Gender")}
    write(tmp_path / "clinic.csv", {"ID": [*ids, *(f"q{at}" for at in range(90))], **more})
    write(tmp_path / "bank.csv", {"ID": ids, "G1": columns["G1"], "G2": columns["G2"]})
    holders = {"Sex": "clinic", "Gender": "clinic", "G1": "bank", "G2": "bank"}
    rows = who(asked(tmp_path, "id: ID\n", holders, "[[Sex, G1], [Gender, G2]]"), columns)
    assert len(rows)
    job = load_job(tmp_path / "job.yaml")
    result = Claim(json.loads((tmp_path / "out" / "result.json").read_text()))
    assert "Gender x G2: all 4 cells hidden" in COUNT.summary(job, result)[1]
    assert fewest_told(rows) >= MINIMUM


@pytest.mark.parametrize(
    "tables", ["[[Sex, G1], [Gender, G2]]", "[[G1], [G2]]", "[[Sex, G1], [Sex, G2]]"]
)
def test_columns_that_differ_in_one_person_where_every_party_has_its_own_people(tmp_path, tables):
    columns = related_columns()
    write(tmp_path / "bank.csv", columns, range(60))
    write(tmp_path / "clinic.csv", columns, range(60, PEOPLE))
    shown = asked(tmp_path, "partition: horizontal\n", dict.fromkeys(columns), tables)
    rows = who(shown, columns)
    assert not len(rows) or fewest_told(rows) >= MINIMUM


@pytest.mark.parametrize(
    "tables", ["[[Sex, G1], [Gender, G2]]", "[[G1], [G2]]", "[[Sex, G1], [Sex, G2]]"]
)
def test_columns_that_differ_in_one_person_where_any_party_has_a_cell(tmp_path, tables):
    columns = related_columns()
    ids = [f"p{at:03}" for at in range(PEOPLE)]
    rng = np.random.default_rng(8)
    at_bank = {name: rng.integers(0, 2, PEOPLE).astype(bool) for name in columns}
    for party, sign in (("bank", True), ("clinic", False)):
        mine = {
            name: [v if b == sign else "" for v, b in zip(column, at_bank[name], strict=True)]
            for name, column in columns.items()
        }
        write(tmp_path / f"{party}.csv", {"ID": ids, **mine})
    shown = asked(tmp_path, "id: ID\npartition: mixed\n", dict.fromkeys(columns), tables)
    rows = who(shown, columns)
    assert not len(rows) or fewest_told(rows) >= MINIMUM


def test_a_rare_class_is_not_what_two_tables_differ_in(tmp_path):
    """All of Sex less all that is shown of Job by the class would be the three people of class 2."""
    columns = {
        "Sex": np.arange(90) % 2,
        "Job": np.arange(90) // 2 % 2,
        "Class": np.arange(90) // 3 % 2,
    }
    columns["Class"][:3] = 2
    ids = [f"p{at}" for at in range(90)]
    write(tmp_path / "clinic.csv", {"ID": ids, "Sex": columns["Sex"]})
    write(tmp_path / "bank.csv", {"ID": ids, "Job": columns["Job"], "Class": columns["Class"]})
    head = "id: ID\nclass: Class\n"
    tables = asked(tmp_path, head, {"Sex": "clinic", "Job": "bank"}, "[[Job, Class], [Sex]]")
    rows = who(tables, columns)
    assert len(rows)
    assert fewest_told(rows) >= MINIMUM


@pytest.mark.parametrize("apart", [0, 1, 2])
def test_families_of_a_net_whose_columns_differ_in_a_few_people(tmp_path, apart):
    """In class 1, Sex less Gender is about those in whom they differ; in class 0 they are unrelated."""
    at = np.arange(80)
    sex, label = at % 2, at // 2 % 2
    related = np.where(np.cumsum(label) <= apart, 1 - sex, sex)
    gender = np.where(label == 1, related, at // 4 % 2)
    ids = [f"p{number}" for number in at]
    write(tmp_path / "clinic.csv", {"ID": ids, "Sex": sex, "Gender": gender})
    write(tmp_path / "bank.csv", {"ID": ids, "Class": label})
    path = tmp_path / "job.yaml"
    path.write_text(
        "kind: bayesnet\nname: families\nparties:\n  bank: {data: bank.csv}\n"
        "  clinic: {data: clinic.csv}\nid: ID\nclass: Class\nattributes:\n"
        "  Sex: {party: clinic, values: ['0', '1']}\n"
        "  Gender: {party: clinic, values: ['0', '1']}\n"
        "structure: naive\nparameters: true\nminimum: 5\n"
    )
    (tmp_path / "out").mkdir()
    tables = simulate(load_job(path), tmp_path, tmp_path / "out", seed="7")["tables"]
    rows = who(tables, {"Sex": sex, "Gender": gender, "Class": label})
    assert len(rows) == 4
    assert fewest_told(rows) >= MINIMUM
