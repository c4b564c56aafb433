"""The digest of everything that each party sends to each other one."""

from __future__ import annotations

import hashlib
import json
import struct
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from coterie.protocols.messaging.channel import Message
from coterie.protocols.messaging.memory import MemoryNetwork

FILE = Path(__file__).with_name("digests.json")


def recorded(case: Callable[[Path], None], folder: Path) -> dict[str, str]:
    """By ordered pair of parties: messages, bytes, and a hash over steps, sequences and bodies."""
    hashes = defaultdict(hashlib.sha256)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    put = MemoryNetwork.put

    def noted(self: MemoryNetwork, sender: str, receiver: str, message: Message) -> None:
        pair, body = f"{sender} > {receiver}", b"".join(message.body)
        step = message.step.encode()
        head = struct.pack("<QQQ", len(step), message.sequence, len(body))
        hashes[pair].update(head + step + body)
        counts[pair][0] += 1
        counts[pair][1] += len(body)
        put(self, sender, receiver, message)

    with mock.patch.object(MemoryNetwork, "put", noted):
        case(folder)
    return {
        pair: f"{counts[pair][0]} messages, {counts[pair][1]} bytes, {hashes[pair].hexdigest()[:32]}"
        for pair in sorted(hashes)
    }


def known() -> dict[str, dict[str, str]]:
    return dict(json.loads(FILE.read_text())) if FILE.exists() else {}


def write(digests: dict[str, dict[str, str]]) -> None:
    FILE.write_text(json.dumps(digests, indent=1) + "\n")
