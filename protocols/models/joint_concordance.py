"""How often a model of divided columns ranks two records rightly: AUC, from scores held in parts.

Vertical partition: of each record's score every party has a part, and one party has the outcome, 0 or
1. Scores are put into classes of equal width, from three deviations below the mean of all scores to
three above (mean and deviation are public: `joint_products` opens what they follow from), and what is
beyond is in the first or the last class. Then

1. the parties share their parts of the scores out to two servers, in units of 2^-15 of a class, and
   the holder of the outcome its outcomes;
2. a garbled circuit adds up each score, and has a bit for each class and outcome, 1 at the record's
   own, as shares;
3. the bits become shares of numbers, which are added up over the records: shares of how many records
   of either outcome each class has. Nobody sees a count;
4. `concordance.ranked_shares` computes and opens the pairs that are ranked rightly, as for records
   that are divided.

In: parts of scores, and outcomes at their holder. Out, at every party: right, ties and pairs, as
`concordance` defines them; so the measure differs by at most ties / (2 pairs) from that of the scores
(rounded to units). Adversary: semi-honest; the servers must not collude. Messages for each record: 5
bytes from a party to each server, and between the servers about 300 AND gates, 32 bytes each, 16
bytes to check each of 256 outputs, and as many transfers of 24 bytes: 20 kB.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Array, Bits, Floats, Words
from coterie.protocols.circuits.arithmetic import Builder
from coterie.protocols.circuits.boolean import Circuit, built_once, to_bits
from coterie.protocols.models.concordance import ranked_shares
from coterie.protocols.numbers.multiplication import numbers_of_bits
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out

_INDEX = 7  # bits of the number of a class
CLASSES = 1 << _INDEX
_SPAN = 6.0  # deviations that all classes together are wide
_POINT = 15  # bits of a score after the point, in classes
# A score of n records is within sqrt(n) deviations of their mean: 2^14 classes for 500,000.
_WIDTH = 32
_TOGETHER = 1 << 13  # records whose bits are computed together
_RING = 1 << 64


@built_once(1)
def class_circuit() -> Circuit:
    """A bit for each outcome, 1 first, and each class: whether they are the record's, from shares."""
    builder = Builder()
    score = builder.add(builder.input("score0", _WIDTH), builder.input("score1", _WIDTH), _WIDTH)
    (one,) = builder.xor_words(builder.input("outcome0", 1), builder.input("outcome1", 1))
    *upper, negative = score[_POINT + _INDEX :]
    beyond, inside = builder.any(upper), builder.invert(negative)
    index = [
        builder.conjoin(builder.either(bit, beyond), inside)
        for bit in score[_POINT : _POINT + _INDEX]
    ]
    here = [one, builder.invert(one)]
    for bit in reversed(index):
        above = [builder.conjoin(whole, bit) for whole in here]
        here = [
            part
            for whole, high in zip(here, above, strict=True)
            for part in (builder.xor(whole, high), high)
        ]
    builder.output("class", here)
    return builder.build()


def units(part: Floats, deviation: float) -> Array:
    """Parts of scores, of which the mean is taken off, in units of a class."""
    width = _SPAN * max(deviation, 1e-12) / CLASSES
    return np.rint(part / width * (1 << _POINT)).astype(np.int64).astype(np.uint32)


def ranked_columns(
    hidden: HiddenCounts,
    names: Sequence[str],
    part: Floats,
    deviation: float,
    holder: str,
    outcomes: Bits | None,
    rng: Random,
) -> tuple[int, int, int]:
    """Right (twice over), ties and pairs, from this party's part of each score less the mean.

    `deviation` is that of the scores, `outcomes` are those of the `holder`, None at the others.
    """
    channel, records = hidden.channel, len(part)
    mine = units(part, deviation)
    if channel.me == names[0]:
        mine += np.uint32((CLASSES // 2) << _POINT)  # the middle class begins at the mean
    scores = share_out(channel, hidden.servers, names, records, mine, rng.fork("scores"))
    ones = share_out(
        channel, hidden.servers, [holder], records, outcomes, rng.fork("outcomes"), np.uint8
    )
    counts = None if scores is None else np.zeros(2 * CLASSES, np.uint64)
    for start in range(0, records, _TOGETHER):
        some = slice(start, min(start + _TOGETHER, records))
        inputs: dict[str, Bits | None] = {"score": None, "outcome": None}
        if scores is not None and ones is not None:
            # The lowest bit of a sum is the XOR of the lowest bits.
            inputs = {"score": to_bits(scores[some], _WIDTH), "outcome": to_bits(ones[some], 1)}
        bits = hidden.shared(class_circuit(), some.stop - some.start, inputs)["class"]
        if counts is not None and bits is not None:
            counts += _counted(hidden, bits)
    share = None if counts is None else counts.reshape(2, 1, CLASSES)
    return ranked_shares(channel, hidden.servers, share, rng.fork("pairs"))


def _counted(hidden: HiddenCounts, bits: Bits) -> Words:
    """Shares of the sums over records of bits that are shared by XOR."""
    garbling = hidden.garbling
    assert garbling is not None  # noqa: S101 this party is a server
    found = numbers_of_bits(garbling.transfers, bits, _RING).reshape(bits.shape)
    total: Words = found.sum(axis=0, dtype=np.uint64)
    return total
