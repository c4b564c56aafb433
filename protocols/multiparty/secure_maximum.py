"""Finds the party with the largest score, and reveals nothing about the other scores.

Paper 1, §5 and §6.3: parties may conceal their scores while they find the winner. The comparison is
a circuit on shares (`gmw`), its depth logarithmic in the bits: of two halves of a number the higher
decides unless its bits are equal (Garay, Schoenmakers and Villegas, PKC 2007).

In: at every party k scores of `bits` bits, for k independent maxima. Out, at every party: for each
maximum the index of the winner among `names`, and the maximum if asked for. Equal scores: the party
that stands first in `names` wins.

Adversary: semi-honest, up to all parties but one colluding. A coalition learns the winners (and
maxima) and what follows from these and its own scores; neither a loser's score, nor how close it
came, nor who would be second.

A tournament over halves of the list. A match between the best of two groups is computed on shares
by the members of these groups only: a party outside would not protect what all members together
know anyway, and so a match of two parties costs no more than in a job of two. Messages of a match,
in order:
    1. leaf products [y_i > x_i], from the left group's x and the right group's y: one round;
    2. halving the bits: (greater, equal) of two neighbours into one: ceil(log2 bits) rounds;
    3. the larger score and its owner's index, chosen by that bit: one round;
and after the last match the winner's index is opened to all: one round.

Cost: rounds (2 + ceil(log2 bits)) ceil(log2 n) + 1, whatever k is: 15 for 3 parties and 32 bits.
A match of p against q parties, m = p + q: bits p q + bits m (m-1) transfers of 16 bytes prepared
ahead, and some 5 bits * (m-1) bits sent by each while it is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Array, Bits, Ints, Words
from coterie.base.errors import DataError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.primitives.randomness import Random

Scores: TypeAlias = Words
AT_ONCE = 1 << 14  # maxima prepared at a time: some 16 MB of words for each peer


@dataclass(frozen=True)
class Winners:
    """For each maximum the winner's place among the names, and the maximum if it is revealed."""

    indices: Ints
    maxima: Scores | None


@dataclass(frozen=True)
class Match:
    """The best of `left` against the best of `right`; left wins a draw."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def group(self) -> tuple[str, ...]:
        return self.left + self.right

    def demands(self, bits: int, width: int) -> list[tuple[Product, int]]:
        """The products that one comparison needs."""
        return [(self.leaves, bits), (self.halving, bits - 1), (self.choosing(width), 1)]

    @property
    def leaves(self) -> Product:
        return Product(self.left, self.right)

    @property
    def halving(self) -> Product:
        return Product(self.group, self.group, 2)

    def choosing(self, width: int) -> Product:
        return Product(self.group, self.group, width)


def tournament(names: tuple[str, ...]) -> list[Match]:
    """All matches, each after those that it depends on."""
    if len(names) < 2:
        return []
    middle = len(names) // 2
    left, right = names[:middle], names[middle:]
    return [*tournament(left), *tournament(right), Match(left, right)]


class SecureMaximum:
    """A session of maxima between the same parties.

    `prepare` makes products ahead; `argmax` prepares `reserve` more comparisons when too few are
    left. Base transfers are run once, at the start.
    """

    def __init__(
        self,
        channel: Channel,
        names: Sequence[str],
        rng: Random,
        bits: int = 32,
        reserve: int = 64,
    ) -> None:
        self._index_bits = max(1, (len(names) - 1).bit_length())
        if not 1 <= bits <= 64 - self._index_bits:
            raise ValueError(f"scores have 1 to {64 - self._index_bits} bits, not {bits}")
        self.bits = bits
        self._width = bits + self._index_bits
        self._reserve = reserve
        self._matches = tournament(tuple(names))
        self._ready = 0
        with channel.step("maximum setup"):
            self._gmw = Gmw(channel, names, rng)

    def prepare(self, count: int) -> None:
        """Prepares the products for `count` further maxima."""
        with self._gmw.channel.step("maximum ahead"):
            for start in range(0, count, AT_ONCE):
                some = min(AT_ONCE, count - start)
                self._gmw.prepare(
                    (product, per * some)
                    for match in self._matches
                    for product, per in match.demands(self.bits, self._width)
                )
                self._ready += some

    def argmax(self, scores: Scores, reveal_maximum: bool = False) -> Winners:
        """The winners, one maximum per score; all parties must give equally many scores."""
        scores = self._checked(scores)
        count, me = len(scores), self._gmw.channel.me
        if self._ready < count:
            self.prepare(max(count - self._ready, self._reserve))
        self._ready -= count
        with self._gmw.channel.step("maximum"):
            index = np.uint64(self._gmw.names.index(me) << self.bits)
            best = scores | index  # a share of the best score so far of this party's group
            for match in self._matches:
                if me in match.group:
                    best = self._play(match, best)
            if reveal_maximum:
                opened = self._gmw.reveal(best, self._width, self._gmw.names)
                return Winners(
                    self._places(opened >> np.uint64(self.bits)),
                    opened & np.uint64((1 << self.bits) - 1),
                )
            narrow = (best >> np.uint64(self.bits)).astype(
                np.uint8 if self._index_bits <= 8 else np.uint64
            )
            return Winners(
                self._places(self._gmw.reveal(narrow, self._index_bits, self._gmw.names)), None
            )

    def _play(self, match: Match, best: Scores) -> Scores:
        """Shares of the better of the best scores of both groups."""
        me, gmw, bits = self._gmw.channel.me, self._gmw, self.bits
        first = me == match.group[0]
        count = len(best)
        planes = bit_planes(best, bits)  # highest first
        flipped = planes ^ np.uint8(first)  # shares of not x, at the left; of y, at the right
        greater = gmw.multiply(match.leaves, flipped.reshape(-1), planes.reshape(-1))
        greater = greater.reshape(bits, count)  # y has the bit and x does not
        equal = flipped  # not (x + y), as everybody has a share of one of the two
        while len(greater) > 1:
            pairs = len(greater) // 2
            high, low = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
            both = greater[low] | equal[low] << 1
            joined = gmw.multiply(match.halving, both.reshape(-1), equal[high].reshape(-1))
            joined = joined.reshape(pairs, count)
            rest = slice(2 * pairs, None)
            greater = np.concatenate([greater[high] ^ (joined & 1), greater[rest]])
            equal = np.concatenate([joined >> 1, equal[rest]])
        # best + greater * (left + right): this party's share of left + right is `best` on either
        # side
        change = gmw.multiply(match.choosing(self._width), best, greater[0])
        return best ^ change if me in match.left else change

    def _places(self, indices: Array) -> Ints:
        places = indices.astype(np.int64)
        if len(places) and int(places.max()) >= len(self._gmw.names):
            channel = self._gmw.channel
            raise channel.fault(
                ", ".join(channel.peers), "one of them sent wrong shares: no winner"
            )
        return places

    def _checked(self, scores: Scores) -> Scores:
        scores = np.asarray(scores)
        if scores.ndim != 1 or scores.dtype != np.uint64:
            raise ValueError(f"expected a vector of uint64, not {scores.dtype} of {scores.shape}")
        if len(scores) and int(scores.max()) >> self.bits:
            place = int(np.argmax(scores >> np.uint64(self.bits) > 0))
            channel = self._gmw.channel
            where = f" in {channel.current_step}" if channel.current_step else ""
            raise DataError(
                f"{channel.me}: secure maximum{where}: a score is "
                "{value}" + f", which has more than {self.bits} bits",
                rows=[place + 1],
                value=int(scores[place]),
            )
        return scores


def bit_planes(words: Scores, bits: int) -> Bits:
    """The bits of every word, highest first: an array of shape (bits, count)."""
    shifts = np.arange(bits - 1, -1, -1, dtype=np.uint64)[:, None]
    return ((words >> shifts) & np.uint64(1)).astype(np.uint8)


def argmax(
    channel: Channel,
    names: Sequence[str],
    scores: Scores,
    rng: Random,
    *,
    bits: int = 32,
    reveal_maximum: bool = False,
) -> Winners:
    """One batch of maxima, with everything prepared for it alone."""
    session = SecureMaximum(channel, names, rng, bits, reserve=0)
    return session.argmax(scores, reveal_maximum)
