"""Identifiers that will not match: what is found in a column, and the rule that is proposed."""

import pyarrow as pa
import pytest

from coterie.jobs.matching.hygiene import profile
from coterie.jobs.matching.rules import Rule


def found(values, **declared):
    rules = {"ID": tuple(Rule(name) for name in declared.get("rules", ()))}
    return profile(pa.table({"ID": values}), ["ID"], rules)


@pytest.mark.parametrize(
    ("values", "count", "proposal"),
    [
        (["ann", "bob ", "\tcid", None], 2, "normalise: {ID: [trim]}"),
        (["Ann", "bob", "7"], 1, "normalise: {ID: [lower]}"),
        (["7.0", "8", "9.00"], 2, "normalise: {ID: [number]}"),
        (["ve\u0301ra", "max"], 1, "normalise: {ID: [nfc]}"),
        (["31.01.2020", "2020-02-01"], 1, 'normalise: {ID: [{date: ["%Y-%m-%d", "%d.%m.%Y"]}]}'),
        (["31/01/2020", "01/02/2020"], 2, 'normalise: {ID: [{date: ["%d/%m/%Y"]}]}'),
        (["01/31/2020", "02/01/2020"], 2, 'normalise: {ID: [{date: ["%m/%d/%Y"]}]}'),
    ],
)
def test_each_fault_is_counted_and_has_its_rule(values, count, proposal):
    (finding,) = found(values)
    assert (finding.count, finding.proposal) == (count, proposal)
    assert f"{count} values" in finding.line()
    assert not any(
        c.isdigit()
        for c in finding.line(counts=False)
        .split(";")[0]
        .replace("2020-01-31", "")
        .replace("7.0", "")
    )


@pytest.mark.parametrize(
    "values",
    [["1", "2"], ["ann", "bob"], ["ANN", "BOB"], ["2020-01-31", "2020-02-01"], ["a1.0", "b"], []],
)
def test_a_clean_column_has_nothing_to_tell(values):
    assert found(values) == []


def test_what_the_job_normalises_already_is_not_proposed():
    values = ["Ann ", "bob"]
    assert [f.rule.name for f in found(values)] == ["trim", "lower"]
    assert [f.rule.name for f in found(values, rules=["trim"])] == ["lower"]
    assert found(values, rules=["trim", "upper"]) == []


def with_check_digit(number):
    """The Luhn check digit, by trying all: one of ten fits."""
    for digit in range(10):
        text, total = f"{number}{digit}", 0
        for at, c in enumerate(text[::-1]):
            total += sum(map(int, str(int(c) * (1 + at % 2))))
        if total % 10 == 0:
            return text
    raise AssertionError(number)


def test_numbers_without_the_check_digit_that_the_others_have_are_counted():
    good = [with_check_digit(1_000_000 + 7919 * i) for i in range(100)]
    wrong = [good[0][:-1] + str((int(good[0][-1]) + 1) % 10)]
    findings = found([*good, *wrong, "1234567", "7654321"])
    assert [(f.what, f.count) for f in findings] == [
        ("fail the check digit (Luhn) that the others have", 1),
        ("lack the check digit (Luhn) that the others have", 2),
    ]
    assert found([str(1_000_000 + 7919 * i) for i in range(100)]) == []
