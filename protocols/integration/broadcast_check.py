"""All parties were told the same: what one sends to several is compared before anybody relies on it.

Without this a class holder could tell one party another class; that party would then find the scores
of an honest third one wrong and name it as a cheat.

In: for each party that told all others something, the SHA-256 of what this party heard (of what it
sent itself, for its own). Out: nothing, or an error that names who told two stories.

Adversary: malicious. Who is named: a party that says now something else than it sent; one that
repeats to its author something else than the author sent; otherwise, when a witness says that the
author told it something else than it told this party, the author, as the likelier one. The last
rests on the witness's word, and the error says so (`said_by`): it counts against nobody in a ledger.
Whoever is neither the author nor the witness is never named. Two parties have nobody to compare with.

Messages: each party to all: the digests, in the order of the parties.
Cost: one round, 37 (p - 1) p bytes a party for p parties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value

DIGESTS = declare(
    "class: digests of what was told to all",
    what="Before the first round of three or more parties, the digests of who holds the class, of the class and of the spans, as each party heard them.",
    to="every party",
    why="Who tells different parties different things is found out before anybody is blamed for it; all know what the digests are of.",
)


def compare_digests(
    channel: Channel, names: Sequence[str], heard: Mapping[str, bytes], what: str
) -> None:
    """All heard the same from each party; `heard` has the digest for each that told something."""
    if len(names) < 3:
        return
    mine = [heard.get(name, bytes(32)) for name in names]
    told: list[Value] = [*channel.open(DIGESTS, mine)]
    channel.broadcast(told)
    for peer, theirs in channel.gather().items():
        if (
            not isinstance(theirs, list)
            or len(theirs) != len(names)
            or not all(isinstance(one, bytes) and len(one) == 32 for one in theirs)
        ):
            raise channel.fault(peer, f"did not repeat the digests of {what}")
        for name, ours, other in zip(names, mine, theirs, strict=True):
            if ours != other:
                raise equivocation(
                    channel,
                    name,
                    peer,
                    f"{what} with digest {ours.hex()[:16]}",
                    other.hex()[:16],
                )


def equivocation(
    channel: Channel, name: str, witness: str, heard: str, other: str
) -> PeerFaultError:
    """Somebody told two parties different things, or one of these says so falsely."""
    if name == witness:
        return channel.fault(name, f"sent {heard} and says that it is {other}")
    if name == channel.me:  # it knows what it said itself
        return channel.fault(witness, f"repeats {other} where {name} sent {heard}")
    error = channel.fault(
        name,
        f"sent this party {heard} and {witness} {other} "
        f"(or {witness} lies: what the two of them recorded must tell)",
    )
    error.said_by = witness
    return error
