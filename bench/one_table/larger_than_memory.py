"""`coterie inspect` and `coterie anonymise` of a table that the memory given does not hold.

A random table of eight columns is written as Parquet, piece by piece; each command runs as a process
of its own with `--memory`, so that its peak is its own. What counts is anonymous memory, which the
process has asked for (`RssAnon`), looked at every few milliseconds; pages of mapped files, which the
system takes back when it needs the room, are reported beside it. The peak includes the interpreter, its
libraries and compiled loops, which `--memory` does not count: `started_megabytes` is the peak of the
same command on a table of a thousand rows.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SIZES = (2, 5, 7, 16, 40, 73, 1000, 20_000)  # values of the columns at most
_PIECE = 1 << 20
_PAUSE = 0.005  # seconds between two looks at a process


def written(rows: int, path: Path) -> None:
    """Numbers of different kinds: few values, many, skewed."""
    rng = np.random.default_rng(1)
    names = [f"c{j}" for j in range(len(SIZES))]
    schema = pa.schema([(name, pa.int32()) for name in names])
    with pq.ParquetWriter(path, schema) as out:
        for start in range(0, rows, _PIECE):
            number = min(_PIECE, rows - start)
            columns = [
                np.minimum(rng.geometric(min(3 / size, 0.6), number) - 1, size - 1)
                for size in SIZES
            ]
            out.write_table(pa.table([pa.array(c, pa.int32()) for c in columns], schema=schema))


def _looked_at(process: int, peaks: dict[str, int]) -> None:
    """Raises the peaks to what the process has now, in kilobytes."""
    try:
        told = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return  # it has ended
    for key in ("RssAnon", "RssFile"):
        if match := re.search(rf"{key}:\s*(\d+) kB", told):
            peaks[key] = max(peaks.get(key, 0), int(match[1]))


def spent(arguments: list[str]) -> dict[str, Any]:
    """Seconds, processor seconds and the peak of memory of one command."""
    before, begun = os.times(), time.perf_counter()
    peaks: dict[str, int] = {}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "coterie", *arguments], stdout=subprocess.DEVNULL, stderr=errors
        ) as running,
    ):
        while running.poll() is None:
            _looked_at(running.pid, peaks)
            time.sleep(_PAUSE)
        errors.seek(0)
        told = errors.read()
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    mega = {key: round(kilobytes * 1024 / 1e6) for key, kilobytes in peaks.items()}
    found = {
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_seconds": round(used, 1),
        "peak_megabytes": mega.get("RssAnon"),
        "mapped_megabytes": mega.get("RssFile"),
    }
    return found if not running.returncode else {**found, "error": told.strip()[:200]}


def larger_than_memory(rows: int, megabytes: int, k: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rows": rows,
        "columns": len(SIZES),
        "memory_megabytes": megabytes,
    }
    memory = ["--memory", f"{megabytes}MB"]
    small, large = (_commands(number, memory, k) for number in (1000, rows))
    for name, started in small.items():
        found[name] = {**large[name], "started_megabytes": started["peak_megabytes"]}
    return found


def _commands(rows: int, memory: list[str], k: int) -> dict[str, dict[str, Any]]:
    """What each command takes for a table of so many rows."""
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as place:
        table, file = Path(place, "table.parquet"), Path(place, "table.yaml")
        written(rows, table)
        names = [f"c{j}" for j in range(len(SIZES))]
        lines = ["data: table.parquet", "method: mondrian", "attributes:"]
        lines += [f"  {name}: {{}}" for name in names]
        lines += ["requirement:", f"  - {{qid: [{', '.join(names)}], k: {k}}}", ""]
        file.write_text("\n".join(lines), encoding="utf-8")
        return {
            "inspect": spent(["inspect", str(table), *memory]),
            "mondrian": spent(["anonymise", str(file), "--out", str(Path(place, "out")), *memory]),
        }
