"""The gate between a party's data and a release, which remembers what earlier jobs have revealed.

A party's server puts its gate into the workspace of a run; a simulation has none. `run_party` and
`line_up` show the gate which of the party's rows a job is about, and a kind that releases records in
groups shows the groups. The gate compares both with earlier jobs about the same people and writes
them down, and only then may anything leave. It refuses by a `RefusedError`, whose text is the same
whatever the party remembers.

That a party goes on or refuses is seen by all others. The opening is declared here: refusals about
numbers of people depend on which people were asked about, which every party of those jobs knows, and
never on an answer; those about groups depend on the groups, which every party of the job knows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Protocol

from coterie.base.arrays import Codes, Rows
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import COORDINATOR, declare

JUDGED = declare(
    "job: judged by earlier jobs",
    what="Whether the party goes on after it has compared the common people, and the groups of a release, with what earlier jobs told about the same people; by its policy's `repeat` or its steward.",
    to="every party and the coordinator",
    why="Several jobs together may tell about few people what none of them tells alone.",
)

APPROVED = declare(
    "job: output approved",
    what="Whether the party's steward, who has looked at what the party would release, lets it go out; under `output: ask` in its policy.",
    to="every party and the coordinator",
    why="The steward has the last word on what leaves the organisation, as far as the rounds have not told it.",
)


class Gate(Protocol):
    """What the gate of a party's server does; each may raise `RefusedError`."""

    judges: bool  # whether earlier jobs may be a reason to refuse
    asks: bool  # whether a steward looks at the output

    def people(self, rows: Rows | None) -> None:
        """The job is about these rows, counted without those that `missing: drop` leaves out; None: all."""

    def groups(self, rows: Rows, groups: Mapping[str, Codes]) -> None:
        """The group of each released row, for each list of attributes that others may know."""

    def output(self, result: Mapping[str, object]) -> None:
        """What this party would release: the result, and the files in `released`."""

    def check_shown(self) -> None:
        """Raises if the run was to show people or groups, and has not."""


def show_people(gate: Gate | None, channel: Channel, rows: Rows | None) -> None:
    """Passes the rows of the party's table that the job is about, before anything about them leaves."""
    if gate is not None:
        with _judged(gate, channel):
            gate.people(rows)


def show_groups(
    gate: Gate | None, channel: Channel, rows: Rows, groups: Mapping[str, Codes]
) -> None:
    """Passes the groups of a release, after the search and before the party's columns leave."""
    if gate is not None:
        with _judged(gate, channel):
            gate.groups(rows, groups)


@contextlib.contextmanager
def _judged(gate: Gate, channel: Channel) -> Iterator[None]:
    """Everybody sees whether the party goes on, or refuses."""
    try:
        yield
    finally:
        if gate.judges:
            channel.open(JUDGED, None)
            channel.open(JUDGED, None, to=COORDINATOR)


def show_output(gate: Gate | None, channel: Channel, result: Mapping[str, object]) -> None:
    """Passes what the party would release, before it goes out; checks that all else was shown."""
    if gate is None:
        return
    gate.check_shown()
    try:
        gate.output(result)
    finally:
        if gate.asks:
            channel.open(APPROVED, None)
            channel.open(APPROVED, None, to=COORDINATOR)
