"""`coterie verify`: its arguments and its output.

The work of the command is in other modules, which are imported when the command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

from pathlib import Path

import click

from coterie.base.errors import VerificationError
from coterie.base.options import JSON, print_result


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The table that a one-table release was made from; its measures are then checked, too.",
)
@JSON
def verify(folder: Path, data: Path | None, as_json: bool) -> int:
    """Check that a result satisfies what its job promises.

    The first line is the verdict, "holds: ..." or "violated: ...", and the exit code says the same.
    """
    from coterie.coordinator.results.verify import lines
    from coterie.coordinator.results.verify import verify as work

    try:
        result = work(folder, data)
    except VerificationError as error:
        verdict = f"violated: {error}"
        told = {"verdict": verdict, "error": str(error), "exit_code": error.exit_code}
        print_result(told, as_json, lambda: [verdict])
        return error.exit_code
    print_result(result, as_json, lambda: lines(result))
    return 0
