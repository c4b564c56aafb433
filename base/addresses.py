"""Addresses of servers."""

from __future__ import annotations

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104


def from_this_machine(listen: str) -> str:
    """Where somebody on the same machine reaches a server that listens at this address."""
    host, _, port = listen.rpartition(":")
    return f"{_LOOPBACK.get(host, host)}:{port}"
