"""Options and output functions that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from coterie.base.errors import UsageError

JOB = click.argument("job", type=click.Path(path_type=Path))
LIVE = click.option(
    "--live", is_flag=True, help="Serve a page that shows the job and becomes its report."
)
HEARTBEAT = click.option(
    "--heartbeat",
    default=20.0,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Seconds of silence after which a party counts as lost.",
)
IDENTITY = click.option(
    "--identity",
    required=True,
    envvar="COTERIE_IDENTITY",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="Folder with your NAME.crt, NAME.key and ca.crt.",
)


def check_spreadsheet(wanted: bool, kind: str, whole: bool = True) -> None:
    """Refuses `--spreadsheet` where no table is released; `whole`: the command leaves a result."""
    from coterie.jobs.kinds.registry import KINDS

    if wanted and not (whole and "release.csv" in KINDS[kind].leaves):
        raise UsageError(
            "--spreadsheet copies a released table, and this command leaves none"
            if not whole
            else f"--spreadsheet copies a released table, and a job of kind '{kind}' has none"
        )


def warn(warnings: Iterable[str]) -> None:
    """Prints warnings to the error stream, so that the output of `--json` stays JSON."""
    for text in warnings:
        click.echo(f"warning: {text}", err=True)
