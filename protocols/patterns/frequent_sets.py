"""Sets of values that many records have, and the rules between them, from counts that stay shared.

Agrawal and Srikant, "Fast Algorithms for Mining Association Rules" (VLDB 1994), level by level: a set
of k items (an attribute with one of its values) is a candidate if all its sets of k-1 items are
frequent, so that candidates follow from what all parties know already. Counts of candidates are
shares at two servers: with vertical partition by products of bits (Vaidya and Clifton, KDD 2002;
`joint_counts`), with horizontal partition as the sum of the parties' own counts (Kantarcioglu and
Clifton, TKDE 2004, who first unite the sets that are frequent somewhere; here no such union is
made, because it would tell all parties sets that are frequent at one party only).

In: the items, the least count of a frequent set, the confidence, and a function that counts
candidates. Out, at every party:

    which candidates are frequent, one bit each, and no count of any other;
    for every two of them, X inside Z, whether count(Z) >= confidence * count(X), one bit each;
    the class of neighbouring numbers in which the count of each frequent set lies.

Counts are opened in classes because they are subtracted: count(X) - count(Z) is the number of records
that have X and not all of Z, and a party knows count(X) itself if X lies in its own columns. A class
has at least `step` numbers, no fewer than `minimum`. So the difference of two counts, one of which
may be known exactly, is known to `step` numbers at least, which include 0 or go beyond `minimum`: no
count from 1 to `minimum`-1 follows from two shown counts, nor from one and what a party counts
itself. Classes begin at multiples of a power of two, whatever the least count is, so that several
jobs show the same classes, or coarser ones. Only the first class, which begins at the least count,
is longer, since a shorter one would reveal more.

Adversary: semi-honest; the two servers must not collude. Messages: for each level those of the
count, one garbled circuit and its bits to the other parties; then one circuit for the rules and one
for the classes. Cost: 31 AND gates for each candidate and each pair of sets, some 63 for each class.

After an interruption nothing of this is kept: candidates, bits and classes follow from the job and the
records, without a random choice, so that a second attempt opens the same ones. Shares of counts and
the keys of circuits are drawn anew in each attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Bits, Ints
from coterie.base.errors import DataError
from coterie.protocols.circuits.boolean import from_bits, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.patterns.frequency_circuits import WIDTH, class_circuit
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring
from coterie.protocols.statistics.visibility_circuits import large_circuit

MOST_CANDIDATES = 20_000  # of one level
MOST_RULES = 200_000  # that are tried

ItemSet: TypeAlias = tuple[int, ...]  # numbers of items, rising
Counter: TypeAlias = Callable[[Sequence[ItemSet]], "Ring | None"]

FREQUENT = declare(
    "rules: frequent sets",
    what="Of each candidate, a set of values all of whose parts are frequent, whether it is frequent: whether at least the asked share of records, and `minimum` of them, have all of its values.",
    to="every party",
    why="The rules are made of the frequent sets, and the next candidates follow from them.",
)
CONFIDENT = declare(
    "rules: which rules hold",
    what="For every two frequent sets of values, one inside the other, whether the larger has at least the asked share of the records of the smaller.",
    to="every party",
    why="These are the rules, which are the result of the job.",
)
CLASSES = declare(
    "rules: supports in classes",
    what="The number of records of each frequent set, up to a class of at least `minimum` neighbouring numbers.",
    to="every party",
    why="They are the supports and confidences in the result.",
)


@dataclass(frozen=True)
class Rule:
    """If a record has the first set, it has the whole one; both by their places among the sets."""

    part: int
    whole: int


@dataclass(frozen=True)
class Patterns:
    """Frequent sets with the range of numbers in which each count lies, and the rules that hold."""

    sets: list[ItemSet]
    ranges: list[tuple[int, int]]  # the lowest and the highest number of records
    rules: list[Rule]


def least_count(records: int, support: Fraction, minimum: int) -> int:
    """The fewest records of a frequent set."""
    return max(minimum, -(-support.numerator * records // support.denominator))


def class_step(records: int, minimum: int, resolution: float) -> int:
    """The numbers of a class: a power of two, at least `minimum`, and about the resolution."""
    if minimum == 1:
        return 1  # no count is small
    coarse = max(int(resolution * records).bit_length() - 1, 0)
    return max(1 << (minimum - 1).bit_length(), 1 << coarse)


def find_patterns(
    group: HiddenCounts,
    attributes: Sequence[int],
    count: Counter,
    records: int,
    least: int,
    confidence: Fraction,
    longest: int,
    step: int,
) -> Patterns:
    """All frequent sets of at most `longest` items; item i is a value of `attributes[i]`."""
    if records * confidence.denominator >= 1 << 31:
        raise DataError(
            f"confidence {float(confidence):g} has too many digits for {records:,} records: write "
            "it with fewer"
        )
    sets: list[ItemSet] = []
    shares: list[Ring] = []
    candidates: list[ItemSet] = [(item,) for item in range(len(attributes))]
    size = 1
    while candidates and size <= longest:
        _check_number(candidates, size)
        with group.channel.step(f"sets of {size}"):
            share = count(candidates)
            rest = None if share is None else share - np.uint32(least if group.first else 0)
            frequent = group.channel.open(FREQUENT, _verdicts(group, rest, len(candidates)))
        kept = np.flatnonzero(frequent)
        level = [candidates[at] for at in kept]
        sets += level
        if share is not None:
            shares.append(share[kept])
        candidates = next_candidates(level, attributes) if size < longest else []
        size += 1
    counts = np.concatenate(shares) if shares else None
    if not sets:
        return Patterns([], [], [])
    with group.channel.step("rules"):
        rules = _rules(group, sets, counts, confidence)
    with group.channel.step("supports"):
        ranges = _ranges(group, counts, len(sets), records, least, step)
    return Patterns(sets, ranges, rules)


def next_candidates(level: Sequence[ItemSet], attributes: Sequence[int]) -> list[ItemSet]:
    """Sets of one item more all of whose parts are in the level, in rising order."""
    known = set(level)
    by_start: dict[ItemSet, list[int]] = {}
    for one in sorted(level):
        by_start.setdefault(one[:-1], []).append(one[-1])
    found: list[ItemSet] = []
    for start, ends in by_start.items():
        for last, further in combinations(ends, 2):
            wider = (*start, last, further)
            if attributes[last] != attributes[further] and all(
                wider[:at] + wider[at + 1 :] in known for at in range(len(start))
            ):
                found.append(wider)
        if len(found) > MOST_CANDIDATES:
            _check_number(found, len(start) + 2)
    return found


def _check_number(candidates: Sequence[ItemSet], size: int) -> None:
    if len(candidates) > MOST_CANDIDATES:
        raise DataError(
            f"more than {MOST_CANDIDATES:,} sets of {size} values would have to be counted: raise "
            "'support' or lower 'longest'"
        )


def _verdicts(group: HiddenCounts, rest: Ring | None, count: int) -> Bits:
    """Whether each number, of which `rest` has shares, is not negative; at every party."""
    rows = None if rest is None else to_bits(rest, WIDTH)
    bits, _ = group.decided(large_circuit(False), count, {"rest": rows}, "large")
    return bits[:, 0]


def _rules(
    group: HiddenCounts, sets: Sequence[ItemSet], counts: Ring | None, confidence: Fraction
) -> list[Rule]:
    place = {one: at for at, one in enumerate(sets)}
    number = sum((1 << len(one)) - 2 for one in sets)
    if number > MOST_RULES:
        raise DataError(
            f"{number:,} rules would have to be tried, more than {MOST_RULES:,}: raise 'support' or "
            "lower 'longest'"
        )
    tried = [
        Rule(place[part], whole)
        for whole, one in enumerate(sets)
        for size in range(1, len(one))
        for part in combinations(one, size)
    ]
    if not tried:
        return []
    rest = None
    if counts is not None:
        parts = counts[[rule.part for rule in tried]] * np.uint32(confidence.numerator)
        wholes = counts[[rule.whole for rule in tried]] * np.uint32(confidence.denominator)
        rest = wholes - parts
    holds = group.channel.open(CONFIDENT, _verdicts(group, rest, len(tried)))
    return [rule for rule, yes in zip(tried, holds, strict=True) if yes]


def _ranges(
    group: HiddenCounts, counts: Ring | None, number: int, records: int, least: int, step: int
) -> list[tuple[int, int]]:
    second = second_class(least, step)
    bits = step.bit_length() - 1
    width = max(1, records.bit_length() - bits)
    rows = None if counts is None else to_bits(counts, WIDTH)
    circuit = class_circuit(bits, second, width)
    found, _ = group.decided(circuit, number, {"count": rows}, "class")
    classes: Ints = from_bits(group.channel.open(CLASSES, found)).astype(np.int64)
    return [
        (least, min(second - 1, records))
        if one == 0
        else (int(one) * step, min((int(one) + 1) * step - 1, records))
        for one in classes
    ]


def second_class(least: int, step: int) -> int:
    """Where the second class begins: at a multiple of the step, a whole step after the least count."""
    return -(-(least + step) // step) * step
