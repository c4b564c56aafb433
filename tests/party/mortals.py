"""Real servers that are killed at chosen messages of a job, and what becomes of the job."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from tests import ROOT, forks
from tests.coordinator.support import Done, coterie
from tests.jobs.run.resumed_jobs import PEOPLE, write_job
from tests.party.houses import Houses

Kill = tuple[str, int]  # "before" or "after", and the number of the message


class Mortals(Houses):
    """The parties of one of `tests.jobs.run.resumed_jobs`, each with a server that may die."""

    def __init__(self, folder: Path, name: str) -> None:
        scratch = folder / "data"
        scratch.mkdir(parents=True)
        self.called, self.written = name, write_job(name, scratch)
        part = PEOPLE[name][2] if name in PEOPLE else ""
        super().__init__(folder, self.written.party_names, (0.2, 30.0))
        for path in scratch.iterdir():
            path.rename(folder / path.name)
        content = yaml.safe_load((folder / "job.yaml").read_text())
        for party, entry in content["parties"].items():
            entry["address"] = f"127.0.0.1:{self.ports[party]}"
        self.job_file = folder / "job.yaml"
        self.job_file.write_text(yaml.safe_dump(content, sort_keys=False))
        for party in self.names:
            header = (folder / f"{party}{part}.csv").read_text().split("\n")[0].split(",")
            self.write(
                party,
                data={"csv": f"{party}{part}.csv"},
                policy={
                    "kinds": [self.written.kind],
                    "columns": {
                        "use": header,
                        "drop": header,
                        "release": [column for column in header if column != "ID"],
                        "raw": [column for column in header if column == "Zodiac"],
                    },
                    "smallest_k": 4,
                    "conditions": "holder",
                    "slack": True,
                    "scores": "shown",
                    "budget": {"epsilon": 100, "days": 365},
                    "boxes": "tight",
                },
            )

    def begin(self, kills: Mapping[str, Kill]) -> None:
        """Starts the servers that do not run; those of `kills` will die."""
        idle = [n for n in self.names if n not in self.processes]
        for name in idle:
            when, number = kills.get(name, ("before", "never"))
            words = ["-m", "tests.party.mortal_server", str(self.path(name)), when, str(number)]
            with self.log(name).open("ab") as log:
                self.processes[name] = forks.start(
                    words, cwd=ROOT, stdout=subprocess.PIPE, stderr=log
                )
            self.stack.callback(self.processes[name].kill)
        for name in idle:
            self.await_start(name)

    def together(self, victim: str, others: Sequence[str]) -> None:
        """These servers die when the victim does."""
        pids = " ".join(str(self.processes[name].pid) for name in others)
        (self.state(victim) / "together").write_text(pids)

    def bury(self, number: int = 1) -> list[str]:
        """Forgets the servers that have died; their names. Waits a moment for this number of them.

        A peer may have noticed the end of a process before the process is gone.
        """
        end = time.monotonic() + 5
        while len(dead := self._dead()) < number and time.monotonic() < end:
            time.sleep(0.05)
        for name in dead:
            self.processes.pop(name).communicate()
        return dead

    def _dead(self) -> list[str]:
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def run(self, out: Path) -> Done:
        return coterie(
            "run",
            self.job_file,
            "--out",
            out,
            "--identity",
            self.folder / "certs" / "analyst.crt",
            "--json",
        )

    def attach(self, out: Path) -> Done:
        return coterie("attach", out, "--identity", self.folder / "certs" / "analyst.crt", "--json")

    def last_step(self, name: str) -> str:
        """The step of the last message that the server of this party began to handle."""
        return (self.state(name) / "steps").read_text().splitlines()[-1]

    def answers(self) -> list[Path]:
        """What is kept of jobs that have not ended."""
        return [p for name in self.names for p in self.state(name).glob("jobs/*/answers*")]


def release(out: Path) -> dict[str, object]:
    """What the release says of the data."""
    result = json.loads((out / "result.json").read_text())
    for key in ("seconds", "parties", "job", "opened"):
        result.pop(key)
    files = {p.name: p.read_bytes() for p in sorted(out.glob("*.csv"))}
    return {**result, **files}
