"""The gate of a party's server: judges what a job is about to tell, and writes it down first.

What passes is in the history before the run goes on, and so before anything is told. A job that was
interrupted shows the same people and groups again, and passes, because it was judged before. If they
are others than in the first attempt, somebody has changed its data: the attempt is refused, and the
job may be proposed anew, as another job. What is refused is not remembered: nothing was told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from coterie.anonymity.risk.repeated_release import same_groups
from coterie.base.arrays import Codes, Ints, Rows, Words
from coterie.base.distinct import distinct
from coterie.base.errors import RefusedError
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.needs import Needs
from coterie.party.books.people import People
from coterie.party.history.judgement import (
    REFUSAL,
    Finding,
    judge_groups,
    judge_inputs,
    judge_number,
    judge_people,
)
from coterie.party.history.releases import History, Remembered, digest_of
from coterie.party.job_record import Record
from coterie.party.policy import Policy, same_analyst
from coterie.party.settings import Repeat
from coterie.protocols.messaging.kept import Inputs

OTHERS_THAN_BEFORE = (
    "the job goes on about others than before its interruption; propose it again, as another job"
)
OTHER_COLUMNS = (
    "policy.repeat.id has changed since the job began, so that nobody can tell whether it is about the "
    "same people; put the earlier columns back, or propose the job again, as another job"
)
Ask = Callable[[Sequence[Finding], str], None]
AskOutput = Callable[[Mapping[str, object]], None]
Note = Callable[..., None]


def identified_by(policy: Policy, needs: Needs) -> tuple[str, ...]:
    """The columns by which people are known again: the policy's, or those that the job matches."""
    named = policy.repeat.id if policy.repeat is not None else ()
    return named or needs.matching.by


def decide(repeat: Repeat, findings: Sequence[Finding], job: str, note: Note, ask: Ask) -> None:
    """Refuses the job, asks or warns, as `policy.repeat.on` says; the audit log has the findings."""
    if not findings:
        return
    words = "; ".join(finding.words for finding in findings)
    note("judged by earlier jobs", job=job, on=repeat.on, findings=[f.as_fact() for f in findings])
    if repeat.on == "refuse":
        error = RefusedError(REFUSAL)
        error.inside = words
        raise error
    if repeat.on == "ask":
        ask(findings, words)


class HistoryGate:
    """The gate for one run of a job. `digests` are those of the rows that take part."""

    def __init__(
        self,
        history: History,
        policy: Policy,
        needs: Needs,
        record: Record,
        job: Job,
        table: str,
        digests: Words | None,
        note: Note,
        ask: Ask,
        ask_output: AskOutput,
    ) -> None:
        self.asks = policy.output == "ask"
        self._ask_output = ask_output
        self.judges = policy.repeat is not None and needs.tells
        self._history, self._repeat, self._needs = history, policy.repeat, needs
        self._record, self._job, self._table = record, job, table
        self._by = identified_by(policy, needs)
        self._analyst = same_analyst(policy, record.coordinator)
        self._digests = digests
        self._note, self._ask = note, ask
        self._people_shown = self._groups_shown = False
        self._entry: Remembered | None = None
        self._inputs: dict[str, dict[str, str]] = {}

    def commit(self, inputs: Inputs) -> None:
        """What the partners have committed to in this job."""
        self._inputs = {
            name: {column: digest.hex() for column, digest in columns.items()}
            for name, columns in inputs.items()
        }

    def people(self, rows: Rows | None) -> None:
        self._history.guard()
        numbers = self._numbers(rows)
        people = None if numbers is None else distinct(numbers)
        record, job = self._record, self._job
        entry = self._entry = Remembered(
            job=record.job_id,
            digest=job.digest,
            name=job.name,
            kind=job.kind,
            coordinator=record.coordinator,
            parties=list(job.party_names),
            table=self._table,
            time=self._history.clock(),
            by=[] if people is None else list(self._by),
            people=record.records if people is None else len(people),
            rows="" if people is None else digest_of(people),
            counted=dict(self._needs.answers.counted),
            predicted=bool(self._needs.answers.predicted_for),
            matched=bool(self._needs.matching.by),
            thresholds=dict(self._needs.answers.thresholds),
            inputs=self._inputs,
        )
        self._people_shown = True
        known = self._history.entry(entry.job)
        if known is not None and known.by != entry.by:
            raise RefusedError(OTHER_COLUMNS)
        if known is not None and (known.rows, known.counted) == (entry.rows, entry.counted):
            self._entry = known
            return  # it was judged before an interruption
        if known is not None:
            raise RefusedError(f"{OTHERS_THAN_BEFORE} (people)")
        with self._history.lock:
            findings = self._about(entry, people)
            if not self._must_ask(findings):
                self._decide(findings)
                self._remember(entry, people)
                return
        self._decide(findings)  # without the lock, since a steward takes hours
        with self._history.lock:
            self._remember(entry, people)

    def _about(self, entry: Remembered, people: Ints | None) -> list[Finding]:
        if self._repeat is None or not entry.tells or people is None:
            return []
        found = []
        if entry.counted:
            found += judge_people(self._history, self._repeat, entry, people)
            if self._needs.answers.exact:
                found += judge_inputs(self._history, self._repeat, entry, people)
        if self._repeat.on != "ask":  # with `on: ask` this was asked when the job was proposed
            found += judge_number(
                self._history, self._repeat, entry.job, self._analyst, entry.tells
            )
        return found

    def _remember(self, entry: Remembered, people: Ints | None) -> None:
        self._history.add(entry, people)
        self._note(
            "remembered", job=entry.job, people=entry.people, rows=entry.rows,
            counted=sorted(entry.counted),
        )  # fmt: skip

    def groups(self, rows: Rows, groups: Mapping[str, Codes]) -> None:
        if self._entry is None:
            raise AssertionError("the groups of a release have people")
        self._groups_shown = True
        numbers = self._numbers(rows)
        if numbers is None:
            return
        people, first = np.unique(numbers, return_index=True)
        shown = {name: codes[first] for name, codes in groups.items()}
        if self._entry.groups:  # they were judged before an interruption
            if not _same(people, shown, *self._history.released(self._record.job_id)):
                raise RefusedError(f"{OTHERS_THAN_BEFORE} (groups)")
            return
        with self._history.lock:
            findings = self._about_groups(people, shown)
            if not self._must_ask(findings):
                self._decide(findings)
                self._remember_groups(people, shown)
                return
        self._decide(findings)
        with self._history.lock:
            self._remember_groups(people, shown)

    def _about_groups(self, people: Ints, groups: Mapping[str, Codes]) -> list[Finding]:
        if self._repeat is None or self._entry is None:
            return []
        return judge_groups(self._history, self._repeat, self._entry, people, groups)

    def _remember_groups(self, people: Ints, groups: Mapping[str, Codes]) -> None:
        self._history.add_groups(self._record.job_id, people, groups)
        numbers: dict[str, Any] = {name: len(distinct(codes)) for name, codes in groups.items()}
        self._note("groups remembered", job=self._record.job_id, groups=numbers)

    def output(self, result: Mapping[str, object]) -> None:
        if self.asks:
            self._ask_output(result)

    def check_shown(self) -> None:
        lacking = [
            what
            for what, due, shown in (
                ("its people", self._needs.tells, self._people_shown),
                ("its groups", self._needs.groups.records, self._groups_shown),
            )
            if due and not shown
        ]
        if lacking:
            raise TypeError(f"the kind '{self._job.kind}' has not shown {lacking[0]} to the gate")

    def _must_ask(self, findings: Sequence[Finding]) -> bool:
        return bool(findings) and self._repeat is not None and self._repeat.on == "ask"

    def _decide(self, findings: Sequence[Finding]) -> None:
        if self._repeat is not None:
            decide(self._repeat, findings, self._record.job_id, self._note, self._ask)

    def _numbers(self, rows: Rows | None) -> Ints | None:
        """The people of these rows; None if nothing identifies people."""
        if self._digests is None:
            return None
        wanted = self._digests if rows is None else self._digests[rows]
        with self._history.lock:
            return People(self._history.folder, self._by).numbers(wanted)


def _same(
    people: Ints, groups: Mapping[str, Codes], earlier: Ints, theirs: Mapping[str, Codes]
) -> bool:
    """Whether the same people are in the same groups, however these are numbered."""
    return (
        np.array_equal(people, earlier)
        and groups.keys() == theirs.keys()
        and all(same_groups(codes, theirs[name]) for name, codes in groups.items())
    )
