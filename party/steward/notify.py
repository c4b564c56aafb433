"""Notifies the steward by a command or a webhook that the party file names.

A notification has the names and the state of a job, never data, and the reason that the coordinator
gets. A thread of its own sends notifications, so that no job waits for them; a failure is noted in
the server's log and in the audit log.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from coterie.base.text import one_line
from coterie.party.answers import NOTICE
from coterie.party.job_record import Record
from coterie.party.settings import Notify
from coterie.party.steward.explain import date
from coterie.protocols.messaging.opening import tell
from coterie.protos.jobs_pb2 import State

_SECONDS = 30.0  # for a command to end, or a webhook to answer
_WAITING = 1000  # the most unsent notifications; further ones are dropped and counted
log = logging.getLogger("coterie.party")


class Notifier:
    """Sends notifications about jobs, by the party file in force."""

    def __init__(
        self, party: str, notify: Callable[[], Notify | None], note: Callable[..., None]
    ) -> None:
        self._party = party
        self._notify = notify
        self._note = note
        self._events: queue.Queue[Mapping[str, Any] | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._send_all, name="notify", daemon=True)
        self._thread.start()

    def changed(self, record: Record) -> None:
        """Queues a notification that a job has entered another state. Returns at once."""
        wanted = self._notify()
        held = record.held
        event = "waiting" if held is not None else State.Name(record.state).lower()
        if wanted is None or event not in wanted.on:
            return
        facts = {
            "party": self._party,
            "event": event,
            "job": record.job_id,
            "name": record.name,
            "kind": record.kind,
            "coordinator": record.coordinator,
            "time": date(record.since),
            "reason": tell(NOTICE, record.told if held is None else held.words),
        }
        try:
            self._events.put_nowait(facts)
        except queue.Full:
            log.error("job %s: the notification '%s' was dropped", record.job_id, event)

    def stop(self) -> None:
        try:
            self._events.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(1.0)

    def _send_all(self) -> None:
        while (facts := self._events.get()) is not None:
            wanted = self._notify()
            if wanted is None:
                continue
            try:
                _send(wanted, facts)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                reason = one_line(str(error))
                log.error("job %s: not notified: %s", facts["job"], reason)
                try:
                    self._note(
                        "not notified", job=facts["job"], about=facts["event"], reason=reason
                    )
                except Exception as failure:
                    log.error("%s", failure)


def _send(wanted: Notify, facts: Mapping[str, Any]) -> None:
    body = json.dumps(facts).encode()
    if wanted.command:
        names = {"COTERIE_EVENT": facts["event"], "COTERIE_JOB": facts["job"]}
        subprocess.run(
            wanted.command,
            input=body,
            env={**os.environ, **names},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
        return
    request = urllib.request.Request(  # noqa: S310 (http and https only, by the party file)
        wanted.webhook, body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
        pass
