"""The live page in a real browser follows real servers: one stalls, one dies, a person cancels."""

import os
import re
import signal

import pytest

from tests.browser.axe import violations_anywhere
from tests.browser.conftest import NEEDS_BROWSER
from tests.browser.waiting import fits, has, press, text, until
from tests.coordinator.support import Organisations, coterie, finish, process, wait_for

pytestmark = NEEDS_BROWSER
SILENCE = 5  # seconds until a party counts as lost; after half of them it is marked


@pytest.fixture(scope="module")
def organisations(tmp_path_factory):
    made = Organisations(tmp_path_factory.mktemp("live"))
    made.edit("bank", "consent: auto  ", "consent: manual")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def run(organisations, browser, tmp_path):
    """A run that waits for the bank's consent, and its page."""
    started = process(
        "run", organisations.job, "--out", tmp_path / "out", "--identity", organisations.identity,
        "--live", "--heartbeat", SILENCE,
    )  # fmt: skip
    wait_for(lambda: "live: " in started.error_output, "the link")
    browser.get(re.search(r"live: (\S+)", started.error_output)[1])
    until(browser, "waiting for consent")
    yield started
    if started.poll() is None:
        started.kill()
        started.wait()


def test_a_stalled_party_is_marked_until_it_goes_on_and_the_page_becomes_the_report(
    organisations, browser, run
):
    card = organisations.processes["card"].pid
    os.kill(card, signal.SIGSTOP)
    try:
        until(browser, "no sign of life for")
        marked = browser.find_elements("css selector", "polygon.silent")
        assert len(marked) == 1
        assert violations_anywhere(browser) == []
        assert run.poll() is None
    finally:
        os.kill(card, signal.SIGCONT)
    wait_for(lambda: not has(browser, "polygon.silent"), "the mark to go")
    config = organisations.folder / "bank" / "party.yaml"
    assert coterie("party", "approve", "loan-approval", "--config", config).code == 0
    wait_for(lambda: browser.title == "Report: loan-approval", "the report")
    assert "What was told to whom" in text(browser)
    assert finish(run).code == 0
    assert browser.get_log("browser") == []


def test_the_button_asks_once_more_and_cancels_at_all_parties(organisations, browser, run):
    assert violations_anywhere(browser) == []
    press(browser, "cancel")
    assert "Really cancel it" in text(browser)
    assert run.poll() is None
    press(browser, "cancel")
    done = finish(run)
    assert (done.code, done.error) == (10, "cancelled on the live page")
    until(browser, "ended. cancelled on the live page")
    assert organisations.jobs("lender")[-1]["state"] == "CANCELLED"
    assert browser.find_elements("css selector", "form") == []
    assert violations_anywhere(browser) == []


def test_the_page_fits_its_window_and_the_link_opens_one_session(organisations, browser, run):
    assert [width for width in (400, 1400) if not fits(browser, width)] == []
    link = re.search(r"live: (\S+)", run.error_output)[1]
    browser.switch_to.new_window("tab")
    browser.get(link)
    until(browser, "this link was used already")
    browser.close()
    browser.switch_to.window(browser.window_handles[0])
    browser.refresh()
    until(browser, "waiting for consent")


def test_a_party_that_dies_is_named_on_the_page(organisations, browser, run):
    victim = organisations.processes.pop("card")
    victim.kill()
    victim.wait()
    until(browser, "ended. card: ")
    assert violations_anywhere(browser) == []
    assert finish(run).code == 6
    organisations.start("card")
