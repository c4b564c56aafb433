"""A random seed that all parties draw together and that none of them can choose.

Blum's coin toss (CRYPTO 1981) for any number of parties: everybody commits to a random string
before anybody shows one. Used where a public choice must be nobody's own, such as which pairs of
records are compared.

In: nothing but each party's own randomness. Out: 32 bytes, the same at every party, which are the
hash of all strings.

Adversary: any number of cheating parties but one. A party that shows another string than it
committed to, or that commits to different strings at different parties, is found out and named. A
cheating party can still stop when it has seen the others' strings and dislikes the outcome, which
ends the job.

Messages:
    1. commit: everybody's hash of its name and its random string of 32 bytes, to all.
    2. show: the string, and a hash of all commitments in the order of the names, to all.
Cost: two rounds of 32 and 64 bytes from each to each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from coterie.protocols.messaging.channel import Channel
from coterie.protocols.multiparty.secure_sum import checked_names
from coterie.protocols.primitives.randomness import Random

SIZE = 32


def toss(channel: Channel, names: Sequence[str], rng: Random) -> bytes:
    """The joint seed. The caller knows what it decides, and passes it to `Channel.open`."""
    order = checked_names(channel, names)
    mine = rng.bytes(SIZE)
    with channel.step("commit"):
        committed = {channel.me: _commitment(channel.me, mine)}
        channel.broadcast(committed[channel.me])
        for peer in channel.peers:
            committed[peer] = channel.recv_bytes(peer, SIZE, "commitment of 32 bytes")
    heard = hashlib.sha256(b"".join(committed[name] for name in order)).digest()
    with channel.step("show"):
        shown = {channel.me: mine}
        channel.broadcast(mine + heard)
        for peer in channel.peers:
            message = channel.recv_bytes(peer, 2 * SIZE, "random string and digest of 64 bytes")
            shown[peer], theirs = message[:SIZE], message[SIZE:]
            if _commitment(peer, shown[peer]) != committed[peer]:
                raise channel.fault(peer, "showed another string than it had committed to")
            if theirs != heard:
                raise channel.fault(peer, "heard other commitments than this party did")
    joint = b"".join(shown[name] for name in order)
    return hashlib.sha256(b"coterie joint seed\0" + joint).digest()


def _commitment(name: str, secret: bytes) -> bytes:
    """Hides and binds: the string has 256 random bits, and the name keeps it from being copied."""
    return hashlib.sha256(b"coterie commitment\0" + name.encode() + b"\0" + secret).digest()
