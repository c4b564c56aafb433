"""Whether all numbers are close to zero, decided on parts that parties hold."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.all_within import all_within
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES = ["a", "b", "c"]


def decided(cases, limit):
    """The verdicts of several cases, each the numbers' parts by party, in one session."""

    def party(channel):
        hidden = HiddenCounts(channel, NAMES, ("a", "b"), Random(channel.me))
        place = NAMES.index(channel.me)
        return [
            all_within(hidden, NAMES, case[place], limit, Random(f"{channel.me}{at}"))
            for at, case in enumerate(cases)
        ]

    found = run_same(NAMES, party)
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


@pytest.mark.parametrize("count", [3, 600])  # the larger takes two rounds of circuits
def test_one_number_beyond_the_limit_is_noticed_wherever_it_is(count):
    rng = np.random.default_rng(count)
    parts = rng.normal(0, 50, (3, count))
    parts[2] = rng.uniform(-11.9, 11.9, count) - parts[:2].sum(axis=0)
    above, below, huge = parts.copy(), parts.copy(), parts.copy()
    above[0, -1] += 12.1 - above[:, -1].sum()
    below[1, 0] -= 12.1 + below[:, 0].sum()
    huge[2, 1] = 1e12
    assert decided([parts, above, below, huge], 12.0) == [True, False, False, False]
