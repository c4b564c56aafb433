"""A list of checks, one line each: what `coterie doctor`, `party check` and `certs check` print."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Literal

import click

from coterie.base.text import printable

State = Literal["ok", "warning", "failed"]
_SOON = timedelta(days=30)
_COLOURS: dict[State, str] = {"ok": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True)
class Check:
    """One finding about one subject; `exit_code` is that of the error behind a failed check."""

    subject: str
    name: str
    state: State
    detail: str
    exit_code: int = 0


def passed(subject: str, name: str, detail: str) -> Check:
    return Check(subject, name, "ok", detail)


def failed(subject: str, name: str, detail: str, exit_code: int) -> Check:
    return Check(subject, name, "failed", detail, exit_code)


def validity(subject: str, name: str, end: datetime, now: datetime) -> Check:
    """The check of a certificate that is valid now: a warning if the certificate expires soon."""
    detail = f"valid until {end:%Y-%m-%d} ({(end - now).days} days)"
    return Check(subject, name, "warning" if end - now < _SOON else "ok", detail)


def line(check: Check, width: int) -> str:
    text = f"{check.state:<8} {check.subject:<{width}}  {check.name:<12} {check.detail}"
    return printable(text)


def _coloured(state: State) -> str:
    """The state in its colour, unless the user wants none (https://no-color.org)."""
    return state if os.environ.get("NO_COLOR") else click.style(state, fg=_COLOURS[state])


def show(checks: Iterable[Check], as_json: bool, width: int = 8) -> int:
    """Prints each check as it comes, or all as JSON; returns the exit code of the first failed one.

    The state is in its colour; click leaves colours out where there is no terminal.
    """
    seen = []
    for check in checks:
        seen.append(check)
        if not as_json:
            state, rest = check.state, line(check, width)[len(check.state) :]
            click.echo(_coloured(state) + rest)
    code = next((check.exit_code for check in seen if check.state == "failed"), 0)
    if as_json:
        found = {"ok": not code, "checks": [asdict(check) for check in seen], "exit_code": code}
        click.echo(json.dumps(found))
    return code
