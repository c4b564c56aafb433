"""Ways to describe a column: each counts once, for a year, by column and analyst."""

import pytest

from coterie.base.errors import RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.history.descriptions import Descriptions, described
from coterie.party.history.releases import DAY, History

JOB = """
kind: count
name: x
parties: {lender: {}, bank: {}}
id: ID
attributes:
  Sex: {party: lender, values: [f, m]}
  Age: {party: bank, cuts: [30]}
tables: [[Sex, Age]]
"""


@pytest.fixture
def book(tmp_path):
    now = [0.0]
    made = Descriptions(History(tmp_path, lambda: now[0]))
    made.now = now
    return made


def add(book, digest, column="Age", name="analyst", analyst=None, most=2):
    book.add(name, analyst or [name], {column: digest}, most)


def test_new_descriptions_count_and_the_same_one_is_free(book):
    for digest in ("a", "b", "a", "b"):
        add(book, digest)
    with pytest.raises(
        RefusedError, match=r"^policy.descriptions is 2, and 'Age' was described in 2"
    ):
        add(book, "c")
    add(book, "c", column="Sex")
    add(book, "c", name="analyst2")
    add(book, "a")
    with pytest.raises(RefusedError):
        add(book, "d", name="analyst2", analyst=["analyst", "analyst2"])


def test_what_is_refused_is_not_counted(book):
    add(book, "a", most=1)
    with pytest.raises(RefusedError):
        book.add("analyst", ["analyst"], {"Sex": "s", "Age": "b"}, 1)
    add(book, "t", column="Sex", most=1)


def test_a_year_later_there_is_room_again_and_retention_forgets(book):
    add(book, "a")
    add(book, "b")
    book.now[0] = 364 * DAY
    with pytest.raises(RefusedError):
        add(book, "c")
    book.now[0] = 366 * DAY
    add(book, "c")
    book.forget(None)
    book.forget(0.0)
    add(book, "d")


def of(text, party="bank"):
    job = parse_job(text, {})
    return described(job, KINDS["count"].needs(job, party))


@pytest.mark.parametrize(
    ("old", "new", "columns"),
    [
        ("cuts: [30]", "cuts: [31]", ["Age"]),
        ("cuts: [30]", "cuts: [30], missing: value", ["Age"]),
        ("name: x", "name: y\nmissing: value", ["Age"]),
        ("id: ID", "id: ID\nnormalise: [trim]", ["ID"]),
        ("id: ID", "id: ID\npad_to: 99", ["ID"]),
        ("name: x", "name: y", []),
        ("cuts: [30]", "cuts: [ 30 ]", []),
        ("values: [f, m]", "values: [f]", []),  # of another party
    ],
)
def test_what_describes_a_column(old, new, columns):
    before, after = of(JOB), of(JOB.replace(old, new))
    assert before.keys() == after.keys() == {"Age", "ID"}
    assert sorted(name for name in before if before[name] != after[name]) == columns
