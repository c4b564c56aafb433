"""The keys `universe` and `k_map` of an integrate job: what cannot be meant is refused by its line."""

import pytest

from coterie.base.errors import UsageError
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.loans import JOB_FILE, WITNESSED, loan_folder

NO_K_MAP = WITNESSED.replace("k_map: 20", "k: 4")


@pytest.mark.parametrize(
    ("job", "old", "new", "message"),
    [
        (
            WITNESSED,
            "universe: registry\n",
            "",
            ":15: requirement[0]: has 'k_map', but the job has no",
        ),
        (NO_K_MAP, "k: 4", "k: 4", "universe: no entry of 'requirement' has 'k_map'"),
        (WITNESSED, "universe: registry", "universe: office", "'office' is not among the parties"),
        (
            WITNESSED,
            "universe: registry",
            "universe: bank",
            "Job: is of 'bank', which holds the popu",
        ),
        (
            WITNESSED,
            "  registry: {data: registry.csv}\n",
            "",
            "'registry' is not among the parties",
        ),
        (WITNESSED, "k_map: 20", "k_map: 1", "k_map: must be at least 2"),
        (WITNESSED, "k_map: 20", "k: 2, k_map: no", "k_map: must be a whole number"),
        (
            WITNESSED,
            "k_map: 20",
            "k_map: 20, sensitive: Zodiac, l: 2",
            "requirement[0].k_map: cannot be used with 'sensitive'",
        ),
        (
            WITNESSED,
            "universe:",
            "recipients: all\nuniverse:",
            "the coordinator alone may have the",
        ),
        (WITNESSED, "universe:", "slack: tell\nuniverse:", "slack: cannot be used with 'universe'"),
        (
            WITNESSED,
            "universe:",
            "max_suppression: 0.1\nuniverse:",
            "max_suppression: cannot be used with",
        ),
        (
            WITNESSED,
            "Job: {party: bank, taxonomy: Job.csv}",
            "Job: {party: bank, taxonomy: Job.csv, at_most: [White-collar]}",
            "attributes.Job.at_most: cannot be used with 'universe'",
        ),
        (
            WITNESSED,
            "Sex: {party: lender, taxonomy: Sex.csv}",
            "Sex: {party: lender, flat: true}",
            "requirement[0]: has 'k_map', so that 'Sex' needs a taxonomy or a range",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, job, old, new, message):
    assert old in job
    with pytest.raises(UsageError) as error:
        load_job(loan_folder(tmp_path, job.replace(old, new, 1)))
    assert message in str(error.value)


def test_two_parties_must_have_records_beside_the_population(tmp_path):
    job = JOB_FILE.replace("party: bank", "party: lender").replace("k: 4", "k_map: 20")
    with pytest.raises(UsageError, match="universe: the job needs two other parties"):
        load_job(loan_folder(tmp_path, job + "universe: bank\n"))


def test_a_job_knows_its_houses_and_its_population(tmp_path):
    job = load_job(loan_folder(tmp_path, WITNESSED))
    assert job.record_holders == ("lender", "bank")
    assert [attribute.name for attribute in job.in_population] == ["Sex", "Job"]
    assert (job.smallest_k, job.smallest_k_map) == (5, 20)
    [said] = [w for w in job.warnings if "k_map" in w]
    assert "not from anybody who knows that they are in the table" in said


def test_an_entry_may_ask_for_records_and_for_people(tmp_path):
    both = WITNESSED.replace("k_map: 20", "k: 3, k_map: 20")
    [first, _] = load_job(loan_folder(tmp_path, both)).requirements
    assert (first.k, first.k_map) == (3, 20)
