"""Checks broadcasts: the parties compare digests of what one party has sent to all of them.

Without the check, a class holder could send one party another class; that party would then find the
scores of an honest third party wrong and name it as a cheat. The comparison is the plain echo of a
broadcast (consistent broadcast without signatures). Everything that a party sends to several before
the first round of a specialization is compared.

In: for each party that sent something to all others, the SHA-256 of what this party received (or
sent, for itself). Out: nothing, or an error that names the party that sent different things.

Adversary: malicious. The error names: a party whose digest differs from what it sent itself; a
party that repeats to a sender something else than the sender sent; otherwise, when a witness
reports another digest of a sender than this party received, the sender, as the likelier one. The
last case rests on the witness's word, and the error says so (`said_by`): it counts against nobody
in a ledger. A party that is neither the sender nor the witness is never named. Nothing is learned,
since all parties know what the digests are of. Two parties have nobody to compare with.

Messages: each party to all: the digests, in the order of the parties.
Cost for p parties: one round, (p - 1) (41 p + 9) bytes sent by each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value, encode

DIGESTS = declare(
    "job: digests of what was told to all",
    what="With three parties or more, the digests of what a party tells all others before the first round, as each of them heard it: the job and the head of its audit log, sizes and parts of the salt, encrypted identifiers that go to all, who holds the class, the class, spans, values of attributes, numbers of sensitive values, which records stay within bounds, and their start values; and of the answers of a witness.",
    to="every party",
    why="Who tells different parties different things is found out before anybody is blamed for it; all know what the digests are of.",
)


def digest_of(*values: Value) -> bytes:
    """The SHA-256 of values as a message would carry them."""
    state = hashlib.sha256()
    for buffer in encode(values):
        state.update(buffer)
    return state.digest()


def compare_digests(
    channel: Channel, names: Sequence[str], heard: Mapping[str, bytes], what: str
) -> None:
    """Checks that all received the same; `heard` has the digest of each party that sent something."""
    if len(names) < 3:
        return
    mine = [heard.get(name, bytes(32)) for name in names]
    told: list[Value] = [*channel.open(DIGESTS, mine)]
    channel.broadcast(told)
    for peer in channel.peers:
        due = f"digests of {what}"
        for name, ours, theirs in zip(
            names, mine, channel.recv_list(peer, len(names), due), strict=True
        ):
            other = channel.check_bytes(peer, theirs, 32, due)
            if ours != other:
                raise equivocation(
                    channel, name, peer, what, f"digest {ours.hex()[:16]}", other.hex()[:16]
                )


def equivocation(
    channel: Channel, name: str, witness: str, what: str, heard: str, repeated: str
) -> PeerFaultError:
    """The error when `name` sent two parties different things, or `witness` falsely says so.

    What was heard is for the party's own log: the coordinator is not told scores, and could find
    out a class or a span by its digest.
    """
    said_by = ""
    if name == witness:
        error = channel.fault(name, f"sent {what} and now says that it sent something else")
    elif name == channel.me:  # this party knows what it sent itself
        error = channel.fault(witness, f"repeats falsely what {name} sent it as {what}")
    else:
        error = channel.fault(
            name,
            f"sent this party and {witness} different things as {what} "
            f"(or {witness} lies: what the two of them recorded must tell)",
        )
        said_by = witness
    error.said_by = said_by
    error.inside = f"here {heard}, at {witness} {repeated}"
    return error
