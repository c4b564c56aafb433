"""`coterie party …`: the server of one organisation, and what its operator asks of it."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

import click

from coterie.base.checks import show as show_checks
from coterie.base.errors import INTERRUPTED, UsageError
from coterie.base.memory import give_back
from coterie.base.text import one_line
from coterie.party.config import load_party
from coterie.party.desk.connection import SECONDS, Operator
from coterie.party.desk.desk import Desk
from coterie.party.job_record import OUTPUT, REPEAT
from coterie.party.operator.check import examine
from coterie.party.operator.options import CONFIG, IDENTITY, JSON, PERSON, print_result
from coterie.party.server import PartyServer
from coterie.party.steward.explain import date, lines
from coterie.protos import jobs_pb2 as pb
from coterie.transport.spool import keep_memory_together

_TIDYING = 1.0  # seconds between looks for jobs that have ended


def brief(record: logging.LogRecord) -> bool:
    """Shortens gRPC's tracebacks, such as those of malformed requests, to one line of the log."""
    if record.name.startswith("grpc") and record.exc_info:
        kind = record.exc_info[0]
        text = f"{record.getMessage()}: {kind.__name__ if kind else 'unknown'}"
        record.msg, record.args, record.exc_info = one_line(f"gRPC: {text}"), None, None
    return True


def _tidy(server: PartyServer, stopping: threading.Event) -> None:
    """Gives the system back what ended jobs have used, until the server is to stop.

    The allocators would keep most of it, and arrays that refer to each other would wait for a
    collection that a server with many modules hardly ever begins. What was there at the start stays
    and is not looked at again, so that neither a collection nor the end takes time.
    """
    gc.collect()
    gc.freeze()
    tidied = seen = server.ended_jobs
    while not stopping.wait(_TIDYING):
        if seen != tidied:  # a job ended before the last pause; by now its thread has, too
            tidied = seen
            gc.collect()
            give_back()
        seen = server.ended_jobs


@click.command()
@click.argument("file", metavar="PARTY.yaml", type=click.Path(path_type=Path))
@JSON
def serve(file: Path, as_json: bool) -> int:
    """Serve until SIGTERM or Ctrl-C, which end running jobs and inform the peers.

    A changed party file or certificate is loaded within seconds, or at once on SIGHUP.
    The exit code is 0 after SIGTERM and 130 after Ctrl-C.
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
            print_result(
                as_json,
                {"party": config.name, "listen": f"{host}:{server.port}", "pid": os.getpid()},
                f"{config.name} listens on {host}:{server.port}",
            )
            _tidy(server, stopping)
        finally:
            server.stop()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return INTERRUPTED if caught[0] == signal.SIGINT else 0


@click.command()
@click.argument("file", metavar="PARTY.yaml", type=click.Path(path_type=Path))
@JSON
def check(file: Path, as_json: bool) -> int:
    """Check a party file before serving it, one line per check.

    Looks at the certificate, the state folder, the columns that the policy names, rules that
    contradict each other, and the peers' servers. A peer that does not answer is a warning.
    """
    return show_checks(examine(file), as_json)


@click.command()
@click.argument("file", metavar="PARTY.yaml", type=click.Path(path_type=Path))
@click.option(
    "--server",
    metavar="HOST:PORT",
    help="Address of the server, if it is not the `listen` of the party file.",
)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port of the page.")
@IDENTITY
@PERSON
@JSON
def desk(
    file: Path, server: str | None, port: int, identity: Path | None, person: str, as_json: bool
) -> int:
    """Serve the steward's page on this machine, until Ctrl-C.

    The page explains the jobs that wait for consent, to approve or refuse, and shows running jobs,
    partners and what they owe, the audit log and the server's health. The link works once.
    """
    with (
        Operator(file, server, identity) as operator,
        Desk(operator, operator.person or person, port) as page,
    ):
        stopping = threading.Event()
        previous = signal.signal(signal.SIGTERM, lambda *_: stopping.set())
        try:
            print_result(as_json, {"link": page.link}, f"desk: {page.link}")
            while not stopping.wait(0.2):
                pass
        finally:
            signal.signal(signal.SIGTERM, previous)
    return 0


@click.command()
@click.argument("job")
@CONFIG
@click.option("--no", "refuse", is_flag=True, help="Refuse the job.")
@click.option("--reason", default="", help="The reason that the coordinator gets.")
@click.option(
    "--repeat",
    "about",
    flag_value=REPEAT,
    help="Approve what a running job reveals together with earlier jobs.",
)
@click.option(
    "--output",
    "about",
    flag_value=OUTPUT,
    help="Approve the output of a running job ('show --output' shows it).",
)
@IDENTITY
@PERSON
@JSON
def approve(
    job: str,
    config: Path,
    refuse: bool,
    reason: str,
    about: str | None,
    identity: Path | None,
    person: str,
    as_json: bool,
) -> int:
    """Approve (or with --no refuse) a job that waits for consent. JOB is its id, or its name."""
    with Operator(config, identity=identity) as operator:
        if about is None:
            job_id = operator.job_in((pb.WAITING,), job, "waits for consent")
        else:
            job_id = operator.job_in((pb.RUNNING,), job, "runs")
        request = pb.Approval(
            job_id=job_id, yes=not refuse, reason=reason, person=person, about=about or ""
        )
        decision = operator.call(lambda stub: stub.Approve(request, timeout=SECONDS))
        state = pb.State.Name(decision.state)
        print_result(as_json, {"job": job_id, "state": state}, f"{job_id} {state.lower()}")
    return 0


@click.command()
@click.argument("job")
@CONFIG
@click.option("--reason", default="", help="The reason that the coordinator and the peers get.")
@IDENTITY
@PERSON
@JSON
def cancel(
    job: str, config: Path, reason: str, identity: Path | None, person: str, as_json: bool
) -> int:
    """End a job, whether it runs already or not. JOB is its id, or its name."""
    with Operator(config, identity=identity) as operator:
        going_on = (pb.WAITING, pb.ACCEPTED, pb.QUEUED, pb.RUNNING)
        job_id = operator.job_in(going_on, job, "goes on")
        request = pb.Cancellation(job_id=job_id, reason=reason, person=person)
        operator.call(lambda stub: stub.Cancel(request, timeout=SECONDS))
        print_result(as_json, {"job": job_id, "state": "CANCELLED"}, f"{job_id} cancelled")
    return 0


@click.command()
@CONFIG
@click.option("--waiting", is_flag=True, help="Only jobs that wait for consent.")
@JSON
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
        print_result(as_json, {"jobs": entries}, "\n".join(shown) or none)
    return 0


@click.command()
@click.argument("job")
@CONFIG
@click.option(
    "--full", is_flag=True, help="Also list everything that a job of this kind may reveal."
)
@click.option("--output", is_flag=True, help="Also show what this party would release now.")
@JSON
def show(job: str, config: Path, full: bool, output: bool, as_json: bool) -> int:
    """Explain a job in plain words: who asks, with whom, what leaves, what others learn.

    JOB is its id, the beginning of its id, or its name; if several jobs have the name, the newest.
    """
    with Operator(config) as operator:
        job_id = operator.newest(job)
        answer = operator.call(lambda stub: stub.Explain(pb.JobRef(job_id=job_id), timeout=SECONDS))
        facts = json.loads(answer.json)
        if output and "output" not in (facts["held"] or {}):
            raise UsageError(f"the job '{job}' does not wait for a word on its output")
        shown = lines(facts, full, output)
        text = "\n".join(" " * (len(line) - len(line.lstrip())) + one_line(line) for line in shown)
        print_result(as_json, facts, text)
    return 0
