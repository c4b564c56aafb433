"""Jobs of all kinds whose every transfer is a silent one: they end with the result of any other run.

A round of silent transfers needs both sides at the same time, so that a caller that begins its two
directions in another order than its peers would wait for ever.
"""

import json

import pytest

from coterie.protocols.primitives.local_code import Size
from coterie.protocols.transfer import silent
from tests.traces.cases import CASES, ROUNDED

JOBS = [
    "integrate hide_scores",
    "integrate mondrian",
    "count",
    "count mixed",
    "count horizontal",
    "aggregate",
    "aggregate mixed",
    "tree",
    "tree mixed",
    "bayesnet",
    "regress",
    "regress vertical",
    "regress vertical logistic",
    "cluster vertical",
    "cluster vertical with noise",
    "predict by a net, mixed",
    "rules",
    "identify",
]
MEASURED = ("parties", "seconds", "job")
SHARED = {*ROUNDED, "regress vertical", "cluster vertical"}  # the last digits depend on the shares


def result_of(name, folder):
    CASES[name](folder)
    [path] = folder.rglob("result.json")
    result = json.loads(path.read_text())
    return {key: value for key, value in result.items() if key not in MEASURED}


def rounded(value):
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-3, abs=1e-3)
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return {k: rounded(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("name", JOBS)
def test_a_job_ends_in_the_same_way_if_every_transfer_is_silent(name, tmp_path, monkeypatch):
    (tmp_path / "plain").mkdir()
    (tmp_path / "silent").mkdir()
    due = result_of(name, tmp_path / "plain")
    rounds = []
    honest = silent._Rounds._round

    def counted(self):
        rounds.append(1)
        honest(self)

    monkeypatch.setattr(silent._Rounds, "_round", counted)
    monkeypatch.setattr(silent, "FEWEST", 1)
    monkeypatch.setattr(silent, "FIRST", Size(3, 320))
    monkeypatch.setattr(silent, "LATER", Size(4, 160))
    found = result_of(name, tmp_path / "silent")
    assert rounds
    assert found == (rounded(due) if name in SHARED else due)
