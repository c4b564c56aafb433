"""The kinds of job by their names in `kind:`, one line each; a kind is imported when it is used."""

from __future__ import annotations

from coterie.base.registry import Registry
from coterie.jobs.kinds.kind import AnyKind, registered

_HERE = "coterie.jobs.kinds"

KINDS: Registry[AnyKind] = Registry(
    {
        "intersect": f"{_HERE}.intersect:INTERSECT",
        "integrate": f"{_HERE}.integrate.kind:INTEGRATE",
        "count": f"{_HERE}.statistics.count:COUNT",
        "tree": f"{_HERE}.statistics.tree:TREE",
        "bayesnet": f"{_HERE}.statistics.bayesnet:BAYESNET",
        "aggregate": f"{_HERE}.aggregate.kind:AGGREGATE",
        "regress": f"{_HERE}.models.regress:REGRESS",
        "cluster": f"{_HERE}.models.cluster:CLUSTER",
        "identify": f"{_HERE}.identify.kind:IDENTIFY",
        "rules": f"{_HERE}.rules.kind:RULES",
        "predict": f"{_HERE}.predict.kind:PREDICT",
    },
    registered,
)
