"""`coterie party …`: the server of one organisation, and its operator's commands."""

from __future__ import annotations

import getpass
import json
import logging
import os
import signal
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

# gRPC would write its own lines to the operator's terminal; failures are reported as errors.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
from grpc_health.v1 import health_pb2, health_pb2_grpc

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.checks import show as show_checks
from coterie.base.errors import INTERRUPTED, DataError, UnreachableError, UsageError
from coterie.base.text import one_line
from coterie.party.books.audit import heads_of, verify
from coterie.party.books.ledger import Ledger
from coterie.party.books.models import ModelFolder
from coterie.party.config import load_party
from coterie.party.desk.desk import Desk
from coterie.party.history.releases import History
from coterie.party.job_record import OUTPUT, REPEAT
from coterie.party.operator.backup import back_up, restore
from coterie.party.operator.budgets import budget_facts, budget_lines
from coterie.party.operator.check import examine
from coterie.party.operator.connection import SECONDS, Operator
from coterie.party.operator.explain import date, lines
from coterie.party.operator.retention import prune_unserved, told, would_prune_unserved
from coterie.party.server import PartyServer
from coterie.protos import jobs_pb2 as pb
from coterie.transport.spool import keep_memory_together

_PRUNING = 600.0
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path),
    required=True,
    help="The server's party file.",
)

_PERSON = click.option(
    "--by",
    "person",
    envvar="COTERIE_OPERATOR",
    show_envvar=True,
    default=getpass.getuser,
    help="Your name, for the audit log; your login's if left out.",
)


def brief(record: logging.LogRecord) -> bool:
    """Shortens gRPC's tracebacks, such as those of malformed requests, to one line of the log."""
    if record.name.startswith("grpc") and record.exc_info:
        kind = record.exc_info[0]
        text = f"{record.getMessage()}: {kind.__name__ if kind else 'unknown'}"
        record.msg, record.args, record.exc_info = one_line(f"gRPC: {text}"), None, None
    return True


@click.group()
def party() -> None:
    """The server of one organisation, and its operator's commands."""


@party.command()
@click.argument("file", metavar="PARTY.yaml", type=click.Path(path_type=Path))
@_JSON
def serve(file: Path, as_json: bool) -> int:
    """Serve until SIGTERM or Ctrl-C, which end running jobs and tell the peers.

    A party file or certificate that changes is taken up within seconds, on SIGHUP at once.
    Ends with 0 after SIGTERM, with 130 after Ctrl-C.
    """
    keep_memory_together()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    for target in logging.getLogger().handlers:
        target.addFilter(brief)
    stopping = threading.Event()
    caught: list[int] = []

    def stop(number: int, frame: Any) -> None:
        caught.append(number)
        stopping.set()

    previous = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        config = load_party(file)
        server = PartyServer(config)
        previous[signal.SIGHUP] = signal.signal(signal.SIGHUP, lambda *_: server.reload())
        try:
            server.start()
            host = config.listen.rpartition(":")[0]
            _print(
                as_json,
                {"party": config.name, "listen": f"{host}:{server.port}", "pid": os.getpid()},
                f"{config.name} listens on {host}:{server.port}",
            )
            stopping.wait()
        finally:
            server.stop()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return INTERRUPTED if caught[0] == signal.SIGINT else 0


@party.command()
@click.argument("file", metavar="PARTY.yaml", type=click.Path(path_type=Path))
@_JSON
def check(file: Path, as_json: bool) -> int:
    """Check a party file before serving it, one line per check.

    The certificate, the state folder, whether the data has the columns that the policy names, rules
    that contradict each other, and the peers' servers. A peer that does not answer is a warning.
    """
    return show_checks(examine(file), as_json)


@party.command()
@click.argument("file", metavar="PARTY.yaml", type=click.Path(path_type=Path))
@click.option("--server", metavar="HOST:PORT", help="Where the server is, if not where it listens.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The page's own port.")
@_PERSON
@_JSON
def desk(file: Path, server: str | None, port: int, person: str, as_json: bool) -> int:
    """Serve the steward's page on this machine, until Ctrl-C.

    Jobs that wait for consent, explained, to approve or refuse; the jobs that go on; partners and
    what they owe; the audit log; health. The link works once.
    """
    with Operator(file, server) as operator, Desk(operator, person, port) as page:
        stopping = threading.Event()
        previous = signal.signal(signal.SIGTERM, lambda *_: stopping.set())
        try:
            _print(as_json, {"link": page.link}, f"desk: {page.link}")
            while not stopping.wait(0.2):
                pass
        finally:
            signal.signal(signal.SIGTERM, previous)
    return 0


@party.command()
@click.argument("job")
@_CONFIG
@click.option("--no", "refuse", is_flag=True, help="Refuse the job.")
@click.option("--reason", default="", help="The reason that the coordinator gets.")
@click.option(
    "--repeat",
    "about",
    flag_value=REPEAT,
    help="To what a running job tells together with earlier ones.",
)
@click.option(
    "--output",
    "about",
    flag_value=OUTPUT,
    help="To the output of a running job, which 'show --output' shows.",
)
@_PERSON
@_JSON
def approve(
    job: str,
    config: Path,
    refuse: bool,
    reason: str,
    about: str | None,
    person: str,
    as_json: bool,
) -> int:
    """Say yes (or --no) to a job that waits for consent. JOB is its id, or its name."""
    with Operator(config) as operator:
        if about is None:
            job_id = operator.job_in((pb.WAITING,), job, "waits for consent")
        else:
            job_id = operator.job_in((pb.RUNNING,), job, "runs")
        request = pb.Approval(
            job_id=job_id, yes=not refuse, reason=reason, person=person, about=about or ""
        )
        decision = operator.call(lambda stub: stub.Approve(request, timeout=SECONDS))
        state = pb.State.Name(decision.state)
        _print(as_json, {"job": job_id, "state": state}, f"{job_id} {state.lower()}")
    return 0


@party.command()
@click.argument("job")
@_CONFIG
@click.option("--reason", default="", help="The reason that the coordinator and the peers get.")
@_PERSON
@_JSON
def cancel(job: str, config: Path, reason: str, person: str, as_json: bool) -> int:
    """End a job that has not ended, whether it runs or not. JOB is its id, or its name."""
    with Operator(config) as operator:
        going_on = (pb.WAITING, pb.ACCEPTED, pb.QUEUED, pb.RUNNING)
        job_id = operator.job_in(going_on, job, "goes on")
        request = pb.Cancellation(job_id=job_id, reason=reason, person=person)
        operator.call(lambda stub: stub.Cancel(request, timeout=SECONDS))
        _print(as_json, {"job": job_id, "state": "CANCELLED"}, f"{job_id} cancelled")
    return 0


@party.command()
@_CONFIG
@click.option("--waiting", is_flag=True, help="Only those that wait for consent.")
@_JSON
def jobs(config: Path, waiting: bool, as_json: bool) -> int:
    """List the jobs this party knows, with the date of each proposal, the newest last."""
    with Operator(config) as operator:
        listed = operator.jobs()
        if waiting:
            listed = [job for job in listed if job.state == pb.WAITING]
        listed.sort(key=lambda job: job.proposed)
        entries = [
            {
                "job": job.job_id,
                "name": job.name,
                "kind": job.kind,
                "coordinator": job.coordinator,
                "state": pb.State.Name(job.state),
                "proposed": date(job.proposed),
                "since": date(job.since),
                "detail": job.detail,
                "held": job.held,
                "text": job.job_yaml,
            }
            for job in listed
        ]
        none = "no job waits for consent" if waiting else "no jobs yet"
        shown = [
            f"{e['job']}  {e['proposed'] or 'unknown':<20}  {e['state']:<9}  {e['kind']:<9}  "
            f"{e['name']} (of {e['coordinator']})" + (f": {e['detail']}" if e["detail"] else "")
            for e in entries
        ]
        _print(as_json, {"jobs": entries}, "\n".join(shown) or none)
    return 0


@party.command()
@click.argument("job")
@_CONFIG
@click.option("--full", is_flag=True, help="Also list whatever a job of this kind may tell.")
@click.option("--output", is_flag=True, help="Also show what this party would release now.")
@_JSON
def show(job: str, config: Path, full: bool, output: bool, as_json: bool) -> int:
    """Explain a job in plain words: who asks, with whom, what leaves, what others learn.

    JOB is its id, the beginning of it, or its name; of several jobs of one name the newest.
    """
    with Operator(config) as operator:
        job_id = operator.newest(job)
        answer = operator.call(lambda stub: stub.Explain(pb.JobRef(job_id=job_id), timeout=SECONDS))
        facts = json.loads(answer.json)
        if output and "output" not in (facts["held"] or {}):
            raise UsageError(f"the job '{job}' does not wait for a word on its output")
        shown = lines(facts, full, output)
        text = "\n".join(" " * (len(line) - len(line.lstrip())) + one_line(line) for line in shown)
        _print(as_json, facts, text)
    return 0


@party.command()
@_CONFIG
@click.option("--job", help="Only this job: its id, the beginning of it, or its name.")
@_JSON
def history(config: Path, job: str | None, as_json: bool) -> int:
    """List what jobs have told about this party's people, as this party remembers it.

    The numbers of people, the attributes that were counted and the groups that were released; never a
    value. `policy.repeat` judges new jobs by it.
    """
    entries = History(load_party(config).state).entries()
    if job is not None:
        entries = [one for one in entries if job == one.name or one.job.startswith(job)]
    shown = [one.shown() for one in entries]
    lines = [
        f"{e['job']}  {e['time']}  {e['kind']:<9}  {e['people']:>9,} people  {e['name']} (of "
        f"{e['coordinator']}): {', '.join(e['counted']) or 'nothing counted'}"
        + "".join(f"; {n:,} groups by {qid}" for qid, n in e["groups"].items())
        for e in shown
    ]
    _print(as_json, {"jobs": shown}, "\n".join(map(one_line, lines)) or "no jobs yet")
    return 0


@party.command()
@_CONFIG
@_JSON
def models(config: Path, as_json: bool) -> int:
    """List the models that this party keeps a part of, by which later jobs may classify people.

    Who had each made, by which job and when, with whom, and which of this party's columns it looks
    at; never a value or a number of it.
    """
    folder = ModelFolder(load_party(config).state)
    shown: list[dict[str, Any]] = []
    rows: list[str] = []
    for name in folder.names():
        try:
            entry = folder.entry(name)
        except DataError as error:
            shown.append({"name": name, "unreadable": str(error)})
            rows.append(f"{name}  {error}")
            continue
        if entry is None:  # it was pruned meanwhile
            continue
        e = entry.shown()
        shown.append(e)
        rows.append(
            f"{name}  {e['kind']:<8}  {e['kept']}  of {e['coordinator']}, job {e['job']}, with "
            f"{', '.join(e['parties'])}: {', '.join(e['own_columns']) or 'no column of yours'}"
        )
    _print(as_json, {"models": shown}, "\n".join(map(one_line, rows)) or "no models yet")
    return 0


@party.command()
@_CONFIG
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@_JSON
def prune(config: Path, dry_run: bool, as_json: bool) -> int:
    """Remove what is older than `retention` in the party file permits.

    A running server does it, which also does so every hour; without one the command does.
    """
    with Operator(config) as operator:
        try:
            answer = operator.call(
                lambda stub: (stub.WouldPrune if dry_run else stub.Prune)(
                    pb.PruneRequest(), timeout=_PRUNING
                )
            )
            found = json.loads(answer.json)
        except UnreachableError:
            alone = would_prune_unserved if dry_run else prune_unserved
            found = alone(operator.config)
        _print(as_json, found, told(found, done=not dry_run))
    return 0


@party.command()
@click.argument("file", metavar="BACKUP.tar", type=click.Path(path_type=Path))
@_CONFIG
@_JSON
def backup(file: Path, config: Path, as_json: bool) -> int:
    """Copy the state folder into a tar file, also while the server serves."""
    loaded = load_party(config)
    count = back_up(loaded.state, loaded.name, file)
    facts = {"file": str(file), "files": count}
    _print(as_json, facts, f"{file}: {count} files of {loaded.state}; keep it as safe as these")
    return 0


@party.command("restore")
@click.argument("file", metavar="BACKUP.tar", type=click.Path(path_type=Path))
@_CONFIG
@_JSON
def restore_state(file: Path, config: Path, as_json: bool) -> int:
    """Make the state folder, which must be empty or missing, from a backup.

    Start the server afterwards. Jobs that ran when the backup was made have failed.
    """
    loaded = load_party(config)
    date = restore(file, loaded.name, loaded.state)
    facts = {"state": str(loaded.state), "backup": date}
    _print(as_json, facts, f"{loaded.state}: restored as of {date}")
    return 0


@party.command()
@_CONFIG
@_JSON
def health(config: Path, as_json: bool) -> int:
    """Ask this party's server whether it serves: exit code 0 if it does."""
    with Operator(config) as operator:
        stub = health_pb2_grpc.HealthStub(operator.channel)
        request = health_pb2.HealthCheckRequest(service="coterie.v1.Jobs")
        answer = operator.call(lambda _: stub.Check(request, timeout=SECONDS))
        serving = answer.status == health_pb2.HealthCheckResponse.SERVING
        state = "serving" if serving else "not serving"
        if not serving:
            raise UnreachableError(f"{operator.config.name}: {state}")
        _print(as_json, {"party": operator.config.name, "state": state}, f"{state}")
    return 0


@party.command()
@_CONFIG
@click.option(
    "--against",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A result folder, or a peer's audit log, with heads of this log; repeatable.",
)
@_JSON
def audit(config: Path, sources: tuple[Path, ...], as_json: bool) -> int:
    """Check this party's audit log: its hash chain, and the heads that were kept elsewhere.

    The head file is always compared, and the ledger and the journal with the heads that the log has
    for them. An emptied, shortened or rewritten file ends with exit code 8; a line that a crash tore
    does not.
    """
    loaded = load_party(config)
    path = loaded.state / "audit.log"
    anchors = [head for source in sources for head in heads_of(loaded.name, source)]
    found = verify(path, loaded.audit_head, anchors)
    text = f"{path}: {found.entries} entries, unbroken"
    if found.begins:
        text += f"; the first {found.begins} were removed as older than the party keeps them"
    if found.unknown:
        text += f"; {found.unknown} heads kept elsewhere may be of these"
    if anchors:
        text += f"; {found.anchors} heads kept elsewhere are in it"
    if found.books:
        are = "are" if len(found.books) > 1 else "is"
        text += f"; the {' and the '.join(found.books)} {are} as it says"
    if found.mended or found.torn:
        text += f"; {found.mended + found.torn} lines were torn by crashes"
    facts = {"file": str(path), **asdict(found)}
    _print(as_json, facts, text)
    return 0


@party.group(invoke_without_command=True)
@click.option("--config", type=click.Path(path_type=Path), help="The server's party file.")
@_JSON
@click.pass_context
def ledger(context: click.Context, config: Path | None, as_json: bool) -> int:
    """Show what this party and its partners have contributed, and what is spent of its budgets."""
    if context.invoked_subcommand is not None:
        return 0
    if config is None:
        raise click.UsageError("Missing option '--config'.")
    loaded = load_party(config)
    book = Ledger(loaded.state, loaded.name)
    facts = book.as_json() | {"budgets": budget_facts(loaded)}
    _print(as_json, facts, "\n".join([*book.table(), *budget_lines(loaded)]))
    return 0


@ledger.command()
@click.argument("partner")
@_CONFIG
@click.option("--job", help="Only what stems from this job: its id, or the beginning of it.")
@_JSON
def forgive(partner: str, config: Path, job: str | None, as_json: bool) -> int:
    """Forgive PARTNER what it took in jobs that did not finish, and proposals it rejected.

    What a partner owes from jobs that finished stays: it is the balance of both contributions.
    """
    loaded = load_party(config)
    book = Ledger(loaded.state, loaded.name)
    if partner not in book.balances():
        raise UsageError(f"{book.path}: no job with '{partner}' yet")
    forgiven = book.forgive(partner, job) / SCALE
    _print(
        as_json,
        {"partner": partner, "forgiven": forgiven},
        f"forgiven: {forgiven:.6f} that {partner} owed",
    )
    return 0


def _print(as_json: bool, facts: dict[str, Any], text: str) -> None:
    click.echo(json.dumps(facts) if as_json else text)
