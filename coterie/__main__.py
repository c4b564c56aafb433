"""The `coterie` command, whose subcommands are imported when they are used.

All errors end here: a `CoterieError` becomes one line and its exit code; any other exception is a
defect, which also becomes one line, with the traceback only when COTERIE_DEBUG is set.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from coterie import __version__
from coterie.base.errors import (
    INTERNAL,
    INTERRUPTED,
    CoterieError,
    EnvironmentFaultError,
    UsageError,
)
from coterie.base.lazy_commands import LazyCommands
from coterie.base.text import one_line

# The commands in the order in which `coterie --help` lists them: the place of each and its short
# help, so that the list can be shown without importing the commands.
COMMANDS = {
    "demo": (
        "coterie.coordinator.cli.demo:demo",
        "Three organisations on this machine, from data to release.",
    ),
    "init": (
        "coterie.onetable.commands.init:init",
        "Write a first table, job or party file from the data at hand.",
    ),
    "simulate": (
        "coterie.coordinator.cli.simulate:simulate",
        "Run a job with every party in this process.",
    ),
    "run": ("coterie.coordinator.cli.run:run", "Run a job at its party servers."),
    "jobs": ("coterie.coordinator.cli.run:jobs", "List the jobs that were proposed from here."),
    "attach": (
        "coterie.coordinator.cli.run:attach",
        "Follow a job that was proposed before.",
    ),
    "watch": ("coterie.coordinator.cli.run:watch", "Show a running job on a live page."),
    "fetch": (
        "coterie.coordinator.cli.run:fetch",
        "Collect the result of an interrupted run.",
    ),
    "doctor": (
        "coterie.coordinator.cli.doctor:doctor",
        "Check everything a job needs before it starts.",
    ),
    "verify": (
        "coterie.coordinator.cli.verify:verify",
        "Check that a result satisfies what its job promises.",
    ),
    "inspect": (
        "coterie.onetable.commands.tables:inspect",
        "Show which columns of a table identify people.",
    ),
    "advise": (
        "coterie.onetable.commands.tables:advise",
        "Propose the requirement for a table or a job.",
    ),
    "anonymise": (
        "coterie.onetable.commands.tables:anonymise",
        "Make an anonymous release of one table.",
    ),
    "condense": (
        "coterie.onetable.methods.condense.command:condense",
        "Keep sums of a stream of records, and release synthetic ones.",
    ),
    "perturb": (
        "coterie.onetable.methods.perturb.command:perturb",
        "Add noise to a table, and measure what it really hides.",
    ),
    "reconstruct": (
        "coterie.onetable.methods.perturb.command:reconstruct",
        "Estimate distributions before noise was added.",
    ),
    "hide-rules": (
        "coterie.onetable.methods.hide_rules.command:hide_rules",
        "Make a table in which given rules are not found.",
    ),
    "attack": (
        "coterie.onetable.commands.tables:attack",
        "Link a release with a table of known people.",
    ),
    "taxonomy": (
        "coterie.onetable.commands.tables:taxonomy",
        "Draw a taxonomy, or build one from a column.",
    ),
    "certs": ("coterie.coordinator.cli.certs:certs", "Make and check certificates for mTLS."),
    "party": ("coterie.party.cli:party", "Serve one organisation; its operator's commands."),
    "relay": ("coterie.relay.cli:relay", "Carry connections of parties that open no port."),
    "bench": ("coterie.tools:bench", "Run a benchmark."),
    "experiment": (
        "coterie.tools:experiment",
        "Reproduce one of the papers' tables or figures.",
    ),
}


@click.group(
    cls=LazyCommands, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="coterie %(version)s")
def cli() -> None:
    """Organisations compute on a joined table that none of them ever sees."""


def run(arguments: Sequence[str]) -> int:
    """Runs one command, reports its error to the user, and returns its exit code."""
    as_json = "--json" in arguments
    try:
        code = cli.main(args=list(arguments), prog_name="coterie", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return UsageError.exit_code
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        hint = f" (see '{where} --help')" if where else ""
        return report_error(UsageError(one_line(error.format_message(), None) + hint), as_json)
    except (click.Abort, KeyboardInterrupt):
        return _report({"error": "interrupted", "exit_code": INTERRUPTED}, as_json)
    except CoterieError as error:
        return report_error(error, as_json)
    except BrokenPipeError:
        # The reader of the output went away; Python must not complain while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        return report_error(EnvironmentFaultError("this machine has not enough memory"), as_json)
    except OSError as error:
        _debug()
        place = f"{error.filename}: " if error.filename else ""
        return report_error(EnvironmentFaultError(f"{place}{error.strerror or error}"), as_json)
    except Exception as error:
        _debug()
        text = f"internal: {type(error).__name__}: {one_line(str(error), None)}"
        hint = "" if _debugging() else " (a defect of Coterie; COTERIE_DEBUG=1 shows where)"
        return _report({"error": text + hint, "exit_code": INTERNAL}, as_json)
    return code if isinstance(code, int) else 0


def report_error(error: CoterieError, as_json: bool) -> int:
    """Prints an error that is meant for a person, and returns its exit code."""
    _debug()
    report: dict[str, Any] = {"error": one_line(str(error), None), "exit_code": error.exit_code}
    if peer := getattr(error, "peer", None):
        report |= {"party": peer, "step": getattr(error, "step", "")}
    return _report(report, as_json)


def _report(report: dict[str, Any], as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps(report))
    else:
        click.echo(f"error: {report['error']}", err=True)
    return int(report["exit_code"])


def _debugging() -> bool:
    return os.environ.get("COTERIE_DEBUG", "") not in ("", "0")


def _debug() -> None:
    if _debugging():
        traceback.print_exc()


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
