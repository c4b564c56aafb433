"""Addresses of servers: HOST:PORT, or relay://HOST:PORT for a server behind a relay."""

from __future__ import annotations

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104
_RELAY = "relay://"


def port_of(address: str) -> int | None:
    """The port of HOST:PORT, which is below 65,536; None for any other text."""
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or len(port) > 5:
        return None
    return int(port) if int(port) < 1 << 16 else None


def split_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT; an IPv6 address loses its brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def relays_of(address: str) -> list[str]:
    """The relays of relay://HOST:PORT,HOST:PORT, in the order to try them; none for HOST:PORT."""
    return address.removeprefix(_RELAY).split(",") if address.startswith(_RELAY) else []


def is_address(value: str) -> bool:
    """Whether somebody can connect to this: every port is from 1 to 65535."""
    return all(map(port_of, relays_of(value) or [value])) and "/" not in value.removeprefix(_RELAY)


def from_this_machine(listen: str) -> str:
    """Where somebody on the same machine reaches a server that listens at this address."""
    host, _, port = listen.rpartition(":")
    return f"{_LOOPBACK.get(host, host)}:{port}"
