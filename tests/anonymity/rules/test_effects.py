"""What hiding did to the rules of a table."""

from coterie.anonymity.rules.effects import effects
from coterie.anonymity.rules.mining import Rule


def test_failures_lost_and_ghost_rules_are_told_apart():
    a, b, c, larger, new = (
        Rule((0,), (1,)), Rule((1,), (2,)), Rule((2,), (3,)), Rule((0,), (1, 2)), Rule((3,), (4,)),
    )  # fmt: skip
    found = effects([a, b, c, larger], [b, new], [a])
    assert (found.before, found.after) == (4, 2)
    assert found.failures == ()
    assert found.lost == (c,)  # the larger rule contains the hidden set and goes with it
    assert found.ghosts == (new,)
    assert effects([a], [a], [a]).failures == (a,)
