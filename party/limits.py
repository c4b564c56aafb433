"""The `limits` of a party file: how much a server does for whom. docs/party.md describes each."""

from __future__ import annotations

from dataclasses import dataclass

from coterie.jobs.file.document import Node


@dataclass(frozen=True)
class Limits:
    """Bounds on what others can ask of this server. The party's own operator has none."""

    unstarted: float = 86_400.0  # seconds after which a job that waits or is accepted is given up
    open_jobs: int = 64  # of one coordinator, that have not ended


def read_limits(node: Node) -> Limits:
    section = node.section()
    limits = Limits(
        unstarted=section.read("unstarted", lambda n: n.number(minimum=1), Limits.unstarted),
        open_jobs=section.read("open_jobs", lambda n: n.integer(minimum=1), Limits.open_jobs),
    )
    section.close()
    return limits
