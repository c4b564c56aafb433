"""One end of a long stream, as a process of its own: `python stream_end.py NAME FOLDER COUNT`.

Tells its port, hears the other end's, and sends (a) or receives (b) COUNT arrays of 8 MB. The
receiver waits for a word before it reads. At the end it prints by how many bytes its memory had
grown at most since before the first array.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

from coterie.protocols.messaging.channel import Channel
from coterie.transport.session import Heartbeat
from coterie.transport.spool import keep_memory_together
from coterie.trust.identity import load_identity
from tests.transport.links import Node


class Certificates:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def identity(self, name: str):
        path = self.folder / f"{name}.crt"
        return load_identity(name, path, path.with_suffix(".key"), self.folder / "ca.crt")


def memory() -> int:
    """Bytes in use now. (The system's own record of the most begins with the parent's.)"""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    name, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    keep_memory_together()  # as `coterie party serve` does
    other = "b" if name == "a" else "a"
    # No busy machine and no slow disk lets this deadline pass: it is not what is tested.
    node = Node(name, Certificates(folder / "certs"), folder, Heartbeat(0.5, 3600))
    session = node.session("s", (other,))
    print(node.port, flush=True)
    port = int(sys.stdin.readline())
    session.start(lambda peer: node.identity.connect(peer, f"127.0.0.1:{port}"))
    channel = Channel(session, "s")
    array = np.arange(1 << 20, dtype=np.float64)
    before = peak = memory()
    if name == "a":
        for number in range(count):
            array[0] = number
            channel.send(other, array)
            peak = max(peak, memory())
        print("sent", flush=True)
    else:
        sys.stdin.readline()
        peak = max(peak, memory())
        for number in range(count):
            array = channel.recv(other)
            peak = max(peak, memory())
            assert array.shape == (1 << 20,)
            assert (array[0], array[-1]) == (number, (1 << 20) - 1)
    session.finish()
    session.close()
    print(json.dumps({"grown": peak - before}), flush=True)
    node.server.stop(0)


main()
