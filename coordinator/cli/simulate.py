"""`coterie simulate`: its arguments and its output.

The work of the command is in other modules, which are imported when the command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

from pathlib import Path

import click

from coterie.base.options import FORCE, JSON, OUT, SPREADSHEET, print_result
from coterie.coordinator.cli.options import JOB, check_spreadsheet, warn


@click.command()
@JOB
@OUT
@click.option("--seed", help="The same seed gives the same messages; for tests only.")
@click.option(
    "--deviate",
    "deviations",
    multiple=True,
    metavar="PARTY=WAY",
    help="Compare with a party that deviates: never, from:N, underdeclare or overdeclare.",
)
@click.option(
    "--models",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="For kind predict: the result folder of the simulated job that kept the model.",
)
@click.option(
    "--compare",
    is_flag=True,
    help="For kind integrate: what each method would keep of these tables.",
)
@SPREADSHEET
@FORCE
@JSON
def simulate(
    job: Path,
    out: Path,
    seed: str | None,
    deviations: tuple[str, ...],
    models: Path | None,
    compare: bool,
    spreadsheet: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Run JOB with every party in this process, without network.

    Each party's table is the file that its `data` key names, relative to the job file. The result
    folder is what `coterie run` leaves, and DIR/parties/NAME has what each party would keep.
    """
    from coterie.coordinator.run.progress import Board
    from coterie.coordinator.simulate.simulation import simulate as work
    from coterie.jobs.kinds.job_file import load_job
    from coterie.jobs.results.folder import result_folder, summary

    parsed = load_job(job)
    check_spreadsheet(spreadsheet, parsed.kind, not deviations)
    warn(parsed.warnings)
    if deviations:
        from coterie.coordinator.simulate.deviation.compare import compare as work_apart
        from coterie.coordinator.simulate.deviation.compare import lines

        compared = work_apart(parsed, job.parent, out, deviations, seed, force)
        print_result(compared, as_json, lambda: lines(compared, out))
        return
    with (
        result_folder(out, force, spreadsheet),
        Board(parsed.party_names, show=not as_json) as board,
    ):
        result = work(parsed, job.parent, out, seed, board, models=models, compare=compare)
    print_result(result, as_json, lambda: summary(parsed, result, out))
