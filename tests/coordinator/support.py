"""What the coordinator's tests share: the command in this process, and real party servers."""

import contextlib
import io
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from coterie.__main__ import run
from coterie.coordinator.demo import demo
from coterie.coordinator.run.probe import probe
from coterie.trust.identity import find_identity
from tests import forks


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        """The one line of an error."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0].removeprefix("error: ")


def coterie(*arguments):
    """Runs the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


class Started(forks.Forked):
    """The command as a process of its own, whose output can be read while it runs."""

    def __init__(self, *arguments):
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        words = ["-m", "coterie", *map(str, arguments)]
        super().__init__(words, Path.cwd(), os.environ, (self._out, self._err))

    @property
    def output(self):
        return os.pread(self._out.fileno(), 1 << 20, 0).decode()

    @property
    def error_output(self):
        return os.pread(self._err.fileno(), 1 << 20, 0).decode()


def process(*arguments):
    return Started(*arguments)


def finish(started, seconds=100):
    try:
        code = started.wait(seconds)
    finally:
        if started.poll() is None:
            started.kill()
            started.wait()
    return Done(code, os.pread(started._out.fileno(), 1 << 24, 0).decode(), started.error_output)


class Organisations:
    """The demo's organisations with their servers as real processes."""

    def __init__(self, folder: Path, people=60):
        self.folder = folder
        self.layout = demo.Setting.local()
        demo.prepare(folder, people, 1, "intersect", self.layout)
        self.job = folder / "analyst" / "job.yaml"
        self.identity = folder / "analyst"
        self.processes = {}

    def edit(self, name, old, new):
        path = self.folder / name / "party.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def start(self, *names):
        for name in names or demo.PARTIES:
            log = (self.folder / name / "server.log").open("ab")
            self.processes[name] = forks.start(
                ["-m", "coterie", "party", "serve", self.folder / name / "party.yaml"],
                stdout=log,
                stderr=log,
            )
            log.close()
        identity = find_identity(self.identity)
        for name in names or demo.PARTIES:
            wait_for(
                lambda name=name: all(
                    check.state != "failed"
                    for check in probe(name, self.layout.addresses[name], identity, 5)
                ),
                f"{name} to be up",
            )

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.processes.clear()

    def jobs(self, name):
        answers = []

        def asked():
            done = coterie("party", "jobs", "--config", self.folder / name / "party.yaml", "--json")
            answers.append(done.json)
            return done.code == 0

        wait_for(asked, f"{name} to list its jobs")  # a loaded machine may miss a deadline
        return answers[-1]["jobs"]


def wait_for(condition, what, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)
