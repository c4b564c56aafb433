"""A finished result at a recipient; the checks of a release are in tests/jobs/kinds/integrate."""

import json

import pytest

from coterie.base.errors import VerificationError
from coterie.jobs.run.received import add_recipients, digest_of, take_in
from tests.jobs.kinds.integrate.test_received import played


def test_a_digest_tells_names_lengths_and_contents_apart(tmp_path):
    (tmp_path / "a").write_bytes(b"xy")
    (tmp_path / "b").write_bytes(b"")
    both = digest_of(["a", "b"], tmp_path)
    assert digest_of(["a", "b"], tmp_path) == both
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").write_bytes(b"y")
    assert digest_of(["a", "b"], tmp_path) != both


def test_recipients_with_different_results_end_the_job(tmp_path):
    with pytest.raises(VerificationError, match="different results"):
        add_recipients({}, {"bank": "1", "card": "2"}, tmp_path)
    assert add_recipients({"records": 3}, {}, tmp_path) == {"records": 3}
    told = add_recipients({"records": 3}, {"bank": "1"}, tmp_path)
    assert json.loads((tmp_path / "result.json").read_text()) == told


def test_without_its_own_run_a_recipient_accepts_nothing(tmp_path):
    job, _, out = played(tmp_path)
    with pytest.raises(VerificationError, match="no longer what it computed itself"):
        take_in(job, "bank", "", tmp_path / "nowhere", out)
