"""`--live`: a page on this machine that shows a job while it runs, and becomes its report.

The page shows what the coordinator is told anyway, by the events of the parties' servers: the state of
each party, its step, rows done, and bytes moved to whom. It is served by `LoopbackSite`, which says who
can read it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from coterie.base.errors import CancelledError
from coterie.base.text import byte_count, duration
from coterie.coordinator.run.interrupts import Check
from coterie.coordinator.run.progress import Board, Facts
from coterie.jobs.pages.charts import chart, label
from coterie.jobs.pages.markup import Content, Element, element, foreign
from coterie.jobs.pages.page import table
from coterie.jobs.pages.served import SCRIPT, action, log_box, shell
from coterie.transport.loopback_site import Form, LoopbackSite

# How long the end of a job stays to be shown, while a browser still asks; and how long a browser may
# be quiet before it counts as closed. A browser slows down the pages that nobody looks at.
_END_SECONDS = 5.0
_GONE_SECONDS = 3.0
_WIDTH, _HEIGHT = 640.0, 340.0
_WORDS = {"steward": "asks its steward"}  # of steps whose names do not say what is waited for
_LINE = 21.0  # from one line of words to the next, also in the larger letters of a phone
_MARGIN = 8.0
_NAME = 20  # characters of a name or a phase beside a house


@contextlib.contextmanager
def live(
    wanted: bool, board: Board, name: str, kind: str, report: Path | None, heartbeat: float
) -> Iterator[Callable[[Check], Check]]:
    """Serves the page of a run if it is wanted, and prints its link.

    Gives a function that adds the page's button to a check for interrupts. At the end the page
    becomes the report, or shows the error.
    """
    if not wanted:
        yield lambda check: check
        return
    with LivePage(board, name, kind, heartbeat / 2) as page:
        print(f"live: {page.link}", file=sys.stderr, flush=True)

        def added(check: Check) -> Check:
            def both() -> None:
                check()
                page.check()

            return both

        yield added
        page.end(report)


class LivePage:
    """The page of one run; use as a context manager. `check` is the run's check for an end.

    A party without a sign of life for `silent_after` seconds is marked; the run counts it as lost
    some time later.
    """

    def __init__(self, board: Board, name: str, kind: str, silent_after: float) -> None:
        self._board = board
        self._name = name
        self._silent_after = silent_after
        self._cancel = threading.Event()
        self._over = False
        self._end = ""
        self._report: Path | None = None
        cancel = action("cancel", "Cancel the job", sure="Really cancel it at all parties?")
        self._site = LoopbackSite(
            shell(f"Live: a job of kind {kind}", ["houses", "phases"], cancel, log_box()),
            SCRIPT,
            {"view": self._view, "report": self._page, "end": dict},
            {"cancel": self._ask_to_cancel},
        )

    @property
    def link(self) -> str:
        return self._site.link

    def __enter__(self) -> LivePage:
        self._site.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_: object
    ) -> None:
        if error is not None and not self._over:
            self.end(error=str(error) or "stopped")
        self._site.__exit__()

    def check(self) -> None:
        """Raises the error that ends the run if somebody has pressed the button."""
        if self._cancel.is_set():
            raise CancelledError("cancelled on the live page")

    def end(self, report: Path | None = None, error: str = "") -> None:
        """Shows the end of the job, and waits until an open browser has it."""
        self._report = report if report is not None and report.is_file() else None
        self._end = error
        self._over = True
        last = "report" if self._report else "end"
        until = time.monotonic() + _END_SECONDS
        while time.monotonic() < until and not self._site.answered(last):
            idle = self._site.idle
            if idle is None or idle > _GONE_SECONDS:
                return
            time.sleep(0.05)

    def _ask_to_cancel(self, form: Form) -> dict[str, str]:
        self._cancel.set()
        return {"notice": "The job is being cancelled at all parties."}

    def _page(self) -> dict[str, str]:
        return {"page": self._report.read_text(encoding="utf-8") if self._report else ""}

    def _view(self) -> dict[str, Any]:
        over = self._over  # read before the rest, so that the last view shows the end
        facts = self._board.facts()
        if over and self._end:
            facts = [_stopped(one, self._silent_after) for one in facts]
        log, skipped = self._board.log()
        if not over:
            notice = f"{self._name}: {_stage(facts)}"
        elif self._end:
            notice = f"{self._name}: ended. {self._end}"
        else:
            notice = f"{self._name}: finished"
        return {
            "parts": {
                "houses": str(_houses(facts, self._silent_after)),
                "phases": str(_phases(facts, self._silent_after, over)),
            },
            "log": [_logged(line) for line in log],
            "skipped": skipped,
            "notice": notice,
            "over": over,
            "report": self._report is not None,
        }


def _stopped(one: Facts, silent_after: float) -> Facts:
    """A party when the job has ended early: it neither waits nor works any more."""
    if _mark(one, silent_after) not in ("running", "waiting"):
        return one
    nothing: Mapping[str, float] = {}
    return replace(
        one, state="stopped", phase="", step="", running=False, rate=None, left=None,
        sending=0.0, receiving=0.0, sending_to=nothing,
    )  # fmt: skip


def _logged(line: str) -> str:
    """A line of the log, which ends with the step that a party has begun."""
    before, _, phase = line.rpartition(": ")
    return f"{before}: {_WORDS.get(phase, phase)}"


def _stage(facts: list[Facts]) -> str:
    running = [one for one in facts if one.running]
    if running:
        words = sorted({_WORDS.get(one.phase, one.phase) for one in running})
        return f"running, {', '.join(words)}"
    return "; ".join(sorted({one.state for one in facts}))


def _mark(one: Facts, silent_after: float) -> str:
    if one.silent > silent_after and one.state not in ("finished", "failed", "cancelled"):
        return "silent"
    if one.state in ("failed", "lost", "cancelled", "refused"):
        return "failed"
    return "finished" if one.state == "finished" else "running" if one.running else "waiting"


def _houses(facts: list[Facts], silent_after: float) -> Element:
    """A house for each party, and a road between any two, which moves while bytes do."""
    roads: list[Content] = []
    shapes: list[Content] = []
    places: dict[str, tuple[float, float]] = {}
    radius = (_WIDTH / 2 - 110, _HEIGHT / 2 - 85)
    wide = max(16.0, min(34.0, 150.0 / len(facts)))
    begin = math.pi if len(facts) == 2 else math.pi / 2
    turns = [2 * math.pi * at / len(facts) - begin for at in range(len(facts))]
    rooms = [_room(radius[1] * math.sin(turn), wide, math.sin(turn) < -0.5) for turn in turns]
    above = _MARGIN - min(top for top, _ in rooms)
    height = above + max(bottom for _, bottom in rooms) + _MARGIN
    for turn, one in zip(turns, facts, strict=True):
        x, y = _WIDTH / 2 + radius[0] * math.cos(turn), above + radius[1] * math.sin(turn)
        places[one.party] = x, y
        mark = _mark(one, silent_after)
        points = ((-1, 0.9), (-1, -0.2), (0, -1.1), (1, -0.2), (1, 0.9))
        outline = " ".join(f"{x + wide * px:.1f},{y + wide * py:.1f}" for px, py in points)
        shapes.append(element("polygon", points=outline, class_=f"house {mark}"))
        # Words stand away from the middle, where the road is.
        beside = y - wide * 1.1 - 28 if math.sin(turn) < -0.5 else y + wide * 0.9 + 20
        words = "badword" if mark in ("silent", "failed") else "quiet"
        shapes.append(label(x, beside, one.party, "middle", longest=_NAME))
        shapes.append(label(x, beside + _LINE, _short(one, mark), "middle", words, longest=_NAME))
    flows = {
        (one.party, to): rate for one in facts for to, rate in one.sending_to.items() if rate > 0
    }
    for here, there in itertools.combinations(places, 2):
        roads.append(_line("road", places[here], places[there]))
        roads += [
            _line("flow out", places[a], places[b], shift)
            for a, b, shift in ((here, there, -3.0), (there, here, 3.0))
            if (a, b) in flows
        ]
    moving = [f"{a} sends {b} {_rate(rate)}" for (a, b), rate in flows.items()]
    about = (
        "The parties of the job. " + ("; ".join(moving) or "Nothing flows between them now") + "."
    )
    return element(
        "section",
        element("h2", "The parties"),
        element("div", chart(about, height, *roads, *shapes), class_="centred"),
        element("p", about, class_="quiet"),
    )


def _room(y: float, wide: float, words_above: bool) -> tuple[float, float]:
    """From where to where a house at this height reaches with its two lines of words."""
    if words_above:
        return y - wide * 1.1 - 28 - _LINE, y + wide * 0.9
    return y - wide * 1.1, y + wide * 0.9 + 20 + 1.3 * _LINE


def _line(
    kind: str, here: tuple[float, float], there: tuple[float, float], shift: float = 0.0
) -> Element:
    """A line; `shift` moves it down, so that both directions of a road are seen."""
    (x1, y1), (x2, y2) = here, there
    return element("line", x1=x1, y1=y1 + shift, x2=x2, y2=y2 + shift, class_=kind)


def _short(one: Facts, mark: str) -> str:
    if mark == "silent":
        return f"silent for {one.silent:.0f} s"
    return _WORDS.get(one.phase, one.phase) if one.running else one.state


def _rate(amount: float) -> str:
    return f"{byte_count(int(amount))}/s"


def _phases(facts: list[Facts], silent_after: float, over: bool) -> Element:
    rows: list[list[Content]] = []
    for one in facts:
        mark = _mark(one, silent_after)
        words: Content = foreign(_WORDS.get(one.step, one.step) or one.state)
        if mark == "silent":
            words = element("span", f"no sign of life for {one.silent:.0f} s", class_="badword")
        elif mark in ("failed", "finished"):
            words = element("span", words, class_="badword" if mark == "failed" else "goodword")
        share = (
            f"{one.done:,} of {one.total:,}" if one.total else f"{one.done:,}" if one.done else ""
        )
        rows.append([
            foreign(one.party), words, share,
            f"{one.rate:,.0f}/s" if one.rate else "",
            duration(one.left) if one.left is not None else "",
            byte_count(one.sent_bytes), byte_count(one.received_bytes),
        ])  # fmt: skip
    head = ["Party", "Step", "Rows", "Rate", "Time left", "Sent", "Received"]
    return element(
        "section",
        element("h2", "What each party has done" if over else "What each party does now"),
        table(head, rows, (2, 3, 4, 5, 6), sentences=True),
    )
