"""One world: machines with disks, a network, and the servers and coordinators that run on them.

`World.play` does what a script says, then lets everything heal: all servers run, nothing fails any
more, and every job that was begun is attached to until it has ended. What was promised to anybody
meanwhile is in `promises`, for `tests.world.checks`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from coterie.base.errors import CoterieError, UnreachableError
from coterie.coordinator.run import probe
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.collect import fetch_later
from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import attach_job, detach_job, run_job
from coterie.party.books.ledger_lines import LedgerFile
from coterie.party.history.releases import History
from coterie.party.job_record import ENDED
from coterie.party.server import PartyServer
from coterie.party.store.database import forget
from coterie.protos import jobs_pb2 as pb
from tests.world import disks, substitutes, tasks
from tests.world.disks import Disks
from tests.world.faults import Faults
from tests.world.kind import Tally
from tests.world.network import Network
from tests.world.observed import Command, Observed, Tracebacks
from tests.world.party_files import PartyFiles
from tests.world.promises import Promises
from tests.world.stage import COORDINATORS, UNSTARTED, Stage
from tests.world.tasks import Process, Scheduler

PATIENCE = Patience(connect=3.0, consent=15.0, heartbeat=4.0, cancel=2.0, fetch=5.0, gather=0.5)
_LONGEST = 3600.0  # simulated seconds after which a world hangs
_SHM = Path("/dev/shm")
IDLE = {"main", "upkeep", "files", "queue", "notify"}  # the threads of an idle server


class World:
    def __init__(self, script: dict[str, Any], stage: Stage) -> None:
        self.script = script
        self.stage = stage
        self.names: Sequence[str] = script.get("servers", stage.names)
        self.root = Path(tempfile.mkdtemp(prefix="world-", dir=_SHM if _SHM.is_dir() else None))
        self.time = Scheduler(script["seed"], script.get("unrest", 0.02))
        self.faults = Faults(self.time)
        self.faults.die = self.die
        self.time.clocks.update(script.get("clocks", {}))
        losing = {step["party"] for step in script["steps"] if step.get("fault") == "power"}
        self.disks = Disks(self.time, self.root, losing)
        self.disks.on_write = self.faults.on_write
        self.disks.die = self.die
        self.faults.fill = lambda name, seconds: self.disks.full.update(
            {name: self.time.now + seconds}
        )
        self.files = PartyFiles(script, stage, self.root)
        stage.put_models(self.root)
        names = {address: name for name, address in stage.addresses.items()}
        self._lists = self.root.with_name(f"{self.root.name}-lists")
        self.network = Network(self.time, names, self.faults, self._lists)
        self.network.latency = script.get("latency", 0.0)
        self.promises = Promises(self.network)
        self.observed = Observed()
        self.servers: dict[str, PartyServer] = {}
        self.processes: dict[str, Process] = {}
        self.commands: list[Command] = []
        self.desks = Counter[str]()  # calls of operators that are under way
        self.trouble: list[str] = []  # servers that did not start
        self._graves: list[Any] = []  # books of dead processes, which must not be closed in order

    # The life of the world.

    def play(self) -> None:
        """Everything that the script says, and the time after it."""
        with self._entered():
            main = Process("world")
            over: list[bool] = []

            def live() -> None:
                for name in self.names:
                    self.start(name)
                self._steps()
                self._heal()
                over.append(True)

            self.time.spawn(main, "script", live)
            longest = self.script.get("longest", _LONGEST)
            self.time.run(over, longest)
            if self.time.now > longest:
                waiting = [c.what for c in self.commands if not c.over]
                raise tasks.HangError(f"after {longest:g} s these still wait: {waiting}")

    def inside(self, do: Callable[[], Any]) -> Any:
        """What somebody finds out within the world, after it was played."""
        found: list[Any] = []
        with self._entered():
            self.time.spawn(Process("visitor"), "visit", lambda: found.append(do()))
            self.time.run(found)
        if not found:
            raise self.time.errors[-1][1]
        return found[0]

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        tasks.enter(self.time)
        disks.enter(self.disks)
        substitutes.enter(self.network)
        kept = probe.require, Tally.entered, Tally.drew
        probe.require = self._probe
        Tally.entered, Tally.drew = self._entered_run, self._drew
        watch = Tracebacks(self.observed.logged)
        logging.getLogger("coterie").addHandler(watch)
        try:
            yield
        finally:
            logging.getLogger("coterie").removeHandler(watch)
            probe.require, Tally.entered, Tally.drew = kept
            substitutes.leave()
            disks.leave()
            tasks.leave()

    def close(self) -> None:
        """Frees what the world has: its tasks and its disks."""
        tasks.enter(self.time)
        disks.enter(self.disks)
        logging.disable()
        try:
            for process in {task.process for task in self.time.tasks}:
                self.time.kill(process)
            self.time.dispose()
            self.disks.close_all()
        finally:
            logging.disable(logging.NOTSET)
            disks.leave()
            tasks.leave()
            LedgerFile._synced.clear()
            History._locks.clear()
            _remove(str(self.root))
            if self._lists.exists():
                _remove(str(self._lists))

    def _steps(self) -> None:
        self.faults.expect(self.script["steps"])
        timed = [step for step in self.script["steps"] if "at" in step]
        for step in sorted(timed, key=lambda step: float(step["at"])):
            if step["at"] > self.time.now:
                self.time.sleep(step["at"] - self.time.now)
            self._do(step)
        self.time.sleep(1.0)

    def _do(self, step: dict[str, Any]) -> None:
        if "fault" in step:
            self.faults.note(step)
            if step["fault"] in ("kill", "power"):
                self.die(step["party"], step["fault"] == "power")
            elif step["fault"] == "full":
                self.disks.full[step["party"]] = self.time.now + step["for"]
            elif step["fault"] == "part":
                self.network.part(*step["pair"], step["for"])
            elif step["fault"] == "slow":
                until = self.time.now + step["for"], step["by"]
                self.network.slow[frozenset(step["pair"])] = until
            return
        from tests.world.operations import OPERATIONS

        OPERATIONS[step["do"]](self, step)

    def _heal(self) -> None:
        """Nothing fails any more; what was begun comes to an end."""
        self.faults.forget()
        self.disks.full.clear()
        self.network.apart.clear()
        self.network.slow.clear()
        for name in self.files.mend():
            self.reload(name)
        for name in self.script.get("manual", ()):
            self.approve_all(name)
        self.settle()
        for number in sorted({command.job for command in self.commands}):
            for _ in range(3):
                last = [c for c in self.commands if c.job == number][-1]
                if last.result is not None or not (last.out / "run.json").exists():
                    break
                self.command(
                    "attach", number, last.parties, last.out, last.process.name, last.recipients
                )
                for name in self.script.get("manual", ()):
                    self.approve_all(name)
                self.settle()
                self.time.sleep(1.0)
        self.time.sleep(4.0)
        # A job that a party gives up, or that a peer ends, may have to be given up at another one.
        for _ in range(3):
            if self._rests():
                break
            self.time.sleep(UNSTARTED)

    def _rests(self) -> bool:
        """Whether every job has ended everywhere, and no server has anything left to do."""
        records = [r for server in self.servers.values() for r in server._book.all()]
        busy = [t.name for n in self.servers for t in self.processes[n].tasks if t.name not in IDLE]
        return not busy and all(r.state in ENDED and not r.resumable for r in records)

    def settle(self) -> None:
        """Waits until every command has ended and every server runs."""
        while (
            any(not command.over and not command.killed for command in self.commands)
            or any(self.desks.values())
            or any(name not in self.servers for name in self.names)
        ):
            self.time.sleep(0.5)

    # Servers.

    def start(self, name: str) -> None:
        """Starts a server; one that cannot start is started again a second later, as a service is."""
        process = self.processes[name] = Process(name)
        process.on_death.append(lambda: self._graves.append(forget(self.root / name)))

        def main() -> None:
            try:
                server = PartyServer(self.files.config(name))
                server.start()
            except CoterieError as error:
                self.trouble.append(f"{self.time.now:.1f} {name}: {error}")
                self.time.at(self.time.now + 1.0, lambda: self._again(name, process))
                self.time.kill(process)
                return
            self.promises.check_start(name, server._book)
            self.servers[name] = server
            while True:
                self.time.wait(None)

        self.time.spawn(process, "main", main)

    def _again(self, name: str, process: Process) -> None:
        if self.processes.get(name) is process:
            self.start(name)

    def die(self, name: str, power: bool) -> None:
        """A process is killed, or its machine loses its power; a server starts again soon."""
        if name in COORDINATORS:
            for command in [c for c in self.commands if c.process.name == name and not c.over]:
                command.killed = command.over = True
                self.network.client_gone(command.process)
                self.time.kill(command.process)
            return
        process = self.processes[name]
        if not process.alive:
            return
        self._taken_away(name)
        self.network.client_gone(process)
        if power:
            process.on_death.append(lambda: self.disks.cut_power(name))
        self.time.at(self.time.now + 0.7, lambda: self._again(name, process))
        self.time.kill(process)

    def _taken_away(self, name: str) -> PartyServer | None:
        """The server that runs, which is about to end; None if it does not run."""
        server = self.servers.pop(name, None)
        if server is not None:
            self.promises.note_ends(name, server._book)
        return server

    def reload(self, name: str) -> bool:
        """Has a server look at its files, as its operator does with SIGHUP; whether it runs."""
        server, process = self.servers.get(name), self.processes[name]
        if server is None or not process.alive:
            return False
        self.time.spawn(process, "signal", server.reload)
        return True

    def restart(self, name: str) -> None:
        """Stops a server as its operator does, and starts it again."""
        server, process = self._taken_away(name), self.processes[name]
        if server is None or not process.alive:
            return

        def stop() -> None:
            with contextlib.suppress(CoterieError):  # a full disk keeps nobody from stopping
                server.stop()
            self.network.client_gone(process)
            self.time.at(self.time.now + 0.2, lambda: self._again(name, process))
            self.time.kill(process)

        self.time.spawn(process, "stop", stop)

    # Coordinators and operators.

    def command(
        self,
        what: str,
        job: int,
        parties: tuple[str, ...],
        out: Path,
        by: str,
        recipients: tuple[str, ...] = (),
    ) -> None:
        """A command of a coordinator, in a process of its own."""
        process = Process(by)
        command = Command(what, job, out, parties, process, recipients)
        self.commands.append(command)
        identity = self.stage.identities[by]
        board = Board(parties, show=False)

        def main() -> None:
            os.makedirs(out, exist_ok=True)
            try:
                asked = self.stage.job(parties, recipients)
                if what == "run":
                    command.result = run_job(asked, out, identity, board, PATIENCE, listed=False)
                elif what == "detach":
                    detach_job(asked, out, identity, board, PATIENCE)
                elif what == "attach":
                    command.result = attach_job(out, identity, board, PATIENCE)
                else:
                    command.result = fetch_later(out, identity, PATIENCE.fetch)[1]
            except BaseException as error:
                command.error = error
            command.over = True
            self.network.client_gone(process)

        self.time.spawn(process, what, main)

    def operate(self, name: str, do: Callable[[PartyClient], None]) -> None:
        """Something that a party's operator does at its own server; failures are the operator's."""
        process = Process(f"{name} desk")
        self.desks[name] += 1

        def main() -> None:
            client = PartyClient(name, self.stage.addresses[name], self.stage.identities[name])
            try:
                do(client)
            except CoterieError:
                pass
            finally:
                client.close()
                self.desks[name] -= 1

        self.time.spawn(process, "desk", main)

    def approve_all(self, name: str, yes: bool = True) -> None:
        def do(client: PartyClient) -> None:
            for job in client.jobs():
                if job.state == pb.WAITING:
                    with client._named("approve", 5.0):
                        request = pb.Approval(job_id=job.job_id, yes=yes, person="world")
                        client._jobs.Approve(request, timeout=5.0)

        self.operate(name, do)

    def _probe(self, name: str, address: str, identity: Any, seconds: float) -> None:
        """The probe's sockets are below this world: whether somebody listens is all they tell."""
        world = tasks.scheduler()
        client = world.task().process.name
        if self.network.apart.get(frozenset((client, name)), 0.0) > world.now:
            world.sleep(seconds)
            raise UnreachableError(f"{name}: {address} does not answer within {seconds:g} s")
        world.sleep(0.002)
        if address not in self.network.servers:
            raise UnreachableError(f"{name}: {address}: Connection refused")

    # What the cheap kind tells.

    def _entered_run(self, party: str, job: str) -> Callable[[], None]:
        """A run of the cheap kind begins; what is called when it ends."""
        seen, process = self.observed, self.processes[party]
        inside = seen.inside.setdefault(process, Counter())
        inside[job] += 1
        if inside[job] > 1:
            seen.twice.append(f"{job} at {party}")
        seen.most_running[party] = max(seen.most_running[party], inside.total())

        def left() -> None:
            inside[job] -= 1

        return left

    def _drew(self, party: str, job: str, value: int) -> None:
        self.observed.drawn.setdefault((party, job), []).append(value)

    def jobs_of(self, name: str) -> list[tuple[str, str]]:
        """Ids and states of the jobs that a server knows."""
        known = self.servers[name]._book._records.values()
        return [(record.job_id, pb.State.Name(record.state)) for record in known]


def _remove(folder: str) -> None:
    """Removes a folder of the world, without the care that `shutil.rmtree` takes of others."""
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path)
            else:
                os.unlink(entry.path)
    os.rmdir(folder)


__all__ = ["PATIENCE", "Command", "World"]
