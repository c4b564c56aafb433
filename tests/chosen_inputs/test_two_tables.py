"""Own columns that differ in a few people, and tables with each of them: no difference is about these.

The judge knows nothing of the rules. It has the people, and of each opened count who is in it; an
integer programme looks for whole factors of opened counts whose sum counts 1 to minimum-1 people.
"""

import csv
import itertools

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from coterie.anonymity.counts.compared_tables import joint_tables
from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.statistics.visible_cells import visible_cells
from tests.protocols.statistics.plain_servers import PlainServers

MINIMUM = 5
OWNER = {"s": "clinic", "g": "bank", "h": "bank", "w": "clinic"}


def counted(columns, names, sizes):
    key = np.zeros(len(columns[names[0]]), int)
    for name in names:
        key = key * sizes[name] + columns[name]
    return key


def opened(columns, sizes, owner, tables, zeros=False):
    """Who is in each opened count: a row of bits for each, by the module under test."""
    shapes = [Table(tuple(t), tuple(sizes[n] for n in t)) for t in tables]
    components = plan(shapes, Holders(owner, ("bank", "clinic")))
    every = [*shapes, *joint_tables(components)]
    keys = [counted(columns, table.names, sizes) for table in every]
    counts = [np.bincount(k, minlength=t.cells) for k, t in zip(keys, every, strict=True)]
    cells = sum(table.cells for table in shapes)
    visible = visible_cells(
        PlainServers(), components, np.concatenate(counts), cells, MINIMUM, zeros
    )
    rows, start = [], 0
    for table, key in zip(shapes, keys, strict=False):
        rows += [key == at for at in range(table.cells) if visible[start + at]]
        start += table.cells
    return np.array(rows, int).reshape(len(rows), len(keys[0]))


def fewest_told(rows, most=3):
    """The fewest people, more than none, whom whole factors up to `most` give a number about."""
    atoms, sizes = np.unique(rows, axis=1, return_counts=True)
    some = atoms.any(axis=0)
    atoms, sizes = atoms[:, some], sizes[some]
    count, people = len(atoms), atoms.shape[1]
    bound = most * count
    best = np.inf
    for chosen in range(people):
        if sizes[chosen] >= MINIMUM:
            continue
        # Unknowns: a factor of each count, and for each atom whether its people are in the sum.
        identity = bound * np.eye(people)
        conditions = [
            LinearConstraint(np.hstack([atoms.T, -identity]), -np.inf, 0),
            LinearConstraint(np.hstack([atoms.T, identity]), 0, np.inf),
            LinearConstraint(np.hstack([atoms.T[chosen], np.zeros(people)]), 1, np.inf),
        ]
        found = milp(
            np.concatenate([np.zeros(count), sizes]),
            constraints=conditions,
            integrality=np.ones(count + people),
            bounds=(
                np.concatenate([np.full(count, -most), np.zeros(people)]),
                np.concatenate([np.full(count, most), np.ones(people)]),
            ),
        )
        assert found.status == 0
        best = min(best, found.fun)
    return best


def chosen_columns(rng, people, kind):
    """Two columns of an attacker, which differ in a few people in a way that it chose."""
    first = rng.integers(0, 2, people)
    second = first.copy()
    few = rng.permutation(people)[: rng.integers(1, MINIMUM)]
    if kind == "flipped":
        second[few] ^= 1
    elif kind == "one inside the other":
        second[few] = 1
        first[few] = 0
    elif kind == "three values":
        second = first + rng.integers(0, 2, people) * first
        second[few] = rng.integers(0, 3, len(few))
    else:
        second = rng.integers(0, 2, people)
    return first, second


KINDS = ["flipped", "one inside the other", "three values", "unrelated"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "tables",
    [["sg", "sh"], ["sg", "sh", "s"], ["sg", "sh", "gh"], ["sg", "sh", "hw"]],
    ids="+".join,
)
def test_no_whole_combination_of_opened_counts_is_about_a_few(kind, tables):
    shown = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        people = 400 if "hw" in tables else 120
        first, second = chosen_columns(rng, people, kind)
        columns = {"s": rng.integers(0, 3, people), "g": first, "h": second}
        columns["w"] = rng.integers(0, 2, people)
        sizes = {"s": 3, "g": 2, "h": int(second.max()) + 1, "w": 2}
        rows = opened(columns, sizes, OWNER, tables)
        shown += len(rows)
        if len(rows):
            assert fewest_told(rows) >= MINIMUM
    assert shown or kind != "unrelated"


def test_columns_of_colluding_partners_are_one_partners_columns():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        first, second = chosen_columns(rng, 90, "flipped")
        columns = {"s": rng.integers(0, 2, 90), "g": first, "h": second}
        owner = {"s": "clinic", "g": "bank", "h": "shop"}
        rows = opened(columns, {"s": 2, "g": 2, "h": 2}, owner, ["sg", "sh"])
        assert not len(rows) or fewest_told(rows) >= MINIMUM


def test_with_zeros_shown_no_combination_is_about_a_few_either():
    for seed, kind in itertools.product(range(6), KINDS):
        rng = np.random.default_rng(seed)
        first, second = chosen_columns(rng, 120, kind)
        columns = {"s": rng.integers(0, 2, 120), "g": first, "h": second}
        owner = {"s": "clinic", "g": "bank", "h": "bank"}
        rows = opened(columns, {"s": 2, "g": 2, "h": 3}, owner, ["sg", "sh"], zeros=True)
        assert not len(rows) or fewest_told(rows) >= MINIMUM


def test_the_judge_finds_the_attack():
    """Sex by G1 and Sex by G2, all cells large, as they were shown once."""
    sex, first = np.arange(40) % 2, np.arange(40) // 20
    second = first.copy()
    second[7] = 1
    rows = [(sex == s) & (own == v) for own in (first, second) for s in (0, 1) for v in (0, 1)]
    assert fewest_told(np.array(rows, int)) == 1


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def counts_of(folder, kind_keys, sex, first, second):
    people = [f"p{at:03}" for at in range(len(sex))]
    write(folder / "clinic.csv", ID=people, Sex=sex)
    write(folder / "bank.csv", ID=people, G1=first, G2=second)
    path = folder / "job.yaml"
    path.write_text(
        "name: difference\nparties:\n  bank: {data: bank.csv}\n  clinic: {data: clinic.csv}\nid: ID\n"
        "attributes:\n  Sex: {party: clinic, values: [f, m]}\n"
        "  G1: {party: bank, values: ['0', '1']}\n  G2: {party: bank, values: ['0', '1']}\n"
        f"minimum: 5\n{kind_keys}\n"
    )
    (folder / "out").mkdir()
    return simulate(load_job(path), folder, folder / "out", seed="7")["tables"]


@pytest.mark.parametrize(
    "keys",
    [
        "kind: count\ntables: [[Sex, G1], [Sex, G2]]",
        "kind: bayesnet\norder: [Sex, G1, G2]\nmax_parents: 2\nparameters: true",
    ],
    ids=["count", "bayesnet"],
)
@pytest.mark.parametrize("target", ["f", "m"])
def test_a_job_does_not_tell_the_sex_of_the_person_in_whom_two_columns_differ(
    tmp_path, keys, target
):
    """The attack of the issue: whatever is shown, no two cells differ by this person alone."""
    sex = ["f" if at % 2 else "m" for at in range(60)]
    sex[7] = target
    first = ["1" if at < 30 else "0" for at in range(60)]
    second = list(first)
    second[7] = "0"
    columns = {"Sex": sex, "G1": first, "G2": second}
    rows = [
        [all(columns[n][at] == v for n, v in zip(table["attributes"], values, strict=True))
         for at in range(60)]
        for table in counts_of(tmp_path, keys, sex, first, second)
        for *values, count in table["cells"]
        if count is not None
    ]  # fmt: skip
    assert not rows or fewest_told(np.array(rows, int)) >= MINIMUM


def test_tables_of_columns_that_overlap_as_people_do_are_still_shown(tmp_path):
    rng = np.random.default_rng(1)
    sex, first, second = (rng.choice(v, 200).tolist() for v in (["f", "m"], ["0", "1"], ["0", "1"]))
    tables = counts_of(tmp_path, "kind: count\ntables: [[Sex, G1], [Sex, G2]]", sex, first, second)
    cells = [(*values, count) for table in tables for *values, count in table["cells"]]
    assert len(cells) == 8
    assert all(count is not None for *_, count in cells)
