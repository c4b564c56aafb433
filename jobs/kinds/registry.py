"""The kinds of job by their names in `kind:`, one line each."""

from __future__ import annotations

from coterie.jobs.kinds.aggregate.kind import AGGREGATE
from coterie.jobs.kinds.identify.kind import IDENTIFY
from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.intersect import INTERSECT
from coterie.jobs.kinds.kind import AnyKind, registered
from coterie.jobs.kinds.models.cluster import CLUSTER
from coterie.jobs.kinds.models.regress import REGRESS
from coterie.jobs.kinds.predict.kind import PREDICT
from coterie.jobs.kinds.rules.kind import RULES
from coterie.jobs.kinds.statistics.bayesnet import BAYESNET
from coterie.jobs.kinds.statistics.count import COUNT
from coterie.jobs.kinds.statistics.tree import TREE

KINDS: dict[str, AnyKind] = {
    "intersect": registered(INTERSECT),
    "integrate": registered(INTEGRATE),
    "count": registered(COUNT),
    "tree": registered(TREE),
    "bayesnet": registered(BAYESNET),
    "aggregate": registered(AGGREGATE),
    "regress": registered(REGRESS),
    "cluster": registered(CLUSTER),
    "identify": registered(IDENTIFY),
    "rules": registered(RULES),
    "predict": registered(PREDICT),
}
