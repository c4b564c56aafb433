"""`coterie run`, `jobs`, `attach`, `watch` and `fetch`: their arguments and their output.

The work of the commands is in other modules, which are imported when a command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from coterie.base.errors import UsageError
from coterie.base.options import FORCE, JSON, OUT, SPREADSHEET, print_result
from coterie.coordinator.cli.options import HEARTBEAT, IDENTITY, JOB, LIVE, check_spreadsheet, warn


@click.command()
@JOB
@OUT
@IDENTITY
@click.option(
    "--consent-timeout",
    default=3600.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds to wait for operators who must approve.",
)
@HEARTBEAT
@click.option(
    "--detach",
    is_flag=True,
    help="Propose and start the job, and return; 'coterie attach' follows it.",
)
@LIVE
@SPREADSHEET
@FORCE
@JSON
def run(
    job: Path,
    out: Path,
    identity: Path,
    consent_timeout: float,
    heartbeat: float,
    detach: bool,
    live: bool,
    spreadsheet: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Run JOB at its party servers and collect what they release.

    Proposes the job to every party, waits for consent where a party asks its operator, starts it
    everywhere, and shows each party's progress. On the first failure, and on Ctrl-C, the job is
    cancelled at all parties.
    """
    from coterie.coordinator.run import live_page
    from coterie.coordinator.run.follower import Patience
    from coterie.coordinator.run.interrupts import Interrupts
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.run.run_job import detach_job, run_job
    from coterie.jobs.kinds.job_file import load_job
    from coterie.jobs.results.folder import result_folder, summary
    from coterie.jobs.results.report import REPORT
    from coterie.trust.identity import find_identity

    parsed = load_job(job)
    check_spreadsheet(spreadsheet, parsed.kind, not detach)
    warn(parsed.warnings)
    who = find_identity(identity)
    patience = Patience(consent=consent_timeout, heartbeat=heartbeat)
    if live and detach:
        raise UsageError("--live shows a job that is followed; leave out --detach, or use 'watch'")
    board = Board(parsed.party_names, show=not as_json)
    with (
        live_page.live(
            live, board, parsed.name, parsed.kind, out / REPORT, heartbeat
        ) as with_button,
        result_folder(out, force, spreadsheet),
        Interrupts() as interrupts,
        board,
    ):
        check = with_button(interrupts.check)
        if detach:
            job_id, states = detach_job(parsed, out, who, board, patience, check)
        else:
            result = run_job(parsed, out, who, board, patience, check)
    if detach:
        told = {"job": job_id, "digest": parsed.digest, "parties": states, "out": str(out)}
        print_result(told, as_json, lambda: detached_lines(parsed.name, job_id, states))
        return
    print_result(result, as_json, lambda: summary(parsed, result, out))


def detached_lines(name: str, job_id: str, states: Mapping[str, str]) -> list[str]:
    """What a person wants to know of a job that was left to itself."""
    return [
        f"{name}: job {job_id} begins when all its parties have agreed and have a place for it",
        *(f"  {party}: {state}" for party, state in states.items()),
        f"'coterie attach {job_id[:8]}' follows it and collects the result",
    ]


@click.command()
@IDENTITY
@HEARTBEAT
@click.argument("job")
@LIVE
@SPREADSHEET
@JSON
def attach(
    identity: Path, heartbeat: float, job: str, live: bool, spreadsheet: bool, as_json: bool
) -> None:
    """Follow a job that was proposed before, and collect its result.

    JOB is its id, the beginning of it, its name, or the folder of its result. Ctrl-C ends this
    command and not the job.
    """
    from coterie.coordinator.run import live_page
    from coterie.coordinator.run.collect import read_note
    from coterie.coordinator.run.follower import Patience
    from coterie.coordinator.run.interrupts import Interrupts
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.run.run_job import attach_job
    from coterie.coordinator.run.runs import folder_of
    from coterie.jobs.results.folder import continued_folder, summary
    from coterie.jobs.results.report import REPORT
    from coterie.trust.identity import find_identity

    folder = folder_of(job)
    parsed, _, _ = read_note(folder)
    check_spreadsheet(spreadsheet, parsed.kind)
    board = Board(parsed.party_names, show=not as_json)
    with (
        live_page.live(
            live, board, parsed.name, parsed.kind, folder / REPORT, heartbeat
        ) as with_button,
        continued_folder(folder, spreadsheet),
        Interrupts() as interrupts,
        board,
    ):
        result = attach_job(
            folder,
            find_identity(identity),
            board,
            Patience(heartbeat=heartbeat),
            with_button(interrupts.check),
        )
    print_result(result, as_json, lambda: summary(parsed, result, folder))


@click.command()
@IDENTITY
@HEARTBEAT
@click.option(
    "--server",
    metavar="NAME=HOST:PORT",
    help="As the operator of this party: ask only its own server.",
)
@click.option("--terminal", is_flag=True, help="Serve no page.")
@click.argument("job")
@JSON
def watch(
    identity: Path, heartbeat: float, server: str | None, terminal: bool, job: str, as_json: bool
) -> None:
    """Show a job on a live page, next to the command that runs it.

    JOB is its id, the beginning of it, its name, or the folder of its result. Ctrl-C ends this
    command and not the job; the button of the page cancels the job. The result is collected by the
    command that runs the job, or by 'coterie attach'.
    """
    from coterie.coordinator.run import live_page
    from coterie.coordinator.run.follower import Patience
    from coterie.coordinator.run.interrupts import Interrupts
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.run.watch import known_here, known_there, watch_job
    from coterie.jobs.results.report import REPORT
    from coterie.trust.identity import find_identity

    who = find_identity(identity)
    target = known_there(job, server, who) if server else known_here(job)
    report = target.out / REPORT if target.out is not None else None
    board = Board(list(target.addresses), show=not as_json)
    with (
        live_page.live(
            not terminal, board, target.name, target.kind, report, heartbeat
        ) as with_button,
        Interrupts() as interrupts,
        board,
    ):
        patience = Patience(heartbeat=heartbeat)
        watch_job(target, who, board, patience, with_button(interrupts.check), report)
    told = {"job": target.job_id, "name": target.name, "state": "finished"}
    print_result(told, as_json, lambda: [f"{target.name}: finished (job {target.job_id})"])


@click.command()
@click.option(
    "--open", "only_open", is_flag=True, help="Only jobs whose result can still be collected."
)
@JSON
def jobs(only_open: bool, as_json: bool) -> None:
    """List the jobs that were proposed from here, the newest last.

    A job is open while its result can still be collected, by 'coterie attach' or 'coterie fetch'.
    """
    from dataclasses import asdict

    from coterie.coordinator.run.runs import known_runs

    found = [run for run in known_runs() if run.state == "open" or not only_open]
    told = {"jobs": [{**asdict(run), "state": run.state} for run in found]}
    print_result(
        told,
        as_json,
        lambda: (
            [
                f"{run.job}  {run.date}  {run.state:<9}  {run.kind:<9}  {run.name} "
                f"(with {', '.join(run.parties)}): {run.out}"
                for run in found
            ]
            or ["no jobs yet"]
        ),
    )


@click.command()
@click.argument("job")
@IDENTITY
@click.option(
    "--wait",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0),
    help="Seconds for a party that does not answer, or has not finished.",
)
@SPREADSHEET
@JSON
def fetch(job: str, identity: Path, wait: float, spreadsheet: bool, as_json: bool) -> None:
    """Collect the result of a run that lost its coordinator or a party after the start.

    JOB is its id, the beginning of it, its name, or the run's --out. The result is the one that the
    run would have left.
    """
    from coterie.coordinator.run.collect import fetch_later
    from coterie.coordinator.run.runs import folder_of
    from coterie.jobs.results.folder import continued_folder, summary
    from coterie.trust.identity import find_identity

    folder = folder_of(job)
    with continued_folder(folder, spreadsheet):
        parsed, result = fetch_later(folder, find_identity(identity), wait)
    print_result(result, as_json, lambda: summary(parsed, result, folder))
