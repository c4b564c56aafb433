"""What a person sees while a job runs."""

import io
import sys

import pytest

from coterie.base.text import byte_count, duration
from coterie.coordinator.run.progress import Board


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_off_a_terminal_a_line_is_printed_for_each_phase_and_every_few_seconds(capsys, clock):
    with Board(["lender", "bank"], clock=clock) as board:
        board.update("bank", "running", "ring/a", 0, 100)
        board.update("bank", "running", "ring/b", 0, 100)  # the same phase
        clock.now = 2
        board.update("bank", "running", "ring/b", 20, 100, 1500, 10)
        clock.now = 6
        board.update("bank", "running", "ring/b", 60, 100, 2500, 20)
        board.update("lender", "finished", sent_bytes=5_000_000)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "bank    ring         0/100 rows",
        "bank    ring         60/100 rows, 10/s, sent 2.5 kB, received 20 B, 4.0 s left",
        "lender  finished     sent 5.0 MB",
    ]


def test_a_party_that_only_waits_is_told_once(capsys, clock):
    with Board(["bank"], clock=clock) as board:
        for clock.now in range(100):
            board.update("bank", "waiting for consent")
    assert capsys.readouterr().err.splitlines() == ["bank  waiting for consent"]


def test_nothing_is_shown_where_nothing_is_wanted(capsys, clock):
    with Board(["a"], show=False, clock=clock) as board:
        board.update("a", "running", "ring")
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_one_line_a_party(clock, monkeypatch):
    from rich.console import Console

    board = Board(["lender", "bank"], clock=clock)
    board.update("bank", "running", "ring/b", 0, 1000)
    clock.now = 10
    board.update("bank", "running", "ring/b", 500, 1000, 12_000, 8)
    screen = io.StringIO()
    Console(file=screen, width=80).print(board.table())
    lines = [line.split() for line in screen.getvalue().splitlines()]
    assert lines == [
        ["party", "phase", "rows", "rate", "sent", "received", "left"],
        ["lender", "waiting"],
        ["bank", "ring/b", "500/1,000", "50/s", "12.0", "kB", "8", "B", "10", "s"],
    ]


def test_a_terminal_is_redrawn_in_place(monkeypatch, clock):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with Board(["bank"], clock=clock) as board:
        board.update("bank", "running", "ring")
    assert "ring" in screen.getvalue()
    assert "\x1b[" in screen.getvalue()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (2_500_000, "2.5 MB"),
        (7 * 10**12, "7000.0 GB"),
    ],
)
def test_bytes_are_told_in_units(count, text):
    assert byte_count(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (125, "2 min 05 s")]
)
def test_durations_are_told_in_units(seconds, text):
    assert duration(seconds) == text
