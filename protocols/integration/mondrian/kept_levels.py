"""A level as it is kept, and as a later attempt follows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.protocols.integration.mondrian.joint_run import JointRun, Level
from coterie.protocols.integration.mondrian.level_messages import read_settled
from coterie.protocols.integration.mondrian.winners import Winner
from coterie.protocols.messaging.wire import Value

LEVEL = "level"


def keep(run: JointRun, level: Level, whole: bytes) -> None:
    """`whole` is the digest of what the level has told."""
    names = list(run.plan.names)
    groups = [
        [*group, names.index(winner.party), int(group in level.refused)]
        for group, winner in level.winners.items()
    ]
    table = np.array(groups, np.int64).reshape(-1, 4)
    told: list[Value] = [level.instructed.get(name, 0) for name in names]
    settled: list[Value] = [level.settled[name] for name in names]
    flags: list[Value] = [int(level.present[name]) for name in names]
    run.channel.keep(LEVEL, [settled, flags, table, told], whole)


def followed(run: JointRun, kept: Any) -> Level:
    """A level of an earlier attempt, after the settled regions of the others."""
    settled, flags, table, told = kept
    names = run.plan.names
    for name, regions in zip(names, settled, strict=True):
        if name != run.channel.me:
            read_settled(run.channel, run.shared, name, regions)
    return Level(
        settled=dict(zip(names, settled, strict=True)),
        present={name: bool(flag) for name, flag in zip(names, flags, strict=True)},
        winners={(n, at): Winner(names[place], None) for n, at, place, _ in table.tolist()},
        refused={(n, at) for n, at, _, flag in table.tolist() if flag},
        instructed={
            name: value
            for name, value in zip(names, told, strict=True)
            if not isinstance(value, int)
        },
    )
