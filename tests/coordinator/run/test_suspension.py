"""A coordinator that slept: its own silence is not a party's."""

import pytest

from coterie.base.errors import PeerLostError
from coterie.coordinator.run.follower import Follower, Heard, Patience
from coterie.coordinator.run.suspension import Wakefulness
from coterie.protos import jobs_pb2 as pb


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize("sleeping", ["clock", "wall"])
def test_a_pause_is_noticed_by_either_clock(sleeping):
    clocks = {"clock": Clock(), "wall": Clock()}
    awake = Wakefulness(5.0, **clocks)
    for _ in range(10):
        clocks["clock"].now += 0.25
        clocks["wall"].now += 0.25
        assert not awake.look()
    assert not awake.woke_within(10)
    clocks[sleeping].now += 12
    assert awake.look()
    assert awake.woke_within(10)
    assert not awake.look()


class Quiet:
    """A party of which nothing is heard, and a board that shows nothing."""

    def update(self, *_):
        pass


def follower(clock, *names):
    made = Follower(
        {name: Quiet() for name in names}, "0" * 32, Quiet(), Patience(heartbeat=10, gather=0),
        clock=clock, wall=clock,
    )  # fmt: skip
    for name in names:
        made._heard[name] = Heard(clock(), pb.RUNNING)
    return made


def test_a_party_is_not_blamed_for_the_time_in_which_the_coordinator_slept():
    clock = Clock()
    following = follower(clock, "bank")
    following.require_signs()
    clock.now += 12
    following.require_signs()
    for _ in range(39):
        clock.now += 0.25
        following.require_signs()
    clock.now += 0.5
    with pytest.raises(PeerLostError, match="bank: gave no sign of life for 10 s"):
        following.require_signs()


def test_a_party_that_is_silent_while_the_coordinator_is_awake_is_lost():
    clock = Clock()
    following = follower(clock, "bank")
    for _ in range(40):
        clock.now += 0.25
        following.require_signs()
    clock.now += 0.25
    with pytest.raises(PeerLostError):
        following.require_signs()


def test_of_two_silent_parties_the_one_that_fell_silent_first_is_lost():
    clock = Clock()
    following = follower(clock, "lender", "bank")
    following._heard["bank"].at -= 1
    for _ in range(45):
        clock.now += 0.25
        following._wakefulness.look()
    with pytest.raises(PeerLostError, match="bank: gave no sign of life for 12 s"):
        following.require_signs()
