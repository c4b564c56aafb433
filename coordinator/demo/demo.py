"""`coterie demo`: three organisations on this machine, from data to release.

`prepare` writes the files of the organisations and of an analyst, each in a folder of its own, so
that they also serve as an example to read. `play` starts the three servers as processes of their
own on the loopback interface, over mTLS, runs doctor and the job, and stops them.

    DIR/lender, bank, card   party.yaml, people.csv, certificate and key, state
    DIR/analyst              job.yaml, taxonomies, certificate and key
    DIR/authority            the local authority that vouches for all four
    DIR/result               what the job leaves
    DIR/summary.html         one page: what was joined, what one can learn, how safe it is
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.checks import line
from coterie.base.errors import EnvironmentFaultError, UnreachableError, UsageError
from coterie.coordinator.demo import population, summary_page
from coterie.coordinator.demo.ports import free_ports
from coterie.coordinator.results.verify import verify
from coterie.coordinator.run import live_page
from coterie.coordinator.run.doctor import examine
from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.interrupts import Check, never
from coterie.coordinator.run.probe import probe
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.results.folder import result_folder
from coterie.jobs.results.report import REPORT
from coterie.trust.certificates import create_authority, issue
from coterie.trust.identity import find_identity

PARTIES = tuple(population.COLUMNS)
ANALYST = "analyst"
MARKER = ".coterie-demo"
_FOLDERS = (*PARTIES, ANALYST, "authority", "result")
_STATE, _LOG = "state", "server.log"  # written by a server into its folder
_START_SECONDS = 120.0  # a busy machine takes half a minute
_STOP_SECONDS = 10.0
SMALLEST_K = 10


@dataclass(frozen=True)
class Setting:
    """Where the demo runs: on this machine, or in containers with /data and /state."""

    addresses: dict[str, str]
    listen: dict[str, str]
    state: str
    data_in_job: bool

    @staticmethod
    def local() -> Setting:
        ports = free_ports(len(PARTIES))
        addresses = {name: f"127.0.0.1:{port}" for name, port in zip(PARTIES, ports, strict=True)}
        return Setting(addresses, addresses, _STATE, True)

    @staticmethod
    def compose() -> Setting:
        return Setting(
            {name: f"{name}:7000" for name in PARTIES},
            dict.fromkeys(PARTIES, "0.0.0.0:7000"),
            "/state",
            False,
        )


def default_kind() -> str:
    return "integrate" if "integrate" in KINDS else "intersect"


def prepare(out: Path, people: int, seed: int, kind: str, layout: Setting) -> None:
    """Writes population, certificates, party files and the job."""
    if kind not in KINDS or kind not in _JOBS:
        known = [name for name in _JOBS if name in KINDS]
        raise UsageError(f"the demo has no job of kind '{kind}'; there are: {', '.join(known)}")
    generated = population.generate(people, seed)
    _clear(out)
    try:
        for name in (*PARTIES, ANALYST):
            (out / name).mkdir(parents=True, exist_ok=True)
        create_authority(out / "authority", days=3650)
        for name in (*PARTIES, ANALYST):
            hosts = ["localhost", "127.0.0.1"] if layout.data_in_job else []
            issue(out / "authority", name, hosts, days=90, into=out / name)
        for name in PARTIES:
            population.write_csv(out / name / "people.csv", generated.table(name))
            (out / name / "party.yaml").write_text(_party_file(name, layout), encoding="utf-8")
        taxonomies = out / ANALYST / "taxonomies"
        taxonomies.mkdir(exist_ok=True)
        for name, paths in population.taxonomies().items():
            population.write_taxonomy(taxonomies / f"{name}.csv", paths)
        text = _job_file(kind, layout)
        (out / ANALYST / "job.yaml").write_text(text, encoding="utf-8")
        (out / MARKER).write_text(json.dumps(_digests(out), indent=0))
    except OSError as error:
        raise EnvironmentFaultError(f"{error.filename or out}: {error.strerror}") from None


def _clear(out: Path) -> None:
    """Removes an earlier demo; files that a person added or changed stay, and are named."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        # In a container the four folders are mounted, empty, before anything is written.
        own = (*_FOLDERS, MARKER, summary_page.PAGE)
        strangers = [path.name for path in out.iterdir() if path.name not in own]
        written, found = _written(out), _digests(out)
        strangers += [name for name in found if name not in written]
        if strangers:
            raise UsageError(
                f"{out}: holds other files than an earlier demo's, such as '{strangers[0]}'; "
                "choose another --out"
            )
        changed = [name for name, digest in found.items() if written[name] != digest]
        if changed:
            raise UsageError(
                f"{out}: '{changed[0]}' was changed after the demo wrote it; choose another --out, "
                "or remove the folder"
            )
        for name in found:
            (out / name).unlink()
        for name in PARTIES:
            (out / name / _LOG).unlink(missing_ok=True)
            shutil.rmtree(out / name / _STATE, ignore_errors=True)
        (out / MARKER).unlink(missing_ok=True)
        (out / summary_page.PAGE).unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFaultError(f"{out}: {error.strerror}") from None


def _digests(out: Path) -> dict[str, str]:
    """The digest of every file in the demo's folders, without those of servers and of the job."""
    left = [out / name / path for name in PARTIES for path in (_STATE, _LOG)] + [out / "result"]
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name in _FOLDERS
        for path in sorted((out / name).rglob("*"))
        if path.is_file() and not any(path == place or place in path.parents for place in left)
    }


def _written(out: Path) -> dict[str, str]:
    """The digests of the files that an earlier demo wrote; none if there was no demo."""
    try:
        found = json.loads((out / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def play(
    out: Path,
    tell: Callable[[str], None],
    show: bool,
    check_interrupt: Check = never,
    live: bool = False,
) -> tuple[Job, dict[str, Any]]:
    """Starts the servers, runs doctor and the job, and stops the servers in any case."""
    identity = find_identity(out / ANALYST)
    job_path = out / ANALYST / "job.yaml"
    job = load_job(job_path)
    board = Board(job.party_names, show=show)
    with contextlib.ExitStack() as stack:
        page = live_page.live(
            live, board, job.name, job.kind, out / "result" / REPORT, Patience.heartbeat
        )
        check_interrupt = stack.enter_context(page)(check_interrupt)
        stack.enter_context(result_folder(out / "result", force=True))
        servers = stack.enter_context(_servers(out))
        for party in job.parties:
            _wait_until_up(
                party.name, party.address or "", servers[party.name], identity, out, check_interrupt
            )
            tell(f"{party.name} serves on {party.address} (process {servers[party.name].pid})")
        tell("\nbefore anything starts, `coterie doctor` looks at everything:")
        for check in examine(job_path, out / ANALYST):
            tell("  " + line(check, 6))
            check_interrupt()
        tell(f"\nthe job, {job.kind} '{job.name}':")
        with board:
            result = run_job(
                job, out / "result", identity, board, check=check_interrupt, listed=False
            )
    if (out / "result" / "release.csv").exists():
        verify(out / "result")
        tell("\n`coterie verify` finds in the release what the job promises")
    if isinstance(job, IntegrateJob):
        summary_page.write_summary(out, job, result)
    return job, result


@contextlib.contextmanager
def _servers(out: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """The servers of all organisations, which start and stop side by side."""
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in PARTIES:
            running[name] = _server(out / name)
        yield running
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _server(folder: Path) -> subprocess.Popen[bytes]:
    """One organisation's server process, in its own session, so that it does not get Ctrl-C."""
    with (folder / _LOG).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "coterie", "party", "serve", str(folder / "party.yaml")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )


def _wait_until_up(
    name: str,
    address: str,
    process: subprocess.Popen[bytes],
    identity: Any,
    out: Path,
    check_interrupt: Check,
) -> None:
    log = out / name / _LOG
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        check_interrupt()
        if process.poll() is not None:
            last = log.read_text(errors="replace").strip().splitlines() or ["said nothing"]
            raise UnreachableError(f"{name}: the server ended at once: {last[-1]} (see {log})")
        if all(check.state != "failed" for check in probe(name, address, identity, 5.0)):
            return
        time.sleep(0.1)
    raise UnreachableError(f"{name}: not up after {_START_SECONDS:g} s (see {log})")


def _party_file(name: str, layout: Setting) -> str:
    others = [other for other in PARTIES if other != name]
    columns = population.COLUMNS[name]
    used = ", ".join(columns)
    held = population.CLASS if name == population.LENDER else ""
    peers = "\n".join(f"  {other}: {{address: {layout.addresses[other]}}}" for other in others)
    return f"""\
# The server of one organisation: `coterie party serve party.yaml`. Paths are relative to this file.
name: {name}
listen: {layout.listen[name]}
tls:
  certificate: {name}.crt
  key: {name}.key
  authority: ca.crt
peers:                            # the only parties it talks to
{peers}
data: people.csv
state: {layout.state}
policy:                           # what is not listed is refused
  coordinators: [{ANALYST}]
  kinds: [intersect, integrate]
  peers: [{", ".join(others)}]
  columns:
    id: [{population.ID}]                      # what identifies a person; never leaves
    use: [{used}]
    release: [{used}]
    raw: []                       # columns that a job may release unchanged
    class: [{held}]{" " * (22 - len(held))}# what may be a job's class: partners learn it of each person
  smallest_k: {SMALLEST_K}
  consent: auto                   # manual: the operator says yes with `coterie party approve`
"""


def _parties(layout: Setting) -> str:
    lines = []
    for name in PARTIES:
        data = f", data: ../{name}/people.csv" if layout.data_in_job else ""
        lines.append(f"  {name}: {{address: {layout.addresses[name]}{data}}}")
    return "\n".join(lines)


def _job_file(kind: str, layout: Setting) -> str:
    comment = "  # `simulate` reads data, `run` calls the address" if layout.data_in_job else ""
    return f"""\
kind: {kind}
name: loan-approval
parties:{comment}
{_parties(layout)}
id: {population.ID}
{_JOBS[kind]}"""


_JOBS = {
    "intersect": "",
    "integrate": f"""\
class: {population.CLASS}                      # who falls behind with a loan; the lender has it
method: mondrian
attributes:                       # the order breaks ties
  Sex: {{party: lender, taxonomy: taxonomies/Sex.csv}}
  Age: {{party: lender, range: [20, 70]}}
  Municipality: {{party: lender, taxonomy: taxonomies/Municipality.csv}}
  Job: {{party: bank, taxonomy: taxonomies/Job.csv}}
  Salary: {{party: bank, range: [18, 121]}}
  Spending: {{party: card, range: [1, 61]}}
requirement:
  # Whoever knows all of these columns about somebody finds at least k people who have them, and at
  # most 75 % of these are behind with a loan.
  - qid: [Sex, Age, Municipality, Job, Salary, Spending]
    k: {SMALLEST_K}
    sensitive: {population.CLASS}
    confidence: {{{population.BEHIND}: 0.75}}
""",
}
