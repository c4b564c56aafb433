"""`coterie run` and `coterie fetch`: their arguments and their output.

The work of the commands is in other modules, which are imported when a command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

from pathlib import Path

import click

from coterie.coordinator.cli.options import FORCE, IDENTITY, JOB, JSON, OUT, print_result, warn


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
@click.option(
    "--heartbeat",
    default=20.0,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Seconds of silence after which a party counts as lost.",
)
@FORCE
@JSON
def run(
    job: Path,
    out: Path,
    identity: Path,
    consent_timeout: float,
    heartbeat: float,
    force: bool,
    as_json: bool,
) -> None:
    """Run JOB at its party servers and collect what they release.

    Proposes the job to every party, waits for consent where a party asks its operator, starts it
    everywhere, and shows each party's progress. On the first failure, and on Ctrl-C, the job is
    cancelled at all parties.
    """
    from coterie.coordinator.results.folder import result_folder, summary
    from coterie.coordinator.run.interrupts import Interrupts
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.run.run_job import Patience, run_job
    from coterie.jobs.kinds.job_file import load_job
    from coterie.trust.identity import find_identity

    parsed = load_job(job)
    warn(parsed.warnings)
    who = find_identity(identity)
    patience = Patience(consent=consent_timeout, heartbeat=heartbeat)
    with (
        result_folder(out, force),
        Interrupts() as interrupts,
        Board(parsed.party_names, show=not as_json) as board,
    ):
        result = run_job(parsed, out, who, board, patience, interrupts.check)
    print_result(result, as_json, lambda: summary(parsed, result, out))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@IDENTITY
@click.option(
    "--wait",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0),
    help="Seconds for a party that does not answer, or has not finished.",
)
@JSON
def fetch(folder: Path, identity: Path, wait: float, as_json: bool) -> None:
    """Collect the result of a run that lost its coordinator or a party after the start.

    FOLDER is the run's --out. The result is the one that the run would have left.
    """
    from coterie.coordinator.results.folder import continued_folder, summary
    from coterie.coordinator.run.collect import fetch_later
    from coterie.trust.identity import find_identity

    with continued_folder(folder):
        job, result = fetch_later(folder, find_identity(identity), wait)
    print_result(result, as_json, lambda: summary(job, result, folder))
