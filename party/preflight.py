"""What a party checks before it accepts a job: the roster, the policy, and its own data."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from typing import NamedTuple

from coterie.base.arrays import Words
from coterie.base.errors import DataError, PeerRevokedError, RefusedError, UsageError
from coterie.jobs.data.filtered import left_out, told
from coterie.jobs.data.missing import Dropped, WithoutGaps
from coterie.jobs.data.sources import read_wanted
from coterie.jobs.data.table_digest import column_digests, order_of
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.books.charges import Charges, number, too_often
from coterie.party.books.ledger import Ledger
from coterie.party.books.models import ModelFolder, refusals_of
from coterie.party.books.people import People, commitment_key
from coterie.party.config import PartyConfig
from coterie.party.history.gate import identified_by
from coterie.party.history.releases import FOLDER
from coterie.party.policy import judge, judge_drop

log = logging.getLogger("coterie.party")


def check_parties(config: PartyConfig, job: Job) -> None:
    """Checks that this party is in the job and knows the others."""
    if config.name not in job.party_names:
        raise UsageError(f"'{config.name}' is not among the job's parties")
    unknown = [n for n in job.party_names if n != config.name and n not in config.peers]
    if unknown:
        raise RefusedError(f"'{unknown[0]}' is not in the roster of {config.name}")


def check_policy(
    config: PartyConfig, job: Job, coordinator: str, resumed: bool = False, attempts: int = 0
) -> None:
    """Checks that the policy permits the job.

    A party that owes something because of an interrupted job pays by finishing it, so that debts do
    not keep a job from being `resumed` the first time. They do from the second time on: a peer that
    interrupts a job again and again would be given more each time. The budget was charged when the
    job began.
    """
    config = config.for_job(job)
    refusals = judge(config.policy, job, config.name, coordinator)
    most = config.policy.most_owed
    debts: dict[str, str] = {}
    if (
        most is not None
        and (not resumed or attempts > 1)
        and KINDS[job.kind].needs(job, config.name).answers.contributes
    ):
        debts = Ledger(config.state, config.name).debtors(job.party_names, most)
        refusals += [f"policy.most_owed is {most:g}, and '{name}' owes more" for name in debts]
    inside = list(debts.values())  # earlier jobs may be another coordinator's
    if not refusals and not resumed:
        inside = _check_budget(config, job, refusals)
    if not refusals:
        inside += _check_models(config, job, coordinator, resumed, refusals)
    if refusals:
        error = RefusedError("; ".join(refusals))
        error.inside = "; ".join(inside)
        raise error


def require_valid(config: PartyConfig, peer: str) -> None:
    """Raises an error about a peer that shows a revoked certificate."""
    if config.identity.finds_revoked(peer, config.peers[peer].address):
        raise PeerRevokedError(peer, "")


def _check_budget(config: PartyConfig, job: Job, refusals: list[str]) -> list[str]:
    """Adds to `refusals` why too little budget is left; returns what is spent, for the own log."""
    noise, budget = KINDS[job.kind].needs(job, config.name).answers.noise, config.policy.budget
    if noise is None or budget is None:
        return []
    spent = Charges(config.state).spent(budget)
    refusals += spent.refusals(budget, noise)
    return [spent.in_words(budget)]


def _check_models(
    config: PartyConfig, job: Job, coordinator: str, resumed: bool, refusals: list[str]
) -> list[str]:
    """Adds to `refusals` why the job may not keep or use a model; returns whose it is, for the log.

    A job that is `resumed` has its name already.
    """
    needs = KINDS[job.kind].needs(job, config.name)
    keeps = None if resumed else needs.answers.keeps
    shared = config.policy.models == "shared"
    folder = ModelFolder(config.state)
    uses = needs.answers.model
    found, inside = refusals_of(folder, keeps, uses, coordinator, shared)
    if uses is not None and not found and not resumed and (kept := folder.entry(uses)) is not None:
        found = too_often(uses, Charges(config.state).uses(kept.job), config.policy.predictions)
    refusals += found
    if uses is not None and not found:  # the model says whom the job leaves out, not the job
        model = folder.find(uses)
        own = [name for name in needs.columns.used if name in model.own and name in model.used]
        dropped = [name for name in own if model.own[name].missing == "drop"]
        refusals += judge_drop(config.policy, dropped)
    return inside


def charge(config: PartyConfig, job_id: str, job: Job, again: bool = False) -> dict[str, str]:
    """Charges a job to the budget, and to the model that it uses, before it begins.

    `again` charges a job once more whose noise is drawn anew after an interruption; a job that was
    charged twice is refused then, so that a partner that crashes cannot use up the budget. Returns
    what the audit log notes.
    """
    config = config.for_job(job)
    answers = KINDS[job.kind].needs(job, config.name).answers
    noise, budget = answers.noise, config.policy.budget
    if answers.model and (kept := ModelFolder(config.state).entry(answers.model)) is not None:
        Charges(config.state).use(job_id, answers.model, kept.job, config.policy.predictions)
    if noise is None:
        return {}
    if budget is None:
        raise RefusedError("policy.budget is not set any more")
    charges, table = Charges(config.state), job.table_of(config.name)
    if not charges.charge(job_id, job, table, budget, noise, again):
        return {}
    return {
        "epsilon": number(noise[0]),
        "delta": number(noise[1]),
        "budget": charges.spent(budget).in_words(budget),
    }


class Checked(NamedTuple):
    """A party's data for a job: prepared, the number of records, and a digest of what was read.

    `people` has a digest of the person of each row that takes part; None if nothing identifies
    people. `inputs` has a digest of each column that the job reads, under the party's own key.
    """

    prepared: object
    records: int
    digest: bytes
    people: Words | None
    inputs: dict[str, bytes]


def check_data(config: PartyConfig, job: Job, note: Callable[..., None] | None = None) -> Checked:
    """The job's columns of this party's table, checked and prepared, and the number of records.

    The coordinator is told that number, so that it is the padded one where the job hides the true
    one. How many rows objections and the fixed filter left out is for the steward alone: `note`
    writes it into the audit log.
    """
    config = config.for_job(job)
    kind = KINDS[job.kind]
    try:
        wanted = kind.needs(job, config.name)
        optional = [column for column in wanted.optional if column in config.policy.classes]
        known_by = identified_by(config.policy, wanted)
        more = [column for column in known_by if column not in (*wanted.read, *optional)]
        table = read_wanted(config.source, (*wanted.read, *more), optional)
        if note is not None and (counts := left_out(table)):
            log.info("digest %s: %s", job.digest[:12], told(counts))
            note("rows left out", digest=job.digest, **counts)
        order = order_of(table, known_by)
        inputs = column_digests(table, commitment_key(config.state / FOLDER), order)
        rows = b"" if order is None else order.to_numpy().tobytes()  # which answers are kept by
        read = hashlib.sha256(b"".join(inputs.values()) + rows).digest()
        for column in more:  # what the policy reads besides is no part of the job
            del inputs[column]
        try:
            made = kind.prepare(job, config.name, table, str(config.source))
            prepared = kind.recall(job, config.name, made, ModelFolder(config.state))
        except DataError as error:  # it depends on values, and on what the job says of them
            error.of_columns = True
            raise
        dropped = prepared.dropped if isinstance(prepared, WithoutGaps) else Dropped()
        people = None
        if known_by:
            people = People(config.state / FOLDER, known_by).digests(table, known_by)
            people = people if dropped.stays is None else people[dropped.stays]
        if wanted.matching.pad_to is not None:
            return Checked(prepared, wanted.matching.pad_to, read, people, inputs)
        # Peers learn how many rows take part; a coordinator beside them must not learn how many do not.
        return Checked(prepared, table.num_rows - dropped.number, read, people, inputs)
    except MemoryError:
        raise DataError(f"{config.source}: not enough memory to read it") from None
