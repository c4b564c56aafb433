"""The course of a release: who specialized what, and what the contributions came to."""

import json

import pytest

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.pages.report import report_release
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.pages.markup import element
from tests.coordinator.support import coterie
from tests.jobs.loans import JOB_FILE, loan_folder
from tests.jobs.pages.reading import Reading


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loans")
    path = loan_folder(folder, JOB_FILE)
    assert coterie("simulate", path, "--out", folder / "out").code == 0
    result = json.loads((folder / "out" / "result.json").read_text())
    return load_job(path), result, folder / "out"


def course(job, result, folder):
    *_, last = report_release(job, Claim(result), folder)
    assert not last.public
    return Reading(str(element("div", *last.content))).words


def test_each_party_has_its_contribution_and_its_steps(done):
    job, result, folder = done
    words = course(job, result, folder)
    for party, contribution in result["contributions"].items():
        steps = sum(winner["party"] == party for winner in result["winners"])
        owed = [
            f"{other} {given - contribution:.4f}"
            for other, given in result["contributions"].items()
            if given > contribution
        ]
        assert f"{party} {contribution:.4f} {steps} {' , '.join(owed) or 'nothing'}" in words


def test_every_step_is_listed_with_its_party(done):
    job, result, folder = done
    words = course(job, result, folder)
    for number, winner in enumerate(result["winners"], 1):
        assert f"{number} {winner['party']} {winner['attribute']} {winner['value']}" in words


def test_a_release_that_could_not_be_specialized_says_so(done):
    job, result, folder = done
    assert "Nothing was specialized" in course(job, {**result, "winners": []}, folder)


def test_a_step_of_nobody_is_named(done):
    job, result, folder = done
    winners = [{**result["winners"][0], "party": "nobody"}]
    with pytest.raises(VerificationError, match="'nobody' is not a party of the job"):
        course(job, {**result, "winners": winners}, folder)


def test_the_detail_of_the_report_is_that_of_the_result(done):
    job, result, folder = done
    detail = report_release(job, Claim(result), folder)[2]
    words = Reading(str(element("div", *detail.content))).words
    shown = " ".join(f"{name} {share:.0%}" for name, share in result["detail"].items())
    assert shown
    assert shown in words


def test_a_simulation_tells_the_parties_what_each_could_do_alone_and_nobody_else(done):
    job, result, folder = done
    parts = {part.title: part for part in report_release(job, Claim(result), folder)}
    costs = parts["What the release costs"]
    words = Reading(str(element("div", *costs.content))).words
    for party, error in result["alone"].items():
        assert f"class error {party} {error:,.4g}" in words
    public = Reading(str(element("div", *costs.instead))).words
    assert "class error" not in public
    assert f"discernibility {result['utility']['discernibility']:,}" in public
