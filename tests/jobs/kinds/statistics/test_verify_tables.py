"""Tables of counts that are as promised pass; every way of changing them is found out."""

import itertools
import json

import numpy as np
import pytest

from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.statistics.verify_tables import bounds, read_tables, verify_tables
from tests.coordinator.support import coterie

JOB = """\
kind: count
name: counts
parties: {lender: {data: lender.csv}, bank: {data: bank.csv}}
id: ID
attributes:
  Sex: {party: lender, values: [f, m]}
  Job: {party: bank}
tables: [[Sex, Job], [Job]]
minimum: 5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A simulated count of 300 people, large enough in each cell to be shown."""
    folder = tmp_path_factory.mktemp("count")
    rng = np.random.default_rng(3)
    sexes = rng.choice(["f", "m"], 300)
    jobs = rng.choice(["cook", "nurse", "judge"], 300)
    (folder / "lender.csv").write_text(
        "ID,Sex\n" + "".join(f"{i},{s}\n" for i, s in enumerate(sexes))
    )
    (folder / "bank.csv").write_text("ID,Job\n" + "".join(f"{i},{j}\n" for i, j in enumerate(jobs)))
    (folder / "job.yaml").write_text(JOB)
    done = coterie("simulate", folder / "job.yaml", "--out", folder / "out")
    assert done.code == 0, done.err
    return folder / "out"


@pytest.fixture
def change(folder):
    """Changes the result, and sets it right afterwards."""
    path = folder / "result.json"
    before = path.read_text()

    def changed(function):
        value = json.loads(before)
        function(value)
        path.write_text(json.dumps(value))
        return folder

    yield changed
    path.write_text(before)


def test_an_honest_count_is_verified(folder):
    found = verify(folder)
    assert (found["records"], found["minimum"]) == (300, 5)
    assert found["verdict"].startswith("holds: 2 tables of 300 records, no small count below 5")
    assert found["unchecked"]


def visible(result):
    return next(cell for cell in result["tables"][0]["cells"] if cell[-1])


CHANGES = {
    "a small count": (lambda r: visible(r).__setitem__(-1, 3), "shows the count 3 of Sex = "),
    "another count": (
        lambda r: visible(r).__setitem__(-1, visible(r)[-1] + 301),
        "the sums do not fit",
    ),
    "other records": (lambda r: r.update(records=299), "the sums do not fit"),
    "a missing cell": (lambda r: r["tables"][0]["cells"].pop(), "every combination of values"),
    "a missing table": (lambda r: r["tables"].pop(), "has 1 tables, the job asks for 2"),
    "another table": (
        lambda r: r["tables"][0].update(attributes=["Job", "Sex"]),
        "is not the table of Sex, Job",
    ),
    "another value": (
        lambda r: [cell.__setitem__(0, "x") for cell in r["tables"][0]["cells"][:3]],
        "'Sex' has other values",
    ),
    "half a person": (lambda r: visible(r).__setitem__(-1, 7.5), "must be a whole number"),
    "a hidden count": (
        lambda r: visible(r).__setitem__(-1, None),
        r"Sex-Job.csv: differs from the table|follows from the others",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_count_is_found_out(change, name):
    function, reason = CHANGES[name]
    with pytest.raises(VerificationError, match=reason):
        verify(change(function))


def test_a_table_file_that_says_something_else_is_found_out(folder):
    path = folder / "tables" / "2-Job.csv"
    before = path.read_text()
    path.write_text(before.replace("nurse", "Nurse"))
    with pytest.raises(VerificationError, match=r"2-Job\.csv: differs"):
        verify(folder)
    path.write_text(before)


def claim(*tables):
    """Tables over A and B, given as lists of rows, or over A alone as one list."""
    made = []
    for counts in tables:
        grid = np.array(counts, object)
        names = ["A", "B"][: grid.ndim]
        cells = [
            [*(f"{n}{i}" for n, i in zip(names, place, strict=True)), grid[place]]
            for place in itertools.product(*map(range, grid.shape))
        ]
        made.append({"attributes": names, "cells": cells})
    return Claim(made), [table["attributes"] for table in made]


def check(records, *tables, minimum=5, zeros_shown=True):
    return verify_tables(*claim(*tables), {}, records, minimum, zeros_shown)


def test_a_single_hidden_cell_follows_from_the_number_of_records():
    with pytest.raises(VerificationError, match="A = A1, B = B0 follows from the others: it is 3"):
        check(30, [[10, 7], [None, 10]])


def test_a_hidden_cell_follows_from_another_table():
    with pytest.raises(VerificationError, match="B = B1 follows from the others: it is 2"):
        check(40, [[10, None], [None, 21]], [12, 28])
    check(40, [[10, None], [None, 21]])


def test_two_cells_of_one_record_each_may_as_well_have_none_and_two():
    """Also where empty cells are shown: some of them are hidden for the sake of others."""
    check(22, [[10, None], [None, 10]])
    check(22, [[10, None], [None, 10]], zeros_shown=False)


def test_a_large_hidden_cell_may_follow():
    """It is no secret by itself: it was hidden for the sake of others."""
    check(36, [[10, 7], [None, 10]])


def test_an_empty_cell_is_shown_only_where_the_job_shows_them():
    check(30, [[10, 0], [10, 10]])
    with pytest.raises(VerificationError, match="shows the count 0"):
        check(30, [[10, 0], [10, 10]], zeros_shown=False)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_contain_every_table_that_fits(seed):
    """By enumeration: the true numbers of all tables with the same visible cells and sums."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (2, 3))
    hidden = rng.random((2, 3)) < 0.6
    shown = np.where(hidden, None, counts)
    tables = [shown.tolist(), counts.sum(axis=1).tolist()]
    records = int(counts.sum())
    [low, _], [high, _] = bounds(read_tables(*claim(*tables), {}), records)
    places = np.flatnonzero(hidden.ravel())
    fits = []
    sums = counts.sum(axis=1)  # no cell has more records than its row
    for values in itertools.product(*(range(sums[place // 3] + 1) for place in places)):
        table = counts.ravel().copy()
        table[places] = values
        if (table.reshape(2, 3).sum(axis=1) == sums).all():
            fits.append(table)
    assert (low <= np.min(fits, axis=0)).all()
    assert (np.max(fits, axis=0) <= high).all()
