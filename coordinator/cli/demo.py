"""`coterie demo`: its arguments and its output.

The work of the command is in other modules, which are imported when the command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from coterie.base.errors import UsageError
from coterie.base.options import JSON, print_result
from coterie.coordinator.cli.options import LIVE


@click.command()
@click.option(
    "--out",
    default=Path("demo-out"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for everything; an earlier demo there is replaced.",
)
@click.option("--people", default=5000, show_default=True, help="Size of the population.")
@click.option("--seed", default=7, show_default=True, help="Another seed gives other people.")
@click.option("--kind", help="Kind of job: intersect or integrate.")
@click.option("--prepare-only", is_flag=True, help="Write the files; start nothing.")
@click.option(
    "--layout",
    default="local",
    show_default=True,
    type=click.Choice(["local", "compose"]),
    help="Addresses and folders as on this machine or as in docker-compose.yml.",
)
@LIVE
@JSON
def demo(
    out: Path,
    people: int,
    seed: int,
    kind: str | None,
    prepare_only: bool,
    layout: str,
    live: bool,
    as_json: bool,
) -> None:
    """Three organisations on this machine, from data to release.

    Generates a population for a loan case, starts a lender's, a bank's and a card company's server
    on the loopback interface over mTLS, runs doctor and one job among them, and stops them.
    """
    from coterie.coordinator.demo import demo as work
    from coterie.coordinator.demo.summary_page import PAGE
    from coterie.coordinator.run.interrupts import Interrupts
    from coterie.jobs.results.folder import summary

    def tell(text: str) -> None:
        if not as_json:
            click.echo(text, err=True)

    if layout == "compose" and not prepare_only:
        raise UsageError("--layout compose writes files for containers; add --prepare-only")
    place = work.Setting.compose() if layout == "compose" else work.Setting.local()
    work.prepare(out, people, seed, kind or work.default_kind(), place)
    tell(f"{people:,} people, three organisations and an analyst are in {out}\n")
    if prepare_only:
        if as_json:
            click.echo(
                json.dumps({"out": str(out), "people": people, "parties": list(work.PARTIES)})
            )
        return
    with Interrupts() as interrupts:
        job, result = work.play(out, tell, not as_json, interrupts.check, live)
    tell("")
    print_result(result, as_json, lambda: summary(job, result, out / "result"))
    if job.kind == "integrate":
        tell(f"\nthe finding, on one page for everybody: {out / PAGE}")
    if job.kind == "intersect":
        tell(f"each organisation's list of common records stays with it, in {out}/NAME/state")
