"""The party server: state folder, services, port, and the end of the server."""

from __future__ import annotations

import logging
import resource
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from coterie.base.errors import EnvironmentFaultError, PeerLostError, RefusedError
from coterie.base.text import one_line
from coterie.base.threads import patient_pool
from coterie.party.books.state_folder import take
from coterie.party.books.whole_file import remove_leftovers
from coterie.party.callers.admission import CAPACITY, Admission
from coterie.party.callers.gate import Gate
from coterie.party.config import NO_OPERATORS, PartyConfig
from coterie.party.health import Health
from coterie.party.history.releases import History
from coterie.party.live import EVERY, Change, Live
from coterie.party.receptions import Receptions
from coterie.party.records import Book
from coterie.party.relayed import Relayed
from coterie.party.service import JobService
from coterie.party.steward.notify import Notifier
from coterie.party.steward.opened_audit import opened_audit
from coterie.party.steward.retention import prune, told, would_prune
from coterie.party.worker import Worker
from coterie.protos.jobs_pb2 import State
from coterie.protos.jobs_pb2_grpc import add_JobsServicer_to_server
from coterie.transport.call_errors import REVOKED
from coterie.transport.peers import PeerService
from coterie.trust.identity import SERVER_OPTIONS, Caller, caller_of, renewed_credentials

log = logging.getLogger("coterie.party")
SERVICES = ("coterie.v1.Jobs", "coterie.v1.Peers")
_HOUSEKEEPING = 15.0  # seconds
_PRUNING = 3600.0  # seconds
_INQUIRY = 60.0  # seconds between questions after jobs that have not begun
_QUEUE = 0.5  # seconds between looks for places that have lapsed
_ENOUGH, _KEPT = 1 << 16, 1024  # descriptors
_THREADS = CAPACITY  # one for each open stream; created when needed
_OPTIONS = (
    *SERVER_OPTIONS,
    ("grpc.max_concurrent_streams", 256),  # per connection
    ("grpc.so_reuseport", 0),  # a port in use is an error
    (
        "grpc.max_receive_message_length",
        64 << 20,
    ),  # a proposal with its taxonomies
)


def _connections() -> int:
    """How many connections may be open, strangers' among them, so that descriptors are left.

    The process may use as many descriptors as the system lets it; files, the operator and the
    peers of running jobs need some of them.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most == resource.RLIM_INFINITY:
        most = _ENOUGH
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    )
    return max(min(most, _ENOUGH) - _KEPT, most // 2)


class PartyServer:
    """The server of one organisation."""

    def __init__(
        self,
        config: PartyConfig,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._wall = wall
        self._live = Live(config, self._taken_up, self._kept_back, wall)
        self._lock = take(config.state)
        self._audit = opened_audit(config)
        self._book = Book(config.state, wall=wall)
        self._notifier = Notifier(config.name, lambda: self.config.notify, self._audit.note)
        self._book.listener = self._notifier.changed
        self._peers = PeerService(config.name, self._peer)
        self._history = History(config.state, wall, guard=self._audit.require_history)
        self._history.tidy()
        remove_leftovers(config.state)
        self._worker = Worker(
            self._live, self._book, self._audit, self._peers, self._history, clock
        )
        for record in self._book.all():
            if record.state in (State.ACCEPTED, State.QUEUED):
                self._worker.expect(record)
        self._admission = Admission(lambda: self.config.limits, self._throttled, clock)
        self._server = grpc.server(
            patient_pool(_THREADS, "rpc"),
            interceptors=[
                Gate(self._admission, lambda: self.config, self._revoked, self._acquainted)
            ],
            options=(*_OPTIONS, ("grpc.max_allowed_incoming_connections", _connections())),
            maximum_concurrent_rpcs=_THREADS,
        )
        receptions = self._receptions = Receptions(self._live, self._book, self._audit)
        self._peers.compare = receptions.compare
        service = JobService(
            self._live, self._book, self._audit, self._worker, receptions, self._caller, clock
        )
        service.prune, service.would_prune = self.prune, self.would_prune
        add_JobsServicer_to_server(service, self._server)  # type: ignore[no-untyped-call]
        self._server.add_generic_rpc_handlers((self._peers,))
        self._health = Health()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if config.reflection:
            names = (*SERVICES, "grpc.health.v1.Health", reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)
        self.port = 0
        self._stopping = threading.Event()
        self._asked = threading.Event()
        self._relayed: Relayed | None = None

    @property
    def config(self) -> PartyConfig:
        """The party file in force."""
        return self._live.config

    @property
    def ended_jobs(self) -> int:
        """How many jobs have ended since the server started."""
        return self._book.ends

    def start(self) -> None:
        try:
            self.port = self._server.add_secure_port(
                self.config.listen, renewed_credentials(lambda: self.config.identity)
            )
        except RuntimeError:
            self.port = 0
        if not self.port:
            raise EnvironmentFaultError(
                f"{self.config.file}: listen: cannot listen on {self.config.listen} "
                "(in use, or not an address of this machine)"
            )
        self._server.start()
        own = f"{self.config.own_address.rpartition(':')[0]}:{self.port}"
        self._relayed = Relayed(self.config.relays, own, lambda: self.config.identity.traveller)
        if not self.config.operators:
            log.warning("%s", NO_OPERATORS)
        self._health.serve()
        self._audit.note(
            "server started",
            party=self.config.name,
            listen=self.config.listen,
            file=self.config.digest,
        )
        threading.Thread(target=self._keep_clean, name="upkeep", daemon=True).start()
        threading.Thread(target=self._watch_files, name="files", daemon=True).start()
        queued = [record for record in self._book.all() if record.state == State.QUEUED]
        for record in sorted(queued, key=lambda record: record.since):
            self._worker.turns.requeue(record)
        threading.Thread(target=self._keep_queue, name="queue", daemon=True).start()

    def _keep_queue(self) -> None:
        while not self._stopping.wait(_QUEUE):
            self._worker.turns.look()

    def reload(self) -> None:
        """Checks the party's files at once; may be called by a signal's handler."""
        self._asked.set()

    def _watch_files(self) -> None:
        while not self._stopping.is_set():
            asked = self._asked.wait(EVERY)
            self._asked.clear()
            if self._stopping.is_set():
                return
            try:
                if not self._live.look(at_once=asked) and asked and not self._live.problem:
                    log.info("%s: asked to look; nothing has changed", self.config.file)
            except EnvironmentFaultError as error:  # the audit log cannot be written
                log.error("%s", error)

    def _taken_up(self, change: Change) -> None:
        """Reports that a newer file is in force, and judges anew the jobs that have not begun."""
        keys, after = list(change.keys), change.after
        log.info("%s: taken up: %s", after.file, ", ".join(keys) or "nothing that matters")
        self._audit.note(
            "file taken up",
            keys=keys,
            file=after.digest,
            before=change.before.digest,
            certificate=after.identity.fingerprint,
        )
        self._worker.judge_again()

    def _kept_back(self, reason: str) -> None:
        """Reports a newer file that could not be taken up."""
        log.error("%s; the file of before stays in force", reason)
        self._audit.note("file refused", reason=one_line(reason), file=self.config.digest)

    def _keep_clean(self) -> None:
        """Runs periodic tasks, whether anybody calls or not."""
        pruned = -_PRUNING
        self._worker.turns.inquire(since=-1.0)  # this party was away: what has become of its jobs?
        self._receptions.compare_again(self._wall())
        looked = time.monotonic()
        while not self._stopping.wait(min(_HOUSEKEEPING, self.config.limits.unstarted / 4)):
            self._worker.expire()
            if time.monotonic() - looked > _INQUIRY:
                self._worker.turns.inquire()
                self._receptions.compare_again(self._wall())
                looked = time.monotonic()
            self._admission.sum_up()
            self._book.settle()
            self._make_up()
            if time.monotonic() - pruned > _PRUNING:
                pruned = time.monotonic()
                try:
                    self.prune()
                except EnvironmentFaultError as error:
                    log.error("%s", error)

    def prune(self) -> dict[str, int]:
        """Removes what is older than the party file permits."""
        config = self.config
        removed = prune(self._book, self._audit, config.state, config.retention, self._wall())
        if any(removed.values()):
            log.info("%s", told(removed))
        return removed

    def would_prune(self) -> dict[str, Any]:
        """What `prune` would remove now."""
        config = self.config
        log_path = self._audit.path
        return would_prune(self._book, log_path, config.state, config.retention, self._wall())

    def _make_up(self) -> None:
        try:
            self._book.make_up()
        except EnvironmentFaultError as error:  # the disk is still full
            log.error("%s", error)

    def _throttled(self, name: str, calls: int, reason: str) -> None:
        """Notes calls that admission rejected, many with one line."""
        try:
            self._audit.note("throttled", by=name, calls=calls, reason=reason)
        except EnvironmentFaultError as error:
            log.error("%s", error)

    def stop(self, reason: str = "was stopped by its operator") -> None:
        """Ends running jobs, tells their peers, and stops the server."""
        self._stopping.set()
        self._asked.set()
        self._health.stop()
        for record in self._book.all():
            if record.state == State.RUNNING:
                self._worker.stop(record, PeerLostError(self.config.name, record.step, reason))
        self._worker.join(3.0)
        if self._relayed is not None:
            self._relayed.stop()
        self._server.stop(1.0).wait()
        self._notifier.stop()
        self._audit.note("server stopped", party=self.config.name, reason=reason)
        self._book.close()
        self._audit.close()
        self._lock.close()

    def _caller(self, context: grpc.ServicerContext) -> Caller:
        """The caller, who must show the pinned certificate if one is pinned."""
        caller = caller_of(context)
        if not any(_accepts(config, caller) for config in self._configs()):
            self._audit.note("turned away", by=caller.name, certificate=caller.fingerprint)
            raise RefusedError(f"'{caller.name}' shows another certificate than the pinned one")
        return caller

    def _revoked(self, caller: Caller) -> None:
        """Notes that somebody has shown a revoked certificate."""
        try:
            self._audit.note(
                "turned away", by=caller.name, certificate=caller.fingerprint, reason=REVOKED
            )
        except EnvironmentFaultError as error:
            log.error("%s", error)

    def _acquainted(self, name: str) -> bool:
        """Whether somebody has a job here, or is a peer of a running one."""
        return any(name in config.peers for config in self._worker.older_files()) or any(
            record.coordinator == name for record in self._book.all()
        )

    def _peer(self, context: grpc.ServicerContext) -> str:
        caller = self._caller(context)
        if not any(caller.name in config.peers for config in self._configs()):
            self._audit.note("turned away", by=caller.name, certificate=caller.fingerprint)
            raise RefusedError(f"'{caller.name}' is not in the roster of {self.config.name}")
        return caller.name

    def _configs(self) -> list[PartyConfig]:
        """The file in force, and those under which running jobs began."""
        return [self.config, *self._worker.older_files()]


def _accepts(config: PartyConfig, caller: Caller) -> bool:
    """Whether a caller that is pinned shows a pinned certificate."""
    peer = config.peers.get(caller.name)
    pin = (peer.pin if peer is not None else None) or config.pins.get(caller.name)
    return pin is None or caller.fingerprint in pin.fingerprints
