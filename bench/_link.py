"""A slow link between the parties of a benchmark: `coterie bench --link 100mbit,20ms NAME`.

The rate is that of a token bucket of Linux on the loopback device of a network namespace of the
benchmark's own (`tc … tbf`), where the system permits one; else the bench's proxy keeps it. The delay, each
way, comes from that proxy, since not every kernel has netem: parties connect to it in place of each other.
All parties and both directions share the rate. With a proxy in a namespace every byte passes the device
twice, so that the bucket has twice the rate. The coordinator sits beside the parties, without a delay.

    run_within(text, command)       runs the command again under the link; its exit code
    current()                       the link of this process; None on bare loopback
    with through(ports) as seen:    what to connect to in place of these ports
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError

_VARIABLE = "COTERIE_BENCH_LINK"
_PIECE, _PIECES = 1 << 16, 64  # bytes that are read at a time, and pieces that wait in a proxy
_UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


@dataclass(frozen=True)
class Link:
    """`rate` in bits a second, `delay` in seconds each way; `bucket`: the system keeps the rate."""

    text: str
    rate: float
    delay: float
    bucket: bool

    def __str__(self) -> str:
        kept = "a token bucket in a namespace" if self.bucket else "a proxy of the bench"
        delay = f", {self.delay * 1000:g} ms each way by a proxy" if self.delay else ""
        return f"{self.text.partition(',')[0]} in all by {kept}{delay}"


def parsed(text: str, bucket: bool = False) -> Link:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(kbit|mbit|gbit)(?:,(\d+(?:\.\d+)?)ms)?", text)
    if not found or not float(found[1]):
        raise UsageError(f"--link must be as 100mbit or 100mbit,20ms, not '{text}'")
    return Link(text, float(found[1]) * _UNITS[found[2]], float(found[3] or 0) / 1000, bucket)


def current() -> Link | None:
    """The link under which this process runs."""
    text, _, bucket = os.environ.get(_VARIABLE, "").partition(" ")
    return parsed(text, bucket == "bucket") if text else None


def run_within(text: str, command: Sequence[str]) -> int:
    """Runs a command under a link."""
    link = parsed(text)
    rate = int(link.rate) * (2 if link.delay else 1)
    prepare = f"ip link set lo up && tc qdisc add dev lo root tbf rate {rate}bit burst 256kb latency 400ms"
    shell = ["unshare", "-r", "-n", "sh", "-c"]
    try:
        tried = subprocess.run([*shell, prepare], capture_output=True, timeout=20, check=False)
        bucket = tried.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        bucket = False
    environment = {**os.environ, _VARIABLE: f"{text} {'bucket' if bucket else 'proxy'}"}
    if bucket:
        command = [*shell, f'{prepare} && exec "$@"', "sh", *command]
    return subprocess.run(command, env=environment, check=False).returncode


def with_link(path: Path, name: str, link: Link, result: dict[str, Any]) -> dict[str, Any]:
    """The saved results on links, with this one in place of an earlier one of its name and link."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"results": []}
    others = [e for e in kept["results"] if (e["name"], e["link"]) != (name, link.text)]
    entry = {"name": name, "link": link.text, **result}
    return {"measured": result["measured"], "results": [*others, entry]}


@contextlib.contextmanager
def through(ports: Sequence[int]) -> Iterator[list[int]]:
    """For each port of this machine the one at which it is reached over the link."""
    link = current()
    if link is None or (link.bucket and not link.delay):
        yield list(ports)
        return
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(ports, link, theirs)
    )
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _serve(ports: Sequence[int], link: Link, out: Any) -> None:
    asyncio.run(_proxies(ports, link, out))


async def _proxies(ports: Sequence[int], link: Link, out: Any) -> None:
    pace = _Pace(link)
    servers = [
        await asyncio.start_server(_joined(port, pace), "127.0.0.1", 0, limit=_PIECE)
        for port in ports
    ]
    out.send([server.sockets[0].getsockname()[1] for server in servers])
    await asyncio.gather(*(server.serve_forever() for server in servers))


class _Pace:
    """When a piece arrives that is sent now."""

    def __init__(self, link: Link) -> None:
        self._seconds = 0.0 if link.bucket else 8 / link.rate
        self._delay, self._free = link.delay, 0.0

    def arrival(self, size: int, now: float) -> float:
        self._free = max(self._free, now) + size * self._seconds
        return self._free + self._delay


def _joined(port: int, pace: _Pace) -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port, limit=_PIECE)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_carried(reader, far_writer, pace), _carried(far_reader, writer, pace))

    return serve


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pace: _Pace) -> None:
    """Passes on what is read, each piece when it is due; at most so many wait."""
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_PIECES)
    clock = asyncio.get_running_loop().time

    async def take() -> None:
        data = b"-"
        while data:
            try:
                data = await reader.read(_PIECE)
            except OSError:
                data = b""
            await waiting.put((pace.arrival(len(data), clock()), data))

    taking = asyncio.create_task(take())
    with contextlib.suppress(OSError):
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(max(0.0, due - clock()))
            if not data:
                break
            writer.write(data)
            await writer.drain()
        writer.close()
    taking.cancel()
