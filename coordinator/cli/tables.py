"""The commands for one organisation's own table: arguments and output only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from coterie.base.errors import UsageError


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


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="A table to build from.")
@click.option("--column", help="The column of that table.")
@click.option("--prefix", metavar="3,1", help="Beginnings of these lengths: postal codes.")
@click.option("--dates", is_flag=True, help="Month, year, decade of dates.")
@click.option("--equal", metavar="5,10,20", help="Numbers in bands of these widths.")
@click.option("--quantile", metavar="8,4,2", help="Numbers in so many bands of equal size.")
@click.option("--cuts", metavar="18,30,65/18,65", help="Numbers between cuts, finest level first.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the taxonomy to this file.")
def taxonomy(
    file: Path | None, data: Path | None, column: str | None, out: Path | None, **ways: Any
) -> None:
    """Draw the taxonomy FILE, or build one from a column of a table and draw or write it.

    The files are leaf-to-root paths, one a line, separated by `;`: hierarchies of ARX fit.
    """
    from coterie.house.taxonomies import as_csv, build, drawn, load

    chosen = {name: value for name, value in ways.items() if value}
    if file is not None:
        if data or column or chosen or out:
            raise UsageError("FILE is drawn as it is; to build one, leave FILE out")
        click.echo("\n".join(drawn(load(file))))
        return
    if data is None or column is None or len(chosen) != 1:
        raise UsageError(
            "name a FILE to draw, or --data, --column and one of --prefix, --dates, --equal, "
            "--quantile, --cuts"
        )
    (way, detail), *_ = chosen.items()
    paths = build(data, column, way, str(detail))
    if out is None:
        from coterie.anonymity.table.taxonomy import taxonomy_of

        click.echo("\n".join(drawn(taxonomy_of(paths))))
        return
    out.write_text(as_csv(paths), encoding="utf-8")
    click.echo(f"{len(paths):,} values: {out}")
