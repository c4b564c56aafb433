"""Paper 1, Table 1 and Examples 2 to 7."""

from collections import Counter

import numpy as np
import pytest

from coterie.anonymity.specialization.scores import SCALE, gain_ratio, information_gain
from coterie.anonymity.specialization.specialize import Labels, Requirement, Specializer, specialize
from coterie.anonymity.table.columns import categorical_column, continuous_column, encode_text
from coterie.anonymity.table.taxonomy import taxonomy_of
from tests.anonymity import reference
from tests.papers.loans import JOB, REQUIREMENTS, ROWS, SEX


@pytest.fixture
def table():
    def text(name):
        return [row[name] for row in ROWS]

    columns = [
        categorical_column("Sex", text("Sex"), taxonomy_of(SEX)),
        categorical_column("Job", text("Job"), taxonomy_of(JOB)),
        continuous_column("Salary", text("Salary"), (1, 99)),
    ]
    codes, values = encode_text("Class", text("Class"), "Table 1")
    return columns, Labels(codes, tuple(values))


REQUIRED = [Requirement(tuple(qid), k) for qid, k in REQUIREMENTS]


@pytest.fixture
def state(table):
    columns, classes = table
    trees = {column.name: column.tree for column in columns}
    return Specializer(
        trees, {c.name: c for c in columns}, {"Class": classes}, REQUIRED, len(ROWS), "Class"
    )


def candidate(state, name):
    attribute = state.names.index(name)
    [found] = [entry[3] for entry in state._heap if entry[1] == attribute]
    return found


def test_example_2_the_combinations_that_violate_4_anonymity():
    counts = Counter((row["Sex"], row["Job"]) for row in ROWS)
    assert {pair for pair, count in counts.items() if count < 4} == {
        ("Male", "Janitor"),
        ("Male", "Accountant"),
        ("Female", "Accountant"),
        ("Male", "Lawyer"),
        ("Female", "Lawyer"),
    }


def test_example_3_the_score_of_any_job(state):
    # The gain of a split into pure children is the entropy before it.
    for pair, printed in {(21, 13): 0.960, (5, 11): 0.896, (16, 2): 0.503, (16, 18): 0.998}.items():
        pure = [[pair[0], 0], [0, pair[1]]]
        assert information_gain(pure) / SCALE == pytest.approx(printed, abs=5e-4)
    parts = [[5, 11], [16, 2]]
    assert information_gain(parts) / SCALE == pytest.approx(0.272, abs=5e-4)
    assert gain_ratio(parts) / SCALE == pytest.approx(0.272, abs=5e-4)
    job = candidate(state, "Job")
    assert sorted(map(sorted, job.by_class)) == sorted(map(sorted, parts))
    assert job.score == gain_ratio(parts)


def test_example_4_salary_is_split_at_37(state):
    salary = candidate(state, "Salary")
    assert salary.split == 37
    assert [sum(row) for row in salary.by_class] == [12, 22]
    assert information_gain(salary.by_class) / SCALE == pytest.approx(0.3584, abs=5e-5)


def test_examples_5_to_7_the_first_two_specializations_and_the_counts(state):
    groups = state.partitions.groups
    assert state.cut == {"Sex": ["ANY_Sex"], "Job": ["ANY_Job"], "Salary": ["[1, 99]"]}

    first = candidate(state, "Salary")
    state.apply(state.instruction(first))
    assert state.cut["Salary"] == ["[1, 37)", "[37, 99]"]
    codes, values = state.generalized("Salary")
    assert [values[code] for code in codes] == ["[1, 37)"] * 12 + ["[37, 99]"] * 22
    assert groups[1].smallest == 12

    second = candidate(state, "Job")
    state.apply(state.instruction(second))
    assert state.cut["Job"] == ["Blue-collar", "White-collar"]
    leaves = sorted(state.partitions.size[: state.partitions.used].tolist())
    assert leaves == [4, 12, 18]
    assert sorted(groups[0].size[: groups[0].used].tolist()) == [16, 18]
    assert groups[0].smallest == 16


def test_the_whole_run_is_that_of_the_plain_reference(table):
    columns, classes = table
    result = specialize(columns, classes, REQUIRED)
    attributes = {
        "Sex": ("taxonomy", SEX),
        "Job": ("taxonomy", JOB),
        "Salary": ("range", (1, 99)),
    }
    winners, cut, _ = reference.specialize(ROWS, attributes, "Class", REQUIREMENTS)
    assert [(w.attribute, w.value, w.children, w.score) for w in result.winners] == winners
    assert result.cut == cut
    assert result.winners[0].attribute == "Salary"
    assert np.all([entry["smallest"] >= entry["k"] for entry in result.anonymity])
