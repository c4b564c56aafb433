"""What people do in a world, as its script says.

{"do": "run" | "detach", "job": n, "by": coordinator, "parties": [...], "recipients": [...], "at"}
{"do": "attach" | "fetch", "job": n, "by", "at"}     of a job that was begun
{"do": "approve" | "deny" | "cancel" | "prune" | "list", "party", "at"}
{"do": "restart", "party", "at"}
{"do": "reload", "party", "change": "memory" | "certificate" | "coordinators" | "broken", "at"}
{"do": "clock", "party", "by": seconds, "at"}        somebody sets the clock of a machine
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
        recipients = tuple(step.get("recipients", ()))
        world.command(step["do"], step["job"], tuple(step["parties"]), out, step["by"], recipients)


def _again(world: World, step: Step) -> None:
    before = [command for command in world.commands if command.job == step["job"]]
    if before and all(command.over for command in before):
        first = before[0]
        world.command(
            step["do"], first.job, first.parties, first.out, first.process.name, first.recipients
        )


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


def _reload(world: World, step: Step) -> None:
    world.files.change(step["party"], step["change"])
    if world.reload(step["party"]) and step["change"] == "broken":
        world.files.refused.add(step["party"])


def _clock(world: World, step: Step) -> None:
    clocks = world.time.clocks
    clocks[step["party"]] = clocks.get(step["party"], 0.0) + step["by"]


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
    "reload": _reload,
    "clock": _clock,
}
