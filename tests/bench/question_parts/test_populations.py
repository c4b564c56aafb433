"""The groups of a benchmark with a witness, counted by hand."""

import numpy as np

from coterie.bench.question_parts import populations
from coterie.bench.question_parts.populations import group_sizes, values_of


def test_groups_are_counted_by_the_values_that_stand_for_them():
    people = {
        "Job": np.array(["Job0.0", "Job0.1", "Job1.0", "Job0.1"]),
        "Region": np.array(["Region0.0", "Region1.3", "Region7.0", "Region1.3"]),
        "Sex": np.array(["Sex0.0", "Sex1.0", "Sex1.0", "Sex1.0"]),
    }
    whole = {"Job": ["Any Job"], "Region": ["Any Region"], "Sex": ["Any Sex"]}
    assert sorted(group_sizes(people, whole).values()) == [4]
    assert sorted(group_sizes(people, whole | {"Sex": values_of("Sex")}).values()) == [1, 3]
    jobs = [*values_of("Job")[:5], *(f"Job{at}" for at in range(1, 5))]
    assert sorted(group_sizes(people, whole | {"Job": jobs}).values()) == [1, 1, 2]


def test_a_population_permits_more_groups_than_the_table_alone(in_memory, monkeypatch):
    honest = populations._people
    monkeypatch.setattr(populations, "_people", lambda number: honest(number // 2))
    found = populations.witness(quick=True)
    assert found["population"] == 10_000
    assert found["in the population"]["groups"] > found["in the table"]["groups"] > 1
