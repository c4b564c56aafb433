"""The keys of a table file that go with `method: quantiles`: `clusters`, `by`, `epsilon`, `cuts`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from coterie.anonymity.algorithms.one_dimension.recoding import CLUSTERS, Options, check_qid
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.scales import Scale
from coterie.base.errors import UsageError
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.file.document import Node, Section

QUANTILES = "quantiles"


def read_quantiles(section: Section, method: str) -> Options:
    """The options of the method; the keys are errors with any other."""
    given: dict[str, Any] = {}
    for key, choices in (("clusters", CLUSTERS), ("by", ("value", "rank"))):
        node = section.optional(key)
        if node is None:
            continue
        if method != QUANTILES:
            raise node.error(f"goes with 'method: {QUANTILES}' only")
        given[key] = node.choice(*choices)
    chosen = given.get("clusters")
    if chosen in ("sampled", "given") and given.get("by") == "rank":
        raise section.required("by").error(f"goes with 'clusters: {chosen}' by value only")
    for key, most in (("epsilon", 1), ("delta", 0.5)):
        node = section.optional(key)
        if node is None:
            continue
        if chosen != "sampled":
            raise node.error("goes with 'clusters: sampled' only")
        given[key] = node.number(1e-4, most)
    return Options(**given)


def read_cuts(node: Node, scale: Scale) -> tuple[float, ...]:
    """Numbers, dates or times in ascending order."""
    found = tuple(scale.read(text) for text in node.texts())
    if not found or not all(map(math.isfinite, found)) or list(found) != sorted(set(found)):
        raise node.error(f"must be a list of values in ascending order, each {scale.noun}")
    return found


def check_columns(
    section: Section,
    method: str,
    attributes: Sequence[Attribute],
    requirements: Sequence[Requirement],
    options: Options,
) -> None:
    """Raises if the method would have to group by several columns, by categories or without cuts."""
    if options.cuts and options.clusters != "given":
        name = next(iter(options.cuts))
        raise section.error(
            f"'{name}' has 'cuts', which go with 'method: {QUANTILES}' and 'clusters: given'"
        )
    if method != QUANTILES:
        return
    other = {a.name for a in attributes if a.taxonomy is not None or a.flat}
    nodes = section.required("requirement").items()
    for node, requirement in zip(nodes, requirements, strict=True):
        try:
            check_qid(requirement.qid)
        except UsageError as error:
            raise node.error(str(error)) from None
        if requirement.qid[0] in other:
            raise node.error(
                f"'{requirement.qid[0]}' is not a column of numbers, dates or times, of which "
                f"'method: {QUANTILES}' makes groups; take mondrian"
            )
        if options.clusters == "given" and requirement.qid[0] not in options.cuts:
            raise node.error(f"'{requirement.qid[0]}' has no 'cuts', which 'clusters: given' needs")
