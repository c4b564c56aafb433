"""`coterie doctor`: its arguments and its output.

The work of the command is in other modules, which are imported when the command runs, so that
`coterie --help` is quick.
"""

from __future__ import annotations

from pathlib import Path

import click

from coterie.base.options import JSON
from coterie.coordinator.cli.options import IDENTITY, JOB


@click.command()
@JOB
@IDENTITY
@JSON
def doctor(job: Path, identity: Path, as_json: bool) -> int:
    """Check everything that JOB needs before it starts, one line per check.

    Your job file and certificate; each party's name resolution, port, TLS and certificate, clock,
    version; and whether its policy permits the job and its data fits it. Nothing is started.
    """
    from coterie.base.checks import show
    from coterie.coordinator.run.doctor import examine

    return show(examine(job, identity), as_json, width=12)
