"""Addresses of servers."""

from __future__ import annotations

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104


def port_of(address: str) -> int | None:
    """The port of HOST:PORT, which is below 65,536; None for any other text."""
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or len(port) > 5:
        return None
    return int(port) if int(port) < 1 << 16 else None


def from_this_machine(listen: str) -> str:
    """Where somebody on the same machine reaches a server that listens at this address."""
    host, _, port = listen.rpartition(":")
    return f"{_LOOPBACK.get(host, host)}:{port}"
