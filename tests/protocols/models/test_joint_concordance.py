"""Pairs of records that scores held in parts rank rightly, beside a count of all pairs."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from coterie.protocols.circuits.boolean import evaluate, to_bits
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.joint_concordance import CLASSES, class_circuit, ranked_columns
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES = ("a", "b", "c")


def jointly(parts, y, holder="a"):
    """`parts` has a row for each party: what it knows of each score less the mean."""
    deviation = float(parts.sum(axis=0).std())

    def party(channel):
        hidden = HiddenCounts(channel, NAMES, ("c", "a"), Random(f"{channel.me} hidden"))
        mine = parts[NAMES.index(channel.me)]
        outcomes = y.astype(np.uint8) if channel.me == holder else None
        return ranked_columns(hidden, NAMES, mine, deviation, holder, outcomes, Random(channel.me))

    found = set(run_same(NAMES, party).values())
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("holder", ["a", "b"])
def test_the_area_under_the_curve_is_that_of_scikit_learn_within_the_ties(holder):
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.3
    score = rng.normal(size=400) + y
    score[:3] = (40, -40, 35)  # far beyond the last class
    score -= score.mean()
    first, second = rng.normal(0, 30, (2, 400))
    right, ties, pairs = jointly(np.stack([first, second, score - first - second]), y, holder)
    assert pairs == y.sum() * (~y).sum()
    assert abs(right / (2 * pairs) - roc_auc_score(y, score)) <= ties / (2 * pairs) < 0.03


def test_scores_are_in_classes_of_a_twentieth_of_a_deviation_and_equal_ones_are_ties():
    y = np.array([1, 1, 1, 0, 0, 0, 0], bool)
    score = np.array([1.0, 1.0, -2.0, 1.0, -2.0, -2.0, 3.0])
    parts = np.stack([score - score.mean(), np.full(7, 5.0), np.full(7, -5.0)])
    right, ties, pairs = jointly(parts, y)
    assert (right, ties, pairs) == (2 * 4 + 4, 4, 12)


def test_every_record_is_in_one_class_and_scores_beyond_are_in_the_outermost():
    whole = np.array([0, (1 << 15) - 1, 1 << 15, 127 << 15, 128 << 15, 1 << 30, -1, -(1 << 31)])
    outcome = np.array([1, 0, 1, 0, 1, 0, 1, 0])
    mask = np.random.default_rng(2).integers(0, 1 << 32, 8)
    inputs = {
        "score0": to_bits(mask, 32),
        "score1": to_bits(whole - mask, 32),
        "outcome0": np.ones((8, 1), np.uint8),
        "outcome1": (1 - outcome).astype(np.uint8)[:, None],
    }
    bits = evaluate(class_circuit(), inputs)["class"].reshape(8, 2, CLASSES)
    assert bits.sum(axis=(1, 2)).tolist() == [1] * 8
    sides, classes = np.nonzero(bits)[1:]
    assert (1 - sides).tolist() == outcome.tolist()
    assert classes.tolist() == [0, 0, 1, 127, 127, 127, 0, 0]
