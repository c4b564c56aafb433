"""A partner that writes a column of clusters: whom it puts into a cluster is its question."""

import numpy as np
import pytest
import yaml

from coterie.base.errors import DataError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.kinds.models.people import write

PEOPLE = 60


def run(folder, chosen, ill, minimum=5, codes=(2, 3)):
    """The lender puts the chosen people far from all others; the bank has who is ill."""
    ids = [f"p{i}" for i in range(PEOPLE)]
    far = np.where(np.isin(np.arange(PEOPLE), chosen), 900, 0) + np.arange(PEOPLE)
    write(folder / "lender.csv", {"ID": ids, "Place": far})
    write(folder / "bank.csv", {"ID": ids, "Ill": np.where(np.isin(np.arange(PEOPLE), ill), codes[1], codes[0])})  # fmt: skip
    content = {
        "kind": "cluster", "name": "chosen", "id": "ID", "clusters": 2, "iterations": 3, "minimum": minimum,
        "parties": {name: {"data": f"{name}.csv"} for name in ("lender", "bank")},
        "attributes": {"Place": {"party": "lender", "range": [0, 1000]}, "Ill": {"party": "bank", "range": [0, 5]}},
    }  # fmt: skip
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / "out").mkdir(exist_ok=True)
    return simulate(load_job(path), folder, folder / "out", seed="4")


@pytest.mark.parametrize("codes", [(0, 1), (2, 3)])
def test_how_many_of_chosen_people_are_ill_is_not_told_where_it_is_a_few(tmp_path, codes):
    """Sums tell it: the mean of the chosen people's cluster, less the one code, times its size."""
    chosen, ill = list(range(20, 28)), [20, 21, 1, 2, 3, 4, 5, 6]
    result = run(tmp_path, chosen, ill, minimum=2, codes=codes)
    [size, mean] = [result["sizes"][1], result["centres"][1][1]]
    assert size == len(chosen)
    assert round(size * (mean - codes[0])) == 2  # where two people are enough
    with pytest.raises(DataError, match="within a cluster fewer than 5 records, but some"):
        run(tmp_path, chosen, ill, codes=codes)
    with pytest.raises(DataError, match="have a certain value of one column"):
        run(tmp_path, chosen, [3], codes=codes)
    assert run(tmp_path, chosen, range(6), codes=codes)["sizes"] == [PEOPLE - 8, 8]
