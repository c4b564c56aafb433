"""A party that vanishes at any moment, in any way: all others end, and name it."""

import random
import threading
import time

import numpy as np
import pytest

from coterie.base.errors import CancelledError, PeerFaultError, PeerLostError
from coterie.protocols.messaging.channel import Channel
from tests.coordinator.support import wait_for
from tests.transport.links import GrpcNetwork
from tests.transport.slow_line import SlowLine

NAMES = ("a", "b", "c")
SESSION = "0123456789abcdef" * 2


def talk(channel, seed):
    """Rounds of short and long messages in all directions, without end."""
    draw = np.random.default_rng(seed)  # the same at every party
    with channel.step("talk"):
        while True:
            size = int(draw.choice([1, 100, 50_000, 1_500_000]))
            pause = float(draw.choice([0, 0, 0, 0.001, 0.08]))
            channel.broadcast(np.zeros(size, np.uint8))
            time.sleep(pause)
            channel.gather()


def vanish(network, ends, victim, way):
    if way == "its process is killed":
        network.nodes[victim].server.stop(0)
        ends[victim].close(0)
    elif way == "its server is cut off":
        network.nodes[victim].server.stop(0)
    elif way == "it hangs up":
        ends[victim].close(0)
    else:
        ends[victim].fail(PeerFaultError(victim, "talk", "has a defect"))


WAYS = ["its process is killed", "its server is cut off", "it hangs up", "it fails"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_all_others_end_and_name_the_party_that_is_gone(tmp_path, seed, way):
    network = GrpcNetwork(tmp_path, NAMES)  # the deadline does not pass
    ends = network.sessions(SESSION)
    outcomes = {}

    def party(name):
        try:
            talk(Channel(ends[name], SESSION), seed)
        except BaseException as error:
            outcomes[name] = error

    threads = {name: threading.Thread(target=party, args=(name,), daemon=True) for name in NAMES}
    for thread in threads.values():
        thread.start()
    rng = random.Random(f"{seed} {way}")
    victim = rng.choice(NAMES)
    time.sleep(rng.uniform(0, 0.7))
    vanish(network, ends, victim, way)
    for name in NAMES:
        if name != victim:
            threads[name].join(100)
            assert not threads[name].is_alive(), f"{name} hangs"
            assert isinstance(outcomes[name], PeerLostError | PeerFaultError)
            assert outcomes[name].peer == victim, outcomes
    for end in ends.values():
        end.close(0)
    network.close()


def test_a_party_behind_a_slow_line_that_has_not_begun_hears_that_the_job_was_cancelled(tmp_path):
    """Whoever has begun tells it over a connection whose handshake takes longer than a second."""
    network = GrpcNetwork(tmp_path, ("a", "b"))
    begun = network.nodes["a"].session(SESSION, ("b",))
    waiting = network.nodes["b"].session(SESSION, ("a",))
    with SlowLine(network.nodes["b"].port, 0.3) as line:
        identity = network.nodes["a"].identity
        begun.start(lambda peer: identity.connect(peer, f"127.0.0.1:{line.port}"))
        begun.fail(CancelledError("cancelled by analyst"))
        begun.close()
        wait_for(lambda: waiting.error is not None, "the word of the end")
    assert isinstance(waiting.error, CancelledError)
    waiting.close()
    network.close()
