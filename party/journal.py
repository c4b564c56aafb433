"""The two files a party server writes as it works: its journal and its audit log.

Both are JSON, one object a line, only ever appended to, and hold digests and events, never data.
The journal is for the server, to know its jobs after a restart. The audit log is for people: each
line has the digest of the line before it, so that a line cannot be changed or taken out unseen.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, VerificationError

_START = "0" * 64


class Lines:
    """A file of JSON lines that survives a crash: what was appended is on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._file = path.open("ab", buffering=0)
            os.chmod(path, 0o600)
        except OSError as error:
            raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
        self._mend()

    def _mend(self) -> None:
        """Ends a line that a crash left unfinished, so that the next one stands alone."""
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            self._file.write(b"\n")

    def append(self, entry: dict[str, Any], sync: bool = True) -> None:
        with self._lock:
            self._append(entry, sync)

    def _append(self, entry: dict[str, Any], sync: bool = True) -> None:
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            self._file.write(line)
            if sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise EnvironmentFaultError(f"{self.path}: {error.strerror}") from None

    def close(self) -> None:
        self._file.close()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file; what a crash left of a line is passed over."""
    entries = []
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


class AuditLog(Lines):
    """`audit.log`: who asked for what, what was decided, what ran, how it ended."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        super().__init__(path)
        self._clock = clock
        entries = read_lines(path)
        self._chain = str(entries[-1].get("chain", _START)) if entries else _START

    def note(self, event: str, **facts: Any) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock()))
        with self._lock:
            entry = {"time": now, "event": event, **facts, "previous": self._chain}
            entry["chain"] = _link(entry)
            self._append(entry)
            self._chain = entry["chain"]


def _link(entry: dict[str, Any]) -> str:
    plain = {key: value for key, value in entry.items() if key != "chain"}
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def verify_audit(path: Path) -> int:
    """The number of lines, if the chain holds; else the first line that breaks it is named."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise EnvironmentFaultError(f"{path}: {error.strerror}") from None
    previous, count = _START, 0
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            entry = json.loads(line)
            whole = isinstance(entry, dict) and entry["chain"] == _link(entry)
        except (ValueError, KeyError):
            whole = False
        if not whole or entry["previous"] != previous:
            raise VerificationError(f"{path}:{number}: the chain of the audit log breaks here")
        previous = entry["chain"]
        count += 1
    return count
