"""Options and the output function that the operator's commands share."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import click

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
CONFIG = click.option(
    "--config",
    type=click.Path(path_type=Path),
    required=True,
    help="The server's party file.",
)

PERSON = click.option(
    "--by",
    "person",
    envvar="COTERIE_OPERATOR",
    show_envvar=True,
    default=getpass.getuser,
    help="Your name, for the audit log; your login name by default.",
)


IDENTITY = click.option(
    "--identity",
    type=click.Path(path_type=Path),
    envvar="COTERIE_OPERATOR_IDENTITY",
    show_envvar=True,
    help="Folder with your own NAME.crt, NAME.key and ca.crt; needed if the party file lists operators.",
)


def print_result(as_json: bool, facts: dict[str, Any], text: str) -> None:
    """Prints the facts as JSON, or the text for a person."""
    click.echo(json.dumps(facts) if as_json else text)
