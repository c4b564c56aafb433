"""What a party checks before it accepts a job: the roster, the policy, and its own data."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from coterie.base.errors import DataError, RefusedError, UsageError
from coterie.jobs.data.filtered import left_out
from coterie.jobs.data.missing import WithoutGaps
from coterie.jobs.data.sources import read_wanted
from coterie.jobs.data.table_digest import table_digest
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.books.ledger import Ledger
from coterie.party.config import PartyConfig
from coterie.party.policy import judge

log = logging.getLogger("coterie.party")


def check_parties(config: PartyConfig, job: Job) -> None:
    """Checks that this party is in the job and knows the others."""
    if config.name not in job.party_names:
        raise UsageError(f"'{config.name}' is not among the job's parties")
    unknown = [n for n in job.party_names if n != config.name and n not in config.peers]
    if unknown:
        raise RefusedError(f"'{unknown[0]}' is not in the roster of {config.name}")


def check_policy(config: PartyConfig, job: Job, coordinator: str, resumed: bool = False) -> None:
    """Checks that the policy permits the job.

    Who owes something from an interrupted job pays by finishing it, so that debts do not keep a job
    from being `resumed`.
    """
    config = config.for_job(job)
    refusals = judge(config.policy, job, config.name, coordinator)
    most = config.policy.most_owed
    debts: dict[str, str] = {}
    if most is not None and not resumed and KINDS[job.kind].needs(job, config.name).contributes:
        debts = Ledger(config.state, config.name).debtors(job.party_names, most)
        refusals += [f"policy.most_owed is {most:g}, and '{name}' owes more" for name in debts]
    if refusals:
        error = RefusedError("; ".join(refusals))
        error.inside = "; ".join(debts.values())  # earlier jobs may be another coordinator's
        raise error


class Checked(NamedTuple):
    """A party's data for a job: prepared, the number of records, and a digest of what was read."""

    prepared: object
    records: int
    digest: bytes


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
        allowed = config.policy.use & config.policy.release
        optional = [column for column in wanted.optional if column in allowed]
        table = read_wanted(config.source, wanted.used, optional)
        if note is not None and (counts := left_out(table)):
            log.info("digest %s: rows left out: %s", job.digest[:12], counts)
            note("rows left out", digest=job.digest, **counts)
        read = table_digest(table)
        prepared = kind.prepare(job, config.name, table, str(config.source))
        if wanted.pad_to is not None:
            return Checked(prepared, wanted.pad_to, read)
        # Peers learn how many rows take part; a coordinator beside them must not learn how many do not.
        dropped = prepared.dropped.number if isinstance(prepared, WithoutGaps) else 0
        return Checked(prepared, table.num_rows - dropped, read)
    except MemoryError:
        raise DataError(f"{config.source}: not enough memory to read it") from None
