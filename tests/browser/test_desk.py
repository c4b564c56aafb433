"""The steward's desk in a real browser, at real servers: a job is read, refused and approved."""

import os
import re
import signal

import pytest

from tests.browser.axe import violations_anywhere
from tests.browser.conftest import NEEDS_BROWSER
from tests.browser.waiting import fits, has, press, text, until
from tests.coordinator.support import Organisations, coterie, finish, process, wait_for

pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def organisations(tmp_path_factory):
    made = Organisations(tmp_path_factory.mktemp("desk"))
    made.edit("bank", "consent: auto  ", "consent: manual")
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def desk(organisations, browser):
    """The bank's desk, open in the browser."""
    started = process(
        "party", "desk", organisations.folder / "bank" / "party.yaml", "--by", "Ada <b>L</b>"
    )
    wait_for(lambda: "desk: " in started.output, "the link")
    browser.set_window_size(1400, 1000)
    browser.get(re.search(r"desk: (\S+)", started.output)[1])
    yield browser
    started.send_signal(signal.SIGTERM)
    assert finish(started).code == 0


@pytest.fixture
def run(organisations, desk, tmp_path):
    """A run whose job waits on the desk."""
    started = process(
        "run", organisations.job, "--out", tmp_path / "out", "--identity", organisations.identity
    )
    wait_for(lambda: has(desk, "form[data-action=approve]"), "the job")
    yield started
    if started.poll() is None:
        started.kill()
        started.wait()


def audit(organisations):
    return (organisations.folder / "bank" / "state" / "audit.log").read_text()


def test_a_job_is_explained_and_refused_with_a_reason(organisations, desk, run):
    shown = text(desk)
    for words in ("Asked by", "analyst", "Never leaves", "What others learn of your table"):
        assert words in shown
    assert "You are approving as Ada <b>L</b>, for bank" in shown
    assert violations_anywhere(desk) == []
    desk.find_element("css selector", "form[data-action=refuse] input[type=text]").send_keys(
        "<script>not</script> today"
    )
    press(desk, "refuse")
    until(desk, "The job is refused.")
    done = finish(run)
    assert done.code == 4
    assert "<script>not</script> today" in done.error
    assert "Ada <b>L</b>" in audit(organisations)
    until(desk, "No job waits for consent.")
    assert "refused" in text(desk)
    assert desk.find_elements("css selector", "main script, main b") == []


def test_approval_is_asked_twice_and_a_job_then_runs(organisations, desk, run):
    press(desk, "approve")
    assert "Really approve it?" in text(desk)
    assert run.poll() is None
    press(desk, "approve")
    assert finish(run).code == 0
    until(desk, "finished")
    until(desk, "Groups released")  # the job is in the history
    assert violations_anywhere(desk) == []
    assert desk.get_log("browser") == []


def test_a_reason_being_written_survives_news(organisations, desk, run):
    field = "form[data-action=refuse] input[type=text]"
    desk.find_element("css selector", field).send_keys("half a sen")
    desk.execute_script("document.activeElement.blur()")
    desk.execute_script("shown.delete('waiting')")  # as if the part had changed
    wait_for(lambda: desk.execute_script("return shown.has('waiting')"), "another look")
    assert desk.find_element("css selector", field).get_attribute("value") == "half a sen"
    assert [width for width in (400, 1400) if not fits(desk, width)] == []
    os.kill(run.pid, signal.SIGINT)
    assert finish(run).code == 130


def test_the_output_of_a_running_job_is_looked_at_before_it_goes_out(organisations, desk, tmp_path):
    organisations.edit("bank", "consent: manual", "output: ask\n  consent: auto  ")
    organisations.processes["bank"].send_signal(signal.SIGHUP)
    wait_for(lambda: '"file taken up"' in audit(organisations), "the policy to be in force")
    started = process(
        "run", organisations.job, "--out", tmp_path / "out", "--identity", organisations.identity
    )
    until(desk, "for your word on its output, before it goes out")
    assert "Hold it back" in text(desk)
    assert violations_anywhere(desk) == []
    assert [width for width in (400, 1400) if not fits(desk, width)] == []
    press(desk, "approve")
    assert "Really let it go on?" in text(desk)
    press(desk, "approve")
    assert finish(started).code == 0
    assert '"about":"output"' in audit(organisations)
    until(desk, "finished")


def test_a_server_that_is_away_is_said_and_comes_back(organisations, desk):
    victim = organisations.processes.pop("bank")
    victim.terminate()
    victim.wait(30)
    until(desk, "failed")
    assert violations_anywhere(desk) == []
    organisations.start("bank")
    until(desk, "serves at")
    config = organisations.folder / "bank" / "party.yaml"
    # A handshake on a busy machine may need a later try.
    assert any(coterie("party", "health", "--config", config).code == 0 for _ in range(5))
