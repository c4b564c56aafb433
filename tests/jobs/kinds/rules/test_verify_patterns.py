"""`coterie verify` on `rules` results, sound and spoilt."""

import copy
import dataclasses
from fractions import Fraction

import pytest

from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.registry import KINDS
from tests.jobs.kinds.rules.test_kind import KEYS, people, run, vertical


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    path = vertical(tmp_path_factory.mktemp("rules"), KEYS, people())
    return load_job(path), run(path)


def verified(job, result):
    kind = KINDS["rules"]
    kind.summary(job, Claim(result))
    kind.report(job, Claim(result), None)
    return kind.verify(job, Claim(result), None)


def test_a_sound_result_is_verified_shown_and_summed_up(done):
    job, result = done
    verdict = verified(job, result)
    assert verdict.facts == {
        "records": 160,
        "sets": len(result["sets"]),
        "rules": len(result["rules"]),
    }


def largest(result):
    return max(result["sets"], key=lambda one: len(one["items"]))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda r: r["sets"].remove(r["sets"][0]), "a part of it is not|no rule"),
        (lambda r: r["sets"].append(copy.deepcopy(r["sets"][0])), "twice"),
        (lambda r: largest(r).update(support=0.999), "middle|more records"),
        (lambda r: largest(r).update(support=1e308), "which is not a share"),
        (lambda r: r["sets"][0].update(items=[["Sex", "F"], ["Sex", "M"]]), "different attributes"),
        (lambda r: r["sets"][0].update(items=[["Age", "F"]]), "not an attribute of the job"),
        (lambda r: r["sets"][0].update(items=[["Sex"]]), "an attribute and a value"),
        (lambda r: r.update(least=15), "frequent"),
        (lambda r: r.update(step=4), "classes of 4"),
        (lambda r: r["rules"].append(copy.deepcopy(r["rules"][0])), "twice"),
        (lambda r: r["rules"][0].update(confidence=0.1), "confidence"),
        (lambda r: r["rules"][0].update(support=0.9), "another support"),
        (lambda r: r["rules"][0].update({"then": r["rules"][0]["if"]}), "not a rule between"),
        (lambda r: r["rules"].clear(), "lacks a rule"),
    ],
)
def test_a_spoilt_result_is_rejected(done, spoil, message):
    job, result = done
    wrong = copy.deepcopy(dict(result))
    spoil(wrong)
    with pytest.raises(VerificationError, match=message):
        verified(job, wrong)


def test_a_rule_that_cannot_hold_is_rejected(done):
    job, result = done
    wrong = copy.deepcopy(dict(result))
    said = [(r["if"], r["then"]) for r in wrong["rules"]]
    for one in wrong["sets"]:
        if len(one["items"]) == 2:
            left, right = one["items"][:1], one["items"][1:]
            if (left, right) not in said:
                wrong["rules"].append(
                    {"if": left, "then": right, "support": one["support"], "confidence": 0.6}
                )
    with pytest.raises(VerificationError, match=r"cannot hold|confidence"):
        verified(job, wrong)


def test_a_confidence_that_may_tell_of_few_exceptions_is_said(done):
    job, result = done
    text = " ".join(KINDS["rules"].summary(job, Claim(result)))
    assert "exceptions" not in text
    close = dataclasses.replace(job, confidence=Fraction(9, 10))
    assert "fewer than 5" in " ".join(KINDS["rules"].summary(close, Claim(result)))
