"""What one more column costs."""

import numpy as np

from coterie.anonymity.risk.dimensions import costs
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Table


def test_each_column_makes_the_others_vaguer():
    rng = np.random.default_rng(1)
    columns = tuple(
        ContinuousColumn(f"c{j}", rng.integers(0, 20, 500).astype(np.uint8), np.arange(20.0))
        for j in range(4)
    )
    steps = costs(Table(columns), ["c0", "c1", "c2", "c3"], 5)
    assert [step.column for step in steps] == ["c0", "c1", "c2", "c3"]
    assert (steps[0].groups, steps[0].width) == (20, 0)
    widths = [step.width for step in steps]
    assert widths == sorted(widths)
    assert widths[3] > 0.1
