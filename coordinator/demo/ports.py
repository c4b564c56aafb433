"""Free ports of this machine, for several servers on it."""

from __future__ import annotations

import contextlib
import random
import socket

from coterie.base.errors import EnvironmentFaultError


def free_ports(count: int) -> list[int]:
    """Ports that are free now, below the range that systems use for outgoing connections."""
    found: list[int] = []
    for port in random.SystemRandom().sample(range(20_000, 32_000), 200):
        with socket.socket() as candidate, contextlib.suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise EnvironmentFaultError("127.0.0.1: no free ports")
