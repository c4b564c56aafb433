"""The progress of a running job on the terminal: one line per party.

On a terminal the lines are redrawn in place; elsewhere a line is printed when a party enters a
phase, and every few seconds within a long one. Everything goes to stderr, so that stdout has the
result alone.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any

from coterie.base.text import byte_count, duration, printable

_QUIET_SECONDS = 5.0
_WIDEST = 28  # characters of a step's name, so that a line fits a narrow terminal
# Below this time the rate is too inexact to show.
_SHORTEST_RATE_SECONDS = 0.2
_LOG_LINES = 500  # of a log; older ones are dropped
_FLOW_SECONDS = 3.0  # over which the present traffic is averaged


@dataclass
class Line:
    """The latest known state of one party."""

    state: str = "waiting"
    step: str = ""
    done: int = 0
    total: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    since: float = 0.0  # when the step began
    printed: float = -_QUIET_SECONDS
    told: tuple[str, int, int, int] = ("", 0, 0, 0)
    sign: float = 0.0  # the last sign of life
    traffic: deque[tuple[float, int, int]] = field(default_factory=lambda: deque(maxlen=64))
    flows: deque[tuple[float, dict[str, int]]] = field(default_factory=lambda: deque(maxlen=64))

    @property
    def phase(self) -> str:
        return self.step.split("/")[0] or self.state

    def rate(self, now: float) -> float | None:
        elapsed = now - self.since
        return self.done / elapsed if self.done and elapsed > _SHORTEST_RATE_SECONDS else None

    def seconds_left(self, now: float) -> float | None:
        rate = self.rate(now)
        return (self.total - self.done) / rate if rate and self.total > self.done else None


@dataclass(frozen=True)
class Facts:
    """What is known of one party at a moment, for a page."""

    party: str
    state: str
    phase: str
    step: str
    running: bool
    done: int
    total: int
    rate: float | None  # rows a second
    left: float | None  # seconds
    sent_bytes: int
    received_bytes: int
    sending: float  # bytes a second, now
    receiving: float
    silent: float  # seconds since the last sign of life
    sending_to: Mapping[str, float]  # bytes a second, now, by party; empty if not reported


class Board:
    """Collects the parties' events from any thread and shows them; use as a context manager."""

    def __init__(
        self,
        parties: Sequence[str],
        show: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lines = {party: Line() for party in parties}
        self._width = max(map(len, parties))
        self._show = show
        self._clock = clock
        self._lock = threading.Lock()
        self._live: Any = None
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._logged = 0
        for line in self.lines.values():
            line.sign = clock()

    def __enter__(self) -> Board:
        if self._show and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True),
                get_renderable=self.table,
                refresh_per_second=8,
                transient=False,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()
            self._live = None

    def update(
        self,
        party: str,
        state: str,
        step: str = "",
        done: int = 0,
        total: int = 0,
        sent_bytes: int = 0,
        received_bytes: int = 0,
        sent_to: Mapping[str, int] | None = None,
    ) -> None:
        now = self._clock()
        with self._lock:
            line = self.lines[party]
            before = line.phase
            if printable(step) != line.step or done < line.done:
                line.since = now
            line.state, line.step, line.done, line.total = state, printable(step), done, total
            line.sent_bytes = max(line.sent_bytes, sent_bytes)
            line.received_bytes = max(line.received_bytes, received_bytes)
            line.sign = now
            line.traffic.append((now, line.sent_bytes, line.received_bytes))
            # A party may name anybody: only those of the job are shown.
            line.flows.append((now, {n: b for n, b in (sent_to or {}).items() if n in self.lines}))
            if line.phase != before:
                self._log.append(f"{datetime.now():%H:%M:%S}  {party}: {line.phase}")
                self._logged += 1
            # A party that only waits is not printed again, however long it takes.
            facts = (step, done, line.sent_bytes, line.received_bytes)
            due = facts != line.told and now - line.printed >= _QUIET_SECONDS
            if self._show and not self._live and (due or line.phase != before):
                line.printed, line.told = now, facts
                print(f"{party:<{self._width}}  {_plain(line, now)}", file=sys.stderr, flush=True)

    def sign(self, party: str) -> None:
        """Notes that the party is there, though it has nothing new to tell."""
        self.lines[party].sign = self._clock()

    def facts(self) -> list[Facts]:
        """What is known of every party now."""
        now = self._clock()
        with self._lock:
            return [_facts(party, line, now) for party, line in self.lines.items()]

    def log(self) -> tuple[list[str], int]:
        """When each party entered which phase, and how many older lines were dropped."""
        with self._lock:
            return list(self._log), self._logged - len(self._log)

    def table(self) -> Any:
        """The present lines, for a terminal."""
        from rich.table import Table
        from rich.text import Text

        now = self._clock()
        table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
        for title in ("party", "phase", "rows", "rate", "sent", "received", "left"):
            right = title not in ("party", "phase")
            table.add_column(title, justify="right" if right else "left", no_wrap=True)
        with self._lock:
            for party, line in self.lines.items():
                style = {"failed": "red", "finished": "green"}.get(line.state)
                _, *numbers = _cells(line, now)
                step = "/".join(line.step.split("/")[:2])[:_WIDEST] or line.state
                # As `Text`, since a step comes from a party and must not be parsed as markup.
                table.add_row(party, Text(step), *numbers, style=style)
        return table


def _facts(party: str, line: Line, now: float) -> Facts:
    recent = [entry for entry in line.traffic if now - entry[0] <= _FLOW_SECONDS]
    first, last = (recent[0], recent[-1]) if recent else ((now, 0, 0), (now, 0, 0))
    seconds = max(now - first[0], _SHORTEST_RATE_SECONDS)
    return Facts(
        party,
        line.state,
        line.phase,
        line.step,
        line.state == "running",
        line.done,
        line.total,
        line.rate(now),
        line.seconds_left(now),
        line.sent_bytes,
        line.received_bytes,
        (last[1] - first[1]) / seconds,
        (last[2] - first[2]) / seconds,
        now - line.sign,
        _flows(line, now),
    )


def _flows(line: Line, now: float) -> dict[str, float]:
    """Bytes a second to each party, over the last seconds."""
    recent = [entry for entry in line.flows if now - entry[0] <= _FLOW_SECONDS]
    if not recent:
        return {}
    (began, first), (_, last) = recent[0], recent[-1]
    seconds = max(now - began, _SHORTEST_RATE_SECONDS)
    return {name: max(0, sent - first.get(name, 0)) / seconds for name, sent in last.items()}


def _cells(line: Line, now: float) -> tuple[str, str, str, str, str, str]:
    rate, left = line.rate(now), line.seconds_left(now)
    rows = f"{line.done:,}/{line.total:,}" if line.total else f"{line.done:,}" if line.done else ""
    return (
        line.phase,
        rows,
        f"{rate:,.0f}/s" if rate else "",
        byte_count(line.sent_bytes) if line.sent_bytes else "",
        byte_count(line.received_bytes) if line.received_bytes else "",
        duration(left) if left is not None else "",
    )


def _plain(line: Line, now: float) -> str:
    phase, rows, rate, sent, received, left = _cells(line, now)
    words = [rows and f"{rows} rows", rate, sent and f"sent {sent}"]
    words += [received and f"received {received}", left and f"{left} left"]
    return f"{phase:<12} {', '.join(word for word in words if word)}".rstrip()
