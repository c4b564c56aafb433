"""The commands for one organisation's own table: arguments and output only."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the result."
)
@click.option("--force", is_flag=True, help="Replace an earlier result in that folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, also for an error.")
def anonymise(table: Path, out: Path, force: bool, as_json: bool) -> None:
    """Make an anonymous release of one table, as the table file TABLE says.

    Nothing is written before the release is whole and has been audited.
    """
    from coterie.coordinator.results.folder import result_folder
    from coterie.house.anonymise import anonymise_file, lines, write_result
    from coterie.house.table_file import load_table_file

    file = load_table_file(table)
    prepared, answer, result = anonymise_file(file)
    with result_folder(out, force):
        write_result(file, prepared, answer, result, out)
    click.echo(json.dumps(result) if as_json else "\n".join(lines(result, out)))
