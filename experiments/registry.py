"""The experiments that `coterie experiment` can run.

Each is a function `main(argv: list[str]) -> int`, named here as `module:function` and imported only
when it is run.
"""

from __future__ import annotations

EXPERIMENTS: dict[str, str] = {
    "all": "coterie.experiments.printed.everything:main",
    "list": "coterie.experiments.printed.listing:main",
    "crowd": "coterie.experiments.probabilistic_anonymity.figures:main",
    "folds": "coterie.experiments.secure_data_integration.folds:main",
    "keys": "coterie.experiments.masking_quasi_identifiers.keys:main",
    "adult": "coterie.experiments.secure_data_integration.adult:main",
    "constrained": "coterie.experiments.single_table.constrained:main",
    "deviation": "coterie.experiments.secure_data_integration.deviation:main",
    "diversity": "coterie.experiments.several_sensitive.diversity:main",
    "lattices": "coterie.experiments.single_table.lattices:main",
    "scale": "coterie.experiments.secure_data_integration.scale:main",
    "noise": "coterie.experiments.randomization.noise:main",
    "random-kernel": "coterie.experiments.random_kernels.random_kernel:main",
    "payoffs": "coterie.experiments.secure_data_integration.payoffs:main",
    "priorities": "coterie.experiments.single_table.priorities:main",
}
