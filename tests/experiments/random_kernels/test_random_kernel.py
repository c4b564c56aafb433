"""The models are the pooled ones of libraries, and the attack finds every patient."""

import importlib.util
import json

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.experiments.random_kernels.attack import attack
from coterie.experiments.random_kernels.lung import FEATURES, load_lung, lung_file
from coterie.experiments.random_kernels.models import concordance, cox
from coterie.experiments.random_kernels.random_kernel import cox_figures, main

NEEDS_LUNG = pytest.mark.skipif(
    importlib.util.find_spec("lifelines") is None, reason="lifelines, whose wheel has the lung data, is not installed"
)  # fmt: skip
BRESLOW = (0.5197, -0.5912, 1.7499, 0.6930, -0.8523, -0.9665)


@pytest.fixture(scope="module")
def lung():
    return load_lung(lung_file(None))


@NEEDS_LUNG
def test_the_data_is_divided_into_the_three_sites(lung):
    assert lung.x.shape == (228, 6)
    assert np.bincount(lung.site).tolist() == [79, 51, 98]
    assert lung.x.min() == 0
    assert lung.x.max() == 1


@NEEDS_LUNG
def test_the_cox_model_is_that_of_statsmodels_and_of_the_specification(lung):
    from statsmodels.duration.hazard_regression import PHReg

    own = cox(lung.x, lung.time, lung.event)
    other = PHReg(lung.time, lung.x, status=lung.event.astype(int), ties="breslow").fit().params
    assert own == pytest.approx(other, abs=1e-4)
    assert own == pytest.approx(BRESLOW, abs=2e-4)


def test_concordance_counts_pairs_whose_order_is_known():
    time, event = np.array([1.0, 2, 3, 4]), np.array([True, False, True, False])
    assert concordance(np.array([4.0, 3, 2, 1]), time, event) == 1
    assert concordance(np.array([1.0, 2, 3, 4]), time, event) == 0
    assert concordance(np.zeros(4), time, event) == 0.5


@NEEDS_LUNG
@pytest.mark.parametrize("width", [5, 4, 3, 2])
def test_every_patient_is_recovered_from_the_published_rows(lung, width):
    matrix = np.random.default_rng(width).standard_normal((width, len(FEATURES)))
    got = attack(lung, matrix)
    assert (got.exact, got.ambiguous) == (228, 0)


@NEEDS_LUNG
def test_projected_models_grow_with_the_numbers_that_are_published(lung):
    found = cox_figures(lung, 20, 1)
    assert found["5"][0] > found["1"][0] + 0.02
    assert abs(found["5"][0] - found["pooled"][0]) < 0.02
    assert found["pooled"][0] == pytest.approx(0.623, abs=0.02)


@NEEDS_LUNG
def test_the_command_prints_models_and_attack(capsys):
    assert main(["--splits", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["recovered"] for row in found["attack"]] == [228] * 4
    assert set(found["svm"]) >= {"pooled", "5", "1"}


def test_a_missing_file_says_where_the_data_comes_from(tmp_path):
    with pytest.raises(DataError, match=r"lung\.csv of lifelines"):
        load_lung(tmp_path / "lung.csv")
