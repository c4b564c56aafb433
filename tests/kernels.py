"""Compiles the loops of the commonest jobs, so that what is on disk serves all processes of tests.

`make test` runs `python -m tests.kernels` beside lint. In a tree in which no test has run yet, the
servers and commands of the first tests would else compile the same loops at the same time, each for
itself: half a minute in each of eight processes.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from coterie.anonymity.specialization.specialize import warm_up
from tests.coordinator.support import coterie


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


if __name__ == "__main__":
    main()
