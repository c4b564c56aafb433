"""`coterie experiment folds`: Figure 9's setting, beside an independent computation's figures."""

import numpy as np
import pytest

from coterie.experiments.secure_data_integration.adult_data import load_adult
from coterie.experiments.secure_data_integration.folds import (
    QID,
    REFERENCE,
    cross_validated,
    figure_9,
    table,
)
from tests.experiments.made import ADULT, needs_adult


@needs_adult
def test_errors_are_those_of_the_specification_but_for_the_folds():
    found = figure_9(load_adult(ADULT), thresholds=(50, 200))
    assert len(QID) == 8
    assert found["raw"] == pytest.approx(REFERENCE["raw"], abs=0.25)
    for entry in found["integration"]:
        assert entry["gain-ratio"] == pytest.approx(entry["reference"], abs=0.15)
    jump = found["integration"][1]
    assert jump["information-gain-per-anonymity-loss"] < jump["gain-ratio"] - 4
    assert "| 200 | 23.9" in table(found)


def test_a_fold_is_never_predicted_from_itself():
    """Labels that only the record itself knows cannot be predicted."""
    from coterie.anonymity.classifier.released import learner_attribute

    draw = np.random.default_rng(5)
    own = learner_attribute("own", [str(n) for n in range(2000)])
    target = draw.integers(0, 2, 2000)
    assert cross_validated([own], target, np.arange(2000) % 10) > 40
