"""MPyC beside Coterie: its parties as processes of a benchmark's own file, as its launcher does."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from coterie.base.errors import EnvironmentFaultError
from coterie.bench._spent import Spent, combined, least
from coterie.coordinator.demo.ports import free_ports

_COUNT = "COTERIE_BENCH_MPYC"
PATIENCE = 120  # seconds: ten of its parties on two cores take longer than a quarter of an hour


def run(module: str, parties: int, count: int) -> dict[str, Spent] | None:
    """What every measurement of `python -m module` cost the parties; None where it takes too long."""
    if importlib.util.find_spec("mpyc") is None:
        raise EnvironmentFaultError("MPyC is measured beside Coterie: pip install 'coterie[bench]'")
    addresses = [f"-P127.0.0.1:{port}" for port in free_ports(parties)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", module, *addresses, f"-I{i}", "--no-log"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, _COUNT: str(count)},
            text=True,
        )
        for i in range(parties)
    ]
    printed = []
    try:
        until = time.monotonic() + PATIENCE
        for process in processes:
            output, errors = process.communicate(timeout=max(until - time.monotonic(), 60))
            if process.returncode:
                raise RuntimeError(f"MPyC failed: {errors[-500:]}")
            printed.append(json.loads(output.strip().splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return None
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return {name: combined(each[name] for each in printed) for name in printed[0]}


def asked() -> int | None:
    """The number of instances to compute, in a process that `run` started."""
    return int(os.environ[_COUNT]) if _COUNT in os.environ else None


def tell(found: dict[str, Spent]) -> None:
    """At each of MPyC's parties: what its measurements cost, for `run`."""
    print(json.dumps(found), flush=True)


async def measure(mpc: Any, work: Callable[[], Any], repeat: int) -> tuple[Any, Spent]:
    """At one of MPyC's parties: the result of awaiting `work()`, and the least that was spent."""
    found = []
    for _ in range(repeat):
        await mpc.transfer(b"")
        sent, used, start = _sent(mpc), time.process_time(), time.perf_counter()
        result = await work()
        found.append(
            {
                "seconds": time.perf_counter() - start,
                "cpu_seconds": time.process_time() - used,
                "sent_bytes": _sent(mpc) - sent,
            }
        )
    return result, least(found)


def _sent(mpc: Any) -> int:
    return sum(peer.protocol.nbytes_sent for peer in mpc.parties if peer.pid != mpc.pid)
