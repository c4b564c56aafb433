"""The smallest set that meets all others, compared with trying all."""

import numpy as np
import pytest

from coterie.anonymity.risk.hitting import Work, smallest_hitting_set
from tests.anonymity.risk.people import subsets


@pytest.mark.parametrize("seed", range(60))
def test_it_is_as_small_as_the_smallest_of_all(seed):
    rng = np.random.default_rng(seed)
    elements = int(rng.integers(1, 9))
    sets = {int(rng.integers(1, 2**elements)) for _ in range(int(rng.integers(0, 12)))}
    bits = rng.random(elements).tolist()
    need = float(rng.random() * sum(bits)) if seed % 2 else 0.0

    def good(chosen):
        mask = sum(1 << e for e in chosen)
        return all(mask & s for s in sets) and sum(bits[e] for e in chosen) >= need

    smallest = next(s for s in subsets(elements) if good(s))
    found = smallest_hitting_set(sets, elements, bits, need)
    assert good(found.chosen)
    assert len(found.chosen) == len(smallest) == found.at_least
    rough = smallest_hitting_set(sets, elements, bits, need, Work(0))
    assert good(rough.chosen)
    assert rough.at_least <= len(smallest) <= len(rough.chosen)


def test_a_search_that_is_given_up_says_what_it_has_proved():
    rng = np.random.default_rng(1)
    sets = {sum(1 << int(e) for e in rng.choice(20, 4, replace=False)) for _ in range(80)}
    exact = smallest_hitting_set(sets, 20)
    found = smallest_hitting_set(sets, 20, work=Work(200))
    assert found.at_least <= len(exact.chosen) <= len(found.chosen)
    assert all(sum(1 << e for e in found.chosen) & s for s in sets)
