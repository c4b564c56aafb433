"""The contract of a channel, over memory and over gRPC with mTLS alike."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from coterie.base.errors import PeerError, PeerFaultError, PeerLostError
from coterie.protocols.messaging.channel import Channel, Message, ring
from coterie.protocols.messaging.wire import encode
from coterie.protocols.messaging.wrappers import Metered
from tests.protocols.messaging.test_wire import same, values
from tests.protocols.networks import NAMES, Grpc, Memory, run
from tests.protocols.wrappers import Fault, Faulty, KilledError


@pytest.fixture(scope="module", params=["memory", "grpc"])
def network(request, tmp_path_factory):
    made = Memory() if request.param == "memory" else Grpc(tmp_path_factory.mktemp("links"))
    yield made
    made.close()


def idle(channel):
    """A party that takes no part."""


def results(network, **functions):
    return run(network, {name: functions.get(name, idle) for name in NAMES})


def good(outcomes):
    for outcome in outcomes.values():
        if isinstance(outcome, BaseException):
            raise outcome
    return outcomes


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(values, values)
def test_values_arrive_as_they_were_sent(network, first, second):
    def a(channel):
        channel.send("b", first, second)
        channel.send("b", first)
        return channel.recv("b")

    def b(channel):
        both = channel.recv("a")
        channel.send("a", channel.recv("a"))
        return both

    outcomes = good(results(network, a=a, b=b))
    assert same(first, outcomes["a"])
    assert same([first, second], outcomes["b"])


SIZES = [0, 1, 65_500, 65_536, 65_537, (1 << 20) - 20, 1 << 20, (1 << 20) + 1, 5 << 20, 12_345_678]


def test_messages_of_any_number_of_chunks_arrive_whole(network):
    rng = np.random.default_rng(1)
    sent = [rng.integers(0, 256, size, np.uint8) for size in SIZES]

    def a(channel):
        for array in sent:
            channel.send("b", array, array.tobytes()[:100_000])

    def b(channel):
        return [channel.recv("a") for _ in sent]

    for array, (back, head) in zip(sent, good(results(network, a=a, b=b))["b"], strict=True):
        assert np.array_equal(array, back)
        assert head == array.tobytes()[:100_000]


def test_many_small_messages_keep_their_order(network):
    def a(channel):
        for number in range(3000):
            channel.send("b", number)
        return channel.recv("b")

    def b(channel):
        numbers = [channel.recv("a") for _ in range(3000)]
        channel.send("a", sum(numbers))
        return numbers

    outcomes = good(results(network, a=a, b=b))
    assert outcomes["b"] == list(range(3000))
    assert outcomes["a"] == sum(range(3000))


def test_parties_that_all_send_before_they_receive_do_not_lock_up(network):
    block = np.arange(2 << 20, dtype=np.float64)  # 16 MB, more than all queues together

    def party(channel):
        for _ in range(3):
            channel.broadcast(block)
        total = 0
        for _ in range(3):
            for array in channel.gather().values():
                assert np.array_equal(array, block)
                total += array.nbytes
        return total

    assert set(good(results(network, a=party, b=party, c=party)).values()) == {6 * block.nbytes}


def test_a_sender_may_change_an_array_after_sending_it(network):
    def a(channel):
        array = np.zeros(3 << 20, np.uint8)
        for number in range(5):
            array[:] = number
            channel.send("b", array)
        array[:] = 99

    def b(channel):
        return [np.unique(channel.recv("a")).tolist() for _ in range(5)]

    assert good(results(network, a=a, b=b))["b"] == [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize("count", [10, 100_000, 300_000], ids=["short", "one frame", "several"])
def test_what_was_received_is_aligned_and_cannot_be_changed(network, count):
    array = np.arange(count)

    def a(channel):
        channel.broadcast(array)

    def b(channel):
        received = channel.recv("a")
        assert received.flags.aligned
        assert received.ctypes.data % 16 == 0
        with pytest.raises(ValueError, match="read-only"):
            received += 1
        return received

    outcomes = good(results(network, a=a, b=b, c=b))
    assert np.array_equal(outcomes["b"], array)
    assert np.array_equal(outcomes["c"], array)


def test_broadcast_and_gather_reach_everyone(network):
    def party(channel):
        with channel.step("names"):
            channel.broadcast(channel.me)
            return channel.gather()

    outcomes = good(results(network, a=party, b=party, c=party))
    assert outcomes == {
        "a": {"b": "b", "c": "c"},
        "b": {"c": "c", "a": "a"},
        "c": {"a": "a", "b": "b"},
    }
    assert list(outcomes["b"]) == ["c", "a"]  # peers stand in ring order


def raw(*, session=None, step="one", sequence=0, body=None):
    """A party that sends one message around the channel."""

    def party(channel):
        transport = channel._transport
        message = Message(session or channel.session, step, sequence, body or encode([1]))
        transport.transmit("b", message)

    return party


def reader(channel):
    with channel.step("one"):
        return channel.recv("a")


def test_an_honest_raw_message_is_read(network):
    assert good(results(network, a=raw(), b=reader))["b"] == 1


REFUSED = {
    "another session": (raw(session="other"), "session"),
    "another step": (raw(step="two"), "of step 'two'"),
    "a sequence number that comes early": (raw(sequence=1), "message 1 where 0 was due"),
    "a body with an unknown tag": (raw(body=[b"\x09"]), "malformed"),
    "a body that is cut": (raw(body=[b"\x01\xff\xff\xff\xff\xff\xff\xff\x7f"]), "malformed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_message_that_does_not_fit_is_a_fault_of_its_sender(network, name):
    sender, why = REFUSED[name]
    outcome = results(network, a=sender, b=reader)["b"]
    assert isinstance(outcome, PeerFaultError), outcome
    assert outcome.peer == "a"
    assert why in str(outcome)


def test_a_replayed_message_is_refused(network):
    def a(channel):
        for _ in range(2):
            channel._transport.transmit("b", Message(channel.session, "one", 0, encode([7])))

    def b(channel):
        with channel.step("one"):
            assert channel.recv("a") == 7
            channel.recv("a")

    outcome = results(network, a=a, b=b)["b"]
    assert isinstance(outcome, PeerFaultError)
    assert "message 0 where 1 was due" in str(outcome)
    assert outcome.step == "one"


def test_a_party_that_finishes_early_ends_the_wait_for_it(network):
    outcome = results(network, a=idle, b=reader)["b"]
    assert isinstance(outcome, PeerLostError)
    assert outcome.peer == "a"
    assert "has finished" in str(outcome)


def test_what_was_sent_before_finishing_can_still_be_read(network):
    def a(channel):
        for number in range(50):
            channel.send("b", number, np.zeros(100_000))

    def b(channel):
        return [channel.recv("a")[0] for _ in range(50)]

    assert good(results(network, a=a, b=b))["b"] == list(range(50))


def test_a_party_that_fails_ends_the_wait_of_everyone(network):
    def a(channel):
        with channel.step("one"):
            raise channel.fault("c", "sent nonsense")

    outcomes = results(network, a=a, b=reader, c=reader)
    assert isinstance(outcomes["a"], PeerFaultError)
    assert isinstance(outcomes["b"], PeerError)
    assert isinstance(outcomes["c"], PeerError)
    assert "sent nonsense" in str(outcomes["b"])


def test_a_party_that_is_killed_while_others_wait_is_named(network):
    def a(channel):
        channel.broadcast(1)
        raise KilledError

    def others(channel):
        channel.recv("a")
        return channel.recv("a")

    outcomes = results(network, a=a, b=others, c=others)
    for name in "bc":
        assert isinstance(outcomes[name], PeerLostError)
        assert outcomes[name].peer == "a"


def around(channel):
    """Three rounds of passing on in a ring; everyone ends with the sum of all."""
    before, after = ring(channel, NAMES)
    total = own = NAMES.index(channel.me) + 1
    for number in range(len(NAMES) - 1):
        with channel.step(f"round {number}"):
            channel.send(after, own, np.full(20_000, own))
            own, array = channel.recv(before)
            if not (isinstance(array, np.ndarray) and array.shape == (20_000,) and own == array[0]):
                raise channel.fault(before, "sent an array that does not fit")
            total += own
    return total


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize(
    "kind", ["delay", "drop", "repeat", "cut", "kill-before", "kill-after", "garble"]
)
def test_a_faulty_party_ends_the_session_with_a_named_error_or_not_at_all(network, kind, at):
    def wrap(name, transport):
        return Faulty(transport, Fault(kind, at, 0.01)) if name == "b" else transport

    outcomes = run(network, dict.fromkeys(NAMES, around), wrap)
    honest = [outcomes[name] for name in "ac"]
    if kind == "delay":
        assert list(outcomes.values()) == [6, 6, 6]
        return
    for outcome in outcomes.values():
        assert outcome == 6 or isinstance(outcome, PeerError | KilledError), outcome
    if kind in ("kill-before", "kill-after"):
        assert isinstance(outcomes["b"], KilledError)
    # b sends, receives, sends, receives: before the third, someone still waits for it.
    if kind in ("kill-before", "cut") and at < 3:
        assert any(isinstance(outcome, PeerError) for outcome in honest)


def test_steps_nest_and_the_failed_one_is_remembered():
    channel = Channel(Memory().open("s")["a"], "s")
    seen = []

    def fail():
        with channel.step("outer"), channel.step("inner"):
            seen.append(channel.current_step)
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert seen == ["outer/inner"]
    assert channel.current_step == ""
    assert channel.failed_step == "outer/inner"


def test_progress_tells_the_step():
    told = []
    channel = Channel(Memory().open("s")["a"], "s", lambda *news: told.append(news))
    with channel.step("one"):
        channel.progress(3, 10)
    assert told == [("one", 0, 0), ("one", 3, 10)]


def test_meters_of_both_ends_agree(network):
    meters = {}

    def wrap(name, transport):
        meters[name] = Metered(transport)
        return meters[name]

    good(run(network, dict.fromkeys(NAMES, around), wrap))
    for before, after in (("a", "b"), ("b", "c"), ("c", "a")):
        assert meters[before].total.sent_bytes == meters[after].total.received_bytes
        assert meters[before].total.sent_messages == 2
        assert meters[before].total.rounds == 2


BYTES = np.arange(6, dtype=np.uint8).reshape(2, 3)
# How a receiver asks, what an honest peer sends, and what is a fault.
TYPED = {
    "array": (
        lambda c: c.recv_array("a", np.uint8, (None, 3), "two rows"),
        BYTES,
        [7, b"x", "x", [BYTES, BYTES], BYTES.astype(np.int8), BYTES.T, BYTES[0]],
    ),
    "int": (lambda c: c.recv_int("a", 3, 5, "two rows"), 5, [2, 6, -1, b"5", "5", BYTES, [3, 4]]),
    "flag": (lambda c: int(c.recv_flag("a", "two rows")), 1, [2, -1, b"", "yes", BYTES]),
    "bytes": (
        lambda c: c.recv_bytes("a", 3, "two rows"),
        b"abc",
        [b"ab", b"abcd", "abc", 3, BYTES[0]],
    ),
    "list": (
        lambda c: c.recv_list("a", 2, "two rows"),
        [1, b"x"],
        [[1], [1, 2, 3], b"ab", "ab", BYTES],
    ),
}


@pytest.mark.parametrize("kind", TYPED)
def test_what_is_due_is_received_and_anything_else_is_a_fault_of_the_peer(kind):
    receive, honest, others = TYPED[kind]
    network = Memory()
    [found] = [o for n, o in results(network, a=lambda c: c.send("b", honest), b=receive).items()
               if n == "b"]  # fmt: skip
    assert same([found], [honest])
    for value in others:
        outcome = results(Memory(), a=lambda c, v=value: c.send("b", v), b=receive)["b"]
        assert isinstance(outcome, PeerFaultError), value
        assert (outcome.peer, outcome.reason) == ("a", "sent no two rows")


def test_among_some_parties_the_others_are_told_nothing(network):
    def some(channel):
        with channel.among(("a", "b")):
            assert set(channel.peers) <= {"a", "b"}
            channel.broadcast(1)
            heard = channel.gather()
            with channel.among(NAMES):
                assert set(channel.peers) == set(NAMES) - {channel.me}
        return heard

    outcomes = good(results(network, a=some, b=some))
    assert outcomes["a"] == {"b": 1}
    assert outcomes["b"] == {"a": 1}
    assert outcomes["c"] is None
