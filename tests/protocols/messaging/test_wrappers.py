"""Meters count what the wire carries, traces chain it, faults happen where they are ordered."""

import hashlib
import struct

import numpy as np
import pytest

from coterie.base.errors import PeerLostError
from coterie.protocols.messaging.channel import Channel, Message, ring
from coterie.protocols.messaging.memory import MemoryNetwork, run_parties, run_same
from coterie.protocols.messaging.wire import encode, size_of
from coterie.protocols.messaging.wrappers import Metered, Traffic, Wrapper
from coterie.protocols.primitives.randomness import Random
from tests.protocols.wrappers import Fault, Faulty, KilledError, Traced

NAMES = ("a", "b", "c")


def exchange(channel, rng=None):
    """Two steps: everyone broadcasts, then passes something on around the ring."""
    rng = rng or Random(channel.me)
    before, after = ring(channel, NAMES)
    with channel.step("all"):
        channel.broadcast(rng.array(10))
        channel.gather()
    with channel.step("ring"), channel.step("pass"):
        channel.send(after, rng.bytes(7), "text")
        channel.recv(before)


def run_wrapped(make, function=exchange):
    made = {}

    def wrap(transport):
        made[transport.me] = make(transport)
        return made[transport.me]

    run_same(NAMES, function, wrap=wrap)
    return made


def test_a_meter_counts_bytes_messages_and_rounds_by_step():
    meters = run_wrapped(Metered)
    large = size_of(encode([np.zeros(10, np.uint64)]))
    small = size_of(encode([bytes(7), "text"]))
    for meter in meters.values():
        assert meter.total == Traffic(2 * large + small, 2 * large + small, 3, 3, 2)
        assert meter.by_step == {
            "all": Traffic(2 * large, 2 * large, 2, 2, 1),
            "ring/pass": Traffic(small, small, 1, 1, 1),
        }


def test_a_trace_is_a_hash_chain_of_digests_and_sizes():
    traces = run_wrapped(Traced)
    chain = bytes(32)
    for entry in traces["b"].entries:
        link = hashlib.sha256(chain)
        for text in (entry.direction, entry.peer, "memory", entry.step):
            link.update(struct.pack("<Q", len(text)) + text.encode())
        link.update(struct.pack("<Q", entry.sequence) + bytes.fromhex(entry.digest))
        chain = link.digest()
        assert entry.chain == chain.hex()
    assert traces["b"].chain == chain.hex()
    assert [e.step for e in traces["b"].entries] == ["all"] * 4 + ["ring/pass"] * 2
    assert traces["b"].captured == []


def test_both_ends_of_a_message_trace_the_same_digest():
    traces = run_wrapped(Traced)

    def digests(name, direction, peer):
        found = [e for e in traces[name].entries if (e.direction, e.peer) == (direction, peer)]
        return [(e.step, e.sequence, e.size, e.digest) for e in found]

    for one in NAMES:
        for other in set(NAMES) - {one}:
            assert digests(one, "sent", other) == digests(other, "received", one)
            assert digests(one, "sent", other)


def test_a_seeded_run_has_the_same_trace_to_the_byte_and_another_seed_has_not():
    def chains(seed):
        def function(channel):
            exchange(channel, Random(seed).fork(channel.me))

        return {name: trace.chain for name, trace in run_wrapped(Traced, function).items()}

    assert chains(1) == chains(1)
    assert chains(1) != chains(2)


def test_a_trace_that_captures_keeps_the_bodies():
    traces = run_wrapped(lambda transport: Traced(transport, capture=True))
    bodies = [c.body for c in traces["a"].captured if c.direction == "sent"]
    digests = [e.digest for e in traces["a"].entries if e.direction == "sent"]
    assert [hashlib.sha256(body).hexdigest() for body in bodies] == digests


def test_wrappers_compose_and_pass_everything_on():
    meters = run_wrapped(lambda transport: Metered(Traced(Wrapper(transport))))
    assert meters["a"].me == "a"
    assert meters["a"].peers == ("b", "c")
    assert [len(meter.inner.entries) for meter in meters.values()] == [6, 6, 6]


class Outcome:
    """A sender whose n-th message meets a fault, and what a plain reader sees of it."""

    def __init__(self, fault, count=3):
        network = MemoryNetwork(["a", "b"])
        self.slept = []
        faulty = Faulty(network.transport("a"), fault, sleep=self.slept.append)
        self.error = None
        try:
            for number in range(count):
                faulty.transmit("b", Message("s", "", number, encode([number])))
        except BaseException as error:
            self.error = error
        network.leave("a", "gone")
        self.seen = []
        reader = network.transport("b")
        while True:
            try:
                message = reader.receive("a")
            except PeerLostError:
                break
            self.seen.append((message.sequence, bytes(message.body[0])))


def body(number):
    return b"".join(encode([number]))


def test_a_dropped_message_does_not_arrive():
    outcome = Outcome(Fault("drop", 1))
    assert [number for number, _ in outcome.seen] == [0, 2]
    assert outcome.error is None


def test_a_repeated_message_arrives_twice():
    assert [number for number, _ in Outcome(Fault("repeat", 1)).seen] == [0, 1, 1, 2]


def test_a_garbled_message_differs_in_one_byte():
    outcome = Outcome(Fault("garble", 1))
    changed = [
        sum(x != y for x, y in zip(data, body(number), strict=True))
        for number, data in outcome.seen
    ]
    assert changed == [0, 1, 0]


def test_a_delayed_message_waits_as_long_as_ordered():
    outcome = Outcome(Fault("delay", 2, seconds=1.5))
    assert outcome.slept == [1.5]
    assert len(outcome.seen) == 3


def test_a_cut_party_sends_nothing_more():
    outcome = Outcome(Fault("cut", 1))
    assert [number for number, _ in outcome.seen] == [0]
    assert isinstance(outcome.error, PeerLostError)


def test_a_party_killed_before_a_message_has_not_sent_it_and_one_killed_after_has():
    before, after = Outcome(Fault("kill-before", 1)), Outcome(Fault("kill-after", 1))
    assert [number for number, _ in before.seen] == [0]
    assert [number for number, _ in after.seen] == [0, 1]
    assert isinstance(before.error, KilledError)
    assert isinstance(after.error, KilledError)


def test_a_message_dropped_on_receiving_is_passed_over():
    network = MemoryNetwork(["a", "b"])
    for number in range(3):
        network.transport("a").transmit("b", Message("s", "", number, encode([number])))
    faulty = Faulty(network.transport("b"), Fault("drop", 0))
    assert faulty.receive("a").sequence == 1


def test_the_error_of_a_run_is_the_cause_and_not_what_it_led_to():
    def fail(channel):
        raise ZeroDivisionError("the cause")

    def wait(channel):
        channel.recv("a")

    with pytest.raises(ZeroDivisionError, match="the cause"):
        run_parties({"a": fail, "b": wait, "c": wait})


def test_ring_neighbours_follow_the_given_order():
    channel = Channel(MemoryNetwork(["a", "b", "c"]).transport("a"), "s")
    assert ring(channel, ["a", "b", "c"]) == ("c", "b")
    assert ring(channel, ["c", "a"]) == ("c", "c")
