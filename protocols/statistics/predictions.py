"""The class of each of many records by a naive Bayes classifier that several parties hold.

Vaidya and Clifton, "Privacy Preserving Naive Bayes Classifier for Vertically Partitioned Data" (SDM
2004): given the class, attributes are taken to be independent, so that the logarithm of a class's
probability is a sum of terms each of which one party knows, since it has the attribute and counted
its values by class when the classifier was made. Here the terms are whole numbers, and the greatest
sum is found on shares.

In: at every party, for each record and class, its cost: the sum of round(-ln(p) * 2^20) over its own
attributes (`costs_of`), and at the first party also that of the class itself. Instead of numbers that
it knows, a party may put in shares (`shared_lookup`): the sums modulo 2^bits matter. Out, at the
receivers: of each record the class of least cost, the first of equals. The others learn nothing, and nobody
learns a cost, or how far the best class is ahead.

Adversary: semi-honest; the two servers must not collude, because together they hold the costs.
Receivers learn the class and nothing else, in whatever coalition without one of the servers; what a
class says of the attributes of others is what they asked for.

Messages: each party sends each server a uniform share of its costs, 8 bytes for each record and
class; the servers find the least cost by a garbled circuit (`minindex`), whose outputs are shares;
each server sends its share of the classes to each receiver, a byte for each record. Cost for k
classes and w bits (about 30): some 3 k w AND gates a record, of 32 bytes each.

Nothing is kept for another attempt: it computes the same classes again, under fresh masks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Codes, Floats, Ints, Words
from coterie.base.errors import DataError
from coterie.protocols.circuits.minindex import minindex
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import share_out

SCALE_BITS = 20  # of a cost after the point
_TERM_BITS = 25  # of one cost: ln(2^31 + 2^12) * 2^20 is below 2^25
MOST_TERMS = 1 << 12
_TOGETHER = 1 << 21  # numbers that are compared in one run of the circuit

PREDICTED = declare(
    "prediction: classes",
    what="The predicted class of every common record: not the leaf that it reaches, not how likely the class is, not what any party put in.",
    to="the parties that the job names for that",
    why="The job asks for the predictions.",
)


def cost_bits(attributes: int) -> int:
    """The bits of a sum of the costs of so many attributes and of the class."""
    if attributes >= MOST_TERMS:
        raise DataError(f"{attributes} attributes are more than {MOST_TERMS - 1}")
    return _TERM_BITS + (attributes + 1).bit_length()


def costs_of(probabilities: Floats) -> Ints:
    """The probabilities' costs: -ln(p) in whole steps of 2^-20."""
    costs: Ints = np.rint(-np.log(probabilities) * 2.0**SCALE_BITS).astype(np.int64)
    return costs


def predict_by_costs(
    hidden: HiddenCounts,
    costs: Ints,
    bits: int,
    receivers: Sequence[str],
    rng: Random,
) -> Codes | None:
    """The class of least cost of every record, at the receivers; None at the others.

    `costs` are this party's, of shape (records, classes); the sums of all parties' have `bits` bits.
    """
    channel = hidden.channel
    records, classes = costs.shape
    if not 2 <= classes <= 256:
        raise ValueError(f"a class of {classes} values")
    with channel.step("predict"):
        flat = costs.reshape(-1).astype(np.uint64)
        share = share_out(channel, hidden.servers, hidden.names, flat.size, flat, rng, np.uint64)
        places = None if share is None else _least(hidden, share.reshape(records, classes), bits)
        return _told(channel, hidden.servers, places, records, classes, receivers)


def _least(hidden: HiddenCounts, share: Words, bits: int) -> Words:
    """A server's shares, by XOR, of the place of the least number of each row."""
    garbling = hidden.garbling
    assert garbling is not None  # noqa: S101 this party is a server
    low = np.uint64((1 << bits) - 1)
    records, classes = share.shape
    found = np.zeros(records, np.uint64)
    step = max(1, _TOGETHER // classes)
    with hidden.channel.step("decide"):
        for start in range(0, records, step):
            part = slice(start, min(start + step, records))
            places = minindex(garbling, share[part] & low, 1 << bits, reveal="shares")
            assert places is not None  # noqa: S101 shares are for both
            found[part] = places
            hidden.channel.progress(part.stop, records)
    return found


def _told(
    channel: Channel,
    servers: tuple[str, str],
    places: Words | None,
    records: int,
    classes: int,
    receivers: Sequence[str],
) -> Codes | None:
    """The places at the receivers, to whom the servers send their shares."""
    mine = None if places is None else places.astype(np.uint8)
    for receiver in receivers:
        if mine is not None and receiver != channel.me:
            channel.send(receiver, mine)
    if channel.me not in receivers:
        return channel.open(PREDICTED, None, to=receivers)
    total = np.zeros(records, np.uint8)
    for server in servers:
        if server == channel.me and mine is not None:
            total ^= mine
        else:
            total ^= channel.recv_array(server, np.uint8, (records,), f"{records} shares")
    if records and int(total.max()) >= classes:
        raise channel.fault(servers[1], f"and {servers[0]} sent shares of no class")
    return channel.open(PREDICTED, total.astype(np.int64), to=receivers)
