"""Processes for tests, forked from one that has imported Coterie already.

    process = forks.start(["-m", "coterie", "party", "serve", "party.yaml"], stdout=subprocess.PIPE)

Importing Coterie takes two processor seconds, and another until its first compiled loop runs; the
tests start hundreds of servers and commands.
A fork is as real as a process that was started anew: it has its own memory, descriptors and session,
can be killed at any moment, and draws its own randomness. Tests of what happens before and during
the imports (packaging, limits of memory) start Python themselves.

`python -m tests.forks SOCKET` is the process that forks: it reads what to run from a socket, hands
the fork the descriptors that came with it, and tells the exit code there. It ends with its input.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from coterie.anonymity.specialization.specialize import warm_up
from coterie.base.compiled import Loop
from coterie.protocols.intersection.identifiers import Identifiers
from tests import ROOT

_IMPORTED = """
    coterie.party.server coterie.party.operator.commands coterie.party.operator.state_commands coterie.coordinator.cli.run coterie.coordinator.cli.demo
    coterie.coordinator.cli.simulate coterie.coordinator.cli.doctor coterie.coordinator.cli.verify
    coterie.onetable.commands.tables coterie.coordinator.cli.certs pyarrow.dataset pyarrow.parquet
    pandas
"""  # the last, because Arrow imports it with the first array where it is installed
# What a shell runs instead of a module: it has the module forked and ends with its exit code.
_CLIENT = """\
#!{python} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({path!r})
request = {{"words": ["-m", {module!r}, *sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
data = json.dumps(request).encode()
socket.send_fds(server, [len(data).to_bytes(8, "big")], [0, 1, 2])
server.sendall(data)
answers = server.makefile()
pid = int(answers.readline())
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(pid, number))
code = int(answers.readline())
sys.exit(code if code >= 0 else 128 - code)
"""


class Forked:
    """A forked process, with what tests use of `subprocess.Popen`."""

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        files: Sequence[Any],
        stdin: Any = subprocess.DEVNULL,
    ) -> None:
        own: list[IO[str] | None] = [None, None]
        self.stdin: IO[str] | None = None
        if stdin == subprocess.PIPE:
            reading, writing = os.pipe()
            opened = [reading]
            self.stdin = os.fdopen(writing, "w", encoding="utf-8")
        else:
            opened = [os.open(os.devnull, os.O_RDONLY)]
        for at, file in enumerate(files):
            if file == subprocess.PIPE:
                reading, writing = os.pipe()
                own[at] = os.fdopen(reading, encoding="utf-8")
            elif file == subprocess.DEVNULL:
                writing = os.open(os.devnull, os.O_WRONLY)
            else:
                writing = os.dup(file if isinstance(file, int) else file.fileno())
            opened.append(writing)
        self.stdout, self.stderr = own
        self.returncode: int | None = None
        self._told = socket.socket(socket.AF_UNIX)
        self._told.connect(_server())
        request = {"words": list(words), "cwd": str(cwd), "env": dict(env)}
        data = json.dumps(request).encode()
        socket.send_fds(self._told, [len(data).to_bytes(8, "big")], opened)
        self._told.sendall(data)
        for descriptor in opened:
            os.close(descriptor)
        self._answers = self._told.makefile()
        self.pid = int(self._answers.readline())

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            poll = select.poll()
            poll.register(self._told, select.POLLIN)
            if not poll.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            line = self._answers.readline()
            assert line, "the process that forks has ended"
            self.returncode = int(line)
            self._answers.close()
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What is left to read of both pipes, once the process has ended."""
        texts = ["", ""]

        def read(at: int, pipe: IO[str]) -> None:
            with contextlib.suppress(ValueError), pipe:  # it may be closed already
                texts[at] = pipe.read()

        pipes = [(at, pipe) for at, pipe in enumerate((self.stdout, self.stderr)) if pipe]
        readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in pipes]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join()
        return texts[0], texts[1]


def start(
    words: Sequence[object],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: Any = subprocess.DEVNULL,
    stderr: Any = subprocess.DEVNULL,
    stdin: Any = subprocess.DEVNULL,
) -> Forked:
    """Runs `python WORDS…`, where the words begin with -m and a module."""
    return Forked(
        [str(word) for word in words],
        cwd or Path.cwd(),
        env or os.environ,
        (stdout, stderr),
        stdin,
    )


def command(path: Path, module: str = "coterie") -> None:
    """Writes a program that is `coterie` for a shell, or `python -m MODULE`."""
    path.write_text(_CLIENT.format(python=sys.executable, path=_server(), module=module))
    path.chmod(0o755)


@functools.cache
def _begun() -> tuple[str, IO[str]]:
    """The socket of the process that forks, started once for each process of tests, and its output."""
    path = os.path.join(tempfile.mkdtemp(prefix="coterie-forks-"), "socket")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.forks", path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    atexit.register(server.stdin.close)
    return path, server.stdout


def begin() -> None:
    """Starts the process that forks and does not wait for it, for tests with something else to start."""
    _begun()


@functools.cache
def _server() -> str:
    """The socket of the process that forks, once it has imported everything."""
    path, output = _begun()
    assert output.readline() == "ready\n", "the process that forks did not start"
    return path


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    size = int.from_bytes(head, "big")
    with connection.makefile("rb") as file:
        return json.loads(file.read(size)), descriptors


def _become(request: dict[str, Any], descriptors: Sequence[int]) -> None:
    """Runs in the fork: the module, as if Python had been started with it."""
    os.setsid()
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for at, descriptor in enumerate(descriptors):
        os.dup2(descriptor, at)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    _, module, *arguments = request["words"]
    sys.argv = [module, *arguments]
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    _end(code)


def _end(code: int) -> NoReturn:
    """Ends the fork as Python does, but lets the system take the memory back.

    Python looks at every object once more, most of which are the parent's: a fifth of a second.
    """
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _load_compiled_loops() -> None:
    """Loads the machine code of every loop that is on disk, as each fork would do for itself."""
    for loop in [found.dispatcher for found in gc.get_objects() if isinstance(found, Loop)]:
        kept = getattr(loop._cache, "_cache_file", None)
        for signature, _, _ in kept._load_index() if kept else ():
            loop.compile(signature)


def main(path: str) -> None:
    for name in _IMPORTED.split():
        importlib.import_module(name)
    Identifiers.pack([b"any"]).suspects()  # the first compiled loop that runs loads all of numba
    warm_up()
    _load_compiled_loops()
    gc.collect()
    gc.freeze()  # what is shared with the forks is not touched by their collections
    waking, woken = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    print("ready", flush=True)
    waiting: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([listener, waking, sys.stdin], [], [])
        if waking in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(waking, 4096)
            while waiting:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                with contextlib.suppress(OSError), waiting.pop(pid) as teller:
                    teller.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        if listener in ready:
            connection, _ = listener.accept()
            request, descriptors = _receive(connection)
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                for held in (listener, connection, *waiting.values()):
                    held.close()
                os.close(waking)
                os.close(woken)
                return _become(request, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            waiting[child] = connection
            connection.sendall(b"%d\n" % child)
        if sys.stdin in ready:
            os.unlink(path)
            os.rmdir(os.path.dirname(path))
            return None


if __name__ == "__main__":
    main(*sys.argv[1:])
