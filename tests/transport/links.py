"""Sessions between parties in this process, over real gRPC with mTLS on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc

from coterie.transport.peers import PeerService
from coterie.transport.session import Heartbeat, Session
from coterie.trust.identity import SERVER_OPTIONS, caller_of
from tests.party.authority import Authority

PATIENT = Heartbeat(interval=0.1, deadline=30.0)  # no busy machine may end a session
HASTY = Heartbeat(interval=0.1, deadline=2.0)  # for tests in which the deadline passes


class Node:
    """One party: a server, its identity, and any number of sessions."""

    def __init__(self, name: str, authority: Authority, folder: Path, heartbeat: Heartbeat) -> None:
        self.name = name
        self.folder = folder
        self.heartbeat = heartbeat
        self.identity = authority.identity(name)
        self.service = PeerService(name, lambda context: caller_of(context).name)
        self.server = grpc.server(futures.ThreadPoolExecutor(64), options=SERVER_OPTIONS)
        self.server.add_generic_rpc_handlers((self.service,))
        self.port = self.server.add_secure_port("127.0.0.1:0", self.identity.server_credentials())
        self.server.start()

    def session(
        self,
        session: str,
        peers: tuple[str, ...],
        memory: int = 1 << 30,
        clock: Callable[[], float] = time.monotonic,
    ) -> Session:
        made = Session(
            session,
            self.name,
            peers,
            spool_folder=self.folder,
            heartbeat=self.heartbeat,
            memory=memory,
            clock=clock,
        )
        self.service.add(made)
        return made


class GrpcNetwork:
    """Parties that know each other, for one session at a time."""

    def __init__(
        self, folder: Path, names: tuple[str, ...] = ("a", "b", "c"), heartbeat: Heartbeat = PATIENT
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.names = names
        self.authority = Authority(folder / "certs")
        self.nodes = {name: Node(name, self.authority, folder, heartbeat) for name in names}

    def connect(self, name: str, peer: str) -> grpc.Channel:
        return self.nodes[name].identity.connect(peer, f"127.0.0.1:{self.nodes[peer].port}")

    def sessions(self, session: str, **options: Any) -> dict[str, Session]:
        """A session of all parties, every end of it started."""
        made = {}
        for at, name in enumerate(self.names):
            peers = self.names[at + 1 :] + self.names[:at]
            made[name] = self.nodes[name].session(session, peers, **options)
        for name, end in made.items():
            end.start(lambda peer, name=name: self.connect(name, peer))
        return made

    def close(self) -> None:
        for node in self.nodes.values():
            node.server.stop(0)
