"""The participation strategy: who takes part in a round of specialization, and who is caught.

Mohammed, Fung, Debbabi (paper 1), §6.3 and Algorithm 2. A party's contribution mu is the sum of the
scores of its specializations. Party i takes part in a round when mu_i <= mu_j + epsilon for all j,
otherwise it sends Not-participate; the rounds end when all do. Deviating gains at most a round or
two: a party that contributes less than the others receives nothing more from them (Theorem 1).

In: epsilon, equal at all parties. Out: the winner of each round, or an error that names a cheat.
A second phase (`refine`) counts from 0.
Every party recomputes all contributions from the instructions and the class, and never uses what a
party says about itself. Scores, contributions and epsilon are whole numbers, times 2^30.

Adversary: malicious but rational, as in the paper: it may declare any score, take part or not, and
send any message. Its data cannot be checked: a party that sends codes which are not those of its
column is not caught as long as the codes are valid. The following is caught, and every honest party
ends with an error that names the cheat before it follows the instruction or proposes anything more:
    - a declared score that does not follow from the instruction and the class (`integrate`)
    - an instruction for another party's attribute or a value not in the cut, with a wrong number of
      records or a code out of range, or one that violates the requirement or is not beneficial
      (`integrate`)
    - a winner that had contributed too much to take part
    - different scores, or different instructions, sent to different parties

The last of these rests on what parties report about a third: when b reports that w sent it
something else than w sent c, then w or b lies, and c cannot know which. The error names w as the
likelier one and b as the witness, with what both received (`broadcast_check`), and counts against
nobody in c's ledger; w, if honest, names b.

Messages, besides those of `integrate`:
    winner     each party to all: the scores that it received from all (or, if scores are hidden,
               the winner and its score as the party sees them)
    instruct   each party to all: SHA-256 of the instruction
Cost: two more rounds, and at most (p-1)(17 p + 50) bytes a party and round for p parties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import UsageError
from coterie.protocols.integration.scores import MOST_SCORE, FindWinner, announced_keys
from coterie.protocols.messaging.broadcast_check import equivocation
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value, same_value

REPEATED = declare(
    "participation: what was heard",
    what="The scores of a round as each party heard them, or with `hide_scores` the winner and its score as each sees them.",
    to="every party",
    why="Who tells different parties different scores is found out; all know the scores already.",
)
DIGEST = declare(
    "participation: digest of an instruction",
    what="The digest of the instruction of a round as each party received it.",
    to="every party",
    why="Who sends different parties different instructions is found out; all have the instruction already.",
)


def whole_epsilon(epsilon: float) -> int:
    """Epsilon as the whole number that is compared."""
    if not math.isfinite(epsilon) or epsilon < 0:
        raise UsageError(f"epsilon must be a finite number of at least 0, not {epsilon}")
    return round(epsilon * SCALE)


def may_take_part(name: str, contributions: Mapping[str, int], epsilon: int) -> bool:
    """The strategy: whether this party has contributed at most epsilon more than any other."""
    least = min(mu for other, mu in contributions.items() if other != name)
    return contributions[name] <= least + epsilon


class Strategy:
    """One party's participation in one job. Its methods are the hooks of `integrate`."""

    def __init__(self, epsilon: float, hidden: FindWinner | None = None) -> None:
        self._epsilon = whole_epsilon(epsilon)
        self._hidden = hidden
        self._contributions: dict[str, int] = {}

    def takes_part(self, me: str, contributions: Mapping[str, int]) -> bool:
        self._contributions = dict(contributions)
        return may_take_part(me, contributions, self._epsilon)

    def find_winner(
        self, channel: Channel, names: Sequence[str], key: int | None
    ) -> tuple[str, int | None] | None:
        """The winner, after all parties have compared what they received."""
        if self._hidden is None:
            keys = announced_keys(channel, key)
            self._compare_scores(channel, names, keys)
            best = max(names, key=lambda name: keys[name])
            found: tuple[str, int | None] | None = (best, keys[best]) if keys[best] else None
        else:
            hidden = self._hidden(channel, names, key)
            found = None if hidden is None else (hidden[0], hidden[1])
            self._compare_winners(channel, names, found)
        if found is not None and not may_take_part(found[0], self._contributions, self._epsilon):
            given = {name: mu / SCALE for name, mu in self._contributions.items()}
            raise channel.fault(
                found[0],
                "took part though it had contributed more than others and epsilon: "
                + ", ".join(f"{name} {mu:.6f}" for name, mu in given.items()),
            )
        return found

    def _compare_scores(
        self, channel: Channel, names: Sequence[str], keys: Mapping[str, int]
    ) -> None:
        """Every party repeats the scores that it received, and all compare them."""
        heard: list[Value] = [keys[name] for name in names]
        channel.broadcast(channel.open(REPEATED, heard))
        most = (MOST_SCORE << 16) - 1
        for peer in channel.peers:
            repeated = channel.recv_ints(peer, len(names), 0, most, "repetition of the scores")
            for name, other in zip(names, repeated, strict=True):
                if other != keys[name]:
                    raise equivocation(
                        channel, name, peer, "its score", f"{keys[name] >> 16}", f"{other >> 16}"
                    )

    def _compare_winners(
        self, channel: Channel, names: Sequence[str], found: tuple[str, int | None] | None
    ) -> None:
        mine: list[Value] = (
            [-1, 0] if found is None else [list(names).index(found[0]), found[1] or 0]
        )
        channel.broadcast(channel.open(REPEATED, mine))
        for peer, theirs in channel.gather().items():
            if not same_value(theirs, mine):
                raise channel.fault(
                    peer, "sees another winner than this party: it or a third sent wrong shares"
                )

    def confirm(self, channel: Channel, winner: str, digest: bytes) -> None:
        """Checks that all parties have received the same instruction."""
        channel.broadcast(channel.open(DIGEST, digest))
        for peer in channel.peers:
            theirs = channel.recv_bytes(peer, len(digest), "digest of the instruction")
            if theirs == digest:
                continue
            here = f"digest {digest.hex()[:16]}"
            raise equivocation(channel, winner, peer, "the instruction", here, theirs.hex()[:16])
