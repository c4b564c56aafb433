"""`verify` finds whatever was changed in a result of groups."""

import json

import pytest

from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from tests.jobs.kinds.aggregate.samples import BASIC, people, run, write_job


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aggregate")
    run(write_job(folder, people(), f"by: [Sex]\n{BASIC}"))
    return folder / "out"


def altered(folder, change):
    path = folder / "result.json"
    result = json.loads(path.read_text())
    change(result)
    path.write_text(json.dumps(result))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["groups"].pop(), "other values than in the job"),
        (lambda r: r["groups"].append(r["groups"][0]), "every combination"),
        (lambda r: r["groups"][0]["measures"].__setitem__(0, 2), "hides those below 5"),
        (lambda r: r["groups"][0]["measures"].__setitem__(0, None), "hides others"),
        (lambda r: r["groups"][0]["measures"].__setitem__(2, 9999), "outside the range"),
        (lambda r: r["groups"][0]["measures"].__setitem__(1, 17), "do not fit"),
        (lambda r: r["groups"][0]["measures"].__setitem__(3, -1), "impossible"),
        (lambda r: r["groups"][0]["measures"].__setitem__(5, 1), "differs from the groups"),
    ],
)
def test_verify_rejects_a_changed_result(result, change, said):
    verify(result)
    honest = (result / "result.json").read_text()
    altered(result, change)
    try:
        with pytest.raises(VerificationError, match=said):
            verify(result)
    finally:
        (result / "result.json").write_text(honest)


def test_without_a_minimum_a_group_of_nobody_is_right_and_one_of_fewer_is_not(tmp_path):
    table = people(records=60)
    table["Job"] = ["A" if job == "D" else job for job in table["Job"]]
    keys = "by: [Job]\nmeasures: [{count: true}, {sum: Pay}, {mean: Pay}]\nminimum: 1\n"
    run(write_job(tmp_path, table, keys))
    verify(tmp_path / "out")
    altered(tmp_path / "out", lambda r: r["groups"][3]["measures"].__setitem__(0, -1))
    with pytest.raises(VerificationError, match="shows -1 records of D"):
        verify(tmp_path / "out")


def test_verify_rejects_numbers_that_are_not_rounded_and_ends_of_no_bucket(tmp_path):
    keys = "by: [Sex]\nmeasures: [{count: true}, {quantile: [Age, 0.5]}]\nround: 10\n"
    run(write_job(tmp_path, people(), keys))
    folder = tmp_path / "out"
    verify(folder)
    honest = (folder / "result.json").read_text()
    for place, number, said in ((0, 13, "not a multiple of 10"), (1, 33.3, "end of no bucket")):
        altered(folder, lambda r, p=place, n=number: r["groups"][0]["measures"].__setitem__(p, n))
        with pytest.raises(VerificationError, match=said):
            verify(folder)
        (folder / "result.json").write_text(honest)
