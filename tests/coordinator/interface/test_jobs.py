"""A job built in code is the job of the file that it writes."""

import numpy as np
import pytest

import coterie
from coterie.base.errors import UsageError
from tests.jobs.loans import JOB_FILE, loan_folder
from tests.papers.loans import JOB, SEX

KEYS = {
    "kind": "integrate",
    "name": "loan-approval",
    "parties": {"lender": {}, "bank": {}},
    "id": "ID",
    "class": "Class",
    "attributes": {
        "Sex": {"party": "lender", "taxonomy": SEX},
        "Job": {"party": "bank", "taxonomy": JOB},
        "Salary": {"party": "bank", "range": [1, 99]},
        "Zodiac": {"party": "lender"},
    },
    "requirement": [{"qid": ["Sex", "Job"], "k": 4}, {"qid": ["Sex", "Salary"], "k": 5}],
}


def test_a_job_is_read_from_its_file(tmp_path):
    job = coterie.Job.read(loan_folder(tmp_path, JOB_FILE))
    assert (job.kind, job.name, job.parties) == ("integrate", "loan-approval", ("lender", "bank"))
    assert repr(job) == "Job(integrate 'loan-approval' of lender, bank)"
    # its data are read from its folder, not the working directory
    assert coterie.simulate(job)["records"] == 34


def test_a_job_built_in_code_can_be_saved_and_read_again(tmp_path):
    job = coterie.Job(**KEYS)
    again = coterie.Job.read(job.save(tmp_path / "job.yaml"))
    assert again.text == job.text
    assert again.files == job.files
    assert again.typed.digest == job.typed.digest


def test_the_callers_values_are_not_changed():
    coterie.Job(**KEYS)
    assert KEYS["attributes"]["Sex"]["taxonomy"] is SEX


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"kind": "integrat"}, "did you mean|must be one of"),
        ({"requirement": [{"qid": ["Nothing"], "k": 2}]}, "'Nothing' is not among the attributes"),
        ({"name": object()}, "no job file can hold"),
        ({"attributes": {"Sex": {"party": "lender", "taxonomy": [["F;M", "Any"]]}}}, "semicolon"),
        ({"attributes": {"Sex": {"party": "lender", "taxonomy": ["F"]}}}, "list of paths"),
    ],
)
def test_a_mistake_is_the_error_of_a_job_file(change, error):
    with pytest.raises(UsageError, match=error):
        coterie.Job(**{**KEYS, **change})


def test_warnings_are_those_of_the_command():
    job = coterie.Job(**{**KEYS, "requirement": [{"qid": ["Sex"], "k": 1}]})
    assert "protects nobody" in " ".join(job.warnings)


def test_reserved_words_numpys_numbers_and_tuples_are_the_same_job():
    keys = {name: value for name, value in KEYS.items() if name != "class"}
    keys["attributes"] = {
        **KEYS["attributes"],
        "Salary": {"party": "bank", "range": (np.int64(1), np.int64(99))},
    }
    keys["requirement"] = tuple(KEYS["requirement"])
    made = coterie.Job(class_="Class", **keys)
    assert made.typed.class_name == "Class"
    assert made.typed.attributes == coterie.Job(**KEYS).typed.attributes
