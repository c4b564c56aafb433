"""A reader who knows the order of a table lines its rows up with those of the release.

The table is sorted by patient number, as tables are. The reader knows the numbers of all patients, and
takes row i of the release for that of the i-th patient. The judge counts how many diagnoses are right,
and compares with a reader who draws a row by chance.
"""

import random
from collections import Counter

import pyarrow as pa
import pytest

import coterie
from coterie.onetable.interface.transformer import WHOLE, Generalizer
from coterie.onetable.methods.registry import GENERALIZING as METHODS

PATIENTS = 1_500


def patients():
    draw = random.Random(29)
    return pa.table(
        {
            "Number": list(range(PATIENTS)),
            "Age": [draw.randrange(20, 60) for _ in range(PATIENTS)],
            "Sex": [draw.choice("FM") for _ in range(PATIENTS)],
            "Diagnosis": [draw.choice(["cold", "flu", "gout", "none"]) for _ in range(PATIENTS)],
        }
    )


def right(true, guessed):
    return sum(a == b for a, b in zip(true, guessed, strict=True))


def by_chance(true):
    """Right guesses of a reader who draws a row, and how far chance may exceed them (six sigma)."""
    mean = sum(times * times for times in Counter(true).values()) / len(true)
    return mean + 6 * mean**0.5


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_a_sorted_frame_do_not_line_up(method):
    frame = patients()
    qid = ["Age"] if method == "quantiles" else ["Age", "Sex"]
    class_name = "Sex" if method == "quantiles" else "Diagnosis"
    release = coterie.anonymise(
        frame, qid, 10, method=method, drop=["Number"], class_name=class_name, max_suppression=0.0
    )
    true = frame.column("Diagnosis").to_pylist()
    assert right(true, release.table.column("Diagnosis").to_pylist()) < by_chance(true)


@pytest.mark.parametrize("method", WHOLE)
def test_the_release_of_a_step_of_a_pipeline_does_not_line_up(method):
    frame = patients().select(["Age", "Sex"])
    step = Generalizer(k=10, method=method)
    in_order = list(map(tuple, step.fit_transform(frame).tolist()))
    released = [tuple(row.values()) for row in step.release_.table.to_pylist()]
    assert Counter(released) == Counter(in_order)  # the same rows, and not in this order
    assert released == sorted(released)
