"""Reloads the party file while the server runs.

The party file and the certificates that it names are checked for changes every two seconds, and at
once on SIGHUP. A changed configuration is read as a whole and applies to everything that begins
afterwards. If it cannot be read, or changes what a running server cannot change, none of it
applies, and the older file stays in force. Running jobs keep the file under which they began.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coterie.base.errors import CoterieError, UsageError
from coterie.jobs.data.filtered import Filtered
from coterie.jobs.data.sources import Source
from coterie.party.config import PartyConfig, load_party

EVERY = 2.0  # seconds between two checks
# The keys that only a restart changes: the server's address, and the files it has open.
_FIXED = ("name", "listen", "state", "audit_head", "books_key", "reflection", "relays")
_KEYS = {
    "identity": "tls",
    "peers": "peers",
    "policy": "policy",
    "tables": "tables",
    "pins": "policy",
    "memory": "memory",
    "heartbeat": "heartbeat",
    "compute": "compute",
    "limits": "limits",
    "retention": "retention",
    "notify": "notify",
}


@dataclass(frozen=True)
class Change:
    """A newer file came into force."""

    before: PartyConfig
    after: PartyConfig
    keys: Sequence[str]  # the keys of the party file whose values have changed


class Live:
    """The configuration in force. `taken_up` or `refused` is called for a newer one."""

    def __init__(
        self,
        config: PartyConfig,
        taken_up: Callable[[Change], None] = lambda change: None,
        refused: Callable[[str], None] = lambda reason: None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.since = wall()
        self.problem = ""  # why a newer file is not in force
        self._wall = wall
        self._taken_up = taken_up
        self._refused = refused
        self._lock = threading.Lock()
        self._looked = _stamps(config)
        self._unsettled = False

    def look(self, at_once: bool = False) -> bool:
        """Loads a changed configuration; whether a newer file came into force.

        A change is loaded once nothing has changed since the last check, so that a certificate and
        its key that are written one after the other are read together; or `at_once`.
        """
        with self._lock:
            stamps = _stamps(self.config)
            changed, self._looked = stamps != self._looked, stamps
            if changed and not at_once:
                self._unsettled = True
                return False
            if not (changed or at_once or self._unsettled or self.problem):
                return False
            self._unsettled = False
            return self._take_up()

    def _take_up(self) -> bool:
        before = self.config
        try:
            after = load_party(before.file)
            self._check_fixed(before, after)
        except CoterieError as error:
            if self.problem != str(error):
                self.problem = str(error)
                self._refused(self.problem)
            return False
        self.problem = ""
        if after.digest == before.digest:
            return False
        changed = (
            key for field, key in _KEYS.items() if getattr(before, field) != getattr(after, field)
        )
        keys = list(dict.fromkeys([*changed, *_changed_source(before.source, after.source)]))
        self.config, self.since = after, self._wall()
        self._looked = _stamps(after)
        self._taken_up(Change(before, after, keys))
        return True

    def _check_fixed(self, before: PartyConfig, after: PartyConfig) -> None:
        for key in _FIXED:
            if getattr(before, key) != getattr(after, key):
                raise UsageError(
                    f"{before.file}: {key}: a server takes up another one only when it is started anew"
                )


def _changed_source(before: Source, after: Source) -> list[str]:
    """Which of the keys that say what is read have changed."""
    old, new = (s if isinstance(s, Filtered) else Filtered(s) for s in (before, after))
    pairs = {
        "data": (old.source, new.source),
        "where": (old.where, new.where),
        "exclude": (old.exclude, new.exclude),
    }
    return [key for key, (was, now) in pairs.items() if was != now]


def _stamps(config: PartyConfig) -> list[tuple[Path, int, int, int]]:
    """The time, size and inode of each file, which change when the file is written."""
    found = []
    for path in config.files:
        try:
            status = os.stat(path)
            found.append((path, status.st_mtime_ns, status.st_size, status.st_ino))
        except OSError:
            found.append((path, 0, 0, 0))
    return found
