"""Privacy models as conditions on sums that two parties share.

A proposal would make groups of records. The proposer knows the records of each group; the holder
knows the sensitive value of each record. A `Form` says how the two decide a model:

    rows      at the holder: the numbers that represent each sensitive value. The sums of these
              numbers over the records of a group are shared, each modulo 2^bits
    words     at the proposer: its shares, and numbers that depend on the size of the group alone,
              such as the largest count that a share of alpha permits
    circuit   computes from both inputs one bit: whether the group satisfies the model

A model's comparison in `anonymity.models` divides whole numbers and compares the quotient with the
decimal of the job, both as floats. Here the same comparison is made in whole numbers: the largest
numerator whose quotient is not above the decimal is found by the same division (`most_within`), and
a bound on a quotient of two hidden counts becomes the fraction that separates the same quotients
(`separating_fraction`). So the verdicts equal those of the models.

    distinct     one number a value; at least l of the sums are not 0
    alpha        one number a value; each sum is at most the largest that alpha permits
    confidence   one number for each bounded value, with its own bound
    recursive    one number a value; the l-1 largest sums are found one after the other
    closeness    N times the count less the value's count in the whole table, which is linear in the
                 records, too; for the ordered distance cumulated. The sum of the absolute values is
                 at most the largest that t permits. Over a taxonomy: the same gap for all values
                 below each edge, times the edge's weight

Entropies, divergences, given costs and joint diversity have no form here. Messages: none;
`conditions` sends them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coterie.anonymity.models.distances.over_taxonomy import Edges
from coterie.anonymity.models.privacy import (
    AlphaAnonymity,
    Closeness,
    ConfidenceBounding,
    DistinctDiversity,
    Model,
    RecursiveDiversity,
    TaxonomyCloseness,
    Together,
)
from coterie.base.arrays import Ints, Words
from coterie.base.errors import DataError
from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

_EXACT = 2**53  # a quotient of whole numbers below this has one rounding


@dataclass(frozen=True)
class Form(ABC):
    """How two parties decide one model. Both know `columns` and `bits`."""

    def columns(self, values: int) -> int:
        """How many numbers represent a sensitive value, for a column with `values` values."""
        return values

    def bits(self, largest: int, records: int, columns: int) -> int:
        """The width of a sum over the largest group, with a bit for the sign."""
        return largest.bit_length() + 1

    def rows(self, model: Model, overall: Ints) -> Ints:
        """The numbers that represent each value; `model` is the holder's, which knows its values."""
        return np.eye(len(overall), dtype=np.int64)

    @abstractmethod
    def words(self, shares: Words, sizes: Ints, records: int) -> Words:
        """The proposer's inputs for each group, as words of `bits` bits."""

    @abstractmethod
    def circuit(self, columns: int, bits: int, records: int) -> Circuit:
        """Inputs `proposer` and `holder`, the words one after the other; output `holds`."""


@dataclass(frozen=True)
class DistinctForm(Form):
    l: int  # noqa: E741

    def words(self, shares: Words, sizes: Ints, records: int) -> Words:
        return np.column_stack([shares, (sizes == 0).astype(np.uint64)])

    def circuit(self, columns: int, bits: int, records: int) -> Circuit:
        return _distinct_circuit(self.l, columns, bits)


@dataclass(frozen=True)
class BoundedForm(Form):
    """Each sum is at most a share of the group: one share for all values, or one for each number."""

    shares: tuple[float, ...]
    one_for_all: bool

    def columns(self, values: int) -> int:
        return values if self.one_for_all else len(self.shares)

    def rows(self, model: Model, overall: Ints) -> Ints:
        every: Ints = np.eye(len(overall), dtype=np.int64)
        if self.one_for_all:
            return every
        assert isinstance(model, ConfidenceBounding)  # noqa: S101
        assert model.columns is not None  # noqa: S101
        absent = np.zeros((len(overall), 1), np.int64)
        return np.ascontiguousarray(np.hstack([every, absent])[:, list(model.columns)])

    def words(self, shares: Words, sizes: Ints, records: int) -> Words:
        bounds = [most_within(share, sizes) for share in self.shares]
        limits = np.column_stack(bounds) if len(bounds) > 1 else bounds[0][:, None]
        return limits.astype(np.uint64) - shares

    def circuit(self, columns: int, bits: int, records: int) -> Circuit:
        return _bounded_circuit(columns, bits)


@dataclass(frozen=True)
class RecursiveForm(Form):
    c: float
    l: int  # noqa: E741

    def words(self, shares: Words, sizes: Ints, records: int) -> Words:
        return np.column_stack([shares, sizes.astype(np.uint64)])

    def circuit(self, columns: int, bits: int, records: int) -> Circuit:
        above, below = separating_fraction(self.c, records)
        return _recursive_circuit(self.l, above, below, columns, bits)


@dataclass(frozen=True)
class ClosenessForm(Form):
    t: float
    ordered: bool

    def steps(self, columns: int) -> int:
        return max(columns - 1, 1) if self.ordered else 2

    def largest(self, columns: int) -> int:
        """The largest sum and the largest limit, for groups and tables of one record."""
        return max(columns, 2)

    def bits(self, largest: int, records: int, columns: int) -> int:
        sums = records * records * self.largest(columns)
        if sums >= _EXACT:
            raise DataError(
                f"t-closeness of {records} records is decided exactly only with 'conditions: holder'"
            )
        return sums.bit_length() + 1

    def rows(self, model: Model, overall: Ints) -> Ints:
        assert isinstance(model, Closeness)  # noqa: S101
        order = list(range(len(overall))) if model.columns is None else list(model.columns)
        gaps = np.eye(len(overall), dtype=np.int64) * int(overall.sum()) - overall
        gaps = gaps[:, order]
        return np.cumsum(gaps, axis=1) if self.ordered else gaps

    def words(self, shares: Words, sizes: Ints, records: int) -> Words:
        divisors = sizes * records * self.steps(shares.shape[1])
        return np.column_stack([shares, most_within(self.t, divisors).astype(np.uint64)])

    def circuit(self, columns: int, bits: int, records: int) -> Circuit:
        return _closeness_circuit(columns, bits)


@dataclass(frozen=True)
class TaxonomyForm(ClosenessForm):
    """The same with a number for each edge of the taxonomy, which both parties know."""

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    weight: tuple[int, ...] = ()
    height: int = 1

    @classmethod
    def of(cls, t: float, edges: Edges) -> TaxonomyForm:
        first, last, weight = (tuple(e.tolist()) for e in (edges.first, edges.last, edges.weight))
        if not weight:  # a taxonomy of one value: no group is far from the table
            first, last, weight = (0,), (0,), (0,)
        return cls(t, False, first, last, weight, edges.height)

    def columns(self, values: int) -> int:
        return len(self.weight)

    def steps(self, columns: int) -> int:
        return 2 * self.height

    def largest(self, columns: int) -> int:
        return max(sum(self.weight), 2 * self.height)

    def rows(self, model: Model, overall: Ints) -> Ints:
        assert isinstance(model, TaxonomyCloseness)  # noqa: S101
        gaps = np.eye(len(overall), dtype=np.int64) * int(overall.sum()) - overall
        every = model.by_leaf(gaps)
        before = np.concatenate([np.zeros((len(every), 1), np.int64), np.cumsum(every, axis=1)], 1)
        below: Ints = before[:, list(self.last)] - before[:, list(self.first)]
        return below * np.array(self.weight, np.int64)


def forms_of(model: Model) -> tuple[tuple[Model, Form], ...] | None:
    """The parts of a model, each with its form; None if a part has no form."""
    found: list[tuple[Model, Form]] = []
    for part in model.models if isinstance(model, Together) else (model,):
        form: Form
        if isinstance(part, DistinctDiversity):
            form = DistinctForm(part.l)
        elif isinstance(part, AlphaAnonymity):
            form = BoundedForm((part.alpha,), one_for_all=True)
        elif isinstance(part, ConfidenceBounding):
            form = BoundedForm(tuple(part.bounds.values()), one_for_all=False)
        elif isinstance(part, RecursiveDiversity):
            form = RecursiveForm(part.c, part.l)
        elif isinstance(part, Closeness):
            form = ClosenessForm(part.t, part.distance == "ordered")
        elif isinstance(part, TaxonomyCloseness) and part.taxonomy is not None:
            form = TaxonomyForm.of(part.t, part.edges)
        else:
            return None
        found.append((part, form))
    return tuple(found)


def most_within(bound: float, divisors: Ints) -> Ints:
    """For each divisor the largest whole number whose quotient is at most `bound`; 0 for 0.

    The quotient is rounded as the models round it, so that the answer is the same.
    """
    below = np.maximum(divisors, 1)
    most = np.floor(bound * below).astype(np.int64)
    for _ in range(3):  # floor(bound * below) is off by one at most, since both are below 2^53
        most -= (np.true_divide(most, below) > bound) & (most > 0)
        most += np.true_divide(most + 1, below) <= bound
    return np.where(divisors == 0, 0, most)


def separating_fraction(bound: float, most: int) -> tuple[int, int]:
    """p and q such that a/b, rounded, is below `bound` exactly when a q < p b, for a, b up to
    `most`.

    A quotient is rounded to a float below the bound if the quotient is below the middle between the
    bound and the preceding float; the quotient cannot equal that middle, which has more bits than
    a. The result is the least fraction with a denominator up to `most` that is not below that
    middle.
    """
    middle = (Fraction(float(np.nextafter(bound, 0.0))) + Fraction(bound)) / 2
    if middle.denominator <= most:
        return middle.numerator, middle.denominator
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = middle.numerator, middle.denominator
    while q0 + n // d * q1 <= most:  # the convergents; the neighbours of the middle come from them
        whole = n // d
        p0, q0, p1, q1 = p1, q1, p0 + whole * p1, q0 + whole * q1
        n, d = d, n - whole * d
    times = (most - q0) // q1
    upper = max(Fraction(p0 + times * p1, q0 + times * q1), Fraction(p1, q1))
    return upper.numerator, upper.denominator


# Circuits


def _words(builder: Builder, name: str, count: int, bits: int) -> list[Word]:
    wires = builder.input(name, count * bits)
    return [wires[at * bits : (at + 1) * bits] for at in range(count)]


def _inputs(columns: int, bits: int, more: int) -> tuple[Builder, list[Word], list[Word]]:
    builder = Builder()
    proposer = _words(builder, "proposer", columns + more, bits)
    return builder, proposer, _words(builder, "holder", columns, bits)


@built_once(64)
def _distinct_circuit(least: int, columns: int, bits: int) -> Circuit:
    builder, proposer, holder = _inputs(columns, bits, 1)
    empty = proposer.pop()[0]
    found: list[Word] = []
    for ours, theirs in zip(proposer, holder, strict=True):
        total = builder.add(ours, theirs, bits)
        found.append([builder.any(total)])
    enough = builder.invert(builder.less(_total(builder, found), _constant(builder, least)))
    builder.output("holds", [builder.either(empty, enough)])
    return builder.build()


@built_once(64)
def _bounded_circuit(columns: int, bits: int) -> Circuit:
    builder, proposer, holder = _inputs(columns, bits, 0)
    within = [
        builder.invert(builder.subtract(ours, theirs, bits)[-1])
        for ours, theirs in zip(proposer, holder, strict=True)
    ]
    builder.output("holds", [builder.all(within)])
    return builder.build()


@built_once(64)
def _recursive_circuit(least: int, above: int, below: int, columns: int, bits: int) -> Circuit:
    builder, proposer, holder = _inputs(columns, bits, 1)
    rest = size = proposer.pop()
    counts = [
        builder.add(ours, theirs, bits) for ours, theirs in zip(proposer, holder, strict=True)
    ]
    largest: Word = []
    for rank in range(min(least - 1, columns)):
        top = counts[0]  # moves the largest to the end; the others keep the smaller ones
        for at in range(1, len(counts)):
            later = builder.less(top, counts[at])
            bigger = builder.choose(later, counts[at], top)
            counts[at - 1] = builder.xor_words(builder.xor_words(top, counts[at]), bigger)
            top = bigger
        counts.pop()
        rest = builder.subtract(rest, top, bits)
        largest = top if rank == 0 else largest
    width = bits + max(above, below).bit_length()
    rarer = builder.less(
        builder.multiply(largest, _constant(builder, below), width),
        builder.multiply(rest, _constant(builder, above), width),
    )
    builder.output("holds", [builder.either(builder.invert(builder.any(size)), rarer)])
    return builder.build()


@built_once(64)
def _closeness_circuit(columns: int, bits: int) -> Circuit:
    builder, proposer, holder = _inputs(columns, bits, 1)
    limit = proposer.pop()
    parts = []
    for ours, theirs in zip(proposer, holder, strict=True):
        gap = builder.add(ours, theirs, bits)
        sign = gap[-1]
        flipped = [builder.xor(bit, sign) for bit in gap]
        parts.append(builder.increment(flipped, sign, bits))
    work = parts[0]
    for part in parts[1:]:
        work = builder.add(work, part, bits)
    builder.output("holds", [builder.invert(builder.less(limit, work))])
    return builder.build()


def _total(builder: Builder, words: Sequence[Word]) -> Word:
    """The sum of all words, wide enough not to overflow."""
    field = list(words)
    while len(field) > 1:
        pairs = [
            builder.add(a, b, max(len(a), len(b)) + 1)
            for a, b in zip(field[::2], field[1::2], strict=False)
        ]
        field = pairs + field[2 * len(pairs) :]
    return field[0]


def _constant(builder: Builder, value: int) -> Word:
    return builder.constant(value, max(1, value.bit_length()))
