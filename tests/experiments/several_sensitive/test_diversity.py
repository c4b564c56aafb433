"""The experiment on a few records of Adult, with a table for each table and figure of the paper."""

import pytest

from coterie.experiments.secure_data_integration.adult_data import load_adult
from coterie.experiments.several_sensitive.diversity import markdown, run
from tests import ADULT


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data is not here")
def test_every_figure_has_numbers_and_exponential_l_makes_one_group():
    result = run(load_adult(ADULT), quick=True)
    assert result["exponential"][1]["groups"] == 1
    assert not result["exponential"][1]["whole table holds"]
    assert all(r["exact"]["discernability"] <= r["figure 6"]["discernability"]
               for r in result["figure 9"])  # fmt: skip
    ours = result["table 1"]
    assert ours["Anonymize"]["all"] < ours["Exponential-L"]["all"]
    text = markdown(result)
    for part in ("Figure 9", "Figure 10", "Figure 11", "Figure 12", "Table 1", "11.3 %"):
        assert part in text
