"""Ctrl-C and SIGTERM (which a container engine sends) stop a run at safe points.

Python's own handler raises between any two steps of the main thread. An interrupt while a lock is
being acquired leaves the lock held, and an interrupt while an object is finalized is lost. Here the
first signal is only noted, and the run checks for it wherever it waits. A second signal raises at
once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

Check = Callable[[], None]


def never() -> None:
    """The check of a run that no signal stops."""


class Interrupts:
    """Use as a context manager, in the main thread; `check` raises KeyboardInterrupt when due."""

    def __init__(self) -> None:
        self._noted = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        if error is None:
            self.check()  # the signal came after the last check

    def check(self) -> None:
        if self._noted:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted:
            raise KeyboardInterrupt
        self._noted = True
