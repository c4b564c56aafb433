"""The parts of the steward's desk, as markup. Every text of somebody else goes through `foreign`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from coterie.base.text import numbered
from coterie.jobs.pages.markup import Content, Element, element, explained, foreign, listed
from coterie.jobs.pages.page import facts as fact_list
from coterie.jobs.pages.page import file_text, folded, moment, table
from coterie.jobs.pages.served import action, hidden, text_field

_ENDED_SHOWN = 30  # of jobs that have ended, the newest
UNIQUE_TOGETHER = (
    "a row of the release may be of one person alone: no entry of the requirement has all of its "
    "columns. An analyst who puts them into one entry promises more; 'together: refuse' under policy "
    "asks for that"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_BALANCE = (
    "What integrate jobs have contributed to the detail of a release, in the scores of their steps. "
    "Given: by you. Received: from the partner. Owes: how much less the partner has given than you; of "
    "it open is what was taken in jobs that have not finished. Faults: how often you have seen the "
    "partner break the rules."
)


def waiting(jobs: Sequence[Mapping[str, Any]]) -> Element:
    """The jobs that wait for consent, or ask something while they run, with the two answers."""
    if not jobs:
        return _section("Waiting for you", element("p", "No job waits for consent."))
    return _section(
        "Waiting for you",
        [_held(facts) if facts.get("held") else _question(facts) for facts in jobs],
    )


def _held(facts: Mapping[str, Any]) -> Element:
    """A running job that asks before it goes on: what it has found, or what it would release."""
    held = facts["held"]
    fields = [hidden("job", facts["job"]), hidden("about", held["about"])]
    return element(
        "article",
        element("h3", foreign(facts["name"])),
        element(
            "p", "It runs, and asks until ", moment(held["until"]), f" for your word on {held['question']}."
        ),
        [element("p", foreign(f["words"], 500), class_="badword") for f in held.get("findings", [])],
        output(held["output"]) if "output" in held else [],
        folded("What the job is", explanation(facts)),
        action("approve", "Let it go on", *fields, sure="Really let it go on?"),
        action(
            "refuse", "Hold it back", *fields,
            text_field(f"why-{facts['job'][:8]}", "reason", "Reason, which the coordinator gets"),
        ),
        class_="question",
    )  # fmt: skip


def output(facts: Mapping[str, Any]) -> Content:
    """What this party would release, as `party show --output` shows it."""
    files: list[list[Content]] = [
        [foreign(one["file"]), f"{one['bytes']:,}", element("code", one["sha256"][:16])]
        for one in facts["files"]
    ]
    parts: list[Content] = (
        [table(["File", "Bytes", "SHA-256 begins"], files, (1,))] if files else []
    )
    for name, column in facts.get("columns", {}).items():
        values: list[list[Content]] = [
            [foreign(value), f"{count:,}"] for value, count in column["most_frequent"]
        ]
        more = column["values"] - len(values)
        parts += [
            element("h4", foreign(name)),
            table(["Value", "Records"], values, (1,)),
            [element("p", f"and {numbered(more, 'more value')}")] if more > 0 else [],
        ]
    if "too_long" in facts:
        parts.append(element("p", "Too long to be shown here: ", foreign(facts["too_long"])))
    else:
        result = json.dumps(facts["result"], indent=1)
        parts.append(folded("The result, as every party computes it", element("pre", result)))
    return parts


def _question(facts: Mapping[str, Any]) -> Element:
    job = hidden("job", facts["job"])
    return element(
        "article",
        element("h3", foreign(facts["name"] or "a job without a name")),
        explanation(facts),
        action("approve", "Approve", job, sure=f"Really approve it? {_leaving(facts)}"),
        action(
            "refuse", "Refuse", job,
            text_field(f"why-{facts['job'][:8]}", "reason", "Reason, which the coordinator gets"),
        ),
        class_="question",
    )  # fmt: skip


def _leaving(facts: Mapping[str, Any]) -> str:
    columns = facts.get("columns")
    if columns is None:
        return ""
    gone = [*columns["leave_as_they_are"], *columns["leave_in_groups"]]
    leave = "leaves" if len(gone) == 1 else "leave"
    return f"{len(gone)} of your columns {leave}." if gone else "No column leaves."


def explanation(facts: Mapping[str, Any]) -> Content:
    """Who asks, with whom, what leaves, what others learn: the facts of `party show --json`."""
    rows: list[tuple[str, Content]] = [
        ("Asked by", foreign(facts["asked_by"])),
        ("Proposed", moment(f"{facts['proposed']}")),
        ("Kind", foreign(facts["kind"] or "unknown")),
    ]
    columns = facts.get("columns")
    if columns is None:
        refusals = facts.get("refusals", [])
        return [
            fact_list(rows),
            [element("p", "Not permitted: ", foreign(r, 500)) for r in refusals],
        ]
    smallest = facts["smallest_group"]
    groups = f", in groups of at least {smallest}" if smallest is not None else ""
    rows += [
        ("With", listed(facts["with"])),
        ("Purpose", foreign(facts["purpose"]) if facts["purpose"] else "none is stated"),
        ("What it gives", facts["about"]),
        ("Your table", [foreign(facts["table"]), f", {facts['records']:,} records"]),
        ("Uses", _names(columns["used"])),
        ("Leaves unchanged", _names(columns["leave_as_they_are"])),
        ("Leaves changed", [_names(columns["leave_in_groups"]), groups]),
        ("Never leaves", [_names(columns["never_leave"]), ", and every column that is not used"]),
        ("The result goes to", listed(["the coordinator", *facts["recipients"]])),
    ]
    if facts.get("unique_together"):
        rows.append(("Unique together", UNIQUE_TOGETHER))
    learn: list[Content] = [element("li", foreign(s, 500)) for s in facts.get("in_short", [])]
    rules = [
        [foreign(rule["rule"]), _shown(rule["policy"]), _shown(rule["job"])]
        for rule in facts["rules"]
    ]
    told: list[list[Content]] = [
        [foreign(entry["to"]), explained(entry["what"], 800), explained(entry["why"], 800)]
        for entry in facts["others_learn"]
    ]
    strictest = facts.get("strictest")
    return [
        fact_list(rows),
        [element("p", "Not permitted: ", foreign(r, 500), class_="badword") for r in facts["refusals"]],
        [element("p", "The strictest rule that permits it: ", foreign(strictest, 300))]
        if strictest
        else [],
        element("p", element("strong", "Earlier jobs about your people")),
        earlier(facts.get("earlier", [])),
        element("p", element("strong", "What others learn of your table")),
        element("ul", learn),
        folded("The rules that permit it", table(["Rule", "Your policy", "The job"], rules, sentences=True)),
        folded("Everything it may reveal", table(["To whom", "What", "Why"], told, sentences=True)),
        folded("The job file", file_text(facts["text"], "what 'coterie party show --json' prints")),
    ]  # fmt: skip


def earlier(found: Sequence[Mapping[str, Any]]) -> Content:
    """How a job compares with earlier ones about the same people."""
    if not found:
        return element("p", "None is remembered.")
    if "error" in found[0]:
        return element("p", foreign(found[0]["error"], 300), class_="badword")
    rows: list[list[Content]] = [
        [
            _day(one["time"]),
            [
                foreign(one["name"]),
                " (",
                foreign(one["kind"]),
                ", of ",
                foreign(one["coordinator"]),
                ")",
            ],
            f"{one['people']:,}",
            "unknown" if one["still_here"] is None else f"{one['still_here']:,}",
            [_names(one["again"]), ", in other classes: ", _names(one["other_classes"])]
            if one["other_classes"]
            else _names(one["again"]),
        ]
        for one in found
    ]
    return table(
        ["Day", "Job", "People", "Still in your table", "Asked again"], rows, (2, 3), sentences=True
    )


def jobs(entries: Sequence[Mapping[str, Any]]) -> Element:
    """The jobs that go on, which can be ended here, and the last that have ended."""
    going = [one for one in entries if one["going_on"]]
    ended = [one for one in entries if not one["going_on"]][-_ENDED_SHOWN:]
    content: list[Content] = [_going_on(one) for one in going]
    if ended:
        rows: list[list[Content]] = [
            [moment(one["proposed"]), foreign(one["name"]), foreign(one["kind"]), foreign(one["coordinator"]),
             one["state"].lower(), foreign(one["detail"], 200)]
            for one in reversed(ended)
        ]  # fmt: skip
        content.append(
            table(["Proposed", "Job", "Kind", "Asked by", "State", "Why"], rows, sentences=True)
        )
    return _section("Jobs", content or [element("p", "No jobs yet.")])


def history(entries: Sequence[Mapping[str, Any]] | str) -> Element:
    """What jobs have told about this party's people, the newest first; or why that is not known."""
    title = "What jobs have revealed about your people"
    if isinstance(entries, str):
        return _section(title, element("p", foreign(entries, 300)))
    if not entries:
        return _section(title, element("p", "No job has revealed anything yet."))
    rows: list[list[Content]] = [
        [
            _day(one["time"]),
            [foreign(one["name"]), " (", foreign(one["kind"]), ", of ", foreign(one["coordinator"]), ")"],
            f"{one['people']:,}",
            _names(one["counted"]),
            foreign("; ".join(f"{number:,} by {qid}" for qid, number in one["groups"].items()) or "none", 500),
        ]
        for one in reversed(entries[-_ENDED_SHOWN:])
    ]  # fmt: skip
    left = len(entries) - len(rows)
    head = ["Day", "Job", "People", "Counted by", "Groups released"]
    more = f"{numbered(left, 'earlier job')} more: 'coterie party history' lists all."
    return _section(
        title,
        element(
            "p",
            "New jobs about the same people are compared with these, under the rule 'repeat' of your "
            "policy. People: how many of your table a job was about. Counted by: the columns of which "
            "numbers of people were told. Groups released: how many groups of people a release shows, "
            "and by which columns.",
        ),
        table(head, rows, (2,), sentences=True),
        [element("p", more)] if left > 0 else [],
    )  # fmt: skip


def _going_on(one: Mapping[str, Any]) -> Element:
    words = f" ({one['state'].lower()}), asked by "
    sure = "Really end it for all parties?"
    return element(
        "article",
        element("p", foreign(one["name"]), words, foreign(one["coordinator"])),
        action("cancel", "End it", hidden("job", one["job"]), sure=sure),
        class_="question",
    )


def partners(book: Mapping[str, Any] | str) -> Element:
    """What this party and its partners have contributed; or why that is not known here."""
    if isinstance(book, str):
        return _section("Partners", element("p", foreign(book, 300)))
    rows: list[list[Content]] = [
        [foreign(name), f"{b['jobs']}", f"{b['given']:.6f}", f"{b['received']:.6f}",
         f"{b['owes']:.6f}", f"{b['open']:.6f}", f"{b['faults']}"]
        for name, b in book["partners"].items()
    ]  # fmt: skip
    head = ["Partner", "Jobs", "Given", "Received", "Owes", "Of it open", "Faults"]
    note = "No job with a partner yet." if not rows else _BALANCE
    return _section(
        "Partners",
        element("p", note),
        [table(head, rows, range(1, 7), sentences=True)] if rows else [],
    )


def audit(verdict: str, good: bool, lines: Sequence[Mapping[str, Any]]) -> Element:
    """The newest lines of the audit log, and whether its chain is unbroken."""
    rows: list[list[Content]] = [
        [
            moment(f"{line.get('time', '')}"),
            foreign(f"{line.get('event', '')}"),
            foreign(_rest(line), 300),
        ]
        for line in reversed(lines)
    ]
    return _section(
        "Audit log",
        element("p", foreign(verdict, 500), class_="goodword" if good else "badword"),
        [table(["Time", "Event", "About"], rows, sentences=True)] if rows else [],
    )


def _rest(line: Mapping[str, Any]) -> str:
    left = ("time", "event", "chain", "previous")
    told = {key: _told(value) for key, value in line.items() if key not in left}
    return ", ".join(f"{key} {text}" for key, text in told.items() if text)


def _told(value: Any) -> str:
    """A value of the log; what has parts has them in brackets, of a digest the beginning is shown."""
    if isinstance(value, Mapping):
        return f"({', '.join(f'{key} {_told(part)}' for key, part in value.items())})"
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return f"{value[:12]}…" if isinstance(value, str) and _DIGEST.fullmatch(value) else str(value)


def health(checks: Sequence[tuple[str, str, str]]) -> Element:
    """What is well and what is not: state, name and detail of each check."""
    rows: list[list[Content]] = [
        [
            element("span", state, class_="goodword" if state == "ok" else "badword"),
            name,
            foreign(detail, 300),
        ]
        for state, name, detail in checks
    ]
    return _section("Health", table(["State", "What", "Detail"], rows, sentences=True))


def _section(title: str, *content: Content) -> Element:
    return element("section", element("h2", title), *content)


def _day(time: str) -> Element:
    return element("time", time[:10])


def _names(names: Sequence[str]) -> Content:
    return listed(names) if names else "nothing"


def _shown(value: Any) -> Element:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return foreign(text or "none", 300)
