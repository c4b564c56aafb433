"""What a world sees of its commands, and of what no server tells."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.world import tasks
from tests.world.tasks import Process


@dataclass
class Command:
    """A command of a coordinator, and how it ended."""

    what: str
    job: int
    out: Path
    parties: tuple[str, ...]
    process: Process
    recipients: tuple[str, ...] = ()
    over: bool = False
    killed: bool = False
    result: dict[str, Any] | None = None
    error: BaseException | None = None


@dataclass
class Observed:
    """What the world saw that no server tells."""

    inside: dict[Process, Counter[str]] = field(default_factory=dict)  # runs by job
    most_running: Counter[str] = field(default_factory=Counter)
    twice: list[str] = field(default_factory=list)  # jobs that ran twice at once at a party
    drawn: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    logged: list[str] = field(default_factory=list)  # tracebacks in the log


class Tracebacks(logging.Handler):
    """Notes what the product logs as unexpected."""

    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        task = tasks.scheduler().current
        if record.exc_info and task is not None and task.process.alive:
            error = record.exc_info[1]
            self._found.append(f"{task.process.name}: {record.getMessage()}: {error!r}")
