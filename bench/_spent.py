"""What a piece of work costs: seconds on the clock, seconds of the processor, bytes sent.

`Meter` measures at one party, `combined` makes one figure of all parties': the seconds of the
slowest, and the processor seconds and bytes of all together.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wrappers import Metered

Spent = dict[str, float]


class Meter:
    """Measures what one party spends between moments at which all parties are ready."""

    def __init__(self, channel: Channel) -> None:
        self.wire = Metered(channel._transport)
        self.channel = Channel(self.wire, channel.session)

    def together(self) -> None:
        """Returns when every party has come here."""
        with self.channel.step("together"):
            self.channel.broadcast(0)
            self.channel.gather()

    def measure(self, work: Callable[[], Any], check: Any = None, repeat: int = 1) -> Any:
        """The result of the last repetition, and the least that a repetition spent."""
        found: list[Spent] = []
        for _ in range(repeat):
            self.together()
            sent, used, start = self.wire.total.sent_bytes, time.process_time(), time.perf_counter()
            result = work()
            sent = self.wire.total.sent_bytes - sent
            self.together()
            seconds, used = time.perf_counter() - start, time.process_time() - used
            found.append({"seconds": seconds, "cpu_seconds": used, "sent_bytes": sent})
            if check is not None and not check(result):
                raise RuntimeError("a wrong result")
        return result, least(found)

    def report(self, found: Any, spent: Spent) -> dict[str, Any]:
        """What a party tells a benchmark: what it found, and what that cost it."""
        rounds = self.wire.total.rounds
        return {**spent, "rounds": rounds, "found": found, "peak_mb": peak_megabytes()}


def least(found: Sequence[Spent]) -> Spent:
    """The least of several repetitions: other work on the machine only ever adds."""
    return {key: min(spent[key] for spent in found) for key in found[0]}


def combined(parties: Iterable[Spent]) -> Spent:
    """The seconds of the slowest party; what all parties together used and sent."""
    all_ = list(parties)
    return {
        "seconds": max(spent["seconds"] for spent in all_),
        "cpu_seconds": sum(spent["cpu_seconds"] for spent in all_),
        "sent_bytes": sum(spent["sent_bytes"] for spent in all_),
    }


def added(parts: Iterable[Spent]) -> Spent:
    """The cost of parts that were done one after the other."""
    found = list(parts)
    return {key: sum(part[key] for part in found) for key in found[0]}


def processor_seconds(process: int) -> float:
    """Seconds of the processor that a process has used so far; Linux only."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rounded(value: Any) -> Any:
    """Four digits of every float."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def found_of(runs: Sequence[Any]) -> Any:
    """What the parties of a benchmark found, which is the same at all; an error if one failed."""
    for run in runs:
        if isinstance(run, str):
            raise SystemExit(run)
    return runs[0]["found"]


def totals(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a question cost all parties together, and the peak memory of the largest."""
    spent = combined(runs)
    return {
        "seconds": spent["seconds"],
        "cpu_seconds": spent["cpu_seconds"],
        "megabytes": spent["sent_bytes"] / 1e6,
        "rounds": max(run["rounds"] for run in runs),
        "peak_mb": max(run["peak_mb"] for run in runs),
    }


def beside(runs: Sequence[dict[str, Any]], peer: tuple[Any, Spent] | None) -> dict[str, Any]:
    """As `totals`, and what a peer with all records in one place took."""
    told: dict[str, Any] = {**totals(runs), "peer": None}
    if peer is not None:
        told["peer"] = {key: peer[1][key] for key in ("seconds", "cpu_seconds")}
    return told


def peak_megabytes() -> int:
    """The most memory that this process has had so far; Linux only."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) >> 10
