"""Results of `kind: predict` that say something else than the job, or whose lists do not agree."""

import pytest

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS

JOB = """kind: predict
name: new
parties: {lender: {}, bank: {}, card: {}}
id: ID
model: risk
attributes: {Sex: {party: lender}}
recipients: [lender, card]
"""
RESULT = {"records": 2, "model": "risk", "predicted_for": ["lender", "card"]}
LIST = "ID,predicted\np1,Y\np2,N\n"


def verified(folder, result=RESULT, lender=LIST, card=LIST, bank=None):
    for party, text in (("lender", lender), ("card", card), ("bank", bank)):
        (folder / "parties" / party).mkdir(parents=True)
        if text is not None:
            (folder / "parties" / party / "predictions.csv").write_text(text)
    return KINDS["predict"].verify(parse_job(JOB, {}), Claim(result), folder)


def test_a_whole_result_holds(tmp_path):
    assert verified(tmp_path, card="ID,predicted\nx,N\ny,Y\n").facts["records"] == 2


def test_without_the_lists_nothing_is_said_of_them(tmp_path):
    verdict = KINDS["predict"].verify(parse_job(JOB, {}), Claim(RESULT), tmp_path)
    assert verdict.unchecked == ["the classes, which stay with the recipients"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "other"}, "must be the job's model, 'risk'"),
        ({"predicted_for": ["lender"]}, "must be the recipients of the job"),
        ({"records": 0}, "must be at least 1"),
    ],
)
def test_a_result_of_another_job_is_refused(change, message, tmp_path):
    with pytest.raises(VerificationError, match=message):
        verified(tmp_path, {**RESULT, **change})


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"lender": None}, "No such file"),
        ({"lender": ""}, "not a CSV file with a heading"),
        ({"lender": "ID,class\np1,Y\np2,N\n"}, "must have the columns ID, predicted"),
        ({"lender": "ID,predicted\np1,Y\n"}, "has 1 rows for 2 people"),
        ({"lender": "ID,predicted\np1,Y\np1,N\n"}, "names a person twice"),
        ({"card": "ID,predicted\np1,Y\np2,Y\n"}, "lender and card have different classes"),
        ({"bank": LIST}, "bank is not a recipient"),
    ],
)
def test_lists_that_do_not_fit_are_named(lists, message, tmp_path):
    with pytest.raises(VerificationError, match=message):
        verified(tmp_path, **lists)
