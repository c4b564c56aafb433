"""A peer may send an array where a digest, a number or a list is due. That is the peer's fault.

`array != digest` gives an array, which is neither true nor false: a party that compares so ends with
an error of its own, and names itself to the others."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.jobs.kinds.statistics.joining import _announce_domains
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.intersection import multiparty_intersect
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Message
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import encode, same_value
from coterie.protocols.messaging.wrappers import Wrapper
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.multiparty.set_union import union
from coterie.protocols.numbers import logarithm, scalar_product
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

ODD = {
    "an array": np.arange(3),
    "a list with an array": [np.arange(3), np.arange(3)],
    "a list of two": [1, 2],
    "a number": 1 << 200,
    "no bytes": b"",
}


class _Pair:
    """What the comparisons of settings need of a session or of products."""

    def __init__(self, channel):
        self.channel, [self.peer] = channel, channel.peers


def _winners(channel):
    Strategy(0.1)._compare_winners(channel, ("a", "b"), ("a", 5))


def _settings(channel):
    logarithm._agree(_Pair(channel), ["ten bits", 3])


def _sizes(channel):
    sizes = scalar_product.Sizes(10, 1, 1)
    scalar_product._agree(channel, channel.peers[0], sizes, "shares", Ring(1 << 64))


def _digests(channel):
    compare_digests(channel, ("a", "b", "c"), {"a": b"d" * 32}, "the class")


def _scores(channel):
    Strategy(0.1)._compare_scores(channel, ("a", "b"), {"a": 5, "b": 7})


def _sum(channel):
    SecureSum._agreed(SimpleNamespace(_channel=channel), "b", 8, np.uint64, (2,))


def _told_bits(channel):
    bare = _without_steps(channel)
    bare.recv_array = channel.recv_array
    servers = SimpleNamespace(channel=bare, names=("a", "b"), servers=("b",))
    HiddenCounts.tell(servers, None, (2, 3))


def _without_steps(channel):
    """The parties of these tests send outside of any step."""
    return SimpleNamespace(step=lambda label: nullcontext(), peers=channel.peers, me=channel.me)


def _domains(channel):
    bare = _without_steps(channel)
    for name in ("open", "broadcast", "recv_list", "check_texts"):
        setattr(bare, name, getattr(channel, name))
    attributes = {
        "Sex": SimpleNamespace(values=None, party="b"),
        "Job": SimpleNamespace(values=None, party="b"),
    }
    job = SimpleNamespace(attributes=attributes)
    _announce_domains(job, SimpleNamespace(domains={}), bare)


COMPARISONS = {
    "digests of what was told": (_digests, 3),
    "repeated scores": (_scores, 2),
    "shares of a sum": (_sum, 2),
    "bits that the servers tell": (_told_bits, None),
    "domains": (_domains, 2),
    "winners": (_winners, 2),
    "instructions": (lambda channel: Strategy(0.1).confirm(channel, "a", b"d" * 32), None),
    "common records": (
        lambda channel: multiparty_intersect._same_list(channel, "l", np.zeros((1, 2), "u8")),
        None,
    ),
    "settings of a logarithm": (_settings, 2),
    "sizes of scalar products": (_sizes, 9),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_what_is_compared_may_be_of_any_type(comparison, odd):
    compare, _ = COMPARISONS[comparison]
    with pytest.raises(PeerFaultError) as caught:
        run_parties({"a": compare, "b": lambda channel: channel.send("a", ODD[odd])})
    assert caught.value.peer == "b"


@pytest.mark.parametrize("comparison", [name for name, (_, size) in COMPARISONS.items() if size])
def test_a_list_of_the_right_length_may_hold_arrays(comparison):
    compare, size = COMPARISONS[comparison]
    arrays = [np.arange(3)] * size
    with pytest.raises(PeerFaultError) as caught:
        run_parties({"a": compare, "b": lambda channel: channel.send("a", arrays)})
    assert caught.value.peer == "b"


@pytest.mark.parametrize("value", [0, 1, -1, "1", b"1", [1], [], np.ones(1, np.int64)], ids=repr)
def test_a_value_is_like_itself_only(value):
    others = [0, 1, -1, "1", b"1", [1], [], np.ones(1, np.int64), np.ones(1, np.uint8)]
    assert sum(same_value(value, other) for other in others) == 1


class _SmallOrder(Wrapper):
    """Sends the point of order 4, which is on the curve, when sets are merged."""

    def transmit(self, peer, message):
        if message.step == "merge":
            rows = np.zeros((1, 1, 32), np.uint8)
            rows[0, 0, 0] = self.point
            body = encode([rows])
            message = Message(message.session, message.step, message.sequence, body)
        self.inner.transmit(peer, message)


@pytest.mark.parametrize("point", [0, 1, 2])
def test_points_of_small_order_in_a_union_are_a_fault(point):
    def wrap(transport):
        cheat = _SmallOrder(transport)
        cheat.point = point
        return cheat if transport.me == "b" else transport

    def party(channel):
        return union(channel, ("a", "b"), [b"x"], Random(channel.me), longest=10)

    with pytest.raises(PeerFaultError) as caught:
        run_parties({"a": party, "b": party}, wrap=wrap)
    assert caught.value.peer == "b"
