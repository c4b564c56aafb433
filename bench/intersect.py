"""Private set intersection beside openmined-psi and SecretFlow's spu, in one run.

Coterie runs as it does for its users: party servers as processes of this machine, a job proposed to
them over mTLS, CSV files read, common.csv written; the clock runs from the proposal to the end. The
servers have run small jobs before, as servers in use have. `cpu_seconds` is the processor time of
all parties together, the steadier figure on a busy machine. The peers run as bench/peers/psi.py
describes: two processes, CSV files read and written, no TLS.

    coterie bench intersect [--quick] [--sizes 10000,100000] [--peers PYTHON] [--chart docs/intersect.svg]

`--peers` is the interpreter of an environment with openmined-psi and spu, if this one does not have
them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coterie.bench._link import current, through
from coterie.bench._spent import processor_seconds
from coterie.coordinator.demo.ports import free_ports
from coterie.jobs.run.party_run import SUMMARY

TOOLS = ("openmined", "spu-ecdh", "spu-kkrt", "spu-rr22")
BY_GROUPS = ("openmined", "spu-ecdh")  # a minute and more for a million, as the ring
ANALYST = "analyst"
UNITS = {"seconds": "seconds", "cpu_seconds": "seconds of a processor, both parties together"}
_MODULES = {
    "openmined": "private_set_intersection",
    "spu-ecdh": "spu",
    "spu-kkrt": "spu",
    "spu-rr22": "spu",
}


class Houses:
    """Party servers on this machine, with data files that are rewritten between jobs."""

    def __init__(self, folder: Path, parties: int, memory: str | None) -> None:
        from coterie.trust.certificates import create_authority, issue
        from coterie.trust.identity import find_identity

        self.folder = folder
        self.names = [f"p{i}" for i in range(parties)]
        ports = free_ports(parties)
        self.addresses = {n: f"127.0.0.1:{p}" for n, p in zip(self.names, ports, strict=True)}
        self._link = contextlib.ExitStack()
        seen = self._link.enter_context(through(ports))
        self.seen = {n: f"127.0.0.1:{p}" for n, p in zip(self.names, seen, strict=True)}
        create_authority(folder / "authority", days=2)
        for name in (*self.names, ANALYST):
            (folder / name).mkdir()
            issue(
                folder / "authority", name, ["localhost", "127.0.0.1"], days=1, into=folder / name
            )
        self.identity = find_identity(folder / ANALYST)
        for name in self.names:
            (folder / name / "party.yaml").write_text(self._party_file(name, memory))
            (folder / name / "people.csv").write_text("ID\nnobody\n")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def _party_file(self, name: str, memory: str | None) -> str:
        others = [other for other in self.names if other != name]
        peers = "".join(f"  {o}: {{address: {self.seen[o]}}}\n" for o in others)
        budget = f"memory: {memory}\n" if memory else ""
        return (
            f"name: {name}\nlisten: {self.addresses[name]}\n"
            f"tls: {{certificate: {name}.crt, key: {name}.key, authority: ca.crt}}\n"
            f"peers:\n{peers}data: people.csv\nstate: state\n{budget}"
            f"policy:\n  coordinators: [{ANALYST}]\n  kinds: [intersect]\n"
            f"  peers: [{', '.join(others)}]\n  columns: {{id: [ID]}}\n"
            "  reveal: pairwise\n  consent: auto\n"
        )

    def start(self) -> None:
        from coterie.coordinator.run.probe import probe

        for name in self.names:
            log = (self.folder / name / "server.log").open("wb")
            command = [sys.executable, "-m", "coterie", "party", "serve"]
            self.processes[name] = subprocess.Popen(
                [*command, str(self.folder / name / "party.yaml")], stdout=log, stderr=log
            )
        for name, address in self.addresses.items():
            for _ in range(300):
                if all(c.state != "failed" for c in probe(name, address, self.identity, 5.0)):
                    break
                time.sleep(0.1)
            else:
                raise SystemExit(f"{name}: the server does not come up")

    def stop(self) -> None:
        """Ends the servers, and the link between them."""
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:  # what was to be measured has been
                process.kill()
                process.wait()
        self._link.close()

    def run(self, protocol: str, reveal: str = "intersection") -> dict[str, Any]:
        """One job on the data as it is now."""
        from coterie.coordinator.run.progress import Board
        from coterie.coordinator.run.run_job import run_job
        from coterie.jobs.kinds.job_file import parse_job

        parties = "".join(f"  {n}: {{address: {self.addresses[n]}}}\n" for n in self.names)
        job = parse_job(
            f"kind: intersect\nname: bench\nparties:\n{parties}id: ID\n"
            f"protocol: {protocol}\nreveal: {reveal}\n",
            {},
        )
        for process in self.processes.values():
            with contextlib.suppress(OSError):  # resets the peak, so that it is that of this job
                Path(f"/proc/{process.pid}/clear_refs").write_text("5")
        with tempfile.TemporaryDirectory() as out:
            spent, start = self._spent(), time.perf_counter()
            with Board(job.party_names, show=False) as board:
                result = run_job(job, Path(out), self.identity, board)
            seconds, spent = time.perf_counter() - start, self._spent() - spent
        return {
            "seconds": round(seconds, 3),
            "cpu_seconds": round(spent, 3),
            "records": result["records"],
            "peak_mb": max(map(self._peak, self.processes.values())),
            "sent_mb": round(max(p["sent_bytes"] for p in result["parties"].values()) / 1e6, 1),
            "all_mb": round(sum(p["sent_bytes"] for p in result["parties"].values()) / 1e6, 1),
            "rounds": max(map(self._rounds, self.names)),
        }

    def _rounds(self, name: str) -> int:
        """The rounds of a party's last job."""
        summaries = (self.folder / name / "state").rglob(SUMMARY)
        last = max(summaries, key=lambda path: path.stat().st_mtime)
        return int(json.loads(last.read_text())["traffic"]["rounds"])

    def _spent(self) -> float:
        """The processor seconds of all servers so far."""
        return sum(processor_seconds(process.pid) for process in self.processes.values())

    @staticmethod
    def _peak(process: subprocess.Popen[bytes]) -> int:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) // 1024
        return 0


@contextlib.contextmanager
def houses(parties: int, memory: str | None = None) -> Iterator[Houses]:
    with tempfile.TemporaryDirectory(prefix="coterie-bench-") as folder:
        running = Houses(Path(folder), parties, memory)
        try:
            running.start()
            for protocol in ("ring", "oprf"):  # loads the compiled kernels
                running.run(protocol)
            yield running
        finally:
            running.stop()


def write_sets(folders: Sequence[Path], size: int, names: Sequence[str]) -> int:
    """Writes sets half of which is common to all, in random order; returns the common number."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pacsv

    for index, (folder, name) in enumerate(zip(folders, names, strict=True)):
        own = np.arange(size) + 100_000_000_000
        own[size // 2 :] += (index + 1) * 100_000_000_000
        np.random.default_rng(index).shuffle(own)
        pacsv.write_csv(pa.table({"ID": own}), folder / name)
    return size // 2


def peer(tool: str, python: str, folder: Path) -> dict[str, Any]:
    script = Path(__file__).with_name("peers") / "psi.py"
    ports = free_ports(2)
    with through(ports) as seen:
        command = [python, str(script), tool, str(folder), *map(str, [*ports, *seen])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["ended without a word"])[-1]
        return {"error": last}
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def note(tool: str, parties: int, size: int, expected: int, figures: dict[str, Any]) -> None:
        if "error" not in figures and figures["records"] != expected:
            raise SystemExit(f"{tool}: {figures['records']} records in common, not {expected}")
        found.append({"tool": tool, "parties": parties, "size": size, **figures})
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)

    with houses(2) as two, tempfile.TemporaryDirectory(prefix="coterie-peers-") as other:
        homes = [two.folder / name for name in two.names]
        for size in options.sizes:
            expected = write_sets(homes, size, ["people.csv"] * 2)
            write_sets([Path(other)] * 2, size, ["p0.csv", "p1.csv"])
            note("coterie oprf", 2, size, expected, two.run("oprf"))
            if size <= options.ring:
                note("coterie ring", 2, size, expected, two.run("ring"))
            for tool in TOOLS:
                most = options.ring if tool in BY_GROUPS else options.longest
                if size > most or tool in options.without:
                    continue
                if current() and tool == "openmined":
                    continue  # its two sides talk through a pipe
                if options.peers == sys.executable and not importlib.util.find_spec(_MODULES[tool]):
                    note(tool, 2, size, expected, {"error": "not installed here; see --peers"})
                else:
                    note(tool, 2, size, expected, peer(tool, options.peers, Path(other)))
    for parties in options.parties:
        with houses(parties) as several:
            homes = [several.folder / name for name in several.names]
            expected = write_sets(homes, options.several, ["people.csv"] * parties)
            for label, protocol, reveal in (
                ("coterie hints, oprf", "oprf", "intersection"),
                ("coterie hints, group", "ring", "intersection"),
                ("coterie ring, pairwise", "ring", "pairwise"),
            ):
                note(label, parties, options.several, expected, several.run(protocol, reveal))
    if options.budget:
        with houses(2, options.budget) as two:
            homes = [two.folder / name for name in two.names]
            expected = write_sets(homes, options.large, ["people.csv"] * 2)
            figures = two.run("oprf")
            note(f"coterie oprf, memory {options.budget}", 2, options.large, expected, figures)
    return found


def ratios(found: list[dict[str, Any]], unit: str) -> dict[str, Any]:
    """The time of each peer as a multiple of Coterie's, by size, for two parties."""
    spent = {
        (entry["tool"], entry["size"]): entry[unit]
        for entry in found
        if entry["parties"] == 2 and unit in entry
    }
    pairs = [
        ("coterie ring", "openmined"),
        ("coterie ring", "spu-ecdh"),
        ("coterie oprf", "spu-kkrt"),
        ("coterie oprf", "spu-rr22"),
    ]
    return {
        f"{theirs} / {ours}": {
            str(size): round(spent[theirs, size] / spent[ours, size], 2)
            for _, size in sorted(key for key in spent if key[0] == theirs)
            if (ours, size) in spent
        }
        for ours, theirs in pairs
    }


def draw(found: list[dict[str, Any]], path: Path, unit: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "coterie"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    styles = {"coterie ring": "o-", "coterie oprf": "s-"}
    for tool in ("coterie ring", "coterie oprf", *TOOLS):
        points = sorted(
            (entry["size"], entry[unit])
            for entry in found
            if entry["tool"].split(",")[0] == tool and entry["parties"] == 2 and unit in entry
        )
        if points:
            axes.plot(*zip(*points, strict=True), styles.get(tool, "x--"), label=tool)
    axes.set(xscale="log", yscale="log", xlabel="elements a side", ylabel=UNITS[unit])
    axes.grid(which="major", alpha=0.4)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench intersect", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small size, no memory budget")
    numbers = lambda text: [int(float(part)) for part in text.split(",") if part]  # noqa: E731
    parser.add_argument("--sizes", type=numbers, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--parties", type=numbers, default=[3, 5])
    parser.add_argument("--several", type=int, default=100_000, help="size for more parties")
    parser.add_argument(
        "--budget", default="1GB", help="memory of each party for --large; '' skips"
    )
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument(
        "--ring", type=int, default=1_000_000, help="largest size for the ring, openmined, spu-ecdh"
    )
    parser.add_argument("--longest", type=int, default=1_000_000, help="largest size for peers")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--without", action="append", default=[], choices=TOOLS)
    parser.add_argument("--chart", type=Path)
    parser.add_argument("--unit", choices=UNITS, default="seconds", help="of the chart")
    parser.add_argument("--runs", type=Path, help="draw the output of an earlier run instead")
    options = parser.parse_args(argv)
    if options.quick:
        options.sizes, options.parties, options.several, options.budget = [10_000], [3], 2_000, ""
    found = json.loads(options.runs.read_text())["runs"] if options.runs else measure(options)
    if options.chart:
        draw(found, options.chart, options.unit)
    machine: dict[str, Any] = {"cores": os.cpu_count(), "python": platform.python_version()}
    machine["load"] = round(os.getloadavg()[0], 1)
    result = {
        "machine": machine,
        "ratios": ratios(found, "seconds"),
        "ratios_cpu": ratios(found, "cpu_seconds"),
        "runs": found,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
