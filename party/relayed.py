"""Waits at relays for calls, for a server that opens no port to the outside (`relays` in its file).

Each relay is dialled and kept; when it says CALL, the server dials it once more and connects that with
its own port, at which the caller proves who it is as any other. `trust.reach` has the lines.
"""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence

from coterie.base.addresses import split_address
from coterie.trust.reach import Traveller, admitted, at_relay, heard, passed_on, readable, say

log = logging.getLogger("coterie.party")
_SECONDS = 10.0  # for reaching a relay
_SIGN = 20.0  # seconds between signs of life
_SILENT = 60.0  # seconds without an answer after which a relay is gone
_SOON, _LATE = 1.0, 30.0  # seconds until a relay is dialled again
_MOST = 256  # connections at a time


class Relayed:
    """Waits at all relays until `stop`."""

    def __init__(self, relays: Sequence[str], own: str, who: Callable[[], Traveller]) -> None:
        self._own, self._who = own, who
        self._stopping = threading.Event()
        self._places = threading.BoundedSemaphore(_MOST)
        for relay in relays:
            threading.Thread(
                target=self._wait_at, args=(relay,), name=f"relay {relay}", daemon=True
            ).start()

    def stop(self) -> None:
        self._stopping.set()

    def _wait_at(self, relay: str) -> None:
        pause = _SOON
        while not self._stopping.wait(0):
            began = time.monotonic()
            try:
                with at_relay(relay, self._who(), _SECONDS) as connection:
                    self._listen(relay, connection)
                reason = "closed the connection"
            except OSError as error:
                reason = error.strerror or str(error)
            if self._stopping.is_set():
                return
            pause = _SOON if time.monotonic() - began > _LATE else min(2 * pause, _LATE)
            log.warning("relay %s: %s; dialled again in %g s", relay, reason, pause)
            self._stopping.wait(pause)

    def _listen(self, relay: str, connection: ssl.SSLSocket) -> None:
        say(connection, "LISTEN")
        last = time.monotonic()
        while not self._stopping.is_set() and time.monotonic() - last < _SILENT:
            if not connection.pending() and not readable([connection], _SIGN):
                say(connection, "ALIVE")
                continue
            line = heard(connection)
            last = time.monotonic()
            word, _, rest = line.partition(" ")
            if word == "OK":
                log.info("relay %s: waits for calls", relay)
            elif word == "CALL":
                threading.Thread(target=self._answer, args=(relay, rest), daemon=True).start()
            elif word == "NO":
                raise OSError(0, rest)
            elif not line:
                return

    def _answer(self, relay: str, call: str) -> None:
        token, _, caller = call.partition(" ")
        if not self._places.acquire(blocking=False):
            log.warning("relay %s: %s turned away: %d connections", relay, caller, _MOST)
            return
        try:
            connection = at_relay(relay, self._who(), _SECONDS)
            say(connection, f"ACCEPT {token}")
            far = admitted(connection)
            passed_on(far, socket.create_connection(split_address(self._own), _SECONDS))
        except OSError as error:
            log.warning("relay %s: call of %s: %s", relay, caller, error.strerror or error)
        finally:
            self._places.release()
