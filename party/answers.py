"""What a party's server tells outside the protocol of a job, declared like what a job opens.

A coordinator asks before a job (`doctor`), proposes one, watches it and fetches what it released;
peers ask for places in the queue and hear how a job ended; a steward is notified. Each of these
answers passes `tell` with one of the openings below. The opening of the farewell, by which peers hear
why a job has ended, stands in `transport.error_messages`.
"""

from __future__ import annotations

import logging

from coterie.jobs.matching.identifiers import identifiers_of
from coterie.protocols.messaging.opening import declare, tell

log = logging.getLogger("coterie.party")

SERVER = declare(
    "answer: server",
    what="The name of the party, the versions of its software and of its wire, and its clock.",
    to="whoever has a certificate of the authority",
    why="Whether parties can compute together shows before a job.",
)
DECISION = declare(
    "answer: decision",
    what="Whether the party takes part in a job, waits for its operator, or refuses, and then why: the rule of its policy, of a debt only that it is too large, of values that do not fit the job that they do not; with `explain: columns` in its policy the file and the column, with `explain: rows` the rows, too.",
    to="the coordinator that asks or proposes",
    why="The coordinator must know who takes part, and what to mend.",
)
RECORDS = declare(
    "answer: number of records",
    what="How many records the party would bring to the job; with `pad_to` that number instead.",
    to="the coordinator that asks or proposes",
    why="The coordinator sees before a job whether the right table is meant.",
)
IDENTIFIERS = declare(
    "answer: how identifiers are written",
    what="Which rules of `normalise` would let more of the party's identifiers match, and how many of them these rules change; only under `explain: rows` in its policy. Without it the coordinator is told to ask the steward, whatever the identifiers are.",
    to="the coordinator that asks",
    why="Identifiers that are written in different ways do not match.",
)
STATE = declare(
    "answer: state of a job",
    what="Where a job stands, how many jobs stand before it in the queue, which peer the party cannot reach and why, whether it may go on after an interruption, and how it ended: the step, whom the party blames and why, in the words of a decision; of a false score also the scores.",
    to="the coordinator of the job",
    why="The coordinator shows how far the job is, and what ended it.",
)
PLACE = declare(
    "answer: place in the queue",
    what="Whether the party has a place for a job that waits, how many jobs stand before it, and of an ended job that it has ended.",
    to="the peers of the job",
    why="A job begins when all of its parties have a place.",
)
RECEIPT = declare(
    "answer: receipt of the result",
    what="The digest of a delivered result, what the party has checked of it, and which other recipients were given the same; or the first check that failed.",
    to="the coordinator of the job",
    why="The coordinator, which made the files, learns whether they were accepted.",
)
NOTICE = declare(
    "answer: notification",
    what="The name, the kind, the coordinator and the state of a job, and the reason that the coordinator is told; or what a running job asks its steward.",
    to="the command or address that the party file names",
    why="The steward asked to be told.",
)

ASK = "ask the data owner to run 'coterie party check' to see how its identifiers are written"


def about_identifiers(prepared: object, explain: str, counts: bool) -> list[str]:
    """What `doctor` is told about the identifiers of this party, by `policy.explain`.

    Without the permission the answer is the same for all identifiers; the log has the findings.
    """
    identifiers = identifiers_of(prepared)
    if identifiers is None:
        return []
    for finding in identifiers.findings:
        log.info("identifiers: %s", finding.line())
    if explain != "rows":
        return [ASK]
    return tell(IDENTIFIERS, [finding.line(counts) for finding in identifiers.findings])
