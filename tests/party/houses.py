"""Organisations for tests: real servers over mTLS on free ports of this machine."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import yaml

from coterie.coordinator.demo.ports import free_ports
from coterie.party.config import load_party
from coterie.party.server import PartyServer
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from coterie.transport.session import Session
from coterie.trust.identity import Identity
from tests import ROOT, forks
from tests.party.authority import Authority

ENDED = (pb.FINISHED, pb.FAILED, pb.CANCELLED, pb.REFUSED)


_BUSY = ("SETTINGS", "handshaker shutdown")  # a machine that is too busy to shake hands in time


def _patiently(call: Any, request: Any) -> Any:
    """The answer, also of a server that a busy machine lets shake hands only at a later try."""
    end = time.monotonic() + 60
    while True:
        try:
            return call(request, timeout=60)
        except grpc.RpcError as error:
            if time.monotonic() > end or not any(sign in error.details() for sign in _BUSY):
                raise


class Coordinator:
    """Calls every party as the named identity."""

    def __init__(self, identity: Identity, addresses: dict[str, str]) -> None:
        self.channels = {n: identity.connect(n, a) for n, a in addresses.items()}
        self.stubs = {n: JobsStub(channel) for n, channel in self.channels.items()}

    def propose(
        self, job: str, job_id: str | None = None, files: dict[str, bytes] | None = None
    ) -> tuple[str, dict[str, pb.Decision]]:
        job_id = job_id or secrets.token_hex(16)
        proposal = pb.Proposal(job_id=job_id, job_yaml=job, files=files or {})
        return job_id, {n: _patiently(s.Propose, proposal) for n, s in self.stubs.items()}

    def start(self, job_id: str, names: Sequence[str] | None = None) -> None:
        for name in names or self.stubs:
            self.stubs[name].Start(pb.JobRef(job_id=job_id), timeout=60)

    def queue(self, job_id: str, names: Sequence[str] | None = None) -> None:
        for name in names or self.stubs:
            self.stubs[name].Queue(pb.JobRef(job_id=job_id), timeout=60)

    def watch(self, job_id: str, name: str, timeout: float = 60) -> Iterator[pb.Event]:
        return self.stubs[name].Watch(pb.JobRef(job_id=job_id), timeout=timeout)

    def end(self, job_id: str, name: str, timeout: float = 60) -> pb.Event:
        """The last event of the job at this party."""
        *_, last = self.watch(job_id, name, timeout)
        return last

    def fetch(self, job_id: str, name: str) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for chunk in self.stubs[name].Fetch(pb.JobRef(job_id=job_id), timeout=60):
            files[chunk.path] = files.get(chunk.path, b"") + chunk.data
        return files

    def close(self) -> None:
        for channel in self.channels.values():
            channel.close()


@dataclass
class Houses:
    """Some organisations that know each other, each with a folder and a party file."""

    folder: Path
    names: Sequence[str] = ("lender", "bank", "card")
    heartbeat: tuple[float, float] = (0.2, 30.0)  # long: no busy machine may end a job
    ports: dict[str, int] = field(init=False)
    authority: Authority = field(init=False)
    stack: ExitStack = field(default_factory=ExitStack, init=False)
    clock: Callable[[], float] = field(default=time.monotonic, init=False)  # of `serve`
    processes: dict[str, forks.Forked] = field(default_factory=dict, init=False)
    servers: dict[str, PartyServer] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.ports = dict(zip(self.names, free_ports(len(self.names)), strict=True))
        self.authority = Authority(self.folder / "certs")
        for name in (*self.names, "analyst"):
            self.authority.issue(name)
        for at, name in enumerate(self.names):
            self.people(name, [f"p{i}" for i in range(at, at + 20)])
            self.write(name)

    def people(self, name: str, ids: Sequence[str]) -> None:
        rows = "".join(f"{i},{'f' if int(i[1:]) % 2 else 'm'}\n" for i in ids)
        (self.folder / f"{name}.csv").write_text("ID,Sex\n" + rows)

    def party_file(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "listen": f"127.0.0.1:{self.ports[name]}",
            "tls": {
                "certificate": f"certs/{name}.crt",
                "key": f"certs/{name}.key",
                "authority": "certs/ca.crt",
            },
            "peers": {
                other: {"address": f"127.0.0.1:{port}"}
                for other, port in self.ports.items()
                if other != name
            },
            "data": {"csv": f"{name}.csv"},
            "state": f"state-{name}",
            "heartbeat": {"interval": self.heartbeat[0], "deadline": self.heartbeat[1]},
            "policy": {
                "coordinators": ["analyst"],
                "kinds": ["intersect"],
                "peers": [other for other in self.names if other != name],
                "columns": {},
                "exact": [other for other in self.names if other != name],
                "servers": list(self.names),
                "together": "allow",
                "consent": "auto",
            },
        }

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"

    def state(self, name: str) -> Path:
        return self.folder / f"state-{name}"

    def write(self, name: str, /, **changes: Any) -> None:
        """Writes the party file; `policy` is merged, other keys replaced, None takes one out.

        People are identified by the column ID unless `policy.columns` says otherwise.
        """
        content = self.party_file(name)
        for key, value in changes.items():
            if key == "policy" and value is not None:
                content["policy"].update(value)
            elif value is None:
                content.pop(key)
            else:
                content[key] = value
        for rules in [
            content.get("policy"),
            *(t["policy"] for t in content.get("tables", {}).values()),
        ]:
            if rules is not None:
                rules["columns"] = {"id": ["ID"], "class": ["Class"], **rules.get("columns", {})}
        plain = json.loads(json.dumps(content))  # a party file has no aliases
        self.path(name).write_text(yaml.safe_dump(plain, sort_keys=False))

    def job(self, name: str = "common", parties: Sequence[str] | None = None) -> str:
        entries = {
            n: {"address": f"127.0.0.1:{self.ports.get(n, 1)}"} for n in parties or self.names
        }
        job = {"kind": "intersect", "name": name, "parties": entries, "id": "ID"}
        return yaml.safe_dump(job, sort_keys=False)

    def serve(self, name: str) -> PartyServer:
        """A server in this process."""
        server = PartyServer(load_party(self.path(name)), self.clock)
        server.start()
        self.servers[name] = server
        self.stack.callback(lambda: self.servers.pop(name).stop() if name in self.servers else None)
        return server

    def serve_all(self) -> None:
        for name in self.names:
            self.serve(name)

    def log(self, name: str) -> Path:
        """What the servers of this name have written to standard error.

        It is a file, because a server whose log nobody reads out of a pipe stands still one day.
        """
        return self.folder / f"{name}.log"

    def launch(self, name: str) -> forks.Forked:
        with self.log(name).open("ab") as log:
            process = forks.start(
                ["-m", "coterie", "party", "serve", self.path(name), "--json"],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.processes[name] = process
        self.stack.callback(_end_process, process)
        return process

    def await_start(self, name: str) -> None:
        process = self.processes[name]
        line = process.stdout.readline()
        assert line, self.log(name).read_text()
        assert json.loads(line)["listen"].endswith(f":{self.ports[name]}")

    def spawn(self, name: str) -> None:
        """A server in a process of its own, once it listens."""
        self.launch(name)
        self.await_start(name)

    def spawn_all(self) -> None:
        for name in self.names:
            self.launch(name)
        for name in self.names:
            self.await_start(name)

    def sessions(self, job_id: str) -> list[Session]:
        """The ends of a job's session at the servers in this process that take part in it now."""
        records = [server._book.get(job_id) for server in self.servers.values()]
        return [record.session for record in records if record and record.session]

    def coordinator(self, name: str = "analyst") -> Coordinator:
        addresses = {n: f"127.0.0.1:{port}" for n, port in self.ports.items()}
        coordinator = Coordinator(self.authority.identity(name), addresses)
        self.stack.callback(coordinator.close)
        return coordinator

    def stub(self, caller: str, party: str) -> Any:
        channel = self.authority.identity(caller).connect(party, f"127.0.0.1:{self.ports[party]}")
        self.stack.callback(channel.close)
        return JobsStub(channel)


def _end_process(process: forks.Forked) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.kill()
    process.communicate()


def status(error: Any) -> tuple[grpc.StatusCode, str]:
    """Code and text of a call that was refused."""
    return error.value.code(), error.value.details()
