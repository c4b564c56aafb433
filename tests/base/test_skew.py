"""How far clocks are apart, in words."""

import pytest

from coterie.base.skew import skew_in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1.25, "1.2 s ahead of"),
        (-70, "70.0 s behind"),
        (7200, "2.0 hours ahead of"),
        (-864_000, "10 days behind"),
    ],
)
def test_a_difference_is_told_in_a_fitting_unit(seconds, words):
    assert skew_in_words(seconds) == words
