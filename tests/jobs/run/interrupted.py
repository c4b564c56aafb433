"""A job in memory whose parties are killed at chosen messages and go on from what they have kept."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from coterie.base.errors import PeerLostError
from coterie.jobs.data.sources import parse_source, read_wanted
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.answers_file import NAME, AnswersFile
from coterie.jobs.run.party_run import assemble, run_party
from coterie.protocols.messaging.memory import MemoryNetwork
from coterie.protocols.primitives.randomness import Random
from tests.jobs.run.resumed_jobs import kept_by
from tests.protocols.wrappers import Fault, Faulty, KilledError

# What a result says of the run that made it, not of the data.
_OF_THE_RUN = ("seconds", "parties", "job", "opened")


class World:
    """The parties of one job, with their data, their folders and their answers."""

    def __init__(self, job: Job, folder: Path, out: Path) -> None:
        self.job, self.data, self.folder = job, folder, out
        self.messages: dict[str, int] = {}  # that each party handled in its last attempt

        self.steps: dict[str, set[str]] = {}

    def space(self, name: str) -> Workspace:
        return Workspace(self.folder / name)

    def _prepared(self, name: str) -> object:
        kind = KINDS[self.job.kind]
        needs = kind.needs(self.job, name)
        [party] = [party for party in self.job.parties if party.name == name]
        table = read_wanted(parse_source(party.data, self.data), needs.read, needs.optional)
        return kind.recall(self.job, name, kind.prepare(self.job, name, table, name), kept_by(name))

    def attempt(self, faults: Mapping[str, Fault] | None = None) -> dict[str, BaseException | None]:
        """One attempt, in which these parties do this; how it ended at each party."""
        network = MemoryNetwork(self.job.party_names)
        ends: dict[str, BaseException | None] = {}
        never = Fault("cut", 1 << 60)

        def run(name: str) -> None:
            transport = Faulty(network.transport(name), (faults or {}).get(name, never))
            space = self.space(name)
            space.create()
            answers = AnswersFile(space.folder / NAME, b"the data", name)
            steps = self.steps[name] = set()
            try:
                run_party(
                    self.job,
                    self._prepared(name),
                    transport,
                    "session",
                    Random(),
                    space,
                    lambda progress: steps.add(progress.step),
                    answers=answers,
                )
                ends[name] = None
            except BaseException as error:
                ends[name] = error
            finally:
                answers.close()
                network.leave(name, "broke the connection" if ends[name] else "has finished")
                self.messages[name] = transport.handled

        threads = [threading.Thread(target=run, args=(name,)) for name in self.job.party_names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, error in ends.items():
            if not isinstance(error, PeerLostError | KilledError | None):
                raise AssertionError(f"{name} ended with {error!r}") from error
        return ends

    def release(self) -> dict[str, object]:
        """The result and all its files, without what is about the run and not about the data."""
        out = self.folder / "result"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        released = {name: self.space(name).released for name in self.job.party_names}
        result = assemble(self.job, released, out)
        found: dict[str, object] = {
            key: value for key, value in result.items() if key not in _OF_THE_RUN
        }
        for path in sorted(out.rglob("*")):
            if path.is_file() and path.name != "result.json" and "job" not in path.parts:
                found[path.relative_to(out).as_posix()] = path.read_bytes()
        for name in self.job.party_names:
            for kept in ("common.csv", "predictions.csv", "model.json"):
                for path in sorted(self.space(name).kept.glob(kept)):
                    if self.job.kind != "tree":  # whose branches are numbered at random
                        found[f"{name}/{path.name}"] = path.read_bytes()
        return found


def fresh(job: Job, folder: Path, out: Path) -> World:
    shutil.rmtree(out, ignore_errors=True)
    return World(job, folder, out)


def places(count: int, wanted: int) -> list[int]:
    """Some of `count` places, spread evenly, with the first and the last."""
    return sorted({int(at) for at in np.linspace(0, count - 1, min(count, wanted)).round()})
