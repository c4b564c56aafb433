"""Options and output that commands of several rooms share."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

TABLE = click.argument("table", type=click.Path(path_type=Path))
OUT = click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the result."
)
FORCE = click.option("--force", is_flag=True, help="Replace an earlier result in that folder.")
SPREADSHEET = click.option(
    "--spreadsheet",
    is_flag=True,
    help="Also write release.spreadsheet.csv, in which no cell runs as a formula.",
)
JSON = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, also for an error."
)


def names_of(text: str | None) -> list[str]:
    """Names of columns, separated by commas; one with a comma stands in quotation marks."""
    return [name.strip() for name in next(csv.reader([text]), [])] if text else []


def print_result(value: Any, as_json: bool, lines: Callable[[], list[str]]) -> None:
    click.echo(json.dumps(value) if as_json else "\n".join(lines()))
