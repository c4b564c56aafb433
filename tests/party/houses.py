"""Organisations for tests: real servers over mTLS on free ports of this machine."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from party.config import load_party
from party.identity import Identity, load_identity
from party.server import PartyServer
from protos import party_pb2 as pb
from protos.party_pb2_grpc import JobsStub

ROOT = Path(__file__).parents[2]
ENDED = (pb.FINISHED, pb.FAILED, pb.CANCELLED, pb.REFUSED)


class Authority:
    """A certificate authority that also issues wrong certificates on request."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        self.path = folder / f"{name}.crt"
        certificate = self._sign(self._name, self._key.public_key(), None, 30, ca=True)
        self.path.write_bytes(certificate.public_bytes(Encoding.PEM))

    def _sign(self, subject: Any, key: Any, dns: str | None, days: float, ca: bool) -> Any:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=60))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if dns:
            names = x509.SubjectAlternativeName([x509.DNSName(dns)])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def issue(
        self, name: str, *, file: str | None = None, days: float = 30, dns: str | None = None
    ) -> Path:
        """Writes FILE.crt and FILE.key and returns the certificate's path."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(subject, key.public_key(), dns or name, days, ca=False)
        path = self.folder / f"{file or name}.crt"
        path.write_bytes(certificate.public_bytes(Encoding.PEM))
        key_path = path.with_suffix(".key")
        key_path.touch(0o600)
        key_path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return path

    def identity(self, name: str, file: str | None = None) -> Identity:
        path = self.folder / f"{file or name}.crt"
        if not path.exists():
            self.issue(name, file=file)
        return load_identity(name, path, path.with_suffix(".key"), self.path)


def free_ports(count: int) -> list[int]:
    import socket

    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


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
        return job_id, {n: s.Propose(proposal, timeout=30) for n, s in self.stubs.items()}

    def start(self, job_id: str, names: Sequence[str] | None = None) -> None:
        for name in names or self.stubs:
            self.stubs[name].Start(pb.JobRef(job_id=job_id), timeout=10)

    def watch(self, job_id: str, name: str, timeout: float = 60) -> Iterator[pb.Event]:
        return self.stubs[name].Watch(pb.JobRef(job_id=job_id), timeout=timeout)

    def end(self, job_id: str, name: str, timeout: float = 60) -> pb.Event:
        """The last event of the job at this party."""
        *_, last = self.watch(job_id, name, timeout)
        return last

    def fetch(self, job_id: str, name: str) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for chunk in self.stubs[name].Fetch(pb.JobRef(job_id=job_id), timeout=30):
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
    heartbeat: tuple[float, float] = (0.2, 3.0)
    ports: dict[str, int] = field(init=False)
    authority: Authority = field(init=False)
    stack: ExitStack = field(default_factory=ExitStack, init=False)
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict, init=False)
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
                "columns": {"use": ["ID"], "release": []},
                "consent": "auto",
            },
        }

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"

    def state(self, name: str) -> Path:
        return self.folder / f"state-{name}"

    def write(self, name: str, **changes: Any) -> None:
        """Writes the party file; `policy` is merged, other keys replaced, None takes one out."""
        content = self.party_file(name)
        for key, value in changes.items():
            if key == "policy":
                content["policy"].update(value)
            elif value is None:
                content.pop(key)
            else:
                content[key] = value
        self.path(name).write_text(yaml.safe_dump(content, sort_keys=False))

    def job(self, name: str = "common", parties: Sequence[str] | None = None) -> str:
        entries = {
            n: {"address": f"127.0.0.1:{self.ports.get(n, 1)}"} for n in parties or self.names
        }
        job = {"kind": "intersect", "name": name, "parties": entries, "id": "ID"}
        return yaml.safe_dump(job, sort_keys=False)

    def serve(self, name: str) -> PartyServer:
        """A server in this process."""
        server = PartyServer(load_party(self.path(name)))
        server.start()
        self.servers[name] = server
        self.stack.callback(lambda: self.servers.pop(name).stop() if name in self.servers else None)
        return server

    def serve_all(self) -> None:
        for name in self.names:
            self.serve(name)

    def spawn(self, name: str) -> subprocess.Popen[str]:
        """A server in a process of its own, once it listens."""
        process = subprocess.Popen(
            [sys.executable, "-m", "coterie", "party", "serve", str(self.path(name)), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.processes[name] = process
        self.stack.callback(_end_process, process)
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        assert json.loads(line)["listen"].endswith(f":{self.ports[name]}")
        return process

    def spawn_all(self) -> None:
        for name in self.names:
            self.spawn(name)

    def coordinator(self, name: str = "analyst") -> Coordinator:
        addresses = {n: f"127.0.0.1:{port}" for n, port in self.ports.items()}
        coordinator = Coordinator(self.authority.identity(name), addresses)
        self.stack.callback(coordinator.close)
        return coordinator

    def stub(self, caller: str, party: str) -> Any:
        channel = self.authority.identity(caller).connect(party, f"127.0.0.1:{self.ports[party]}")
        self.stack.callback(channel.close)
        return JobsStub(channel)


def _end_process(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.kill()
    process.communicate()


@contextmanager
def houses(folder: Path, *names: str, **options: Any) -> Iterator[Houses]:
    made = Houses(folder, names or ("lender", "bank", "card"), **options)
    with made.stack:
        yield made


def status(error: Any) -> tuple[grpc.StatusCode, str]:
    """Code and text of a call that was refused."""
    return error.value.code(), error.value.details()
