"""How a program reaches a server: directly, through a web proxy, or through a relay.

    HOST:PORT                    the server itself
    relay://HOST:PORT            a server that opens no port and waits at a relay
    relay://HOST:PORT,HOST:PORT  the same at one of several relays; the next one where one is gone

`reach` opens a connection, and whoever called begins TLS with the server on it, so that neither a
proxy nor a relay can read, change or impersonate. gRPC cannot dial that way, so `gateway` gives it an
address on this machine whose connections are passed on.

Talking to a relay begins with TLS in which both sides show a certificate of the authority. Then come
lines: `DIAL NAME` asks for a server; the server, which has said `LISTEN`, hears `CALL TOKEN` and answers
on a new connection with `ACCEPT TOKEN`. After `OK` both end this TLS, and what follows is theirs. A proxy
is asked for its connection by HTTP CONNECT.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import os
import secrets
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from cryptography import x509

from coterie.base.addresses import relays_of, split_address
from coterie.base.text import one_line

PROTOCOL = "coterie-relay/1"
LONGEST_LINE = 1000
_PIECE = 1 << 18
_DIAL_SECONDS = 10.0
_SILENT = 900.0  # seconds until a connection on which nothing passes is closed
_AVOIDED = 60.0  # seconds for which a relay that failed is tried last
_failed: dict[str, float] = {}


class ReachError(OSError):
    """Why a server was not reached; `strerror` is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(0, reason)


@dataclass(frozen=True)
class Files:
    """The files that an identity was read from."""

    certificate: Path
    key: Path
    authority: Path
    revoked: Path | None = None


@dataclass(frozen=True)
class Proxy:
    """A web proxy that makes connections by HTTP CONNECT."""

    address: str
    authorization: str = ""  # the value of the header, with user and password

    @staticmethod
    def read(text: str) -> Proxy:
        """From http://USER:PASSWORD@HOST:PORT; `ValueError` without a password's text."""
        found = urlsplit(text)
        if found.scheme != "http" or not found.hostname or not found.port or found.path.strip("/"):
            raise ValueError(
                "a proxy is written http://HOST:PORT or http://USER:PASSWORD@HOST:PORT"
            )
        host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
        user = ""
        if found.username is not None:
            pair = f"{unquote(found.username)}:{unquote(found.password or '')}"
            user = "Basic " + base64.b64encode(pair.encode()).decode()
        return Proxy(f"{host}:{found.port}", user)


@dataclass(frozen=True)
class Traveller:
    """Who connects: the certificate that relays ask for, and the proxy on the way, if any."""

    files: Files
    proxy: Proxy | None = None
    revoked: Collection[int] = ()


def reach(address: str, name: str, who: Traveller, seconds: float) -> socket.socket:
    """A connection to the server `name`, on which nothing has been sent yet."""
    relays = relays_of(address)
    if not relays:
        return connected(address, who.proxy, seconds)
    now = time.monotonic()
    relays.sort(key=lambda one: now - _failed.get(one, -_AVOIDED) < _AVOIDED)
    problems = []
    for relay in relays:
        try:
            found = _dialled(relay, name, who, seconds)
        except OSError as error:
            _failed[relay] = time.monotonic()
            problems.append(f"relay {relay}: {error.strerror or error}")
        else:
            _failed.pop(relay, None)
            return found
    raise ReachError("; ".join(problems))


def connected(address: str, proxy: Proxy | None, seconds: float) -> socket.socket:
    """A TCP connection, through the proxy if there is one."""
    if proxy is None:
        plain = socket.create_connection(split_address(address), seconds)
    else:
        plain = _proxied(address, proxy, seconds)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain


def _proxied(address: str, proxy: Proxy, seconds: float) -> socket.socket:
    try:
        plain = socket.create_connection(split_address(proxy.address), seconds)
    except OSError as error:
        raise ReachError(f"the proxy {proxy.address}: {error.strerror or error}") from None
    lines = [f"CONNECT {address} HTTP/1.1", f"Host: {address}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    try:
        plain.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            piece = plain.recv(1)
            if not piece or len(answer) > 16 * LONGEST_LINE:
                raise ReachError(f"the proxy {proxy.address} closed the connection")
            answer += piece
        status = answer.split(b"\r\n")[0].decode("latin-1")
        if status.split(" ")[1:2] != ["200"]:
            raise ReachError(
                f"the proxy {proxy.address} answers '{one_line(status)}' when asked for {address}"
            )
    except BaseException:
        plain.close()
        raise
    return plain


def _dialled(relay: str, name: str, who: Traveller, seconds: float) -> socket.socket:
    secured = at_relay(relay, who, seconds)
    try:
        say(secured, f"DIAL {name}")
        return admitted(secured)
    except ssl.SSLError as error:
        secured.close()
        raise ReachError(f"does not accept our certificate ({error.reason or error})") from None
    except BaseException:
        secured.close()
        raise


def at_relay(relay: str, who: Traveller, seconds: float) -> ssl.SSLSocket:
    """A connection to a relay that has proven its name, and was shown our certificate."""
    context = _context(who.files, *map(_changed, (who.files.certificate, who.files.key)))
    plain = connected(relay, who.proxy, seconds)
    try:
        secured = context.wrap_socket(plain, server_hostname=split_address(relay)[0])
        shown = x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
    except ssl.SSLCertVerificationError as error:
        plain.close()
        raise ReachError(
            f"shows a certificate that does not count ({error.verify_message})"
        ) from None
    except (OSError, ValueError) as error:
        plain.close()
        raise ReachError(f"no TLS ({getattr(error, 'strerror', None) or error})") from None
    if shown.serial_number in who.revoked:
        secured.close()
        raise ReachError("shows a revoked certificate")
    return secured


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


@functools.lru_cache(maxsize=64)
def _context(files: Files, *changed: int) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols([PROTOCOL])
    context.load_verify_locations(files.authority)
    context.load_cert_chain(files.certificate, files.key)
    return context


def say(secured: ssl.SSLSocket, line: str) -> None:
    secured.sendall(f"{line}\n".encode())


def heard(secured: ssl.SSLSocket) -> str:
    """The next line; empty at the end of the connection."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = secured.recv(
            1
        )  # decrypted bytes wait in the TLS library: this costs no system call
        if not piece or len(line) > LONGEST_LINE:
            return ""
        line += piece
    return line.decode("utf-8", "replace").rstrip("\n")


def admitted(secured: ssl.SSLSocket) -> socket.socket:
    """The connection without the TLS of the relay, once that says OK."""
    answer = heard(secured)
    if answer != "OK":
        reason = one_line(answer.removeprefix("NO "))
        raise ReachError(reason or "closed the connection; does it know our certificate?")
    return secured.unwrap()


def readable(ends: Sequence[socket.socket], seconds: float) -> Sequence[socket.socket]:
    """Which of these can be read, after waiting for this long at most; any number of descriptors."""
    poll = select.poll()  # `select.select` knows the first 1,024 only
    for end in ends:
        poll.register(end, select.POLLIN)
    found = {number for number, _ in poll.poll(seconds * 1000)}
    return [end for end in ends if end.fileno() in found]


def passed_on(one: socket.socket, other: socket.socket) -> tuple[int, int]:
    """Carries bytes both ways until both have ended; how many came from each."""
    for side in (one, other):
        side.settimeout(_SILENT)
    counts = [0, 0]
    back = threading.Thread(target=_carry, args=(other, one, counts, 1), daemon=True)
    back.start()
    _carry(one, other, counts, 0)
    back.join()
    for side in (one, other):
        side.close()
    return counts[0], counts[1]


def _carry(source: socket.socket, target: socket.socket, counts: list[int], place: int) -> None:
    room = memoryview(bytearray(_PIECE))
    try:
        while count := source.recv_into(room):
            target.sendall(room[:count])
            counts[place] += count
        target.shutdown(socket.SHUT_WR)
    except OSError:  # one end is gone: so is the other
        for side in (source, target):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


class _Gateway:
    """An address on this machine that only this user can use, and whose connections are passed on."""

    def __init__(self, dial: Callable[[], socket.socket]) -> None:
        self._dial = dial
        self.problem = ""
        self.name = f"coterie-{os.getpid()}-{secrets.token_hex(8)}"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(f"\0{self.name}")
        self._listener.listen(64)
        self.target = f"unix-abstract:{self.name}"
        threading.Thread(target=self._serve, name="gateway", daemon=True).start()

    def _serve(self) -> None:
        while True:
            near, _ = self._listener.accept()
            threading.Thread(target=self._pass, args=(near,), name="gateway", daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with near:
            found = near.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            if struct.unpack("3i", found)[1] != os.getuid():
                return
            try:
                far = self._dial()
            except OSError as error:
                self.problem = error.strerror or str(error)
                return
            self.problem = ""
            passed_on(near, far)


_gateways: dict[tuple[str, str, Traveller], _Gateway] = {}
_lock = threading.Lock()


def target_of(address: str, name: str, who: Traveller) -> str:
    """What gRPC is to connect to: the address, or a gateway where a proxy or a relay is on the way."""
    if who.proxy is None and not relays_of(address):
        return address
    key = (address, name, who)
    with _lock:
        if key not in _gateways:
            _gateways[key] = _Gateway(lambda: reach(address, name, who, _DIAL_SECONDS))
        return _gateways[key].target


def problem_in(details: str) -> str:
    """Why the gateway that gRPC's words name did not get through; empty where they name none."""
    gateways = list(_gateways.values())
    return next((one.problem for one in gateways if one.name in details), "")
