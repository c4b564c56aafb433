"""Who cuts each group: by open keys, or by the secure maximum of all groups at once.

A key is the score of a party's best cut of a group, then the place of its attribute. With
`hide_scores` the keys go through `secure_maximum` in one batch a level. The winner's key is opened,
since its instruction tells it anyway; not so where models may refuse the cut: there the winner says
whether it has one. Scores have as many bits as the largest that records, k and priorities permit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.cuts.groups import Cut
from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import DataError
from coterie.protocols.integration.mondrian.level_messages import Shared, check_owner
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes, unpack_codes
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.secure_maximum import SecureMaximum
from coterie.protocols.primitives.randomness import Random

AHEAD = 64
_CLASS_BITS = 8  # a gain of 256 classes

WINNERS = declare(
    "integrate: winners of a level",
    what="With `method: mondrian` and `hide_scores`, for each group of 2k records or more which party has the best cut, and its score and attribute, which its instruction tells anyway; score and attribute stay hidden where a model may refuse the cut.",
    to="every party",
    why="The winner cuts the group.",
)
HAS_CUT = declare(
    "integrate: some cut is left",
    what="With `method: mondrian`, `hide_scores` and models, for each group whether its winner has a cut at all.",
    to="every party",
    why="A group is final when nobody has one.",
)


@dataclass(frozen=True)
class Winner:
    """The party that cuts a group; its score and attribute, where they are known."""

    party: str
    key: tuple[int, int] | None


def best_of(
    names: Sequence[str], keys: Mapping[str, Sequence[tuple[int, int] | None]], count: int
) -> list[Winner | None]:
    """The winner of each group by open keys: the highest score, then the first attribute."""
    found: list[Winner | None] = []
    for at in range(count):
        offered = [(key[0], -key[1], name) for name in names if (key := keys[name][at]) is not None]
        if not offered:
            found.append(None)
            continue
        score, attribute, party = max(offered, key=lambda one: one[:2])
        found.append(Winner(party, (score, -attribute)))
    return found


def bits_of_scores(records: int, least_k: int, priority: float) -> int:
    """The bits of the largest score: no cut loses more than |G| / k of its width a pair."""
    most = max(math.ceil(max(priority, 1.0) * records / least_k), _CLASS_BITS)
    return (most * SCALE + 1).bit_length()


class HiddenWinners:
    """The secure maximum of the keys of all groups; one session for each job."""

    def __init__(
        self, channel: Channel, names: Sequence[str], score_bits: int, places: int, rng: Random
    ) -> None:
        self._channel, self._names = channel, tuple(names)
        self._places = places
        self._place_bits = max(1, (places - 1).bit_length())
        bits = score_bits + self._place_bits
        if bits > 60:
            raise DataError("the priorities are too large for scores that are compared in secret")
        self._session = SecureMaximum(channel, names, rng, bits, AHEAD)

    def find(
        self,
        shared: Shared,
        groups: Sequence[tuple[int, int]],
        judged: Sequence[bool],
        best: Mapping[tuple[int, int], Cut],
    ) -> list[Winner | None]:
        """The winner of each group; `judged` says of which groups a model may refuse the cut."""
        found: list[Winner | None] = [None] * len(groups)
        for hidden in (False, True):
            wanted = [at for at, model in enumerate(judged) if model == hidden]
            if not wanted:
                continue
            keys = np.array([self._word(best.get(groups[at])) for at in wanted], np.uint64)
            result = self._channel.open(
                WINNERS, self._session.argmax(keys, reveal_maximum=not hidden)
            )
            indices = result.indices.tolist()
            if result.maxima is None:
                own = dict(zip([groups[at] for at in wanted], indices, strict=True))
                has = self._candidates(own, best)
                for at, index in zip(wanted, indices, strict=True):
                    if has[groups[at]]:
                        found[at] = Winner(self._names[index], None)
                continue
            for at, index, word in zip(wanted, indices, result.maxima.tolist(), strict=True):
                if word:
                    found[at] = self._opened(shared, groups[at], self._names[index], word)
        return found

    def _word(self, cut: Cut | None) -> int:
        if cut is None:
            return 0
        return ((cut.score + 1) << self._place_bits) | (self._places - 1 - cut.attribute)

    def _opened(self, shared: Shared, group: tuple[int, int], party: str, word: int) -> Winner:
        attribute = self._places - 1 - (word & ((1 << self._place_bits) - 1))
        check_owner(self._channel, shared, party, shared.partitions[group[0]], group[1], attribute)
        return Winner(party, ((word >> self._place_bits) - 1, attribute))

    def _candidates(
        self, winners: Mapping[tuple[int, int], int], best: Mapping[tuple[int, int], Cut]
    ) -> dict[tuple[int, int], bool]:
        """Each winner tells all, of the groups that it has won, whether it has a cut."""
        channel = self._channel
        found: dict[tuple[int, int], bool] = {}
        with channel.step("candidate"):
            for sender in self._names:
                won = [g for g, index in winners.items() if self._names[index] == sender]
                if not won:
                    continue
                if sender == channel.me:
                    flags = np.array([group in best for group in won], np.uint8)
                    channel.broadcast(channel.open(HAS_CUT, pack_codes(flags, 2)))
                else:
                    flags = told_flags(channel, sender, len(won), "answers whether it has cuts")
                for group, flag in zip(won, flags.tolist(), strict=True):
                    found[group] = bool(flag)
                    if not flag and sender != channel.me and group in best:
                        raise channel.fault(sender, "has won and says that it has no cut")
        return found


def told_flags(channel: Channel, peer: str, count: int, what: str) -> Any:
    """One bit a group, as a peer tells it."""
    packed = channel.recv_array(peer, np.uint8, (None,), what)
    try:
        return unpack_codes(packed, count, 2)
    except ValueError as error:
        raise channel.fault(peer, f"sent {what} that {error}") from None
