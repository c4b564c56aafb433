"""`slack: tell`: told in the result and its report, checked by verify, refused where it cannot be exact."""

import json

import pytest

from coterie.base.errors import UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.integrate.pages.report import report_release
from coterie.jobs.kinds.integrate.slack import UNCHECKED
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.pages.markup import element
from tests.jobs.kinds.integrate.test_plain_words import TABLE, words
from tests.jobs.loans import JOB_FILE, loan_folder
from tests.jobs.pages.reading import Reading

TELLING = JOB_FILE + "slack: tell\n"
SENTENCE = "k = 4 instead of 5 on Sex, Salary would permit Salary, after 8 steps"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loans")
    job = load_job(loan_folder(folder, TELLING))
    out = folder / "out"
    out.mkdir()
    simulate(job, folder, out, seed="1")
    return job, out


def result_of(out):
    return json.loads((out / "result.json").read_text())


def test_the_result_has_the_slack_of_each_entry(done):
    _, out = done
    result = result_of(out)
    assert result["slack"] == [
        {"qid": ["Sex", "Job"], "k": 4, "permitted": None},
        {"qid": ["Sex", "Salary"], "k": 5, "permitted": 4, "attribute": "Salary", "after": 8},
    ]
    assert "integrate: slack" in json.dumps(result["opened"])


def test_the_same_job_without_the_key_says_nothing_of_it(done, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    simulate(load_job(loan_folder(tmp_path, JOB_FILE)), tmp_path, out, seed="1")
    plain, told = result_of(out), result_of(done[1])
    assert "slack" not in plain
    assert "integrate: slack" not in json.dumps(plain["opened"])
    assert all(plain[key] == told[key] for key in ("winners", "cut", "anonymity", "utility"))
    assert (out / "release.csv").read_bytes() == (done[1] / "release.csv").read_bytes()


def test_a_person_reads_which_k_would_permit_what(done):
    job, out = done
    claim = Claim(result_of(out))
    assert any(line.startswith(SENTENCE) for line in INTEGRATE.summary(job, claim))
    assert "no k from 2 up to 4 on Sex, Job alone would permit anything more" in INTEGRATE.summary(
        job, claim
    )
    *_, course = report_release(job, claim, out)
    assert not course.public
    assert SENTENCE.replace("k =", "K =", 1) in Reading(str(element("div", *course.content))).words


def test_verify_says_that_the_slack_cannot_be_checked(done):
    job, out = done
    assert UNCHECKED in INTEGRATE.verify(job, Claim(result_of(out)), out).unchecked
    assert verify(out)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda told: told.pop(), "the slack has 1 entries"),
        (lambda told: told[1].update(k=6), "is of another entry than the job's"),
        (lambda told: told[1].update(permitted=5), "permits k = 5, which is not below the job's"),
        (lambda told: told[1].update(permitted=2), "permits k = 2, below half of the job's"),
        (lambda told: told[1].update(after=99), "is after 99 steps, which there are not"),
        (lambda told: told[1].update(attribute="Job"), "is of 'Job', of which its entry has"),
        (lambda told: told[1].update(attribute="Sex"), "is of 'Sex', of which its entry has"),
    ],
)
def test_verify_refuses_a_slack_that_cannot_be(done, change, reason):
    job, out = done
    result = result_of(out)
    change(result["slack"])
    with pytest.raises(VerificationError, match=reason):
        INTEGRATE.verify(job, Claim(result), out)


def test_verify_refuses_a_slack_that_nobody_asked_for(done, tmp_path):
    job = load_job(loan_folder(tmp_path, JOB_FILE))
    with pytest.raises(VerificationError, match="tells a slack that the job does not ask for"):
        INTEGRATE.verify(job, Claim(result_of(done[1])), done[1])


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (JOB_FILE + "slack: hide\n", "must be 'tell'"),
        (TELLING + "max_suppression: 0.1\n", "cannot be used with 'max_suppression'"),
        (
            TELLING.replace("k: 4}", "k: 4, sensitive: Zodiac, l: 2}"),
            "is only for requirements on k alone",
        ),
        (
            TELLING.replace("class: Class\n", "score: discernibility\nsplit: quantile\n"),
            "cannot be used with 'split: quantile'",
        ),
    ],
)
def test_a_job_whose_slack_would_not_be_exact_is_refused(job, reason, tmp_path):
    with pytest.raises(UsageError, match=reason):
        load_job(loan_folder(tmp_path, job))


def test_every_partys_policy_must_permit_it_and_its_steward_reads_it():
    job = parse_job(TABLE + "slack: tell\n", {})
    assert all(INTEGRATE.needs(job, name).groups.slack for name in job.party_names)
    assert not INTEGRATE.needs(parse_job(TABLE, {}), "bank").groups.slack
    sentence = "the number of people of a group that the release does not show"
    assert sentence in words(TABLE + "slack: tell\n")
    assert sentence not in words(TABLE)
