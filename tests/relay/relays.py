"""Relays in this process, and organisations behind them."""

from __future__ import annotations

import socket
import threading

import yaml

from coterie.relay.config import load_relay
from coterie.relay.server import Relay
from coterie.trust import reach

NAME = "localhost"  # the relays' name, which the callers' TLS checks


def relay_file(houses, number=1, **changes):
    """A relay file beside the party files."""
    path = houses.authority.issue(NAME, file=f"relay{number}")
    content = {
        "name": NAME,
        "listen": "127.0.0.1:0",
        "tls": {"certificate": str(path), "key": str(path.with_suffix(".key")),
                "authority": str(houses.authority.path)},
        "parties": list(houses.names),
        "callers": ["analyst"],
        **changes,
    }  # fmt: skip
    file = houses.folder / f"relay{number}.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def serve_relay(houses, number=1, kind=Relay, **changes):
    relay = kind(load_relay(relay_file(houses, number, **changes)))
    relay.start()
    houses.stack.callback(relay.stop)
    return relay


def address(*relays):
    return "relay://" + ",".join(f"{NAME}:{relay.port}" for relay in relays)


def behind(houses, *relays, **more):
    """Party files of parties whose ports nobody else knows."""
    for name in houses.names:
        others = [other for other in houses.names if other != name]
        houses.write(
            name,
            listen="127.0.0.1:0",
            relays=[f"{NAME}:{relay.port}" for relay in relays],
            peers={other: {"address": address(*relays)} for other in others},
            **more,
        )


def listening(relay, *names, seconds=20.0):
    """Whether these parties wait for calls at the relay, by then."""
    end = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if set(names) <= set(relay._listeners):
            return True
        end.wait(0.05)
    return False


class Proxy:
    """A web proxy that only makes connections, for one user."""

    def __init__(self, authorization):
        self.authorization = authorization
        self.asked = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            request += near.recv(1)
        first, *headers = request.decode().split("\r\n")
        target = first.split()[1]
        self.asked.append(target)
        if f"Proxy-Authorization: {self.authorization}" not in headers:
            near.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            near.close()
            return
        host, _, port = target.rpartition(":")
        far = socket.create_connection((host, int(port)))
        near.sendall(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
        reach.passed_on(near, far)

    def close(self):
        self._socket.close()
