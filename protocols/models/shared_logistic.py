"""The parts of a logistic model of divided columns that two servers compute on shares.

`joint_logistic` puts them together, and says who learns what: here are the steps on shares of the
weights, whether scores are in range, and the sums at public weights from which the last step, the
standard errors and the ranking of records follow. Every method is called by all parties; what a
method opens is declared here, and is all that anybody learns.

In: at every party its own columns, and the outcomes at their holder. Adversary: semi-honest; the
servers must not collude. Messages and cost: see `joint_logistic`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coterie.base.arrays import Array, Bits, Codes, Floats, Ints, Words
from coterie.base.record_sums import scores
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.all_within import all_within
from coterie.protocols.models.joint_concordance import ranked_columns
from coterie.protocols.models.joint_products import Moments
from coterie.protocols.models.pooled_newton import Slope
from coterie.protocols.models.scale import Scale
from coterie.protocols.models.server_products import ServerProducts
from coterie.protocols.models.symmetric import Factored, Matrix, Vector, applied, dot, unpacked
from coterie.protocols.numbers import periodic
from coterie.protocols.numbers.scaling import scale_exactly
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers, share_out

_RING = Ring(1 << 64)
_LONG = 1.5  # a step, as a multiple of the one that can never be too long
_COLUMN = 1 << 13  # steps of a scaled column for one standard deviation
FINE = 1 << 16  # the same for the last gradient
WEIGHT = periodic.ANGLES / periodic.PERIOD / _COLUMN  # steps of a weight of 1
_INVERSE = 1 << 22  # by which M is multiplied, so that whole numbers are left
FAR = 0.1  # the most that the last step may change a score by

WEIGHTS = declare(
    "regress: coefficients after steps on shares",
    what="With vertical partition, the coefficients of a logistic model after the steps on shares, before the last one.",
    to="every party",
    why="The last step begins at them.",
)
INSIDE = declare(
    "regress: whether all scores are in range",
    what="One bit: whether the model's score of every record is between -12 and 12.",
    to="every party",
    why="The sigmoid is computed rightly for such scores only; otherwise the job ends.",
)
NEAR = declare(
    "regress: whether the last step is small",
    what="One bit, where public numbers leave it open: whether the last step of a logistic model changes the score of no record by more than 0.1.",
    to="every party",
    why="The bound of the coefficients' error holds for such a step only; otherwise the job ends.",
)
INFORMATION = declare(
    "regress: gradient and second derivatives of columns at different parties",
    what="With vertical partition, at the coefficients after the steps on shares, the value, the gradient and the second derivatives of the logistic objective, each a sum over all common records.",
    to="every party",
    why="The last step and the standard errors follow from them.",
)


@dataclass(frozen=True)
class Columns:
    """Who has which columns: places in the order of the model, and this party's own numbers."""

    held: Mapping[str, Sequence[int]]
    mine: Floats  # of shape (records, columns of this party), in their own units
    holder: str  # of the outcomes
    outcomes: Bits | None = None  # 0 or 1 for each record, at their holder


class SharedLogistic:
    """The computation at one party. Weights are those of scaled columns, the constant first."""

    def __init__(
        self,
        transfers: Transfers,
        hidden: HiddenCounts,
        names: Sequence[str],
        columns: Columns,
        moments: Moments,
        penalty: float,
        rng: Random,
    ) -> None:
        self.channel, self._hidden, self._names, self._rng = transfers.channel, hidden, names, rng
        self.records, self.scale = moments.records, moments.scale
        self.size = 1 + len(moments.deviations)  # the constant, and the features
        self._held, self._columns = columns.held, columns
        own = list(columns.held[self.channel.me])
        mine = Scale(
            [self.scale.means[at] for at in own], [self.scale.deviations[at] for at in own]
        )
        self._scaled = mine.moved(columns.mine)
        self._steps: Ints = np.rint(self._scaled * _COLUMN).astype(np.int64)
        # The columns of all parties, one party after the other, by their places in the model.
        self._order = [at for name in names for at in columns.held[name]]
        held = {name: len(places) for name, places in columns.held.items()}
        servers = hidden.servers
        self._products = ServerProducts(transfers, names, servers, held, rng.fork("products"))
        self.pull = [0.0, *(penalty / d**2 for d in self.scale.deviations)]
        self.squares = moments.squares()  # X'X
        self.due = moments.across()  # X'y

    @property
    def square(self) -> int:
        """Steps of a scaled column in second derivatives: as many as sums below 2^62 have room for."""
        return 1 << (36 - self.records.bit_length()) // 2

    def start(self) -> tuple[Vector, Matrix]:
        """The public weights of the start, and M."""
        bound = [
            [entry / 4 + (self.pull[i] if i == j else 0.0) for j, entry in enumerate(row)]
            for i, row in enumerate(self.squares)
        ]
        factored = Factored(bound)
        half = [due - (self.records / 2 if at == 0 else 0.0) for at, due in enumerate(self.due)]
        return factored.solve(half), factored.inverse()

    def steps(self, number: int) -> Codes:
        """The weights after so many steps on shares, as whole numbers."""
        at, inverse = self.start()
        unit = periodic.unit(coarse=True) * _COLUMN
        whole = _INVERSE * unit  # units of a step before it is scaled
        by_gradient = [[round(_LONG * _INVERSE * entry) for entry in row] for row in inverse]
        by_weight = [
            [round(_LONG * entry * self.pull[j] * whole / WEIGHT) for j, entry in enumerate(row)]
            for row in inverse
        ]
        factor = Fraction(WEIGHT) / whole
        share = None
        if self._hidden.is_server:
            begun = [round(weight * WEIGHT) for weight in at]
            share = _RING.array(begun) if self._hidden.first else _RING.zeros(self.size)
        for turn in range(number):
            with self.channel.step(f"step {turn + 1}"):
                sigmoids = self._evaluated(self._scores(share), [periodic.COARSE_SIGMOID], True)
                found = None if sigmoids is None else sigmoids[:, 0]
                gradient = self._gradient(found, self._steps, _COLUMN)
                if share is not None and gradient is not None:
                    rest = _RING.negate(gradient)
                    if self._hidden.first:
                        due = [round(total * unit) for total in self.due]
                        rest = _RING.add(rest, _RING.array(due))
                    change = _RING.subtract(_by(by_gradient, rest), _by(by_weight, share))
                    fork = self._rng.fork(f"scaled {turn}")
                    garbling = self._hidden.garbling
                    assert garbling is not None  # noqa: S101 this party is a server
                    change = scale_exactly(
                        garbling, _RING, _RING, change, factor, fork, _RING.modulus // 2
                    )
                    share = _RING.add(share, change)
            self.channel.progress(turn + 1, number)
        return self.channel.open(WEIGHTS, self._hidden.added(share, self.size, np.uint64))

    def _scores(self, weights: Words | None) -> Words | None:
        """Shares of the score of each record, as angles."""
        kept = None if weights is None else weights[[1 + at for at in self._order]]
        found = self._products.rows_by_weights(self._steps, kept, self.records, periodic.ANGLES)
        if found is None or weights is None:
            return None
        return (found + weights[:1] * np.uint64(_COLUMN)) & np.uint64(periodic.ANGLES - 1)

    def _evaluated(
        self, share: Words | None, functions: Sequence[periodic.Series], coarse: bool
    ) -> Words | None:
        garbling = self._hidden.garbling
        if garbling is None or share is None:
            return None
        with self.channel.step("sigmoids"):
            return periodic.evaluate(garbling.transfers, share, functions, coarse)

    def _gradient(self, share: Words | None, columns: Ints, unit: int) -> Words | None:
        """Shares of the sums over records of each column by a shared number."""
        total = None
        if share is not None:
            total = np.zeros(self.size, np.uint64)
            total[:1] = share.sum(dtype=np.uint64, keepdims=True) * np.uint64(unit)
        for name in self._names:
            places = self._held[name]
            if places:
                mine = columns if name == self.channel.me else None
                found = self._products.columns_by_shares(name, len(places), mine, share, True)
                if total is not None and found is not None:
                    total[[1 + at for at in places]] = found
        return total

    def _own_scores(self, weights: Sequence[float]) -> Floats:
        """This party's part of each score; the constant is the first server's."""
        own = np.array([weights[1 + at] for at in self._held[self.channel.me]])
        level = weights[0] if self._hidden.first else 0.0
        return scores(self._scaled, own) + level

    def inside(self, weights: Sequence[float]) -> int:
        """Whether the series are close to their functions at every score."""
        return self.channel.open(INSIDE, self._within(weights, periodic.WITHIN, "range"))

    def near(self, step: Sequence[float]) -> int:
        """Whether a step changes no score by much."""
        return self.channel.open(NEAR, self._within(step, FAR, "near"))

    def _within(self, weights: Sequence[float], limit: float, label: str) -> int:
        part = self._own_scores(weights)
        return int(all_within(self._hidden, self._names, part, limit, self._rng.fork(label)))

    def ranked(self, weights: Sequence[float]) -> tuple[int, int, int]:
        """Pairs of records that scores at public weights rank rightly, ties among them, and all."""
        own = np.array([weights[1 + at] for at in self._held[self.channel.me]])
        part = scores(self._scaled, own)
        spread = dot(weights[1:], applied([row[1:] for row in self.squares[1:]], weights[1:]))
        deviation = math.sqrt(max(spread, 0.0) / self.records)
        holder, outcomes = self._columns.holder, self._columns.outcomes
        fork = self._rng.fork("ranked")
        return ranked_columns(self._hidden, self._names, part, deviation, holder, outcomes, fork)

    def slope(self, weights: Sequence[float]) -> Codes:
        """Sums for value, gradient and second derivatives at public weights, in their own units."""
        part = periodic.angles(self._own_scores(weights))
        fork = self._rng.fork("scores")
        share = share_out(
            self.channel, self._hidden.servers, self._names, self.records, part, fork, np.uint64
        )
        if share is not None:
            share = share & np.uint64(periodic.ANGLES - 1)
        functions = [periodic.SIGMOID, periodic.SLOPE, periodic.SOFTPLUS]
        found = self._evaluated(share, functions, False)
        columns = (None, None) if found is None else (found[:, 0], found[:, 1])
        fine: Ints = np.rint(self._scaled * FINE).astype(np.int64)
        gradient, second = self._gradient(columns[0], fine, FINE), self._second(columns[1])
        sums = None
        if found is not None and gradient is not None and second is not None:
            value = found[:, 2].sum(dtype=np.uint64, keepdims=True)
            sums = np.concatenate([value, gradient, second])
        length = 1 + self.size + self.size * (self.size + 1) // 2
        return self.channel.open(INFORMATION, self._hidden.added(sums, length, np.uint64))

    def read(self, weights: Sequence[float], told: Sequence[int]) -> Slope:
        """The function at these weights, without the penalty, from the sums that `slope` opens."""
        unit = periodic.unit(coarse=False)
        # Half of every score is not in the series.
        value = told[0] / unit + self.records * weights[0] / 2 - dot(weights, self.due)
        slopes = [
            total / (unit * FINE) - due
            for due, total in zip(self.due, told[1 : 1 + self.size], strict=True)
        ]
        second = unpacked(
            [total / (unit * self.square**2) for total in told[1 + self.size :]], self.size
        )
        return Slope(value, value, slopes, second)

    def _second(self, share: Words | None) -> Words | None:
        """Shares of the sums of the products of two columns by a shared number."""
        square = self.square
        own: Ints = np.rint(self._scaled * square).astype(np.int64)
        table = None
        if share is not None:
            table = np.zeros((self.size, self.size), np.uint64)
            table[0, :1] = share.sum(dtype=np.uint64, keepdims=True) * np.uint64(square**2)
        for at, name in enumerate(self._names):
            places = [1 + place for place in self._held[name]]
            width = len(places)
            if not width:
                continue
            mine = own if name == self.channel.me else None
            by_record = self._products.columns_by_shares(name, width, mine, share, False)
            within = _own_pairs(mine)
            number = width * (width + 1) // 2
            squares = self._products.columns_by_shares(name, number, within, share, True)
            if table is not None and by_record is not None and squares is not None:
                by_record = by_record.reshape(self.records, width)
                table[places, 0] = by_record.sum(axis=0, dtype=np.uint64) * np.uint64(square)
                rows, columns = np.tril_indices(width)
                table[np.array(places)[rows], np.array(places)[columns]] = squares
            for other in self._names[at + 1 :]:
                self._across(other, places, by_record, own, table)
        if table is None:
            return None
        whole = np.tril(table) + np.triu(table, 1).T
        found: Words = whole[np.tril_indices(self.size)]
        return found

    def _across(
        self,
        other: str,
        places: Sequence[int],
        by_record: Words | None,
        own: Ints,
        table: Array | None,
    ) -> None:
        """The products of one party's weighted columns by a later party's."""
        theirs = [1 + place for place in self._held[other]]
        if not theirs:
            return
        mine = own if other == self.channel.me else None
        for column, place in enumerate(places):
            share = None if by_record is None else np.ascontiguousarray(by_record[:, column])
            found = self._products.columns_by_shares(other, len(theirs), mine, share, True)
            if table is not None and found is not None:
                table[place, theirs] = found


def _own_pairs(columns: Ints | None) -> Ints | None:
    """The products of every two columns of one party."""
    if columns is None:
        return None
    rows, others = np.tril_indices(columns.shape[1])
    found: Ints = columns[:, rows] * columns[:, others]
    return found


def _by(matrix: Sequence[Sequence[int]], share: Words) -> Words:
    """A public matrix of whole numbers times shares."""
    rows = np.stack([_RING.array(list(row)) for row in matrix])
    found: Words = (rows * share).sum(axis=1, dtype=np.uint64)
    return found
