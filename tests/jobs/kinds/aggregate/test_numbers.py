"""Variances are rounded before they are opened; other numbers are tested with the kind."""

import pytest

from tests.jobs.kinds.aggregate.samples import ATTRIBUTES, POOLED, duck, people, run, write_job


@pytest.mark.parametrize(
    ("attributes", "base"), [(ATTRIBUTES, 7), (POOLED, 1000)], ids=["vertical", "horizontal"]
)
def test_variances_are_rounded_before_they_are_opened(tmp_path, attributes, base):
    table = people()
    keys = "by: [Job]\nmeasures: [{variance: Pay}, {variance: Debt}, {variance: Age}]\nminimum: 1\n"
    result = run(write_job(tmp_path, table, f"{keys}round: {base}\n", attributes))
    exact = duck(table, ("Job",), "var_samp(Pay), var_samp(Debt), var_samp(Age)")
    for group in result["groups"]:
        expected = [base * int((float(x) + base / 2) // base) for x in exact[tuple(group["by"])]]
        assert group["measures"] == expected
    opened = {entry["what"] for entry in result["opened"]}
    assert "aggregate: rounded numbers" in opened
    assert not opened & {"aggregate: sums", "aggregate: sums of squares"}


def test_a_single_record_has_no_variance(tmp_path):
    table = people(records=40)
    table["Job"][:] = "A"
    table["Job"][0] = "B"
    keys = "by: [Job]\nmeasures: [{variance: Age}]\nminimum: 1\nround: 5\n"
    shown = [group["measures"][0] for group in run(write_job(tmp_path, table, keys))["groups"]]
    assert shown[0] is not None
    assert shown[1:] == [None, None, None]
