"""A list of checks, one line each: what `coterie doctor` and `coterie certs check` print."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["ok", "warning", "failed"]


@dataclass(frozen=True)
class Check:
    """One finding about one subject; `exit_code` tells which error a failed one is."""

    subject: str
    name: str
    state: State
    detail: str
    exit_code: int = 0


def passed(subject: str, name: str, detail: str) -> Check:
    return Check(subject, name, "ok", detail)


def failed(subject: str, name: str, detail: str, exit_code: int) -> Check:
    return Check(subject, name, "failed", detail, exit_code)


def line(check: Check, width: int) -> str:
    text = f"{check.state:<8} {check.subject:<{width}}  {check.name:<12} {check.detail}"
    return printable(text)


def printable(text: str) -> str:
    """One line without control characters: a party's words must not steer a terminal."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def summarise(checks: Iterable[Check], tell: Callable[[str], None], width: int = 8) -> int:
    """Tells each check as it comes; returns the exit code of the first failed one, or 0."""
    code = 0
    for check in checks:
        tell(line(check, width))
        if check.state == "failed" and not code:
            code = check.exit_code
    return code


def as_json(checks: list[Check]) -> dict[str, Any]:
    return {
        "ok": all(check.state != "failed" for check in checks),
        "checks": [asdict(check) for check in checks],
    }
