"""Deviating parties in simulated jobs: what they gain, who is caught, and what is said."""

import json

import pytest

from coterie.base.errors import UsageError
from coterie.coordinator.simulate.deviation.compare import compare
from coterie.coordinator.simulate.deviation.deviations import read_deviations
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from tests.coordinator.support import coterie
from tests.jobs.loans import JOB_FILE, loan_folder, release

MALICIOUS = JOB_FILE + "adversary: malicious\n"


def compared(folder, *deviations, job=MALICIOUS):
    path = loan_folder(folder, job)
    return compare(load_job(path), folder, folder / "out", deviations, "1", False)


def phi(result, party, run="deviating"):
    return result["parties"][party][run]["phi"]


@pytest.mark.parametrize("party", ["lender", "bank"])
@pytest.mark.parametrize("way", ["never", "from:2", "underdeclare", "overdeclare"])
def test_no_deviation_brings_a_party_more_than_honesty_on_the_loan_table(tmp_path, party, way):
    result = compared(tmp_path, f"{party}={way}")
    assert phi(result, party) <= phi(result, party, "honest")
    assert json.loads((tmp_path / "out" / "deviation.json").read_text()) == result


def test_without_the_strategy_never_taking_part_pays(tmp_path):
    """Paper 1, §6: the malicious party obtains the other's data and shares none."""
    result = compared(tmp_path, "lender=never", job=JOB_FILE)
    lender = result["parties"]["lender"]["deviating"]
    assert lender["mu"] == 0
    assert lender["phi"] >= phi(result, "lender", "honest") > 0


@pytest.mark.parametrize("way", ["underdeclare", "overdeclare"])
@pytest.mark.parametrize("keys", ["", "hide_scores: true\n"])
def test_a_false_score_is_caught_where_it_wins(tmp_path, way, keys):
    result = compared(tmp_path, f"bank={way}", job=MALICIOUS + keys)
    assert result["caught"]["party"] == "bank"
    assert "bank: declared the score" in result["caught"]["error"]
    assert not (tmp_path / "out" / "release.csv").exists()
    assert (tmp_path / "out" / "honest" / "release.csv").exists()


def test_an_honest_party_is_not_caught_and_the_results_stand(tmp_path):
    result = compared(tmp_path, "bank=from:9")
    assert result["caught"] is None
    assert release(tmp_path / "out") == release(tmp_path / "out" / "honest")


@pytest.mark.parametrize(
    "keys", ["hide_scores: true\n", "adversary: malicious\nepsilon: 1000000\nhide_scores: true\n"]
)
def test_hidden_scores_release_what_open_scores_release(tmp_path, keys):
    outs = []
    for name, text in (("open", JOB_FILE), ("hidden", JOB_FILE + keys)):
        (tmp_path / name).mkdir()
        path = loan_folder(tmp_path / name, text)
        out = tmp_path / name / "out"
        out.mkdir()
        result = simulate(load_job(path), path.parent, out)
        outs.append((result["winners"], result["cut"], (out / "release.csv").read_bytes()))
    assert outs[0] == outs[1]


def test_hidden_scores_respect_conditions_on_sensitive_columns(tmp_path):
    text = JOB_FILE.replace(
        "{qid: [Sex, Job], k: 4}", "{qid: [Sex, Job], k: 4, sensitive: Zodiac, l: 2}"
    )
    assert "sensitive: Zodiac" in text
    outs = []
    for name, keys in (("open", ""), ("hidden", "hide_scores: true\n")):
        (tmp_path / name).mkdir()
        path = loan_folder(tmp_path / name, text + keys, zodiac=["Aries", "Leo", "Virgo"])
        out = tmp_path / name / "out"
        out.mkdir()
        result = simulate(load_job(path), path.parent, out)
        outs.append((result["winners"], (out / "release.csv").read_bytes()))
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bank=sometimes", "unknown deviation 'sometimes'"),
        ("bank=from:0", "unknown deviation 'from:0'"),
        ("bank=from:x", "unknown deviation 'from:x'"),
        ("bank=from:", "unknown deviation 'from:'"),
        ("bank", "must be PARTY=WAY, such as lender=never"),
        ("nobody=never", "no party 'nobody'; there are lender, bank"),
    ],
)
def test_unknown_deviations_are_refused_with_what_there_is(text, words):
    with pytest.raises(UsageError, match=words):
        read_deviations([text], ["lender", "bank"])


def test_a_party_deviates_in_one_way():
    with pytest.raises(UsageError, match="'bank' deviates already"):
        read_deviations(["bank=never", "bank=from:2"], ["lender", "bank"])


def test_the_command_shows_both_runs(tmp_path):
    path = loan_folder(tmp_path, MALICIOUS)
    shown = coterie("simulate", path, "--out", tmp_path / "o", "--deviate", "bank=overdeclare")
    assert shown.code == 0
    assert "caught: bank: declared the score" in shown.out
    assert "0.134831 -> 0.000000" in shown.out


def test_deviations_are_for_integrate_jobs(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text("kind: intersect\nname: x\nparties: {a: {}, b: {}}\nid: ID\n")
    with pytest.raises(UsageError, match="--deviate is for integrate jobs"):
        compare(load_job(path), tmp_path, tmp_path / "out", ["a=never"], None, False)
