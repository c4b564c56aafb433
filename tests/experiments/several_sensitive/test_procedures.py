"""The paper's procedures: what the printed ones get wrong, and what the mended ones promise."""

import numpy as np

from coterie.anonymity.models.deletion_search import packed
from coterie.experiments.several_sensitive.procedures import (
    by_frequencies,
    discernability,
    divide,
    exact,
    greedy,
)
from tests.anonymity.models import plain_joint

FIGURE_4 = np.array([(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)])
EVERY = np.arange(6)


def test_figure_5_as_printed_loses_records_and_the_mended_one_does_not():
    """The left half is diverse and goes on; the right half has one value and is gone."""
    identifying = np.arange(16.0)[:, None]
    rows = np.array([(i, i) for i in range(8)] + [(9, 9)] * 8)
    printed = divide(identifying, 2, exact(rows, 2), printed=True)
    mended = divide(identifying, 2, exact(rows, 2))
    assert sum(map(len, printed)) == 8
    assert sorted(np.concatenate(mended).tolist()) == list(range(16))
    assert all(plain_joint.is_diverse([tuple(r) for r in rows[g].tolist()], 2) for g in mended)
    assert discernability(mended, 16) == sum(len(g) ** 2 for g in mended) / 16


def test_figure_6_finds_three_rows_in_figure_4():
    assert greedy(FIGURE_4, 3)(EVERY)
    assert not greedy(FIGURE_4, 4)(EVERY)
    assert exact(FIGURE_4, 3)(EVERY)
    assert not exact(FIGURE_4, 4)(EVERY)


def test_figure_8_shows_figure_4_to_be_4_diverse_with_two_treatments():
    assert by_frequencies(FIGURE_4, 4, (4, 2))(EVERY)
    assert exact(FIGURE_4, 4, (4, 2))(EVERY)
    assert not by_frequencies(FIGURE_4, 4, (4, 4))(EVERY)


def test_three_equal_rows_are_not_diverse_when_the_comparison_is_strict():
    """Figure 7 as printed calls them 3-diverse."""
    equal = np.zeros((3, 2), int)
    assert not by_frequencies(equal, 3, (2, 3))(np.arange(3))


def test_the_strict_figure_7_never_says_yes_wrongly():
    rng = np.random.default_rng(3)
    yes = 0
    for _ in range(150):
        rows = rng.integers(0, 4, (rng.integers(2, 9), 2))
        limits = tuple(rng.integers(0, 4, 2).tolist())
        if by_frequencies(rows, 3, limits)(np.arange(len(rows))):
            yes += 1
            tuples = [tuple(row) for row in rows.tolist()]
            assert plain_joint.is_diverse(tuples, 3, dict(enumerate(limits)))
    assert yes > 20
    assert packed is not None
