"""Free ports of this machine, for several servers on it.

Between the look at a port and the start of its server, another process may look, too. So whoever
gets a port also holds the UDP port of the same number, which no server uses, as a mark: the next
process that looks finds the mark and takes another number.
"""

from __future__ import annotations

import random
import socket
from collections import deque

from coterie.base.errors import EnvironmentFaultError

_marks: deque[socket.socket] = deque()
_KEPT = 32  # marks of earlier calls: the servers of older ones have started


def free_ports(count: int) -> list[int]:
    """Ports that are free now, below the range that systems use for outgoing connections."""
    while len(_marks) > _KEPT:
        _marks.popleft().close()
    found: list[int] = []
    for port in random.SystemRandom().sample(range(20_000, 32_000), 200):
        mark = socket.socket(type=socket.SOCK_DGRAM)
        try:
            mark.bind(("127.0.0.1", port))
            with socket.socket() as candidate:
                candidate.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            continue
        _marks.append(mark)
        found.append(port)
        if len(found) == count:
            return found
    raise EnvironmentFaultError("127.0.0.1: no free ports")
