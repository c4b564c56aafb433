"""Lists of checks: lines that no subject can forge, and the exit code of the first failure."""

import json
from datetime import UTC, datetime, timedelta

from coterie.base.checks import Check, failed, line, passed, show, validity


def test_the_exit_code_is_that_of_the_first_failed_check(capsys):
    checks = [passed("a", "x", "fine"), failed("b", "y", "bad", 11), failed("c", "z", "worse", 12)]
    assert show(iter(checks), as_json=False) == 11
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert show(checks[:1], as_json=False) == 0


def test_json_has_every_check_and_the_verdict(capsys):
    assert show([failed("b", "y", "bad", 11)], as_json=True) == 11
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["exit_code"], found["checks"][0]["detail"]) == (False, 11, "bad")


def test_a_certificate_that_ends_within_30_days_is_a_warning():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    states = [validity("a", "expiry", now + timedelta(days=d), now).state for d in (29, 31)]
    assert states == ["warning", "ok"]


def test_a_detail_cannot_forge_a_second_line():
    assert "\n" not in line(Check("a", "x", "failed", "bad\nok       b  x  fine"), 4)
