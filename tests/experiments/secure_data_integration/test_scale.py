"""`coterie experiment scale`: the joint runs are those of one table; DkA's encryptions are counted."""

import numpy as np

from coterie.experiments.secure_data_integration.adult_data import NAMES, load_adult
from coterie.experiments.secure_data_integration.enlarged import load, random_qids
from coterie.experiments.secure_data_integration.scale import encryptions_a_second, main
from tests.experiments.made import ADULT, needs_adult


@needs_adult
def test_the_table_is_enlarged_by_copies_with_other_values():
    adult = load_adult(ADULT)
    columns, classes = load(ADULT, 60_000, NAMES[:3])
    base = len(adult.target)
    assert len(classes.codes) == 60_000
    for name in NAMES[:3]:
        own = adult.column(name).codes
        assert np.array_equal(columns[name].codes[:base], own)
        changed = np.mean(columns[name].codes[base:] != own[: 60_000 - base])
        assert 0.2 < changed < 0.52


def test_requirements_have_three_to_seven_qids_of_one_length():
    found = random_qids()
    assert len(found) == 30
    for qids in found:
        assert 1 <= len(qids) <= 7
        assert len({len(qid) for qid in qids}) == 1
        assert len({tuple(qid) for qid in qids}) == len(qids)


@needs_adult
def test_the_quick_run_prints_both_requirements_and_dka(capsys):
    assert main(["--quick", "--data", str(ADULT)]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    assert row.startswith("| 50,000 |")
    assert "| 100,100,000 |" in row
    assert encryptions_a_second() > 0
