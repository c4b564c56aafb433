"""Runs one party's part of a job over any transport: the same code at a server and in a simulation.

Before the kind's own steps, all parties compare the version of their protocol and the digest of the
job, so that a coordinator cannot send them different jobs. They also exchange the heads of their
audit logs, and agree after which kept answers this attempt goes on (`protocols.messaging.kept`).
Afterwards the party's summary is written beside the files that it releases, and the parties tell each
other that they have stored everything: only then may a party forget its answers, since nobody needs
them any more. The list of what has been opened, to whom and how often, stays with the party, also if
the job fails, and goes to the coordinator with the summary.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie.base.errors import (
    DataError,
    PeerError,
    PeerFaultError,
    PeerLostError,
    VerificationError,
)
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.job import Job
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import AnyKind
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.archive import save_job
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel, Transport
from coterie.protocols.messaging.kept import (
    TOKEN_BYTES,
    AnswerStore,
    Inputs,
    Kept,
    sound_claim,
)
from coterie.protocols.messaging.opening import COORDINATOR, declare, put_together
from coterie.protocols.messaging.release_gate import show_output, show_people
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.messaging.wrappers import Metered, Traffic
from coterie.protocols.primitives.randomness import Random

# The version of the protocol between parties. 1 had no version in its first message; 3 goes on after
# an interruption; 4 checks transfers and commits to inputs; 5 finds common records by checked
# products; 6 makes many transfers silently.
WIRE = 6
COMMITTED = 32  # bytes of the digest of a column
_MOST_COLUMNS = 100_000
SUMMARY = "summary.json"
OPENED = "opened.json"
EXCLUDED = "excluded.txt"  # kept: which opened number the job's promise excludes
AGREE = "agree"  # the first step
FINISH = "finish"  # the step that is reported last
_OLDER = "bring the older of the two up to date"
_HEAD = re.compile(r"[0-9a-f]{64}")

JOB_DIGEST = declare(
    "job: digest of the job",
    what="The digest of the job file and its taxonomies, as each party was given them.",
    to="every party",
    why="A coordinator that tells the parties different stories is found out before anything is computed.",
)
AUDIT_HEAD = declare(
    "job: head of the audit log",
    what="The digest of the last line of each party's audit log when the job begins, and when it ends.",
    to="every party and the coordinator",
    why="A party whose audit log is later cut off or written anew can be shown the head that it gave.",
)
ANSWERS = declare(
    "job: answers that are kept",
    what="How many answers of each interrupted attempt at this job the party still holds, and a random number of its own.",
    to="every party",
    why="All go on after the same answer, and answers of different attempts are never mixed.",
)
INPUTS = declare(
    "job: commitment to inputs",
    what="For each column that a party brings to the job a digest of its values under a key that the party keeps: equal for equal values of the same people, in all of the party's jobs.",
    to="every party",
    why="A party cannot change its data between two attempts at a job, and a question that is asked again can be told from one about other data.",
)
SILENT = declare(
    "job: silent transfers",
    what="Whether the party's policy permits silent transfers.",
    to="every party",
    why="All parties of a job make their transfers in the same way, which each permits.",
)
STORED = declare(
    "job: result is stored",
    what="That the party has stored its part of the result.",
    to="every party",
    why="Until all have, a party that is lost may need the others again; then all forget what they kept.",
)
PARTY_SUMMARY = declare(
    "job: summary",
    what="The result of the job as every party computes it, the seconds of each step, the numbers of bytes, messages and rounds, and this list of what was opened.",
    to="the coordinator",
    why="The coordinator makes the result's files from it, and compares what the parties report.",
)

PROGRESS = declare(
    "job: progress",
    what="While the job runs, the step that each party stands in, how far it is, how many bytes it has sent and received, and how many of them to which party.",
    to="the coordinator",
    why="The coordinator shows how far the job is.",
)


@dataclass(frozen=True)
class Progress:
    """How far a party is: reported at every step and, within a step, by the protocol."""

    step: str
    done: int
    total: int
    traffic: Traffic
    sent_to: Mapping[str, int]  # bytes, by peer


def run_party(
    job: Job,
    prepared: object,
    transport: Transport,
    session: str,
    rng: Random,
    workspace: Workspace,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    clock: Callable[[], float] = time.monotonic,
    kind: AnyKind | None = None,
    head: Callable[[], str] = lambda: "",
    on_heads: Callable[[dict[str, str]], None] = lambda heads: None,
    answers: AnswerStore | None = None,
    inputs: Mapping[str, bytes] | None = None,
    on_inputs: Callable[[Inputs], None] = lambda inputs: None,
    on_redrawn: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Runs the job at one party and returns the summary, which it also writes.

    `kind` replaces the job's own, for simulations of parties that deviate. `head` returns the head
    of this party's audit log, and `on_heads` receives those of its peers. `answers` has what earlier
    attempts at the job found out; without it nothing is kept. `inputs` are the digests of the columns
    by which this party commits to its data, and `on_inputs` receives those of its peers; `on_redrawn` is
    called before noise of an earlier attempt is drawn anew.
    """
    metered = Metered(transport)
    seconds: dict[str, float] = {}
    last = [("prepare", clock())]

    def listen(step: str, done: int, total: int) -> None:
        phase, since = last[0]
        now = clock()
        seconds[phase] = seconds.get(phase, 0.0) + now - since
        last[0] = (step.split("/")[0] or phase, now)
        on_progress(Progress(step, done, total, metered.total, metered.sent_to))

    channel = Channel(metered, session, listen, Kept(answers, on_redrawn))
    channel.open(PROGRESS, None, to=COORDINATOR)
    try:
        heads, committed = agree(channel, job, head(), rng, inputs, workspace.silent)
        on_heads(heads)
        on_inputs({name: committed[name] for name in channel.peers})
        running = kind or KINDS[job.kind]
        if workspace.gate is not None and running.needs(job, channel.me).matching.reveal is None:
            show_people(workspace.gate, channel, None)
        result = running.run(job, prepared, channel, rng, workspace)
        check_opened(running, job, channel, result, workspace)
        show_output(workspace.gate, channel, result)
    except PeerError as error:
        if not error.step:  # the transport cannot know the step
            raise error.placed(channel.failed_step) from error
        raise
    finally:
        with contextlib.suppress(OSError):  # the job's own error says more
            _keep_opened(channel, workspace)
    listen(FINISH, 0, 0)
    told: dict[str, Any] = channel.open(
        PARTY_SUMMARY,
        {"traffic": asdict(metered.total), "seconds": seconds, "result": result},
        to=COORDINATOR,
    )
    if last_head := head():
        told["audit"] = channel.open(AUDIT_HEAD, last_head, to=COORDINATOR)
    summary = {**told, "opened": channel.opened.listed()}
    (workspace.released / SUMMARY).write_text(json.dumps(summary, indent=1))
    _keep_opened(channel, workspace)
    if answers is not None:
        workspace.sync()  # the others forget what they kept when this party says that it has stored
    try:
        _all_stored(channel)
    except PeerError as error:
        raise error.placed(error.step or channel.failed_step) from error
    return summary


def check_opened(
    kind: AnyKind, job: Job, channel: Channel, result: Mapping[str, Any], workspace: Workspace
) -> None:
    """Ends the job, before anything is told on, if opened numbers cannot be what the job promises.

    Which of the two servers opened a false share nobody can tell, so that the error names both, or a
    server the other one. The error has no number, since others read it; the party keeps the reason.
    """
    try:
        kind.check(job, Claim(json.loads(json.dumps(result)), "opened"))
    except VerificationError as error:
        (workspace.kept / EXCLUDED).write_text(f"{error}\n", encoding="utf-8")
        servers = kind.needs(job, channel.me).answers.servers
        suspects = [name for name in servers or channel.peers if name != channel.me]
        among = f", or {' or '.join(suspects[1:])} did," if suspects[1:] else ""
        raise channel.fault(
            suspects[0],
            f"opened a number{among} that the job's promise excludes: too small to be shown, larger "
            f"than all records permit, or at odds with another; each party has it in {EXCLUDED}",
        ) from None


def _all_stored(channel: Channel) -> None:
    """Waits until every party has stored its result: until then a party may need the others again."""
    with channel.step(FINISH):
        channel.kept.finished()
        channel.broadcast(channel.open(STORED, 1))
        for peer in channel.peers:
            channel.recv_int(peer, 1, 1, "word that it has stored its result")


def _keep_opened(channel: Channel, workspace: Workspace) -> None:
    """Stores at the party what it knows to have been opened, for its steward to read."""
    (workspace.kept / OPENED).write_text(json.dumps(channel.opened.listed(), indent=1) + "\n")


def agree(
    channel: Channel,
    job: Job,
    head: str = "",
    rng: Random | None = None,
    inputs: Mapping[str, bytes] | None = None,
    silent: bool = True,
) -> tuple[dict[str, str], Inputs]:
    """Checks that all parties have the same version and job; the error names one that differs.

    From then on the channel has the answers that all parties have kept, and knows whether all permit
    silent transfers. Returns the heads of the
    peers' audit logs, of those that keep one, and the commitments of all parties to their inputs.
    """
    with channel.step(AGREE):
        digest = channel.open(JOB_DIGEST, job.digest)
        if head:
            channel.open(AUDIT_HEAD, head)
        nonce = (rng or Random()).fork("attempt").bytes(TOKEN_BYTES)
        claim = channel.open(ANSWERS, channel.kept.claim)
        committed: list[Any] = [part for pair in (inputs or {}).items() for part in pair]
        if committed:
            channel.open(INPUTS, committed)
        permits = int(channel.open(SILENT, silent))
        channel.broadcast(WIRE, digest, head, nonce, claim, committed, permits)
        told = channel.gather()
        for peer, values in told.items():
            version = _version(values)
            if version is not None and version != WIRE:
                reason = (
                    f"speaks version {version} of the wire, and this party version {WIRE}; {_OLDER}"
                )
                other = PeerLostError(peer, channel.current_step, reason)
                other.for_good = True  # another attempt would end in the same way
                raise other
            if version is None or not same_value(values[1], job.digest):
                raise channel.fault(peer, "was given another job than this party")
        heard = {peer: digest_of(*values) for peer, values in told.items()}
        heard[channel.me] = digest_of(WIRE, digest, head, nonce, claim, committed, permits)
        compare_digests(
            channel, job.party_names, heard, "the head of its audit log and its answers"
        )
        heads = {peer: values[2] for peer, values in told.items() if values[2]}
        for peer, value in heads.items():
            if not isinstance(value, str) or not _HEAD.fullmatch(value):
                raise channel.fault(peer, "sent something else than the head of an audit log")
        nonces = {channel.me: nonce}
        everybody: dict[str, Mapping[str, bytes]] = {channel.me: dict(inputs or {})}
        for peer, values in told.items():
            what = "random number of an attempt"
            nonces[peer] = channel.check_bytes(peer, values[3], TOKEN_BYTES, what)
            if not sound_claim(values[4]):
                raise channel.fault(peer, "sent no list of the answers that it has kept")
            everybody[peer] = _commitment(channel, peer, values[5])
            what = "word whether it permits silent transfers"
            silent = bool(channel.check_int(peer, values[6], 0, 1, what)) and silent
        channel.silent = silent
        channel.kept.begin(nonces, [values[4] for values in told.values()])
        for name, column in channel.kept.count(everybody):
            raise _changed(channel, name, column)
    return heads, everybody


def _commitment(channel: Channel, peer: str, told: Any) -> dict[str, bytes]:
    """A peer's digests by column."""
    sound = isinstance(told, list) and len(told) % 2 == 0 and len(told) <= 2 * _MOST_COLUMNS
    sound = sound and all(isinstance(name, str) for name in told[::2])
    sound = sound and all(isinstance(d, bytes) and len(d) == COMMITTED for d in told[1::2])
    if not sound or len(set(told[::2])) < len(told) // 2:
        raise channel.fault(peer, "sent no commitment to its columns")
    return dict(zip(told[::2], told[1::2], strict=True))


def _changed(channel: Channel, name: str, column: str) -> Exception:
    """The end of a job to which a party brings other data than in the first attempt."""
    if name == channel.me:
        return DataError(
            f"column '{column}' has changed since the job began; propose the job again"
        )
    reason = (
        f"brings another column '{column}' than when the job began; propose the job again, which is "
        "then another job"
    )
    other = PeerLostError(name, channel.current_step, reason)
    other.for_good = True
    return other


def _version(values: Any) -> int | None:
    """The protocol version in a peer's first message; None if the message is malformed."""
    if isinstance(values, str):
        return 1
    if isinstance(values, list) and values and type(values[0]) is int:
        return values[0] if values[0] != WIRE or len(values) == 7 else None
    return None


def assemble(
    job: Job,
    released: Mapping[str, Path],
    out: Path,
    job_id: str = "",
    measured: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Writes the result folder from what each party released, and returns `result.json`.

    `job_id` is the one under which the parties know the job; a simulation has none. Instead it adds
    what it has `measured` on all tables together.
    """
    summaries = {name: read_summary(name, folder) for name, folder in released.items()}
    first, *others = KINDS[job.kind].reporters(job)
    for other in others:
        if summaries[other]["result"] != summaries[first]["result"]:
            raise VerificationError(f"{first} and {other} report different results of the job")
    try:
        opened = put_together(
            {name: summary["opened"] for name, summary in summaries.items()}, job.party_names
        )
    except ValueError as error:
        raise PeerFaultError(str(error), "assemble", "lists openings that cannot be") from None
    phases = {phase: 0.0 for summary in summaries.values() for phase in summary["seconds"]}
    result = {
        **summaries[first]["result"],
        **(measured or {}),
        "parties": {
            name: {
                **{key: summary["traffic"][key] for key in ("sent_bytes", "received_bytes")},
                **({"audit": summary["audit"]} if summary["audit"] else {}),
            }
            for name, summary in summaries.items()
        },
        "seconds": {
            phase: max(summary["seconds"].get(phase, 0.0) for summary in summaries.values())
            for phase in phases
        },
        "job": job_facts(job, job_id),
        "opened": opened,
    }
    KINDS[job.kind].assemble(job, released, out)
    result |= KINDS[job.kind].appraise(job, released)
    save_job(job, out)
    (out / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    return result


def job_facts(job: Job, job_id: str) -> dict[str, str]:
    """The job, the version of Coterie and the date of a result."""
    return {
        "id": job_id,
        "digest": job.digest,
        "version": __version__,
        "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        **({"purpose": job.purpose} if job.purpose else {}),
    }


def read_summary(name: str, folder: Path) -> dict[str, Any]:
    """A party's summary of its run, which is checked because a party may write anything."""
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        traffic, seconds, result, opened = (
            summary[key] for key in ("traffic", "seconds", "result", "opened")
        )
        whole = all(type(traffic[key]) is int for key in ("sent_bytes", "received_bytes"))
        audit = summary.get("audit", "")
        whole = whole and (audit == "" or bool(_HEAD.fullmatch(audit)))
        timed = all(0 <= value < math.inf for value in seconds.values())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        whole = timed = False
    if not whole or not timed or not isinstance(result, dict):
        raise PeerFaultError(name, "assemble", f"released no {SUMMARY} that can be read")
    return {
        "traffic": traffic,
        "seconds": seconds,
        "result": result,
        "opened": opened,
        "audit": audit,
    }
