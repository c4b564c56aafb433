"""The kinds of job, by the name that `kind:` takes."""

from __future__ import annotations

from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.intersect import INTERSECT
from coterie.jobs.kinds.kind import Kind
from coterie.jobs.kinds.statistics.bayesnet import BAYESNET
from coterie.jobs.kinds.statistics.count import COUNT
from coterie.jobs.kinds.statistics.tree import TREE

KINDS: dict[str, Kind] = {
    "intersect": INTERSECT,
    "integrate": INTEGRATE,
    "count": COUNT,
    "tree": TREE,
    "bayesnet": BAYESNET,
}
