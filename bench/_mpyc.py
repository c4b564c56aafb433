"""MPyC beside Coterie: its parties as processes of a benchmark's own file, as its launcher does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from coterie.coordinator.demo.ports import free_ports

_COUNT = "COTERIE_BENCH_MPYC"
PATIENCE = 900  # seconds


def run(module: str, parties: int, count: int) -> dict[str, Any] | None:
    """What the first party of `python -m module` prints; None where it takes too long."""
    addresses = [f"-P127.0.0.1:{port}" for port in free_ports(parties)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", module, *addresses, f"-I{i}", "--no-log"],
            stdout=subprocess.PIPE if i == 0 else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, _COUNT: str(count)},
            text=True,
        )
        for i in range(parties)
    ]
    try:
        output, errors = processes[0].communicate(timeout=PATIENCE)
        for process in processes[1:]:
            process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        for process in processes:
            process.kill()
            process.communicate()
        return None
    if processes[0].returncode:
        raise RuntimeError(f"MPyC failed: {errors[-500:]}")
    return dict(json.loads(output.strip().splitlines()[-1]))


def asked() -> int | None:
    """In a process that `run` started: how many instances the party computes."""
    return int(os.environ[_COUNT]) if _COUNT in os.environ else None
