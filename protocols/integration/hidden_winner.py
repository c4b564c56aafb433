"""The winner of a round of specialization by secure maximum: `hide_scores: true`.

Paper 1, §6.3: scores can be concealed while the winner is found, because the winner's score follows
from its instruction anyway. `HiddenWinner` is a `find_winner` of `integrate`.

In: at every party the key of its best candidate, or none. Out, at every party: the party with the
largest key, and that key; or that nobody has a candidate. A key has the score, then the place of
the attribute in the job, so that the winners equal those of a run with open scores, ties included.
Whether the losers have candidates, and their keys, stay secret (`secure_maximum`). The winner's key
reveals nothing that its instruction does not. If conditions on sensitive columns may reject a
winner (`rejectable`), the maximum stays secret; in one more round the winner says whether it has a
candidate. Adversary: that of `secure_maximum`.

Messages and cost: those of `secure_maximum`, prepared for 64 rounds at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.errors import DataError
from coterie.protocols.integration.scores import MOST_ATTRIBUTES, SCORE_BITS
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.secure_maximum import SecureMaximum
from coterie.protocols.primitives.randomness import Random

ROUNDS_AHEAD = 64

WINNER = declare(
    "integrate: winner",
    what="With `hide_scores`, which party has the best candidate of a round, and its score and attribute, which its instruction tells anyway; the score stays hidden where a condition or a population may reject the candidate.",
    to="every party",
    why="The winner gives the next instruction.",
)
HAS_CANDIDATE = declare(
    "integrate: some candidate is left",
    what="With `hide_scores` and conditions on sensitive columns or a population, whether the winner of a round has a candidate at all.",
    to="every party",
    why="The rounds end when nobody has one.",
)


class HiddenWinner:
    """A `FindWinner` with its session; one for each job."""

    def __init__(self, rng: Random, attributes: int, rejectable: bool = False) -> None:
        self._rng = rng
        self._attributes = attributes
        self._place_bits = max(1, (attributes - 1).bit_length())
        self._rejectable = rejectable
        self._session: SecureMaximum | None = None

    def __call__(
        self, channel: Channel, names: Sequence[str], key: int | None
    ) -> tuple[str, int | None] | None:
        if self._session is None:
            bits = SCORE_BITS + self._place_bits
            self._session = SecureMaximum(channel, names, self._rng, bits, ROUNDS_AHEAD)
        own = np.array([self._compressed(channel, key)], np.uint64)
        result = channel.open(
            WINNER, self._session.argmax(own, reveal_maximum=not self._rejectable)
        )
        winner = names[int(result.indices[0])]
        if result.maxima is not None:
            best = int(result.maxima[0])
            return (winner, self._expanded(best)) if best else None
        with channel.step("candidate"):
            channel.open(HAS_CANDIDATE, winner)
            if winner == channel.me:
                channel.broadcast(int(key is not None))
                return None if key is None else (winner, None)
            has = channel.recv_flag(winner, "answer whether it has a candidate")
        if not has and key is not None:
            raise channel.fault(winner, "has won and says that it has no candidate")
        return (winner, None) if has else None

    def _compressed(self, channel: Channel, key: int | None) -> int:
        """The score, then the number of attributes after this one in the job; 0 for no candidate."""
        if key is None:
            return 0
        score, after = key >> 16, self._attributes - (MOST_ATTRIBUTES - (key & 0xFFFF))
        if score + 1 >= 1 << SCORE_BITS:
            raise DataError(
                f"{channel.me}: {channel.current_step}: the score " + "{value} is too large",
                value=score,
            )
        return ((score + 1) << self._place_bits) | after

    def _expanded(self, best: int) -> int:
        after = best & ((1 << self._place_bits) - 1)
        score = (best >> self._place_bits) - 1
        return (score << 16) | (MOST_ATTRIBUTES - self._attributes + after)
