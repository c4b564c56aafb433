"""`coterie condense`: its arguments and its output."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from coterie.base.errors import UsageError
from coterie.base.options import FORCE, JSON, SPREADSHEET, TABLE, print_result


@click.command()
@TABLE
@click.option(
    "--state",
    required=True,
    type=click.Path(path_type=Path),
    help="File of the sums that are kept; made by the first run.",
)
@click.option("--follow", is_flag=True, help="Add CSV lines from standard input as they arrive.")
@click.option(
    "--every",
    default=100_000,
    show_default=True,
    type=click.IntRange(1),
    help="With --follow: write the state each time this many records were added.",
)
@click.option("--release-only", is_flag=True, help="Add nothing; make a release of the state.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for a release.")
@SPREADSHEET
@FORCE
@JSON
def condense(
    table: Path,
    state: Path,
    follow: bool,
    every: int,
    release_only: bool,
    out: Path | None,
    spreadsheet: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Condense a stream of records into sums over groups of at least k people.

    TABLE is a table file with 'method: condense'. Its data, or the lines of standard input, are
    added to the state, which has sums and no record; --out makes a release of synthetic records.
    """
    from coterie.onetable.methods.condense.stream import Stream, lines
    from coterie.onetable.methods.results import write_release

    if release_only and (follow or out is None):
        raise UsageError("--release-only needs --out and cannot be combined with --follow")
    if out is not None and not force and out.is_dir() and any(out.iterdir()):
        # Before anything is added: whoever repeats the command would add the records twice.
        raise UsageError(f"{out}: is not empty; choose another --out, or add --force")
    stream = Stream(table, state)
    if follow:
        stream.follow(sys.stdin.buffer, every)
    elif not release_only:
        stream.read()
    summary = stream.summary()
    told = lines(summary)
    if out is not None:
        release = stream.release()
        write_release(release, out, force, spreadsheet)
        summary["release"] = release.result
        told += release.lines(out)
    print_result(summary, as_json, lambda: told)
