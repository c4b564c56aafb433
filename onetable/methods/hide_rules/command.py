"""`coterie hide-rules`: its arguments and its output."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.base.options import FORCE, JSON, OUT, SPREADSHEET, TABLE, print_result


@click.command("hide-rules")
@TABLE
@OUT
@SPREADSHEET
@FORCE
@JSON
def hide_rules(table: Path, out: Path, spreadsheet: bool, force: bool, as_json: bool) -> None:
    """Make a release of a table in which given association rules are not found.

    TABLE is a file with 'method: hide-rules', the thresholds of a search for rules, and the rules
    to hide.
    """
    from coterie.onetable.methods.hide_rules.keys import load_hide_file
    from coterie.onetable.methods.hide_rules.run import hide_file
    from coterie.onetable.methods.results import write_release

    hidden = hide_file(load_hide_file(table))
    write_release(hidden, out, force, spreadsheet)
    print_result(hidden.result, as_json, lambda: hidden.lines(out))
