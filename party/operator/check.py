"""`coterie party check`: checks a party file before anyone proposes a job.

The checks cover everything that one organisation can see by itself: its certificate, its state
folder, whether its data has the columns that its policy names, rules that contradict each other,
and its peers' servers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pyarrow as pa
import pyarrow.compute as pc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from coterie.base.checks import Check, failed, passed, validity
from coterie.base.errors import CertificateError, CoterieError, EnvironmentFaultError, UsageError
from coterie.jobs.data.sources import remarks
from coterie.jobs.matching.hygiene import profile
from coterie.party.config import NO_OPERATORS, PartyConfig, Peer, load_party
from coterie.party.history.releases import History
from coterie.party.live import EVERY
from coterie.party.steward.budgets import budgets_of
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from coterie.transport.call_errors import HOPELESS, failure_reason

_NEARLY_ALL = 0.95  # the share of different values from which a column may be an identifier
_SECONDS = 5.0  # for a peer to answer
_TAKING_UP = 2 * EVERY + 0.5  # seconds within which a server takes up a new file


def examine(file: Path) -> Iterator[Check]:
    """The checks, one after the other."""
    try:
        config = load_party(file)
    except CoterieError as error:
        yield failed("file", "read", str(error), error.exit_code)
        return
    yield passed("file", "read", f"{file}: the party '{config.name}', listening on {config.listen}")
    yield _certificate(config)
    yield _operators(config)
    yield _state(config)
    yield _server(config)
    if config.policy.use or not config.tables:
        yield _data(config)
        yield from _policy(config)
    for name, (source, policy) in config.tables.items():
        table = replace(config, source=source, policy=policy)
        for check in (_data(table), *_policy(table)):
            yield replace(check, detail=f"table '{name}': {check.detail}")
    yield from _budgets(config)
    with ThreadPoolExecutor(max(1, len(config.peers))) as pool:
        yield from pool.map(lambda peer: _peer(config, peer), config.peers.values())


def _certificate(config: PartyConfig) -> Check:
    """Checks the certificate's remaining time; key, name and validity were checked on reading."""
    return validity("tls", "certificate", config.identity.expires, datetime.now(UTC))


def _operators(config: PartyConfig) -> Check:
    """Who may approve: people by certificate, or whoever has the server's key."""
    if not config.operators:
        return Check("operators", "listed", "warning", NO_OPERATORS)
    names = ", ".join(sorted(config.operators))
    return passed("operators", "listed", f"jobs are approved by {names}")


def _state(config: PartyConfig) -> Check:
    """Checks that the folder exists and is writable, or can be created. Nothing is left."""
    place = config.state
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        reason = f"{place}: is not a folder"
    elif not _writable(place):
        reason = f"{place}: cannot be written to"
    else:
        will = "" if place == config.state else ", will be made"
        return passed("state", "folder", f"{config.state}{will}")
    return failed("state", "folder", reason, EnvironmentFaultError.exit_code)


def _writable(place: Path) -> bool:
    """Whether a file can be made here: permissions alone do not tell, as for root, or in /proc."""
    try:
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False


def _server(config: PartyConfig) -> Check:
    """Checks that the running server, if there is one, uses this file."""
    shown = _in_force(config)
    if shown is not None and shown.digest != config.digest:
        time.sleep(_TAKING_UP)  # the server may be about to load a new file
        shown = _in_force(config)
    if shown is None:
        return passed("server", "file", f"no server answers at {config.own_address} yet")
    if not shown.digest:
        detail = "the running server does not know this certificate: it uses an older one"
    elif shown.digest == config.digest:
        return passed("server", "file", f"the running server uses this file since {_date(shown)}")
    else:
        detail = f"the running server uses an older file, in force since {_date(shown)}"
    if shown.refused:
        detail += f"; it does not take up this one: {shown.refused}"
    else:
        detail += "; send it SIGHUP, or start it anew"
    return Check("server", "file", "warning", detail)


def _in_force(config: PartyConfig) -> pb.Configuration | None:
    """The running server's file in force; None if no server answers."""
    channel = config.identity.connect(config.name, config.own_address)
    try:
        stub: Any = JobsStub(channel)  # type: ignore[no-untyped-call]
        answer: pb.Description = stub.Describe(pb.DescribeRequest(), timeout=_SECONDS)
        return answer.configuration
    except grpc.RpcError:
        return None
    finally:
        channel.close()


def _date(shown: pb.Configuration) -> str:
    return f"{datetime.fromtimestamp(shown.since, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _data(config: PartyConfig) -> Check:
    policy = config.policy
    ids = frozenset[str]().union(*policy.ids)
    columns = sorted(ids | policy.use | policy.release | policy.raw)
    try:
        columns += sorted(policy.classes & set(config.source.names()) - set(columns))
        table = config.source.read(columns)
    except CoterieError as error:
        return failed("data", "columns", str(error), error.exit_code)
    except MemoryError:
        detail = f"{config.source}: not enough memory to read it"
        return failed("data", "columns", detail, EnvironmentFaultError.exit_code)
    listed = ", ".join(columns) or "no column, because the policy lists none"
    detail = f"{config.source}: {table.num_rows:,} records with {listed}"
    hints = [finding.line() for finding in profile(table, _identifying(table))]
    hints += remarks(config.source)
    if hints:
        return Check("data", "columns", "warning", "; ".join([detail, *hints]))
    return passed("data", "columns", detail)


def _identifying(table: pa.Table) -> list[str]:
    """The columns that may be identifiers: nearly every row has a value of its own."""
    return [
        name
        for name in table.column_names
        if table.num_rows > 1
        and pc.count_distinct(table.column(name)).as_py() >= _NEARLY_ALL * table.num_rows
    ]


def _policy(config: PartyConfig) -> Iterator[Check]:
    policy = config.policy
    empty = [
        rule
        for rule, listed in (
            ("coordinators", policy.coordinators),
            ("kinds", policy.kinds),
            ("peers", policy.peers),
            ("columns.id and columns.use", policy.ids or policy.use),
        )
        if not listed
    ]
    if empty:
        detail = f"every job is refused: nothing is listed in {', '.join(empty)}"
        yield Check("policy", "permits", "warning", detail)
    else:
        kinds, who = ", ".join(sorted(policy.kinds)), ", ".join(sorted(policy.coordinators))
        consent = "after the operator's consent" if policy.consent == "manual" else "at once"
        yield passed("policy", "permits", f"{kinds} to {who}, {consent}")
    if not policy.ids:
        yield Check(
            "policy",
            "columns.id",
            "warning",
            "nothing identifies a person, so that jobs that match people are refused; write "
            "'id: [COLUMN]' under policy.columns",
        )
    for rule, names, other, allowed in (
        ("peers", policy.peers, "the roster of peers", frozenset(config.peers)),
        ("columns.release", policy.release, "columns.use", policy.use),
        ("columns.raw", policy.raw, "columns.release", policy.release),
        ("columns.drop", policy.drop, "columns.use", policy.use),
        ("exact", policy.exact, "peers", policy.peers),
    ):
        stray = ", ".join(f"'{name}'" for name in sorted(names - allowed))
        if stray:
            detail = f"{rule} lists {stray}, and {other} does not: it permits nothing there"
            yield failed("policy", rule, detail, UsageError.exit_code)
    yield from _repeat(config)


def _repeat(config: PartyConfig) -> Iterator[Check]:
    """Whether the history is kept as long as jobs are compared, and people can be known again."""
    repeat, kept = config.policy.repeat, config.retention.history
    if repeat is None:
        return
    if kept is not None and kept < repeat.window:
        detail = (
            f"jobs are compared within {repeat.window / 86400:g} days, and 'retention.history' keeps "
            f"them for {kept / 86400:g}: what is older is forgotten"
        )
        yield Check("policy", "repeat", "warning", detail)
        return
    if repeat.id:
        try:
            config.source.read(repeat.id)
        except CoterieError as error:
            yield failed("policy", "repeat", f"repeat.id: {error}", error.exit_code)
            return
    try:
        number = len(History(config.state).entries())
    except CoterieError as error:
        yield failed("policy", "repeat", str(error), error.exit_code)
        return
    by = f"known by {', '.join(repeat.id)}" if repeat.id else "known by the columns that jobs match"
    detail = (
        f"no number about fewer than {repeat.k} people within {repeat.window / 86400:g} days, else "
        f"{repeat.on}; people are {by}; {number} jobs are remembered"
    )
    yield passed("policy", "repeat", detail)


def _budgets(config: PartyConfig) -> Iterator[Check]:
    """What is left for jobs with noise."""
    try:
        found = budgets_of(config)
    except CoterieError as error:
        yield failed("policy", "budget", str(error), error.exit_code)
        return
    for name, (budget, spent) in found.items():
        of = f"table '{name}': " if name else ""
        if spent.epsilon >= budget.epsilon:
            detail = f"{of}jobs with noise are refused: {spent.in_words(budget)}"
            yield Check("policy", "budget", "warning", detail)
        else:
            yield passed("policy", "budget", f"{of}{spent.in_words(budget)}")


def _peer(config: PartyConfig, peer: Peer) -> Check:
    """Checks a peer: no answer is a warning, because it may not run yet; another name fails."""
    request = health_pb2.HealthCheckRequest(service="coterie.v1.Jobs")
    if config.identity.finds_revoked(peer.name, peer.address):
        detail = f"{peer.address}: its certificate was revoked"
        return failed("peer", peer.name, detail, CertificateError.exit_code)
    channel = config.identity.connect(peer.name, peer.address, peer.pin)
    try:
        health_pb2_grpc.HealthStub(channel).Check(request, timeout=_SECONDS)
    except grpc.RpcError as error:
        reason = failure_reason(error)
        late = error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        detail = f"{peer.address}: {f'no answer in {_SECONDS:g} s' if late else reason}"
        if reason in HOPELESS:
            return failed("peer", peer.name, detail, CertificateError.exit_code)
        return Check("peer", peer.name, "warning", detail)
    finally:
        channel.close()
    return passed("peer", peer.name, f"{peer.address}: proves to be '{peer.name}' and serves")
