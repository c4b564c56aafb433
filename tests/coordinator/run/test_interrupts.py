"""The first Ctrl-C is noted, and raised where the run looks for it; the second raises at once."""

import os
import signal

import pytest

from coterie.coordinator.run.interrupts import Interrupts, never


@pytest.fixture(autouse=True)
def handlers():
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    yield
    assert {n: signal.getsignal(n) for n in before} == before


def arrive(number):
    os.kill(os.getpid(), number)  # handled before this returns, in the main thread


def work(*steps):
    """Takes these steps, which are signals, "look" or an error; returns how many were taken."""
    taken = 0
    try:
        with Interrupts() as interrupts:
            for step in steps:
                if step == "look":
                    interrupts.check()
                elif isinstance(step, Exception):
                    raise step
                else:
                    arrive(step)
                taken += 1
    except KeyboardInterrupt:
        return taken, "interrupted"
    return taken, "done"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_raises_only_where_it_is_asked_for(number):
    assert work("look", number, "look", "look") == (2, "interrupted")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_raises_at_once(number):
    assert work("look", signal.SIGTERM, number, "look") == (2, "interrupted")


def test_a_signal_after_the_last_look_is_not_lost():
    assert work("look", signal.SIGINT) == (2, "interrupted")


def test_an_error_is_not_hidden_by_a_signal():
    with pytest.raises(ValueError, match="told"):
        work(signal.SIGINT, ValueError("told"))


def test_without_a_signal_nothing_is_raised():
    assert work("look", "look") == (2, "done")
    never()
