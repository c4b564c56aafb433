"""`coterie party …`: the server of one organisation, and its operator's commands.

A command is imported when it is used. A container asks every few seconds whether its server serves,
and `health` must not import all kinds of jobs for that.
"""

from __future__ import annotations

import os

import click

from coterie.base.lazy_commands import LazyCommands

# gRPC would write its own lines to the operator's terminal; failures are reported as errors.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

_SERVER = "coterie.party.operator.commands"
_STATE = "coterie.party.operator.state_commands"
_COMMANDS = {
    "serve": (f"{_SERVER}:serve", "Serve until SIGTERM or Ctrl-C."),
    "check": (f"{_SERVER}:check", "Check a party file before serving it."),
    "health": (
        "coterie.party.operator.health_command:health",
        "Ask whether this party's server is running.",
    ),
    "desk": (f"{_SERVER}:desk", "Serve the steward's page on this machine."),
    "jobs": (f"{_SERVER}:jobs", "List the jobs this party knows."),
    "show": (f"{_SERVER}:show", "Explain a job in plain words."),
    "approve": (f"{_SERVER}:approve", "Approve or refuse a job."),
    "cancel": (f"{_SERVER}:cancel", "End a job, whether it runs already or not."),
    "history": (f"{_STATE}:history", "List what earlier jobs revealed about this party's people."),
    "forget-history": (
        f"{_STATE}:forget",
        "Forget what earlier jobs revealed about this party's people.",
    ),
    "models": (f"{_STATE}:models", "List the models of which this party keeps a part."),
    "remove-model": (f"{_STATE}:remove_model", "Remove this party's part of a kept model."),
    "ledger": (f"{_STATE}:ledger", "Show what this party and its partners contributed."),
    "audit": (f"{_STATE}:audit", "Check this party's audit log."),
    "seal": (f"{_STATE}:seal", "Seal the books anew, with the key of the party file."),
    "prune": (f"{_STATE}:prune", "Remove what is older than the retention permits."),
    "backup": (f"{_STATE}:backup", "Copy the state folder into a tar file."),
    "restore": (f"{_STATE}:restore_state", "Make the state folder from a backup."),
}


@click.group(cls=LazyCommands, places=_COMMANDS)
def party() -> None:
    """The server of one organisation, and its operator's commands."""
