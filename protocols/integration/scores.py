"""Finds the winner of a round by announced scores, without `hide_scores`.

In: each party's key, which is its best candidate's score and attribute. Out, at every party: the
winner, its key and the best key of the others. Messages: each party to all, its key or 0.
`integrate` says who learns what; `hidden_winner` and `participation` find the winner in other ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from coterie.anonymity.specialization.specialize import Candidate
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare

MOST_ATTRIBUTES = 1 << 16
MOST_SCORE = 1 << 40
SCORE_BITS = 36  # of scores that are compared in secret: at most log2(classes), times 2^30

SCORES = declare(
    "integrate: scores",
    what="Without `hide_scores`, in each round the score and the attribute of every party's best candidate, or that it takes no part.",
    to="every party",
    why="The best candidate of all parties is specialized next.",
)

# (channel, all parties in job order, this party's key or None) -> the winner and, if they are
# known, its key and the best key of all others; None when nobody takes part. Keys are positive, and
# no two parties have equal keys.
Found: TypeAlias = "tuple[str, int | None] | tuple[str, int | None, int] | None"
FindWinner: TypeAlias = Callable[[Channel, Sequence[str], int | None], Found]


def key_of(score: int, attribute: int) -> int:
    """The key of a candidate. The larger key wins: by score, then by the order of the attributes."""
    return (score << 16) | (MOST_ATTRIBUTES - 1 - attribute)


def key_of_candidate(candidate: Candidate) -> int:
    return key_of(candidate.score, candidate.attribute)


def announce_scores(
    channel: Channel, names: Sequence[str], key: int | None
) -> tuple[str, int | None, int] | None:
    """Finds the winner by open scores."""
    keys = announced_keys(channel, key)
    second, best = sorted(names, key=lambda name: keys[name])[-2:]
    return (best, keys[best], keys[second]) if keys[best] else None


def announced_keys(channel: Channel, key: int | None) -> dict[str, int]:
    """The keys of all parties, which every party sends to all; 0 means Not-participate."""
    channel.broadcast(key or 0)
    most = (MOST_SCORE << 16) - 1
    keys = {peer: channel.recv_int(peer, 0, most, "score") for peer in channel.peers}
    keys[channel.me] = key or 0
    return channel.open(SCORES, keys)
