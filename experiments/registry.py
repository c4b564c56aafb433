"""The experiments that `coterie experiment` can run.

Each is a function `main(argv: list[str]) -> int`, named here as `module:function` and imported only
when it is run.
"""

from __future__ import annotations

EXPERIMENTS: dict[str, str] = {
    "crowd": "coterie.experiments.probabilistic_anonymity.figures:main",
    "keys": "coterie.experiments.masking_quasi_identifiers.keys:main",
    "adult": "coterie.experiments.secure_data_integration.adult:main",
    "constrained": "coterie.experiments.single_table.constrained:main",
    "deviation": "coterie.experiments.secure_data_integration.deviation:main",
    "lattices": "coterie.experiments.single_table.lattices:main",
    "priorities": "coterie.experiments.single_table.priorities:main",
}
