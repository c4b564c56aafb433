"""The classes with which a benchmark compares what the parties find."""

import numpy as np
import pytest

from coterie.bench.question_parts import predictions
from coterie.bench.question_parts.predictions import known_classes, likely_classes


def test_the_likely_class_is_that_of_most_people_who_are_alike():
    draw = np.random.default_rng(1)
    known = {f"x{at}": draw.integers(0, 2 + at, 5000) for at in range(6)}
    new = {name: column[:500] for name, column in known.items()}
    likely, due = likely_classes(known, new), known_classes(new)
    assert set(due) == {0, 1}
    assert np.mean(likely == due) > 0.8
    assert np.mean(likely < 0) < 0.01


def test_all_models_are_measured_and_their_classes_are_those_of_the_joined_table(
    in_memory, monkeypatch
):
    """The part ends with an error where they are not."""
    honest = predictions._people
    sizes = iter((800, 150))  # of the people known and of the new ones
    monkeypatch.setattr(predictions, "_people", lambda seed, records: honest(seed, next(sizes)))
    found = predictions.predict(quick=True)
    assert found["records"] == 150
    for model in ("tree", "bayesnet", "net"):
        assert set(found[model]) == {"seconds", "cpu_seconds", "megabytes", "rounds", "peak_mb"}


def test_another_class_than_that_of_the_joined_table_ends_the_part(in_memory, monkeypatch):
    honest = predictions._people
    monkeypatch.setattr(predictions, "_people", lambda seed, records: honest(seed, 800))
    monkeypatch.setattr(predictions, "KEPT", {"tree": ("tree", "max_depth: 1\n")})
    with pytest.raises(SystemExit, match="by the tree are not those of the joined table"):
        predictions.predict(quick=True)
