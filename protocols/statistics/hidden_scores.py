"""Chooses the best candidate by entropy or by the K2 measure, from counts that nobody sees.

Lindell and Pinkas (J. Cryptology 2002) and Yang and Wright (TKDE 2006): both measures are sums of x
ln x and ln x over counts, so two servers that hold the counts as shares get shares of the scores
from the secure logarithm (`logarithm`) and shared products, and the best from `minindex`. In:
shares of counts at the servers, None at the others; all parties call. Out, at every party: which
candidate is best, and nothing else.

Entropy of the class given an attribute, times the number of records, for counts n_a of a value and
n_ac of a value and a class:  Σ_a n_a ln n_a - Σ_ac n_ac ln n_ac.  The least is best.

K2 of a family with q configurations of parents and d values, for counts α_jk, t_j = Σ_k α_jk + d-1:
Σ_j [ln (d-1)! - ln t_j! + Σ_k ln α_jk!].  Factorials are computed by Stirling's formula, ln x! ≈ (x
+ 1/2) ln x - x + ln(2π)/2, which `small_factorials` corrects below 64. The greatest is best.

Precision: the logarithms are those of `settings_for`, by oblivious transfer, or with `precise` with
more terms, by Paillier. Each logarithm is within e = `error` of the true one, so an entropy is
within 2 n e of the true one for n records. A K2 score is within (2 n + 2.5 q d) e + (q d + q) s of
the true one: its logarithms have the weights α + 1/2 and t + 1/2, and each of its q d + q
factorials is within s of Stirling's formula as corrected, for s = 1/768 and a rounding to the
scale. A choice equals that of the plain algorithm if the best score is better than the next by
twice that error: `entropy_bound` and `k2_bound`.

Adversary: semi-honest; the servers must not collude. Messages and cost for each call: those of one
batch of `logarithm`, with one logarithm for each cell and each value or configuration, of
`minindex`, and of `HiddenCounts.tell`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Ints, Words
from coterie.base.errors import UsageError
from coterie.protocols.circuits.boolean import from_bits, to_bits
from coterie.protocols.circuits.minindex import minindex
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.numbers.logarithm import (
    Session,
    Settings,
    logarithms_with_x,
    x_times_logarithms,
)
from coterie.protocols.numbers.paillier import DEFAULT_BITS
from coterie.protocols.numbers.shares import product
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.bayesnet import Family
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import RING_BITS, Ring
from coterie.protocols.statistics.small_factorials import LEFT_OVER, corrections
from coterie.protocols.statistics.tree import STOP

SCALE_BITS = 24
PRECISE_TERMS = 9
_MODULUS = 1 << 64

SPLITS = declare(
    "tree: splits",
    what="Of each node that is split, the attribute of least conditional entropy; or that none gains enough.",
    to="every party",
    why="They are the tree, which is the result of the job.",
)
FAMILIES = declare(
    "bayesnet: best families",
    what="In each turn and for each attribute, which further parent raises its score most, or that none does.",
    to="every party",
    why="They are the edges, which are the result of the job.",
)


def settings_for(largest: int, precise: bool = False) -> Settings:
    """Settings for counts up to `largest`: with as many terms as shares of 64 bits allow, or more."""
    bits = max(2, largest.bit_length())
    if precise and bits < RING_BITS:
        scale_bits = min(32, most_scale_bits(largest))
        return Settings(bits, PRECISE_TERMS, "exact", scale_bits, 1 << RING_BITS, zero_as_one=True)
    terms = max(
        (k for k in range(1, 9) if bits * k + 2 * k + (bits - 1).bit_length() <= 64), default=0
    )
    if terms < 2 or bits >= RING_BITS:
        raise UsageError(f"counts up to {largest} are too large for logarithms on shares")
    return Settings(bits, terms, "exact", SCALE_BITS, 1 << RING_BITS, zero_as_one=True)


def most_scale_bits(largest: int) -> int:
    """The finest scale at which no sum of scores leaves the signed numbers of 64 bits.

    The sums of a score are at most n ln n (at twice the scale for K2), and twice that before the
    two sides of a difference are subtracted; the 2 covers the other terms of Stirling's formula. So
    from 1.4 * 10^7 records on the scale of `precise` is less than 2^32.
    """
    most = math.ceil(4 * largest * (math.log(largest + 1) + 2))
    return 63 - most.bit_length()


class HiddenScores(HiddenCounts):
    """A group with two servers that compare scores. `largest` bounds every count."""

    def __init__(
        self,
        channel: Channel,
        names: Sequence[str],
        servers: tuple[str, str],
        largest: int,
        rng: Random,
        minimum_gain: float | None = None,
        precise: bool = False,
        key_bits: int = DEFAULT_BITS,
    ) -> None:
        """`precise` evaluates the logarithms by Paillier, to about six digits, more slowly."""
        super().__init__(channel, names, servers, rng)
        self.settings = settings_for(largest, precise)
        self.minimum_gain = minimum_gain
        self._rng = rng.fork("scores")
        self._session: Session | None = None
        if self._garbling is not None:
            self._session = Session(
                channel,
                self.other_server,
                self.first,
                rng.fork("logarithms"),
                "paillier" if precise else "transfer",
                key_bits,
                garbling=self._garbling,
            )

    @property
    def error(self) -> float:
        """How far a logarithm can be from the true one."""
        return self.settings.error_bound

    def entropy_bound(self, records: int) -> float:
        """Entropies (times records) further apart than this are ranked correctly."""
        return 4 * records * self.error

    def k2_bound(self, records: int, family: Family) -> float:
        """K2 scores further apart than this are ranked correctly."""
        cells = family.configurations * family.size
        factorials = (cells + family.configurations) * (LEFT_OVER + 1 / self.settings.scale)
        return 2 * ((2 * records + 2.5 * cells) * self.error + factorials)

    # Trees

    def split(
        self, tables: Ring | None, nodes: int, sizes: Sequence[Sequence[int]], classes: int
    ) -> list[int]:
        """For each node the candidate of least conditional entropy, or `STOP`.

        With a minimum gain, a node stops if no candidate gains that much per record. All nodes have
        the same number of candidates.
        """
        width = len(sizes[0])
        stops = int(self.minimum_gain is not None)
        scores = None
        if tables is not None and self._session is not None:
            with self.channel.step("entropies"):
                scores = self._entropies(tables, sizes, classes)
                if stops:
                    ahead = self._before_splitting(tables, sizes, classes)
                    scores = np.concatenate([ahead[:, None], scores], axis=1)
        chosen = self.channel.open(
            SPLITS, self._choose(scores, nodes, width + stops, greatest=False)
        )
        return [int(choice) - stops if choice or not stops else STOP for choice in chosen]

    def _entropies(self, tables: Ring, sizes: Sequence[Sequence[int]], classes: int) -> Words:
        flat = [size for row in sizes for size in row]
        groups = tables.reshape(-1, classes).sum(axis=1, dtype=np.uint32)
        terms = self._x_ln_x(np.concatenate([groups, tables]))
        starts = np.cumsum([0, *flat[:-1]])
        of_groups = np.add.reduceat(terms[: len(groups)], starts)
        of_cells = np.add.reduceat(terms[len(groups) :], starts * classes)
        return (of_groups - of_cells).reshape(len(sizes), -1)

    def _before_splitting(
        self, tables: Ring, sizes: Sequence[Sequence[int]], classes: int
    ) -> Words:
        """The entropy of each node, less the gain that a split must have."""
        starts = np.cumsum([0, *(sum(row) * classes for row in sizes)])[:-1]
        counts = np.stack(
            [
                tables[start : start + row[0] * classes]
                .reshape(-1, classes)
                .sum(0, dtype=np.uint32)
                for start, row in zip(starts, sizes, strict=True)
            ]
        )
        totals = counts.sum(axis=1, dtype=np.uint32)
        terms = self._x_ln_x(np.concatenate([totals, counts.reshape(-1)]))
        entropy = terms[: len(totals)] - terms[len(totals) :].reshape(counts.shape).sum(
            axis=1, dtype=np.uint64
        )
        price = round((self.minimum_gain or 0.0) * self.settings.scale)
        ahead: Words = entropy - self._widened(totals) * np.uint64(price)
        return ahead

    def _widened(self, counts: Ring) -> Words:
        """Shares modulo 2^64 of small counts shared modulo 2^32."""
        _, x = logarithms_with_x(self.session, self.settings, counts.astype(np.uint64), self._rng)
        return np.asarray(x, np.uint64)

    def _x_ln_x(self, counts: Ring) -> Words:
        result = x_times_logarithms(
            self.session, self.settings, counts.astype(np.uint64), self._rng
        )
        return np.asarray(result.share, np.uint64)

    @property
    def session(self) -> Session:
        """The servers' session of logarithms, for those of other modules."""
        if self._session is None:
            raise AssertionError("only servers compute scores")
        return self._session

    # Bayes nets

    def best(self, groups: Sequence[Sequence[Family]]) -> list[int]:
        """For each group the family of greatest K2 score, the first among equals."""
        families = [family for group in groups for family in group]
        scores = None
        if self._session is not None:
            with self.channel.step("k2"):
                scores = self._k2(families)
        found: list[int] = [0] * len(groups)
        starts = np.cumsum([0, *map(len, groups)])
        for length in sorted(set(map(len, groups))):
            places = [at for at, group in enumerate(groups) if len(group) == length]
            rows = None
            if scores is not None:
                rows = np.stack([scores[starts[at] : starts[at] + length] for at in places])
            chosen = self.channel.open(
                FAMILIES, self._choose(rows, len(places), length, greatest=True)
            )
            for at, choice in zip(places, chosen, strict=True):
                found[at] = int(choice)
        return found

    def _k2(self, families: Sequence[Family]) -> Words:
        """Shares of the scores, scaled by twice the logarithms' scale."""
        cells = [_share(family) for family in families]
        totals = [
            cell.reshape(family.configurations, family.size).sum(axis=1, dtype=np.uint32)
            + np.uint32(family.size - 1 if self.first else 0)
            for cell, family in zip(cells, families, strict=True)
        ]
        counts = np.concatenate([*cells, *totals])
        x = counts.astype(np.uint64)
        logs, again = logarithms_with_x(self.session, self.settings, x, self._rng)
        doubled = np.asarray(again, np.uint64) * np.uint64(2)
        weight = doubled + np.uint64(1 if self.first else 0)
        terms = np.asarray(
            product(self.session.engine, logs.ring, weight, logs.share, self._rng), np.uint64
        ) - doubled * np.uint64(self.settings.scale)
        if self._garbling is None:
            raise AssertionError("only servers compute scores")
        terms += corrections(self._garbling, counts, 2 * self.settings.scale, self._rng)
        sizes = [*map(len, cells), *map(len, totals)]
        sums = np.add.reduceat(terms, np.cumsum([0, *sizes[:-1]]))
        scores: Words = sums[: len(families)] - sums[len(families) :]
        if self.first:
            scores = scores + np.array(
                [_constant(family, self.settings.scale) for family in families], np.int64
            ).astype(np.uint64)
        return scores

    # Both

    def _choose(self, scores: Words | None, rows: int, count: int, greatest: bool) -> Ints:
        """The best candidate of each row, revealed to every party."""
        width = max(1, (count - 1).bit_length())
        bits = None
        with self.channel.step("choose"):
            if scores is not None and self._garbling is not None:
                index = minindex(
                    self._garbling, scores, _MODULUS, "both", signed=True, greatest=greatest
                )
                if index is None:
                    raise AssertionError("an index for both came to neither")
                bits = to_bits(index.astype(np.uint64), width)
            told = from_bits(self.tell(bits, (rows, width))).astype(np.int64)
        if (told >= count).any():
            raise self.channel.fault(self.servers[0], "told a choice that does not exist")
        return told


def _share(family: Family) -> Ring:
    if family.share is None:
        raise AssertionError("a server has a share of every family")
    return family.share


def _constant(family: Family, scale: int) -> int:
    """The parts of a K2 score that do not depend on counts, at twice the scale."""
    half = 0.5 * math.log(2 * math.pi)
    per_configuration = math.lgamma(family.size) + (family.size - 1) * half
    return round(2 * scale * family.configurations * per_configuration)
