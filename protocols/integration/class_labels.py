"""The class, which all parties of a joint specialization must know (paper 1 §2.2).

In: the class of every common record, in the joint order, at the parties that hold the class. Out:
the class at every party. The holders first check that they hold the same class; if not, all learn
how many records differ, and nothing else about these records, and the job ends.

Adversary: semi-honest. A holder learns about another holder's labels whether all are equal, and if
they are not, in how many records they agree. The class itself is sent to everybody only after that,
as the job file says.

Messages. Step `holders`: every party tells all whether it holds the class; three or more parties
compare what they received (`broadcast_check`). With several holders, step `agree`, between the
first holder A and each other holder B: the size of an intersection under a commutative cipher
(Agrawal, Evfimievski, Srikant 2003, §3.2). A sends its points encrypted, B sends them back
encrypted again and shuffled, with its own, encrypted and shuffled; A counts. First the whole column
is one point, and A tells the holders whether all columns are equal; if not, each record is one
point. (A digest, even with nonces, would not do: a party whose column differs in a few records
could find out which by trying.) Step `verdict`: A sends the numbers of differing records to all.
Step `share`: A sends labels and packed codes to the parties without the class.

Cost: 96 bytes and 4 encryptions between two holders who agree, and as much for each record between
two who do not; ceil(log2 c) bits per record to each party without the class, for c classes. Rounds:
6 at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.arrays import Bytes
from coterie.base.distinct import distinct
from coterie.base.errors import DataError
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives import cipher
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random

MOST_CLASSES = 256  # values of a class; a label is one byte
_MAX_LABEL = 4096

HOLDERS = declare(
    "class: holders",
    what="Which parties have the class column and may use it.",
    to="every party",
    why="One of the holders tells the class to those that have none.",
)
EQUAL = declare(
    "class: equal at all holders",
    what="Whether all holders of the class have the same class for every common record.",
    to="the holders of the class",
    why="A class on which its holders disagree must not be used.",
)
DIFFERING = declare(
    "class: differing records",
    what="How many common records have another class at each holder than at the first; only where they differ, and the job then ends.",
    to="every party",
    why="The holders must find out how far their columns are apart, without telling where.",
)
LABELS = declare(
    "class: labels",
    what="The class of every common record, in the joint order.",
    to="every party",
    why="Scores and labels are computed from the class; the job makes the column the class.",
)


def class_holders(
    channel: Channel, names: Sequence[str], class_name: str, holds: bool
) -> tuple[str, ...]:
    """Which parties hold the class, in the order of `names`. At least one must."""
    with channel.step("holders"):
        channel.broadcast(int(holds))
        told = {channel.me: int(holds)}
        told |= {peer: int(channel.recv_flag(peer)) for peer in channel.peers}
        heard = {name: bytes([told[name]]) * 32 for name in names}
        compare_digests(channel, names, heard, "whether it holds the class")
    holders = channel.open(HOLDERS, tuple(name for name in names if told[name]))
    if not holders:
        raise DataError(
            f"no party has (or may use) the class column '{class_name}'; a party permits it by "
            f"'class: [{class_name}]' under policy.columns"
        )
    return holders


def share_class(
    channel: Channel,
    holders: Sequence[str],
    labels: Labels | None,
    records: int,
    rng: Random,
    telling: Telling | None = None,
) -> Labels:
    """The class at every party. `labels` is None at a party that is not among the holders.

    The class is a kept answer: all parties know it from then on. By `telling` attempts are compared.
    """

    def share() -> list[Value]:
        shared = _share_class(channel, holders, labels, records, rng)
        return [list(shared.values), shared.codes]

    def told(value: Sequence[Any]) -> bytes:
        return b"" if telling is None else telling.digest(value[0], codes=value[1])

    values, codes = channel.once("class", share, told)
    return Labels(codes, tuple(values))


def _share_class(
    channel: Channel,
    holders: Sequence[str],
    labels: Labels | None,
    records: int,
    rng: Random,
) -> Labels:
    if labels is not None:
        labels = _sorted(labels)
    first = holders[0]
    with channel.step("class"):
        if len(holders) > 1:
            _agree(channel, holders, labels, records, rng)
        with channel.step("share"):
            if channel.me == first:
                assert labels is not None  # noqa: S101
                packed = pack_codes(labels.codes, len(labels.values))
                for peer in channel.peers:
                    if peer not in holders:
                        channel.send(peer, list(labels.values), packed)
            elif labels is None:
                labels = _receive(channel, first, records)
    assert labels is not None  # noqa: S101
    return channel.open(LABELS, labels)


def _sorted(labels: Labels) -> Labels:
    """The labels that occur, sorted, so that equal columns have equal codes at all parties."""
    occurring = distinct(labels.codes)
    values = [labels.values[code] for code in occurring]
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.zeros(len(labels.values), np.uint8)
    place[occurring[order]] = np.arange(len(values))
    return Labels(place[labels.codes], tuple(values[i] for i in order))


def _receive(channel: Channel, first: str, records: int) -> Labels:
    values, packed = channel.recv_list(first, 2, "class")
    what = "sorted list of class labels"
    labels = channel.check_texts(first, values, MOST_CLASSES, _MAX_LABEL, what)
    if sorted(labels) != list(labels):
        raise channel.fault(first, f"sent no {what}")
    return Labels(channel.check_codes(first, packed, records, len(labels), "a class"), labels)


def _agree(
    channel: Channel, holders: Sequence[str], labels: Labels | None, records: int, rng: Random
) -> None:
    first = holders[0]
    differing: list[int] = []
    if labels is not None:
        with channel.step("agree"):
            differing = _compare(channel, holders, labels, rng)
    with channel.step("verdict"):
        if channel.me == first:
            channel.broadcast([*differing])
        else:
            what = "list of numbers of differing records"
            differing = channel.recv_ints(first, None, 0, records, what)
            if len(differing) not in (0, len(holders) - 1):
                raise channel.fault(first, f"sent no {what}")
    if differing:
        channel.open(DIFFERING, differing)
    for other, count in zip(holders[1:], differing, strict=False):
        if count:
            raise DataError(f"{first} and {other} disagree on the class of {count} common records")


def _compare(channel: Channel, holders: Sequence[str], labels: Labels, rng: Random) -> list[int]:
    """The number of records that differ between the first holder and each other; empty if none do."""
    first, *others = holders
    whole = np.frombuffer(digest_of_class(labels), np.uint8).reshape(1, -1)
    rows = _rows(labels)
    if channel.me != first:
        _count_at_other(channel, first, whole, rng)
        equal = channel.recv_flag(first, "answer whether all hold the same class")
        if not channel.open(EQUAL, equal, to=holders):
            _count_at_other(channel, first, rows, rng)
        return []
    equal = not sum(_count_at_first(channel, peer, whole, rng) for peer in others)
    channel.open(EQUAL, equal, to=holders)
    for peer in others:
        channel.send(peer, int(equal))
    return [] if equal else [_count_at_first(channel, peer, rows, rng) for peer in others]


def digest_of_class(labels: Labels) -> bytes:
    """The digest by which parties compare their classes."""
    state = hashlib.sha256(b"coterie class column")
    for value in labels.values:
        data = value.encode()
        state.update(len(data).to_bytes(8, "little") + data)
    state.update(np.ascontiguousarray(labels.codes).data)
    return state.digest()


def _rows(labels: Labels) -> Bytes:
    """A row for each record: its place in the joint order, and a digest of its label."""
    digests = [hashlib.sha256(value.encode()).digest()[:24] for value in labels.values]
    table = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 24)
    places = np.arange(len(labels.codes), dtype="<u8").view(np.uint8).reshape(-1, 8)
    return np.hstack([places, table[labels.codes]])


def _received_points(channel: Channel, peer: str, value: Any, count: int) -> cipher.Points:
    return channel.check_array(peer, value, np.uint8, (count, 32), f"{count} points")


def _again(channel: Channel, peer: str, key: bytes, points: cipher.Points) -> cipher.Points:
    try:
        return cipher.check_and_encrypt(key, points)
    except InvalidElementError as error:
        raise channel.fault(
            peer, f"sent bytes that are not a point on the curve: {error}"
        ) from None


def _count_at_first(channel: Channel, peer: str, rows: Bytes, rng: Random) -> int:
    """The number of rows that the peer does not have."""
    key = cipher.random_key(rng)
    channel.send(peer, cipher.hash_and_encrypt(key, rows))
    received = channel.recv_list(peer, 2, "two lists of points")
    ours = _received_points(channel, peer, received[0], len(rows))
    theirs = _again(channel, peer, key, _received_points(channel, peer, received[1], len(rows)))
    common = np.intersect1d(
        np.ascontiguousarray(ours).view("V32"), np.ascontiguousarray(theirs).view("V32")
    )
    return len(rows) - len(common)


def _count_at_other(channel: Channel, first: str, rows: Bytes, rng: Random) -> None:
    key = cipher.random_key(rng)
    count = len(rows)
    points = channel.recv_array(first, np.uint8, (count, 32), f"{count} points")
    twice = _again(channel, first, key, points)[rng.permutation(count)]
    channel.send(first, twice, cipher.hash_and_encrypt(key, rows)[rng.permutation(count)])
