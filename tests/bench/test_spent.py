"""What work costs is measured at each party, and put together for all of them."""

import pytest

from coterie.bench._spent import Meter, added, combined, least
from coterie.protocols.messaging.memory import run_same


def test_the_bytes_of_the_work_are_counted_and_those_of_meeting_are_not():
    def party(channel):
        meter = Meter(channel)

        def work():
            meter.channel.broadcast(b"x" * 1000)
            meter.channel.gather()

        return meter.measure(work, repeat=3)[1]

    for spent in run_same(["a", "b", "c"], party).values():
        assert 2000 <= spent["sent_bytes"] < 2100
        assert spent["seconds"] > 0


def test_a_wrong_result_is_not_measured():
    def party(channel):
        return Meter(channel).measure(lambda: 1, lambda result: result == 2)

    with pytest.raises(RuntimeError, match="a wrong result"):
        run_same(["a", "b"], party)


def test_parties_work_at_the_same_time_and_parts_one_after_the_other():
    one = {"seconds": 1.0, "cpu_seconds": 0.5, "sent_bytes": 10}
    two = {"seconds": 3.0, "cpu_seconds": 0.25, "sent_bytes": 20}
    assert combined([one, two]) == {"seconds": 3.0, "cpu_seconds": 0.75, "sent_bytes": 30}
    assert added([one, two]) == {"seconds": 4.0, "cpu_seconds": 0.75, "sent_bytes": 30}
    assert least([one, two]) == {"seconds": 1.0, "cpu_seconds": 0.25, "sent_bytes": 10}
