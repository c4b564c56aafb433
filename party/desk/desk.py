"""`coterie party desk`: a page on this machine for the steward of one organisation.

The page shows what `coterie party jobs`, `show`, `history`, `ledger`, `audit`, `check` and `health`
show, and does what `approve` and `cancel` do, with the party's own certificate, at the party's own
server; the server writes each answer into its audit log, with the name of the person. `LoopbackSite`
says who can open the page. History, ledger and audit log are read from the state folder: where the
server runs elsewhere and the folder is not here, the page says so.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from datetime import UTC, datetime
from typing import Any

from coterie.base.checks import validity
from coterie.base.errors import CoterieError
from coterie.base.text import one_line
from coterie.jobs.pages.markup import element
from coterie.jobs.pages.served import SCRIPT, shell
from coterie.party.books.audit_check import verify
from coterie.party.books.ledger import Ledger
from coterie.party.desk import sections
from coterie.party.desk.connection import SECONDS, Operator
from coterie.party.history.releases import History
from coterie.party.steward.explain import date
from coterie.party.store.database import use_key
from coterie.protos import jobs_pb2 as pb
from coterie.transport.loopback_site import Form, LoopbackSite

_PARTS = ("who", "waiting", "jobs", "history", "health", "partners", "audit")
_LOOK_SECONDS = 1.5  # between two looks at the server; the browser asks more often
_VERIFY_SECONDS = 60.0  # between two checks of the whole audit log
_LINES = 40
_ANSWER_SECONDS = 10.0  # for which an answer stays on the page
_GOING_ON = (pb.ACCEPTED, pb.QUEUED, pb.RUNNING)


class Desk:
    """The steward's page; use as a context manager."""

    def __init__(self, operator: Operator, person: str, port: int = 0) -> None:
        self._operator = operator
        self._person = person
        self._lock = threading.Lock()
        self._parts: dict[str, str] = {}
        self._looked = self._verified = float("-inf")
        self._verdict = ("", True)
        self._explained: dict[tuple[str, str], dict[str, Any]] = {}
        self._notice = ""
        self._done = ("", float("-inf"))  # the last answer, and when it was given
        words = f"You are approving as {person}, for {operator.config.name}."
        self._parts["who"] = str(element("p", f"{words} The audit log has every answer."))
        self._site = LoopbackSite(
            shell("The steward's desk", _PARTS),
            SCRIPT,
            {"view": self._view},
            {"approve": self._approve, "refuse": self._refuse, "cancel": self._cancel},
            port,
        )

    @property
    def link(self) -> str:
        return self._site.link

    def __enter__(self) -> Desk:
        self._site.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._site.__exit__()

    def _view(self) -> dict[str, Any]:
        with self._lock:
            if time.monotonic() - self._looked > _LOOK_SECONDS:
                self._look()
                self._looked = time.monotonic()
            return {
                "parts": self._parts,
                "log": [],
                "skipped": 0,
                "notice": self._told(),
                "over": False,
                "report": False,
            }

    def _told(self) -> str:
        words, since = self._done
        return words if time.monotonic() - since < _ANSWER_SECONDS else self._notice

    def _look(self) -> None:
        try:
            listed = sorted(self._operator.jobs(), key=lambda job: job.proposed)
            self._parts["waiting"] = str(
                sections.waiting(
                    [self._explain(job) for job in listed if job.state == pb.WAITING or job.held]
                )
            )
            self._parts["jobs"] = str(sections.jobs([_entry(job) for job in listed]))
            server = ("ok", "server", f"serves at {self._operator.address}")
            self._notice = f"Connected to {self._operator.config.name}'s server."
        except CoterieError as error:
            server = ("failed", "server", str(error))
            self._notice = f"{one_line(str(error))}; below is what was seen last"
        config = self._operator.config
        check = validity("tls", "certificate", config.identity.expires, datetime.now(UTC))
        ends = (check.state, "certificate", check.detail)
        self._parts["health"] = str(sections.health([server, ends]))
        self._parts["history"] = str(sections.history(self._history()))
        self._parts["partners"] = str(sections.partners(self._book()))
        self._parts["audit"] = str(sections.audit(*self._audit_verdict(), self._audit_lines()))

    def _explain(self, job: pb.JobSummary) -> dict[str, Any]:
        key = (job.job_id, pb.State.Name(job.state) + job.held)
        if key not in self._explained:
            request = pb.JobRef(job_id=job.job_id)
            answer = self._operator.call(lambda stub: stub.Explain(request, timeout=SECONDS))
            self._explained = {key: json.loads(answer.json)} | dict(
                list(self._explained.items())[:100]
            )
        return self._explained[key]

    def _history(self) -> list[dict[str, Any]] | str:
        state = self._operator.config.state
        if not state.is_dir():
            return f"{state} is not on this machine; 'coterie party history' lists it there."
        try:
            return [one.shown() for one in History(state).entries()]
        except CoterieError as error:
            return str(error)

    def _book(self) -> dict[str, Any] | str:
        config = self._operator.config
        if not config.state.is_dir():
            return f"{config.state} is not on this machine; 'coterie party ledger' shows it there."
        try:
            return Ledger(config.state, config.name).as_json()
        except CoterieError as error:
            return str(error)

    def _audit_verdict(self) -> tuple[str, bool]:
        config = self._operator.config
        path = config.state / "audit.log"
        if not path.exists():
            return f"{path} is not on this machine; 'coterie party audit' checks it there.", True
        if time.monotonic() - self._verified > _VERIFY_SECONDS:
            self._verified = time.monotonic()
            try:
                use_key(config.state, config.books_key)
                found = verify(path, config.audit_head)
                self._verdict = (f"{found.counted}, unbroken", True)
            except CoterieError as error:
                self._verdict = (str(error), False)
        return self._verdict

    def _audit_lines(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        try:
            with (self._operator.config.state / "audit.log").open(encoding="utf-8") as file:
                for line in deque(file, _LINES):
                    entry = json.loads(line)
                    if isinstance(entry, dict):
                        found.append(entry)
        except (OSError, ValueError):
            return found
        return found

    def _approve(self, form: Form) -> dict[str, str]:
        return self._answer(form, yes=True)

    def _refuse(self, form: Form) -> dict[str, str]:
        return self._answer(form, yes=False)

    def _answer(self, form: Form, yes: bool) -> dict[str, str]:
        request = pb.Approval(
            job_id=form.get("job", ""),
            yes=yes,
            reason=one_line(form.get("reason", "")),
            person=self._person,
            about=form.get("about", ""),
        )
        words = ("let go on", "held back") if request.about else ("approved", "refused")
        return self._do(lambda stub: stub.Approve(request, timeout=SECONDS), words[0 if yes else 1])

    def _cancel(self, form: Form) -> dict[str, str]:
        request = pb.Cancellation(
            job_id=form.get("job", ""), reason="at the desk", person=self._person
        )
        return self._do(lambda stub: stub.Cancel(request, timeout=SECONDS), "ended")

    def _do(self, call: Any, word: str) -> dict[str, str]:
        with self._lock:
            try:
                self._operator.call(call)
                words = f"The job is {word}."
            except CoterieError as error:
                words = one_line(str(error))
            self._done = (words, time.monotonic())
            self._looked = float("-inf")
            return {"notice": words}


def _entry(job: pb.JobSummary) -> dict[str, Any]:
    return {
        "job": job.job_id,
        "name": job.name,
        "kind": job.kind,
        "coordinator": job.coordinator,
        "state": pb.State.Name(job.state),
        "proposed": date(job.proposed),
        "detail": job.detail,
        "going_on": job.state in _GOING_ON,
    }
