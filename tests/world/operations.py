"""What people do in a world, as its script says.

{"do": "run" | "detach", "job": n, "by": coordinator, "parties": [...], "at"}
{"do": "attach" | "fetch", "job": n, "by", "at"}     of a job that was begun
{"do": "approve" | "deny" | "cancel" | "prune" | "list", "party", "at"}
{"do": "restart", "party", "at"}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coterie.coordinator.run.client import PartyClient
from coterie.protos import jobs_pb2 as pb
from tests.world.model import World

Step = dict[str, Any]
_OPEN = (pb.WAITING, pb.ACCEPTED, pb.QUEUED, pb.RUNNING, pb.FAILED)


def _begin(world: World, step: Step) -> None:
    out = world.root / step["by"] / f"out-{step['job']}"
    if not any(command.job == step["job"] for command in world.commands):
        world.command(step["do"], step["job"], tuple(step["parties"]), out, step["by"])


def _again(world: World, step: Step) -> None:
    before = [command for command in world.commands if command.job == step["job"]]
    if before and all(command.over for command in before):
        first = before[0]
        world.command(step["do"], first.job, first.parties, first.out, first.process.name)


def _cancel(world: World, step: Step) -> None:
    def do(client: PartyClient) -> None:
        for job in client.jobs():
            if job.state in _OPEN:
                client.cancel(job.job_id, "the operator says so", 5.0)

    world.operate(step["party"], do)


def _prune(world: World, step: Step) -> None:
    def do(client: PartyClient) -> None:
        with client._named("prune", 5.0):
            client._jobs.Prune(pb.PruneRequest(), timeout=5.0)

    world.operate(step["party"], do)


OPERATIONS: dict[str, Callable[[World, Step], None]] = {
    "run": _begin,
    "detach": _begin,
    "attach": _again,
    "fetch": _again,
    "cancel": _cancel,
    "prune": _prune,
    "approve": lambda world, step: world.approve_all(step["party"]),
    "deny": lambda world, step: world.approve_all(step["party"], yes=False),
    "list": lambda world, step: world.operate(step["party"], lambda client: client.jobs() and None),
    "restart": lambda world, step: world.restart(step["party"]),
}
