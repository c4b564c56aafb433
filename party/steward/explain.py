"""A job in plain words, for the steward who decides on it: `coterie party show JOB`.

All facts follow from the job, from its kind's declaration and from the policy in force: who
requests the job, with whom, which columns are used, which of them leave the organisation and in
which form, which never do, what others learn in a few sentences and in full, and which rules permit
it. `party show --json` and the desk show the same facts.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError
from coterie.base.text import first_names
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.needs import Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.party_run import OPENED
from coterie.party.config import PartyConfig
from coterie.party.history.releases import History
from coterie.party.job_record import Record
from coterie.party.output import output_lines
from coterie.party.policy import judge, rules
from coterie.party.receptions import DISPUTED, read_note
from coterie.party.steward.budgets import budget_rule
from coterie.party.steward.earlier import earlier_jobs, earlier_lines, strictest
from coterie.party.steward.plain_words import plain_words
from coterie.protocols.messaging.opening import declared
from coterie.protos.jobs_pb2 import State

_RECIPIENTS = "the recipients of the job"


def explain(
    config: PartyConfig, record: Record, job: Job | None, history: History | None = None
) -> dict[str, Any]:
    """The facts about a job, as `party show --json` prints them."""
    facts: dict[str, Any] = {
        "job": record.job_id,
        "name": record.name,
        "kind": record.kind,
        "digest": record.digest,
        "state": State.Name(record.state),
        "reason": record.reason,
        "proposed": date(record.proposed),
        "since": date(record.since),
        "asked_by": record.coordinator,
        "records": record.records,
        "opened": _opened(record.folder),
        "kept": _kept(record.folder),
        "received": read_note(record.folder),
        "disputed": (record.folder / DISPUTED).exists(),
        "held": _held(record),
    }
    if job is None:  # the job was pruned, or never parsed
        return facts
    kind = KINDS[job.kind]
    table = job.table_of(config.name)
    try:
        config = config.for_job(job)
    except CoterieError as error:
        return {**facts, "refusals": [str(error)]}
    facts |= {
        "purpose": job.purpose,
        "table_name": table,
        "about": kind.about,
        "with": [name for name in job.party_names if name != config.name],
        "text": job.text,
    }
    try:
        needs = kind.needs(job, config.name)
    except CoterieError as error:
        return {**facts, "refusals": [str(error)]}
    label = [name for name in [needs.columns.label] if name in config.policy.classes]
    leaving = [*needs.columns.released, *label]
    refusals = judge(config.policy, job, config.name, record.coordinator)
    touched = _rules(config, job, needs, record.coordinator)
    return facts | {
        "table": str(config.source),
        "columns": {
            "used": list(dict.fromkeys([*needs.matching.by, *needs.columns.used, *label])),
            "leave_as_they_are": [*needs.columns.raw, *label],
            "leave_in_groups": [c for c in needs.columns.released if c not in needs.columns.raw],
            "never_leave": [c for c in needs.read if c not in leaving],
        },
        "smallest_group": needs.groups.smallest,
        "unique_together": needs.groups.together,
        "recipients": list(needs.answers.recipients),
        "servers": list(needs.answers.servers),
        "in_short": plain_words(job, config.name, needs, record.records),
        "others_learn": _openings(job, needs),
        "refusals": refusals,
        "rules": touched,
        "strictest": None if refusals else strictest(touched),
        "earlier": earlier_jobs(history or History(config.state), config, record, needs),
    }


def date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}" if seconds else ""


def _held(record: Record) -> dict[str, Any] | None:
    """What a running job asks; None if it asks nothing."""
    hold = record.held
    if hold is None:
        return None
    return {"about": hold.about, "question": hold.question, "until": date(hold.until), **hold.facts}


def _opened(folder: Path) -> list[dict[str, Any]]:
    """What the job has opened to whom, so far."""
    try:
        entries = json.loads((folder / "kept" / OPENED).read_text())
        names = declared()
        return [{**entry, "meaning": names[entry["what"]].what} for entry in entries]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _kept(folder: Path) -> dict[str, Any] | None:
    """The files that a job left at this organisation alone, and where they are; None if there are none."""
    place = folder / "kept"
    names = sorted(path.name for path in place.glob("*") if path.name != OPENED)
    return {"folder": str(place), "files": names} if names else None


def _openings(job: Job, needs: Needs) -> list[dict[str, str]]:
    """Everything that a job of this kind may open to anybody, from the declared openings."""
    parts = {"job", job.kind, *KINDS[job.kind].opens}
    if needs.matching.reveal is not None:
        parts.add("intersection")
    return [
        {"what": opening.what, "to": opening.to, "why": opening.why}
        for opening in declared().values()
        if opening.part in parts and (needs.answers.recipients or opening.to != _RECIPIENTS)
    ]


def _rules(config: PartyConfig, job: Job, needs: Needs, coordinator: str) -> list[dict[str, Any]]:
    """The rules that the job touches: what the policy says, and what the job wants."""
    spent = budget_rule(config, needs.answers.noise)
    return [
        *(
            {"rule": rule.key, "policy": _plain(rule.policy), "job": _plain(rule.job)}
            for rule in rules(config.policy, job, needs, config.name, coordinator)
            if rule.touched and not (spent and rule.key == "budget")
        ),
        *spent,
    ]


def _plain(value: Any) -> Any:
    """What JSON can say: a set as a sorted list."""
    if isinstance(value, frozenset):
        return sorted(_plain(one) for one in value)
    return list(value) if isinstance(value, tuple) else value


def lines(facts: dict[str, Any], full: bool = False, output: bool = False) -> list[str]:
    """The facts in plain words; `full`: with everything that a job of the kind may tell.

    `output`: with what this party would release, where the job asks about it.
    """
    since = f" since {facts['since']}" if facts["since"] else ""
    told = [
        f"{facts['name'] or 'a job that could not be read'} ({facts['kind'] or 'no kind'}), "
        f"{facts['state']}{since}" + (f": {facts['reason']}" if facts["reason"] else ""),
        f"job {facts['job']}, digest {facts['digest'] or 'none'}, proposed {facts['proposed']}",
        f"asked by: {facts['asked_by']}",
    ]
    told += _held_lines(facts, output) if facts.get("held") else []
    if "columns" in facts:
        told += _judged_lines(facts, full)
    else:
        told += [f"not permitted: {refusal}" for refusal in facts.get("refusals", [])]
    if facts["opened"]:
        told.append("others learned:")
        told += [
            f"  {', '.join(entry['to'])}: {entry['meaning']} (times: {entry['times']})"
            for entry in facts["opened"]
        ]
    if kept := facts["kept"]:
        told.append(
            f"stays here, for nobody else: {first_names(kept['files'])} in {kept['folder']}"
        )
    return told + _received_lines(facts)


def _held_lines(facts: dict[str, Any], output: bool) -> list[str]:
    """What a running job asks, and how to answer."""
    held = facts["held"]
    told = [f"asks until {held['until']} for your word on {held['question']}:"]
    told += [f"  {finding['words']}" for finding in held.get("findings", [])]
    if "output" in held and output:
        told += output_lines(held["output"])
    elif "output" in held:
        told.append(f"  see it by 'coterie party show {facts['job'][:8]} --output'")
    return [*told, f"  answer by 'coterie party approve {facts['job'][:8]} --{held['about']}'"]


def _judged_lines(facts: dict[str, Any], full: bool) -> list[str]:
    """The columns of a job, what the policy says about it, and what others learn."""
    told = _column_lines(facts)
    told += [f"not permitted: {refusal}" for refusal in facts["refusals"]]
    if not facts["refusals"]:
        touched = ", ".join(rule["rule"] for rule in facts["rules"])
        told.append(f"permitted by: {touched}")
        told += [f"the strictest of them: {facts['strictest']}"] if facts["strictest"] else []
    told += [
        f"spends {rule['job']} of the budget; so far {rule['policy']}"
        for rule in facts["rules"]
        if rule["rule"] == "budget" and rule["policy"]
    ]
    told += earlier_lines(facts["earlier"])
    told.append("what others learn of your table:")
    told += [f"  {sentence}" for sentence in facts.get("in_short", [])]
    most = [f"  {entry['to']}: {entry['what']}" for entry in facts["others_learn"]]
    if full:
        return [*told, "everything that a job of this kind may reveal, at most:", *most]
    return [*told, f"  ('--full' lists all {len(most)} things that such a job may reveal)"]


def _received_lines(facts: dict[str, Any]) -> list[str]:
    """What a recipient was given, and with whom it has compared that."""
    told = []
    if facts["received"]:
        same = facts["received"]["same"]
        told.append(
            f"result received: digest {facts['received']['digest']}, "
            f"the same as at {', '.join(same) or 'nobody yet'}"
        )
        left = [n for n in facts.get("recipients", []) if n not in same and n in facts["with"]]
        if left and not facts["disputed"]:
            told.append(f"not compared yet: with {', '.join(left)}; the server asks every minute")
    if facts["disputed"]:
        told.append("result disputed: another recipient was given something else")
    return told


def _column_lines(facts: dict[str, Any]) -> list[str]:
    columns = facts["columns"]
    smallest = facts["smallest_group"]
    groups = f", in groups of at least {smallest}" if smallest is not None else ""

    def listed(names: list[str]) -> str:
        return ", ".join(names) or "nothing"

    return [
        f"with: {', '.join(facts['with'])}",
        f"purpose: {facts['purpose'] or 'none is stated'}",
        f"what it gives: {facts['about']}",
        f"your table: {facts['table']}, {facts['records']:,} records",
        f"uses: {listed(columns['used'])}",
        f"leaves unchanged: {listed(columns['leave_as_they_are'])}",
        f"leaves changed: {listed(columns['leave_in_groups'])}{groups}",
        f"never leaves: {listed(columns['never_leave'])}, and every column that is not used",
        f"result goes to: {', '.join(['the coordinator', *facts['recipients']])}",
    ]
