"""The keys `retention`, `notify` and `books_key` of a party file, and `repeat` of a policy: docs/party.md has each."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

from coterie.jobs.file.document import Node

EVENTS = ("waiting", "accepted", "running", "finished", "failed", "cancelled", "refused")
_KEY_BYTES = 32  # of the key of the books, at least
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Retention:
    """How many seconds after the end of a job its parts are kept; None means for ever.

    `models` is about the models that jobs have made, and counts from when they were kept.
    """

    kept: float | None = None
    released: float | None = None
    received: float | None = None
    resume: float | None = None
    jobs: float | None = None
    audit: float | None = None
    history: float | None = None
    models: float | None = None


def read_retention(node: Node) -> Retention:
    section = node.section()
    retention = Retention(
        **{field.name: section.read(field.name, duration, None) for field in fields(Retention)}
    )
    section.close()
    return retention


@dataclass(frozen=True)
class Repeat:
    """The key `repeat` of a policy: what jobs may tell together with earlier ones."""

    window: float = 365 * 86400.0
    k: int = 10
    on: str = "refuse"
    id: tuple[str, ...] = ()  # the columns that identify people; none: those that a job matches
    jobs: int | None = None
    examinations: int | None = None
    attempts: int = 20  # how often one job may be taken up again after an interruption


def read_repeat(node: Node) -> Repeat:
    section = node.section()
    identified = section.optional("id")
    columns = tuple(identified.texts()) if identified else ()
    if identified and (not columns or len(set(columns)) != len(columns)):
        raise identified.error("must name one column or several different ones")
    repeat = Repeat(
        window=section.read("window", duration, Repeat.window),
        k=section.read("k", lambda n: n.integer(minimum=1), Repeat.k),
        on=section.read("on", lambda n: n.choice("refuse", "ask", "warn"), Repeat.on),
        id=columns,
        jobs=section.read("jobs", lambda n: n.integer(minimum=1), None),
        examinations=section.read("examinations", lambda n: n.integer(minimum=1), None),
        attempts=section.read("attempts", lambda n: n.integer(0, 999), Repeat.attempts),
    )
    section.close()
    return repeat


def duration(node: Node) -> float:
    value = node.text()
    match = re.fullmatch(r"([0-9]{1,9})\s*([mhd])", value)
    if not match:
        raise node.error(f"must be a time such as 90d, 12h or 30m, not '{value}'")
    return int(match[1]) * _UNITS[match[2]]


@dataclass(frozen=True)
class Notify:
    """The key `notify` of a party file."""

    command: tuple[str, ...] = ()
    webhook: str = ""
    on: frozenset[str] = frozenset({"waiting", "failed"})


def read_notify(node: Node) -> Notify:
    section = node.section()
    command, webhook, on = (section.optional(key) for key in ("command", "webhook", "on"))
    if (command is None) == (webhook is None):
        raise node.error("must have one of the keys command, webhook")
    if webhook is not None and not webhook.text().startswith(("https://", "http://")):
        raise webhook.error("must begin with https:// or http://")
    if command is not None and not command.texts():
        raise command.error("must name a program, and may have arguments")
    if on is not None:
        for item in on.items():
            item.choice(*EVENTS)
    section.close()
    return Notify(
        tuple(command.texts()) if command is not None else (),
        webhook.text() if webhook is not None else "",
        frozenset(on.texts()) if on is not None else Notify.on,
    )


def read_books_key(node: Node, folder: Path, state: Path) -> bytes:
    """The key of the books, which helps against nobody who finds it beside them."""
    path = folder / node.text()
    if path.resolve().is_relative_to(state.resolve()):
        raise node.error(
            "must not be in the state folder: anybody who writes there must not have the key"
        )
    try:
        key, mode = path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise node.error(f"{path}: {error.strerror}") from None
    if mode & 0o077:
        raise node.error(f"{path}: others can read it; run: chmod 600 {path}")
    if len(key) < _KEY_BYTES:
        raise node.error(
            f"{path}: has {len(key)} bytes, and needs {_KEY_BYTES} random ones; "
            f"make it by: head -c {_KEY_BYTES} /dev/urandom > {path}"
        )
    return key
