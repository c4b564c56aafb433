"""Compiles the loops of the commonest jobs, so that what is on disk serves all processes of tests.

`make test` runs `python -m tests.kernels` beside lint. In a tree in which no test has run yet, the
servers and commands of the first tests would else compile the same loops at the same time, each for
itself.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from coterie.anonymity.models.joint_audit import resists_deletions
from coterie.anonymity.specialization.specialize import warm_up
from tests.coordinator.support import coterie
from tests.secrecy.prepared import SCENES_OF_LOOPS, play

_METHODS = (
    ("mondrian", "k: 3"),
    ("mondrian", "k: 3, sensitive: [Disease, Days], l: 2"),
    ("incognito", "k: 3, sensitive: [Disease, Days], l: 2"),
    ("cluster", "k: 3, sensitive: Disease, l: 2"),
)
_TABLE = """\
data: people.csv
method: {method}
attributes:
  Age: {{range: [0, 50]}}
  Town: {{flat: true}}
  Disease: {{}}
  Days: {{}}
requirement: [{{qid: [Age, Town], {model}}}]
"""


def main() -> None:
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COTERIE_STATE"] = folder
        for kind in ("intersect", "integrate"):
            made = Path(folder, kind)
            prepared = coterie("demo", "--prepare-only", "--kind", kind, "--out", made)
            assert prepared.code == 0, prepared.err
            done = coterie("simulate", made / "analyst" / "job.yaml", "--out", made / "simulated")
            assert done.code == 0, done.err
        _of_one_table(Path(folder))
    play((*SCENES_OF_LOOPS, "sums_by_group", "sums_of_cells_that_lie_anywhere"))


def _of_one_table(folder: Path) -> None:
    """The loops of one table's methods, and of several sensitive columns."""
    rows = [f"{n % 50},{'NSEW'[n % 4]},d{n % 5},{n % 3}" for n in range(120)]
    (folder / "people.csv").write_text("\n".join(["Age,Town,Disease,Days", *rows]) + "\n")
    for number, (method, model) in enumerate(_METHODS):
        table, out = folder / f"{number}.yaml", folder / f"{method} {number}"
        table.write_text(_TABLE.format(method=method, model=model))
        done = coterie("anonymise", table, "--out", out)
        assert done.code == 0, done.err
        checked = coterie("verify", out)
        assert checked.code == 0, checked.err
    assert resists_deletions(np.array([(0, 0), (0, 1), (1, 1), (2, 1)]), 3, [3, 3]) is False


if __name__ == "__main__":
    main()
