"""Quantiles, the smallest and the largest number, asked as often as a job permits.

The judge is a linear programme: over all histograms of the column that agree with every number that
was shown, how few and how many records may a bucket have? Its rows are differences of numbers below
a place, so that its corners are whole numbers.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.jobs.kinds.aggregate.samples import ATTRIBUTES, people, run, write_job

MINIMUM = 5


def bounds(places, records, buckets, bucket):
    """The fewest and the most records of the bucket; `places` is (rank, bucket) of what was shown."""
    rows, limits = [], []
    for rank, place in places:
        upto = np.zeros(buckets)
        upto[: place + 1] = 1
        rows.append(-upto)  # at least `rank` records at or below the place
        limits.append(-rank)
        below = np.zeros(buckets)
        below[:place] = 1
        rows.append(below)  # and fewer below it
        limits.append(rank - 1)
    found = []
    for sign in (1, -1):
        goal = np.zeros(buckets)
        goal[bucket] = sign
        solved = linprog(goal, rows, limits, [np.ones(buckets)], [records])
        assert solved.status == 0
        found.append(round(sign * solved.fun))
    return found


def rank_of(measure, records):
    what, share = measure
    if what == "quantile":
        return -(-share * records // 1000)
    return MINIMUM if what == "smallest" else records - MINIMUM + 1


def asked(folder, measures, ages):
    """The shown places, as (rank, bucket), of a column of whole numbers from 0."""
    texts = [
        f"{{quantile: [Age, {share / 1000}]}}" if what == "quantile" else f"{{{what}: Age}}"
        for what, share in measures
    ]
    table = people(records=len(ages)) | {"Age": np.array(ages)}
    attributes = ATTRIBUTES.replace("range: [18, 90]", "range: [0, 40]")
    path = write_job(
        folder, table, f"measures: [{', '.join(texts)}]\nminimum: {MINIMUM}\n", attributes
    )
    [group] = run(path)["groups"]
    return [
        (rank_of(measure, len(ages)), int(number))
        for measure, number in zip(measures, group["measures"], strict=True)
        if number is not None
    ]


# What is asked, and the ages of 100 people among whom somebody is alone in the worst place.
SERIES = {
    "a series of quantiles": (
        [("quantile", share) for share in range(100, 730, 10)],
        [*range(1, 40, 2), *[age for age in range(0, 40, 2) for _ in range(4)]],
    ),
    "a series at every second rank": (
        [("quantile", share) for share in range(100, 900, 20)],
        [age % 40 for age in range(100)],
    ),
    "three beside each other": (
        [("quantile", share) for share in (500, 510, 520)],
        [10] * 50 + [11] + [12] * 49,
    ),
    "beside the smallest": (
        [("smallest", 0), ("quantile", 60), ("quantile", 70)],
        [0] * 5 + [1] + [2] * 94,
    ),
    "beside the largest": (
        [("largest", 0), ("quantile", 950), ("quantile", 940)],
        [2] * 94 + [3] + [4] * 5,
    ),
}


@pytest.mark.parametrize("series", SERIES)
def test_no_row_of_quantiles_counts_a_few_people(tmp_path, series):
    measures, ages = SERIES[series]
    places = asked(tmp_path, measures, ages)
    assert places  # the first is shown
    for bucket in range(41):
        fewest, most = bounds(places, len(ages), 41, bucket)
        assert fewest == 0 or most >= MINIMUM, f"{fewest} to {most} people are {bucket}"


def test_quartiles_of_enough_people_are_shown_as_before(tmp_path):
    ages = [age % 40 for age in range(100)]
    measures = [("quantile", share) for share in (500, 250, 750)]
    wanted = [(rank_of(m, 100), sorted(ages)[rank_of(m, 100) - 1]) for m in measures]
    assert asked(tmp_path, measures, ages) == wanted
