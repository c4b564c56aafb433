"""Whatever is wrong with the data: `doctor` and proposals tell the coordinator no row and no value."""

import re

import pytest
import yaml

from coterie.protos import jobs_pb2 as pb
from coterie.transport.error_messages import UNEXPLAINED
from tests.papers.loans import JOB, SEX
from tests.party.lending import COLUMNS, LOANS, as_lenders, propose_loans

SECRET = "Zanzibar"
ROW = 17  # of the bank's table, counted from 1


def changed(column, value):
    def change(lines):
        names = lines[0].split(",")
        cells = lines[ROW].split(",")
        cells[names.index(column)] = value
        lines[ROW] = ",".join(cells)
        return lines

    return change


def ragged(lines):
    return [*lines[:ROW], lines[ROW] + f",{SECRET}", *lines[ROW + 1 :]]


FAULTS = {
    "outside the taxonomy": changed("Job", SECRET),
    "an inner node": changed("Job", "Professional"),
    "not a number": changed("Salary", SECRET),
    "outside the range": changed("Salary", "4711"),
    "too large": changed("Salary", "9" * 30),
    "empty": changed("Salary", ""),
    "a repeated identifier": changed("ID", "p1"),
    "an empty identifier": changed("ID", ""),
    "too many values": ragged,
    "an open quotation mark": changed("Job", f'"{SECRET}'),
    "no UTF-8": changed("Job", SECRET + "\udcff"),
}


@pytest.fixture
def bank(houses):
    return as_lenders(houses)


def spoil(houses, fault):
    path = houses.folder / "bank.csv"
    lines = FAULTS[fault](path.read_text().splitlines())
    path.write_bytes("\n".join([*lines, ""]).encode("utf-8", "surrogateescape"))


def answers(houses):
    """What the bank says to `doctor` and to a proposal."""
    decision, check = asked(houses)
    assert decision.state == pb.REFUSED
    assert not check.ok
    return [decision.reason, check.detail]


def asked(houses, **keys):
    """The bank's decision on a proposal, and what it says of its data to `doctor`."""
    houses.serve("lender")
    houses.serve("bank")
    coordinator, _, decisions = propose_loans(houses, **keys)
    job = {
        **LOANS,
        **keys,
        "parties": {n: {"address": f"127.0.0.1:{houses.ports[n]}"} for n in COLUMNS},
    }
    files = {
        f"{name}.csv": "".join(";".join(path) + "\n" for path in paths).encode()
        for name, paths in (("Sex", SEX), ("Job", JOB))
    }
    request = pb.DescribeRequest(job_yaml=yaml.safe_dump(job, sort_keys=False), files=files)
    described = coordinator.stubs["bank"].Describe(request, timeout=60)
    [check] = [check for check in described.checks if check.name == "data"]
    return decisions["bank"], check


READING = ("too many values", "an open quotation mark", "no UTF-8")  # whatever the job says


@pytest.mark.parametrize("fault", FAULTS)
def test_the_coordinator_is_told_of_no_value_where_and_why_it_does_not_fit(bank, fault):
    spoil(bank, fault)
    for told in answers(bank):
        assert (told == UNEXPLAINED) == (fault not in READING), told


@pytest.mark.parametrize("fault", FAULTS)
def test_a_policy_that_explains_columns_tells_no_row_and_no_value(bank, fault):
    content = yaml.safe_load(bank.path("bank").read_text())
    content["policy"]["explain"] = "columns"
    bank.path("bank").write_text(yaml.safe_dump(content, sort_keys=False))
    spoil(bank, fault)
    for told in answers(bank):
        assert told.startswith("bank.csv: ")
        words = told.removeprefix(str(bank.folder))
        for secret in (SECRET, "4711", "99999", "Professional"):
            assert secret not in words
        assert not re.search(rf"\b({ROW}|{ROW - 1}|{ROW + 1})\b", words), words


@pytest.mark.parametrize("fault", FAULTS)
def test_a_policy_that_explains_rows_tells_no_value(bank, fault):
    content = yaml.safe_load(bank.path("bank").read_text())
    content["policy"]["explain"] = "rows"
    bank.path("bank").write_text(yaml.safe_dump(content, sort_keys=False))
    spoil(bank, fault)
    for told in answers(bank):
        words = told.removeprefix(str(bank.folder))
        for secret in (SECRET, "4711", "99999", "Professional"):
            assert secret not in words
        assert re.search(rf"\b{ROW}\b", words), words


@pytest.mark.parametrize("pad_to", [1000, 2])
def test_the_number_of_records_of_a_padded_set_is_not_told_to_the_coordinator(bank, pad_to):
    decision, check = asked(bank, pad_to=pad_to)
    assert decision.state == (pb.ACCEPTED if pad_to == 1000 else pb.REFUSED)
    assert decision.records in (0, pad_to)
    for told in (decision.reason, check.detail):
        assert not set(re.findall(r"[0-9]+", told)) - {str(pad_to)}, told


def test_rows_that_are_dropped_are_not_counted_to_the_coordinator(bank):
    whole = len((bank.folder / "bank.csv").read_text().splitlines()) - 1
    spoil(bank, "empty")
    decision, check = asked(bank, missing="drop")
    assert decision.state == pb.ACCEPTED
    assert decision.records == whole - 1
    assert check.detail.startswith(f"{whole - 1} records")
