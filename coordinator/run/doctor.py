"""`coterie doctor`: all checks that can be made before anything starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coterie import __version__
from coterie.base.checks import Check, failed, passed
from coterie.base.errors import (
    CoterieError,
    DataError,
    EnvironmentFaultError,
    RefusedError,
    UnreachableError,
    UsageError,
)
from coterie.base.skew import LARGEST_SKEW, skew_in_words
from coterie.coordinator.run import probe
from coterie.coordinator.run.client import PartyClient
from coterie.jobs.file.job import Job, PartyEntry
from coterie.jobs.kinds.adversaries import resisted
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.run.party_run import WIRE
from coterie.trust.certificates import check_certificate
from coterie.trust.identity import Identity, find_identity

CONNECT_SECONDS = 10.0
# The exit codes of checks that a party's server makes, if they fail.
_CHECK_CODES = {
    "coordinator": RefusedError.exit_code,
    "policy": RefusedError.exit_code,
    "data": DataError.exit_code,
}


def examine(
    job_path: Path, identity_place: Path, clock: Callable[[], float] = time.time
) -> Iterator[Check]:
    """Checks the job file and the identity, then all parties concurrently, in the job's order."""
    try:
        job = load_job(job_path)
    except CoterieError as error:
        yield failed("job", "file", str(error), error.exit_code)
        return
    yield passed(
        "job", "file", f"{job_path}: {job.kind} '{job.name}' among {', '.join(job.party_names)}"
    )
    for warning in job.warnings:
        yield Check("job", "requirement", "warning", warning.removeprefix("requirement: "))
    for sentence in resisted(job):
        yield passed("job", "adversary", sentence)
    try:
        identity = find_identity(identity_place)
    except CoterieError as error:
        yield failed("you", "certificate", str(error), error.exit_code)
        return
    for check in check_certificate(identity.files.certificate):
        yield Check("you", check.name, check.state, check.detail, check.exit_code)
    with ThreadPoolExecutor(len(job.parties)) as pool:
        reports = [
            pool.submit(_examine_party, job, party, identity, clock) for party in job.parties
        ]
        for report in reports:
            yield from report.result()


def _examine_party(
    job: Job, party: PartyEntry, identity: Identity, clock: Callable[[], float]
) -> list[Check]:
    name = party.name
    if party.address is None:
        missing = f"parties.{name} has no address"
        return [failed(name, "name", missing, UsageError.exit_code)]
    checks = list(probe.probe(name, party.address, identity, CONNECT_SECONDS))
    if checks[-1].state == "failed":
        return checks
    client = PartyClient(name, party.address, identity)
    try:
        return checks + list(_ask(client, job, clock))
    except CoterieError as error:
        detail = str(error).removeprefix(f"{name}: ")
        return [*checks, failed(name, "server", detail, error.exit_code)]
    finally:
        client.close()


def _ask(client: PartyClient, job: Job, clock: Callable[[], float]) -> Iterator[Check]:
    name = client.name
    before = clock()
    hello = client.describe()
    after = clock()
    if hello.party != name:
        detail = f"the server calls itself '{hello.party}'"
        yield failed(name, "server", detail, UnreachableError.exit_code)
    skew = hello.unix_time - (before + after) / 2
    detail = f"{skew_in_words(skew)} this one"
    if abs(skew) > LARGEST_SKEW:
        yield failed(name, "clock", detail, EnvironmentFaultError.exit_code)
    else:
        yield passed(name, "clock", detail)
    yield _version(name, hello.version)
    yield _wire(name, hello.wire or 1)
    for check in client.describe(job).checks:
        code = 0 if check.ok else _CHECK_CODES.get(check.name, UsageError.exit_code)
        yield Check(name, check.name, "ok" if check.ok else "failed", check.detail, code)


def _version(name: str, theirs: str) -> Check:
    detail = f"{theirs} there, {__version__} here"
    if theirs.split(".")[:2] != __version__.split(".")[:2]:
        return failed(name, "version", detail, UnreachableError.exit_code)
    return Check(name, "version", "ok" if theirs == __version__ else "warning", detail)


def _wire(name: str, theirs: int) -> Check:
    """Checks the party's protocol version: parties of different versions cannot compute together."""
    detail = f"version {theirs} there, {WIRE} here"
    if theirs != WIRE:
        return failed(name, "wire", detail, UnreachableError.exit_code)
    return passed(name, "wire", detail)
