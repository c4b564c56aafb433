"""`make soak`: real servers for a long time; what they hold, and what became of jobs, is printed.

    python -m tests.soak jobs --jobs 500       jobs of all kinds and outcomes, one after the other
    python -m tests.soak kills --minutes 30    jobs while servers are killed and started again

The first part tells what each server holds after the first ten jobs, after two jobs of every kind and
outcome, then ten more times, and at the end. The first ten are of ten kinds, and every outcome comes
twice; two of them compute to the end. The part ends with 1 if, after the last job, a server holds
more descriptors, threads or temporary files than after the first ten, or a tenth more memory. The
servers are started as anybody starts them: a fork would not count pages of libraries that it shares.
Before that, servers of their own play every kind once, so that compiled loops are on the disk: a
compiler in the process, at the first job of a kind on a machine, keeps more than all jobs. A call that is not answered within its minute, or a connection
that does not come about, because something else keeps the disk or the processor busy, is reported with
what the servers' threads wait for; its job is cancelled and played again. The part ends with 1 if that
happens more often than at every fiftieth job. The second part kills any set of the parties (SIGKILL) at
a random moment of each job, starts them again, and has a job that was interrupted go on. It ends with 1
if a job hangs, ends without naming a reason, does not go on, or finishes with another result than an
undisturbed run; if a job afterwards does not finish; or if an audit log, a ledger, a journal or a
history is broken at the end. The two parts may run apart.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc

from coterie.base.errors import CoterieError
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.run.party_run import assemble
from coterie.party.books.audit_check import verify
from coterie.protos import jobs_pb2 as pb
from tests import ROOT
from tests.party.houses import Coordinator, Houses
from tests.party.outcomes import FILES, JOBS, OUTCOMES, finished, furnish, job, play

KINDS = tuple(JOBS)
SETTLE = 3.0  # seconds for the last farewells
SPARE = {"descriptors": 2, "threads": 4, "temporary": 0}
EARLY = 10  # jobs after which the servers hold what they may hold at the end
SLOW = 50  # one job in so many may be kept waiting by something else
TRIES = 5  # of one job
BUSY = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
HANGING = 120.0  # seconds after which a job that has not ended hangs
# What is not the same in every run of a job: these columns are equally good, and pairs are drawn.
UNLIKE = ("seconds", "parties", "job", "opened")
DRAWN = {"tree": ("tree",), "bayesnet": ("edges",), "identify": ("sets",)}


def held(houses: Houses, name: str) -> dict[str, int]:
    """What the server of this name holds now."""
    process = Path("/proc") / str(houses.processes[name].pid)
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return {
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": int(status["Threads"]),
        "temporary": len(list(houses.state(name).glob("tmp*"))),
        "megabytes": int(status["VmRSS"].split()[0]) // 1000,
    }


def tell(**figures: Any) -> None:
    print(json.dumps(figures), flush=True)


def many_jobs(houses: Houses, jobs: int) -> bool:
    """Whether the servers hold after all jobs what they held after the first ones."""
    warm = 2 * len(KINDS) * len(OUTCOMES)  # code is compiled, pools have their size
    every = max(1, (jobs - warm) // 10)
    moments = {EARLY, *range(warm, jobs, every)}
    figures: dict[int, dict[str, dict[str, int]]] = {}
    player = Player(houses)
    slow: list[int] = []
    began = time.monotonic()
    for number in range(jobs + 1):
        if number in moments or number == jobs:
            time.sleep(SETTLE)
            figures[number] = {name: held(houses, name) for name in houses.names}
            tell(jobs=number, seconds=round(time.monotonic() - began), held=figures[number])
        if number < jobs:
            slow += player.play(number)
    last = figures[jobs]
    early = figures.get(EARLY, last)
    grown = [
        f"{name}: {key} {early[name][key]} -> {last[name][key]}"
        for name in last
        for key, spare in SPARE.items()
        if last[name][key] > early[name][key] + spare
    ]
    grown += [
        f"{name}: megabytes {early[name]['megabytes']} -> {last[name]['megabytes']}"
        for name in last
        if last[name]["megabytes"] > 1.1 * early[name]["megabytes"]
    ]
    tell(jobs=jobs, seconds=round(time.monotonic() - began), slow=slow, grown=grown)
    return not grown and len(slow) * SLOW <= jobs


class Player:
    """Plays jobs, also on a machine whose disk or processor keeps a server waiting for a while."""

    def __init__(self, houses: Houses) -> None:
        self._houses = houses
        self._coordinator = Noting(houses)

    def play(self, number: int) -> list[int]:
        """Plays one job; its number as often as a call was not answered in time."""
        slow: list[int] = []
        while True:
            self._coordinator.proposed.clear()
            try:
                play(self._houses, self._coordinator, number, KINDS)
                return slow
            except grpc.RpcError as error:
                if error.code() not in BUSY or not self._alive() or len(slow) == TRIES:
                    raise
                slow.append(number)
                tell(jobs=number, slow=error.details(), waits=waits(self._houses))
                time.sleep(SETTLE)
                self._coordinator.cancel_all()

    def _alive(self) -> bool:
        """Whether all servers run: one that has ended is no busy machine's fault."""
        return all(process.poll() is None for process in self._houses.processes.values())


class Noting(Coordinator):
    """A coordinator that knows what it has proposed."""

    def __init__(self, houses: Houses) -> None:
        made = houses.coordinator()
        self.channels, self.stubs = made.channels, made.stubs
        self.proposed: list[str] = []

    def propose(
        self, job: str, job_id: str | None = None, files: dict[str, bytes] | None = None
    ) -> tuple[str, dict[str, pb.Decision]]:
        job_id = job_id or secrets.token_hex(16)
        self.proposed.append(job_id)
        return super().propose(job, job_id, files)

    def cancel_all(self) -> None:
        """Cancels what was begun in vain."""
        for job_id in self.proposed:
            for stub in self.stubs.values():
                with contextlib.suppress(grpc.RpcError):  # it has ended, or is not known there
                    stub.Cancel(pb.Cancellation(job_id=job_id), timeout=HANGING)


def waits(houses: Houses) -> dict[str, dict[str, int]]:
    """What the threads of the servers wait for in the kernel: the disk, a lock, a call."""
    found = {}
    for name in houses.names:
        tasks = Path("/proc") / str(houses.processes[name].pid) / "task"
        found[name] = dict(Counter((task / "wchan").read_text() for task in tasks.iterdir()))
    return found


class Soak:
    """Jobs during which servers are killed."""

    def __init__(self, houses: Houses, chance: random.Random) -> None:
        self.houses = houses
        self.chance = chance
        self.ends: Counter[str] = Counter()
        self.faults: list[str] = []
        self.kills = 0
        self.references: dict[str, Mapping[str, Any]] = {}

    def one(self, kind: str, disturbed: bool) -> None:
        """One job of a kind, after which all servers run again."""
        coordinator = self.houses.coordinator()
        try:
            text = job(self.houses, kind)
            job_id, decisions = propose(coordinator, text, kind)
            if {decision.state for decision in decisions.values()} != {pb.ACCEPTED}:
                self.faults.append(f"{kind}: {[d.reason for d in decisions.values()]}")
                return
            coordinator.queue(job_id)
            if disturbed:
                self.disturb()
            self.judge(kind, text, coordinator, job_id, disturbed)
        finally:
            coordinator.close()

    def disturb(self) -> None:
        names = list(self.houses.names)
        victims = self.chance.sample(names, self.chance.randint(1, len(names)))
        time.sleep(self.chance.uniform(0.0, 2.0))
        for name in victims:
            self.houses.processes[name].kill()
            self.houses.processes[name].wait()
            self.kills += 1
        time.sleep(self.chance.uniform(0.0, 1.0))
        for name in victims:
            self.houses.spawn(name)

    def judge(
        self, kind: str, text: str, coordinator: Coordinator, job_id: str, disturbed: bool
    ) -> None:
        try:
            ends = self.ends_of(coordinator, job_id)
            states = {pb.State.Name(end.state) for end in ends.values()}
            how = "killed" if disturbed else "quiet"
            self.ends[f"{kind} {how}: {' '.join(sorted(states))}"] += 1
            silent = [n for n, e in ends.items() if e.state != pb.FINISHED and not e.error]
            if disturbed and not silent and states != {"FINISHED"}:
                take_up(coordinator, job_id)
                ends = self.ends_of(coordinator, job_id)
                states = {pb.State.Name(end.state) for end in ends.values()}
                self.ends[f"{kind} went on: {' '.join(sorted(states))}"] += 1
        except TimeoutError as error:
            self.faults.append(f"{kind} {job_id}: hangs at {error}")
            return
        if silent or states != {"FINISHED"}:
            said = {name: f"{pb.State.Name(e.state)} {e.error}" for name, e in ends.items()}
            self.faults.append(f"{kind} {job_id}: {said}")
            return
        found = result_of(coordinator, job_id, self.houses.names, text, kind)
        if found != self.references.setdefault(kind, found):
            self.faults.append(f"{kind} {job_id}: another result than an undisturbed run's")

    def ends_of(self, coordinator: Coordinator, job_id: str) -> dict[str, pb.Event]:
        return {name: patient_end(coordinator, job_id, name) for name in self.houses.names}

    def check_books(self) -> None:
        for name in self.houses.names:
            try:
                verify(self.houses.state(name) / "audit.log")
            except CoterieError as error:
                self.faults.append(f"{name}: {error}")


def propose(coordinator: Coordinator, text: str, kind: str) -> tuple[str, dict[str, pb.Decision]]:
    """Proposes a job, as often as it takes a busy machine to connect."""
    end = time.monotonic() + HANGING
    while True:
        try:
            return coordinator.propose(text, files=FILES.get(kind))
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE or time.monotonic() > end:
                raise


def patient_end(coordinator: Coordinator, job_id: str, name: str) -> pb.Event:
    """The last event of a job at a party, which may be starting again meanwhile."""
    end = time.monotonic() + HANGING
    while (left := end - time.monotonic()) > 0:
        try:
            last = coordinator.end(job_id, name, timeout=left)
            if last.state in (pb.FINISHED, pb.FAILED, pb.CANCELLED, pb.REFUSED):
                return last
        except (grpc.RpcError, ValueError):  # it is away, or has gone in between
            pass
        time.sleep(0.2)
    raise TimeoutError(name)


def take_up(coordinator: Coordinator, job_id: str) -> None:
    """Has all parties take up a job that was interrupted, and begin; as `coterie attach` does."""
    end = time.monotonic() + HANGING
    job = pb.JobRef(job_id=job_id)
    while time.monotonic() < end:
        with contextlib.suppress(grpc.RpcError):  # a server may still be starting
            told = [stub.Resume(job, timeout=HANGING) for stub in coordinator.stubs.values()]
            if {decision.state for decision in told} == {pb.FINISHED}:
                return  # a party was killed just before it could note the end
            if not any(decision.resumable for decision in told):
                coordinator.queue(job_id)
                return
        time.sleep(0.2)
    raise TimeoutError("its beginning")


def result_of(
    coordinator: Coordinator, job_id: str, names: tuple[str, ...], text: str, kind: str
) -> dict[str, Any]:
    """What a coordinator makes of the parties' files, as far as every run gives the same."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = {}
        for name in names:
            folders[name] = Path(scratch) / name
            for path, data in coordinator.fetch(job_id, name).items():
                place = folders[name] / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        out = Path(scratch) / "out"
        out.mkdir()
        result = assemble(parse_job(text, FILES.get(kind, {})), folders, out, job_id)
        found = {k: v for k, v in result.items() if k not in (*UNLIKE, *DRAWN.get(kind, ()))}
        return {**found, **{path.name: path.read_text() for path in sorted(out.glob("*.csv"))}}


def many_kills(houses: Houses, minutes: float, seed: str) -> bool:
    """Whether every job ended as it should, and all servers are whole at the end."""
    soak = Soak(houses, random.Random(seed))
    began = time.monotonic()
    told = began
    for kind in KINDS:
        soak.one(kind, disturbed=False)
    for number in numbers_until(began + 60 * minutes):
        soak.one(KINDS[number % len(KINDS)], disturbed=True)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            tell(seconds=round(told - began), kills=soak.kills, ends=dict(soak.ends))
    for kind in KINDS:
        soak.one(kind, disturbed=False)
    time.sleep(SETTLE)
    last = {name: held(houses, name) for name in houses.names}
    soak.check_books()
    tell(
        seconds=round(time.monotonic() - began),
        seed=seed,
        kills=soak.kills,
        ends=dict(soak.ends),
        held=last,
        faults=soak.faults,
    )
    return not soak.faults


def numbers_until(end: float) -> Iterator[int]:
    number = 0
    while time.monotonic() < end:
        yield number
        number += 1


class PlainHouses(Houses):
    """Servers that are started as anybody starts them, and not forked."""

    def launch(self, name: str) -> Any:
        command = [sys.executable, "-m", "coterie", "party", "serve", self.path(name), "--json"]
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.processes[name] = process  # type: ignore[assignment]
        self.stack.callback(process.communicate)
        self.stack.callback(process.kill)
        return process


@contextlib.contextmanager
def furnished(kind: type[Houses]) -> Iterator[Houses]:
    """Running servers whose policies permit jobs of all kinds."""
    with tempfile.TemporaryDirectory() as folder:
        houses = kind(Path(folder))
        with houses.stack:
            furnish(houses)
            houses.spawn_all()
            yield houses


def compile_loops(houses: Houses) -> None:
    """Plays every kind to its end, so that later servers find all compiled loops on the disk."""
    began = time.monotonic()
    for kind in KINDS:
        finished(houses, houses.coordinator(), kind)
    tell(compiled=round(time.monotonic() - began))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("part", choices=["jobs", "kills"])
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", default="coterie")
    options = parser.parse_args()
    if options.part == "jobs":
        with furnished(Houses) as houses:
            compile_loops(houses)
        with furnished(PlainHouses) as houses:
            well = many_jobs(houses, options.jobs)
    else:
        with furnished(Houses) as houses:
            well = many_kills(houses, options.minutes, options.seed)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
