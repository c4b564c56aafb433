"""A relay: pairs connections of parties and coordinators, all of which dial out, and carries bytes.

A party that says LISTEN keeps its connection. For each DIAL of its name it hears CALL and a token, and
dials a second time with ACCEPT. The relay then joins the two connections and knows no more than names,
times and sizes: the parties' own TLS runs inside, from end to end. It keeps nothing: when it is killed,
everybody dials again (`trust.reach` has the lines, docs/relay.md what a relay can do).

A connection first shows a certificate of the authority, within a deadline. Until then it counts as a
stranger's, of which there are a few for each address and not many in all.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import socket
import ssl
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator

from cryptography import x509

from coterie.base.addresses import split_address
from coterie.base.errors import EnvironmentFaultError
from coterie.base.text import byte_count, one_line
from coterie.relay.config import RelayConfig
from coterie.trust.identity import proven_name
from coterie.trust.reach import PROTOCOL, heard, passed_on, readable, say

log = logging.getLogger("coterie.relay")
_ANSWER_SECONDS = 10.0  # for the second connection of the party that is called
_SILENT = 90.0  # seconds without a sign of life after which a listening party is gone
_TOLD = 60.0  # seconds between lines about callers that were turned away


class _RefusedError(Exception):
    """What a caller is told instead of OK."""


class _Call:
    """Somebody waits for the second connection of a party."""

    def __init__(self, party: str) -> None:
        self.party = party
        self.answered = threading.Event()
        self.ended = threading.Event()
        self.connection: ssl.SSLSocket | None = None


class _Listener:
    """The connection on which a party hears that it is called. One thread reads and writes it."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        self._connection = connection
        self._lines: deque[str] = deque(["OK"])
        self._woken, self._wake = socket.socketpair()
        self._wake.setblocking(False)

    def tell(self, line: str) -> None:
        self._lines.append(line)
        with contextlib.suppress(OSError):  # full: it will wake anyway; closed: the party is gone
            self._wake.send(b"x")

    def serve(self) -> None:
        """Returns when the party is gone, or silent for too long."""
        heard_last = time.monotonic()
        with self._woken, self._wake:
            while time.monotonic() - heard_last < _SILENT:
                while self._lines:
                    say(self._connection, self._lines.popleft())
                ends = [self._connection, self._woken]
                ready = readable(ends, _SILENT / 4)
                if self._woken in ready:
                    self._woken.recv(4096)
                if self._connection in ready:
                    if not heard(self._connection):
                        return
                    self._lines.append("ALIVE")
                    heard_last = time.monotonic()

    def close(self) -> None:
        _cut(self._connection)


def _cut(end: socket.socket) -> None:
    """Ends a connection that another thread may be reading: not by TLS, which only one may use."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(end, socket.SHUT_RDWR)


class Relay:
    """Serves until `stop`; `start` returns at once."""

    def __init__(self, config: RelayConfig) -> None:
        self._lock = threading.Lock()
        self._strangers: Counter[str] = Counter()
        self._carried: Counter[str] = Counter()
        self._turned_away = 0
        self._told = 0.0
        self._listeners: dict[str, _Listener] = {}
        self._calls: dict[str, _Call] = {}
        self._open: set[socket.socket] = set()
        self._socket: socket.socket | None = None
        self._stopped = False
        self.port = 0
        self.take_up(config)

    def take_up(self, config: RelayConfig) -> None:
        """This file and its certificates hold from the next connection on."""
        files = config.identity.files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0  # nothing may follow the end of TLS
        context.verify_mode = ssl.CERT_REQUIRED
        context.set_alpn_protocols([PROTOCOL])
        context.load_verify_locations(files.authority)
        context.load_cert_chain(files.certificate, files.key)
        self._config, self._context = config, context

    def start(self) -> None:
        host, port = split_address(self._config.listen)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family, backlog=256)
        except OSError as error:
            raise EnvironmentFaultError(
                f"{self._config.file}: listen: {self._config.listen}: {error.strerror}"
            ) from None
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._socket,), daemon=True).start()

    def stop(self) -> None:
        self._stopped = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        with self._lock:
            ends = [*self._open]
        for one in ends:
            _cut(one)

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                plain, address = server.accept()
            except OSError as error:
                if self._stopped:
                    return
                log.error("cannot accept connections: %s", error.strerror)
                time.sleep(0.1)  # out of descriptors: those of strangers end by their deadline
                continue
            host = str(address[0])
            limits = self._config.limits
            with self._lock:
                full = self._strangers.total() >= limits.strangers
                crowded = full or self._strangers[host] >= limits.strangers_each
                if not crowded:
                    self._strangers[host] += 1
            if crowded:
                plain.close()
                self._turn_away(host, "too many connections that have not shown a certificate")
                continue
            threading.Thread(target=self._serve, args=(plain, host), daemon=True).start()

    def _turn_away(self, who: str, reason: str) -> None:
        """Logs some of the callers that were turned away, and counts the others."""
        with self._lock:
            self._turned_away += 1
            now = time.monotonic()
            if now - self._told < _TOLD:
                return
            count, self._turned_away, self._told = self._turned_away, 0, now
        log.warning("%s: turned away: %s (%d since the last line)", who, one_line(reason), count)

    def _serve(self, plain: socket.socket, host: str) -> None:
        try:
            secured = self._context.wrap_socket(
                plain, server_side=True, do_handshake_on_connect=False
            )
        except (OSError, ValueError):
            plain.close()
            self._known(host)
            return
        with secured:
            with self._lock:
                self._open.add(secured)
            try:
                name, line = self._introduced(secured, host)
                self._answer(secured, name, *line.partition(" ")[::2])
            except _RefusedError as refusal:
                self._turn_away(host, str(refusal))
                with contextlib.suppress(OSError):
                    say(secured, f"NO {refusal}")
            except (OSError, ValueError) as error:
                self._turn_away(host, getattr(error, "strerror", None) or str(error))
            finally:
                with self._lock:
                    self._open.discard(secured)

    def _introduced(self, secured: ssl.SSLSocket, host: str) -> tuple[str, str]:
        """Who has connected, and the first line; within one deadline, however slowly bytes come."""
        seconds = self._config.limits.handshake
        late = threading.Timer(seconds, _cut, [secured])
        late.daemon = True
        late.start()
        try:
            secured.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secured.settimeout(seconds)
            secured.do_handshake()
            shown = x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
            name = proven_name(shown)
            if shown.serial_number in self._config.identity.revoked:
                raise _RefusedError(f"the certificate of '{name}' is revoked")
            return name, heard(secured)
        finally:
            late.cancel()
            self._known(host)

    def _known(self, host: str) -> None:
        """A connection from this address is no stranger's any more."""
        with self._lock:
            self._strangers[host] -= 1
            if not self._strangers[host]:
                del self._strangers[host]

    def _answer(self, secured: ssl.SSLSocket, name: str, word: str, what: str) -> None:
        config = self._config
        if word == "DIAL":
            if name not in config.parties | config.callers:
                raise _RefusedError(f"'{name}' is not listed at {config.name}")
            self._dial(secured, name, what)
        elif word in ("LISTEN", "ACCEPT") and name in config.parties:
            if word == "LISTEN":
                self._listen(secured, name)
            else:
                self._accepted(secured, name, what)
        else:
            raise _RefusedError(f"'{name}' may not be reached through {config.name}")

    def _listen(self, secured: ssl.SSLSocket, name: str) -> None:
        own = _Listener(secured)
        with self._lock:
            before = self._listeners.pop(name, None)
            self._listeners[name] = own
        if before is not None:
            before.close()
        log.info("%s waits for calls", name)
        try:
            own.serve()
        finally:
            with self._lock:
                if self._listeners.get(name) is own:
                    del self._listeners[name]
            log.info("%s is gone", name)

    def _dial(self, secured: ssl.SSLSocket, caller: str, party: str) -> None:
        with self._counted(caller):
            listener = self._listeners.get(party) if party in self._config.parties else None
            if listener is None:
                raise _RefusedError(
                    f"'{one_line(party)}' does not wait for calls at {self._config.name}"
                )
            token, call = secrets.token_hex(16), _Call(party)
            self._calls[token] = call
            listener.tell(f"CALL {token} {caller}")
            call.answered.wait(_ANSWER_SECONDS)
            self._calls.pop(token, None)
            try:
                if call.connection is None:
                    raise _RefusedError(f"'{party}' does not answer")
                self._carry(secured, call.connection, caller, party)
            finally:
                call.ended.set()

    @contextlib.contextmanager
    def _counted(self, caller: str) -> Iterator[None]:
        limits = self._config.limits
        with self._lock:
            if self._carried.total() >= limits.connections:
                raise _RefusedError(f"{self._config.name} carries {limits.connections} connections")
            if self._carried[caller] >= limits.each:
                raise _RefusedError(f"'{caller}' has {limits.each} connections already")
            self._carried[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._carried[caller] -= 1

    def _accepted(self, secured: ssl.SSLSocket, name: str, token: str) -> None:
        call = self._calls.pop(token, None)
        if call is None or call.party != name:
            raise _RefusedError("nobody waits for this answer")
        call.connection = secured
        call.answered.set()
        call.ended.wait()

    def _carry(self, near: ssl.SSLSocket, far: ssl.SSLSocket, caller: str, party: str) -> None:
        began = time.monotonic()
        for side in (near, far):
            say(side, "OK")
        sent, received = passed_on(near.unwrap(), far.unwrap())
        seconds = time.monotonic() - began
        sizes = f"{byte_count(sent)} there, {byte_count(received)} back"
        log.info("%s to %s: %.1f s, %s", caller, party, seconds, sizes)
