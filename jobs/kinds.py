"""The kinds of job, by the name that `kind:` takes."""

from __future__ import annotations

from jobs.bayesnet import BAYESNET
from jobs.count import COUNT
from jobs.integrate import INTEGRATE
from jobs.intersect import INTERSECT
from jobs.kind import Kind
from jobs.tree import TREE

KINDS: dict[str, Kind] = {
    "intersect": INTERSECT,
    "integrate": INTEGRATE,
    "count": COUNT,
    "tree": TREE,
    "bayesnet": BAYESNET,
}
