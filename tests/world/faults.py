"""What goes wrong in a world, as its script says.

A fault is a plain entry of a script. Some come at a moment (`at`), others at a place: before or
after the n-th call of a method at a party, or at a party's n-th write from then on.

    {"fault": "kill" | "power", "party", "at"}           the process ends; the machine loses its power
    {"fault": "kill" | "power", "party", "call", "when": "before" | "after", "nth"}
    {"fault": "kill" | "power", "party", "write": n}     in the middle of a write
    {"fault": "full", "party", "at" | "write", "for"}    the disk takes only parts of what is written
    {"fault": "part", "pair": [a, b], "at", "for"}       nothing passes between two processes
    {"fault": "slow", "pair": [a, b], "at", "for", "by"} messages take up to so many seconds longer
    {"fault": "lose" | "twice" | "deaf" | "cut" | "older", "party", "call", "nth"}

`lose`: a request does not arrive. `deaf`: its answer does not. `twice`: it arrives two times. `cut`:
the connection of a stream breaks at its n-th message. `older`: the n-th stream to a peer carries the
frames of a party that speaks the wire of the version before, as they were recorded from it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coterie.transport.frames import split
from tests.world.calls import CallError, Code
from tests.world.tasks import Process, Scheduler

RECORDED = Path(__file__).with_name("frames_of_wire_2.json")
PLACED = ("kill", "power")


class Faults:
    """The faults of one script that wait for a place, or are at work."""

    def __init__(self, world: Scheduler) -> None:
        self._world = world
        self._waiting: list[dict[str, Any]] = []
        self._seen: Counter[tuple[str, str]] = Counter()  # calls of a method at a party
        self._older: dict[Any, list[bytes]] = {}
        self.happened: list[str] = []
        self.die: Callable[[str, bool], None] = lambda party, power: None
        self.fill: Callable[[str, float], None] = lambda party, seconds: None

    def expect(self, faults: Sequence[dict[str, Any]]) -> None:
        self._waiting += [fault for fault in faults if "call" in fault or "write" in fault]

    def forget(self) -> None:
        """The rest of the world's time is undisturbed."""
        self._waiting.clear()

    def _due(self, kinds: Sequence[str], **facts: Any) -> dict[str, Any] | None:
        for fault in self._waiting:
            if fault["fault"] in kinds and all(fault.get(k) == v for k, v in facts.items()):
                self._waiting.remove(fault)
                self.note(fault)
                return fault
        return None

    def note(self, fault: dict[str, Any]) -> None:
        self.happened.append(f"{self._world.now:8.3f}  {json.dumps(fault)}")

    # The network asks.

    def at_call(self, call: Any) -> int:
        """How often a request arrives."""
        self._seen[call.party, call.method] += 1
        if not self._waiting:
            return 1
        nth = self._seen[call.party, call.method]
        found = self._due(("lose", "twice"), party=call.party, call=call.method, nth=nth)
        if found is None:
            return 1
        if found["fault"] == "twice":
            return 2
        call.cut("lost")
        return 0

    def at_handler(self, process: Process, call: Any, when: str) -> None:
        if not self._waiting:
            return
        party, nth = process.name, self._seen[process.name, call.method]
        found = self._due(PLACED, party=party, call=call.method, when=when, nth=nth)
        if found is not None:
            self.die(party, found["fault"] == "power")
        if when == "after" and self._due(("deaf",), party=party, call=call.method, nth=nth):
            call.cut("the answer was lost")

    def in_passing(self, call: Any, message: bytes) -> bytes:
        """A message of a stream as it arrives."""
        if call in self._older:
            return self._as_before(call, message)
        if not self._waiting:
            return message
        if self._due(("cut",), party=call.party, call=call.method, nth=call.sent):
            call.end(CallError(Code.UNAVAILABLE, "Socket closed"))
        if call.method == "Collect" and call.sent == 1:
            nth = self._seen[call.party, "Collect"]
            if self._due(("older",), party=call.party, call="Collect", nth=nth):
                self._older[call] = [
                    bytes.fromhex(frame) for frame in json.loads(RECORDED.read_text())
                ]
        return message

    def _as_before(self, call: Any, message: bytes) -> bytes:
        """The recorded frame in the place of a message; heartbeats and farewells are as they were."""
        chunk, fields = split(message)
        recorded = self._older[call]
        if not chunk or not recorded:
            return message
        old, header = split(recorded.pop(0))
        header.session = fields.session or header.session
        header.chunk = bytes(old)
        return bytes(header.SerializeToString())

    # The disks ask.

    def on_write(self, machine: str, number: int) -> str:
        """How the process dies in the middle of this write; empty if it does not."""
        for fault in self._waiting:
            if fault.get("party") == machine and "write" in fault:
                self._waiting.remove(fault)
                if fault["write"] <= 1:
                    self.note(fault)
                    if fault["fault"] != "full":
                        return str(fault["fault"])
                    self.fill(machine, fault["for"])
                    return ""
                self._waiting.append(fault | {"write": fault["write"] - 1})
                break
        return ""
