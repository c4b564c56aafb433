"""The keys of an aggregate job: what is refused when the job is read."""

import pytest

from coterie.base.errors import UsageError
from tests.jobs.kinds.aggregate.samples import ATTRIBUTES, BASIC, people, run, write_job


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("by: [Job]\nmeasures: []\n", "at least one measure"),
        ("by: [Job, Job]\nmeasures: [{count: true}]\n", "twice"),
        ("by: [Town]\nmeasures: [{count: true}]\n", "by\\[0\\].*one of"),
        ("by: [Job]\nmeasures: [{median: Pay}]\n", "one key, which is one of"),
        ("by: [Job]\nmeasures: [{sum: Pay, mean: Pay}]\n", "one key"),
        ("by: [Job]\nmeasures: [{count: false}]\n", "must be true"),
        ("by: [Job]\nmeasures: [{count: true}]\nclass: Job\n", "has no class"),
        ("by: [Job]\nmeasures: [{count: true}]\nmaximum: 3\n", "unknown key"),
        ("measures: [{quantile: Pay}]\n", "quantile: must be a list"),
        ("measures: [{quantile: [Pay, 1]}]\n", "share between 0 and 1"),
        ("measures: [{sum: Debt}]\ndominance: 0.5\n", "begins at 0 or above"),
        ("measures: [{count: true}]\ndominance: 0.5\n", "no measure has a column"),
        ("measures: [{sum: Pay}]\ndominance: 2\n", "share between 0 and 1"),
    ],
)
def test_wrong_keys_are_named(tmp_path, keys, said):
    with pytest.raises(UsageError, match=said):
        run(write_job(tmp_path, people(), keys))


def test_numbers_of_too_many_digits_are_refused(tmp_path):
    attributes = ATTRIBUTES.replace("[0, 5000], decimals: 2", "[0, 5000000], decimals: 15")
    with pytest.raises(UsageError, match="too many digits"):
        run(write_job(tmp_path, people(), BASIC, attributes))
