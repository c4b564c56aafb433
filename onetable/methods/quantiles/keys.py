"""The keys of a table file that go with `method: quantiles`: `clusters`, `by`, `epsilon`, `cuts`."""

from __future__ import annotations

import math
from typing import Any

from coterie.anonymity.algorithms.one_dimension.recoding import CLUSTERS, Options, check_qid
from coterie.anonymity.table.scales import Scale
from coterie.base.errors import UsageError
from coterie.jobs.file.document import Node, Section
from coterie.onetable.methods.method import GIVEN
from coterie.onetable.table_file import TableFile


def read_quantiles(section: Section) -> Options:
    given: dict[str, Any] = {}
    for key, choices in (("clusters", CLUSTERS), ("by", ("value", "rank"))):
        node = section.optional(key)
        if node is None:
            continue
        given[key] = node.choice(*choices)
    chosen = given.get("clusters")
    if chosen in ("sampled", "given") and given.get("by") == "rank":
        raise section.required("by").error(f"is only for 'clusters: {chosen}' by value")
    for key, most in (("epsilon", 1), ("delta", 0.5)):
        node = section.optional(key)
        if node is None:
            continue
        if chosen != "sampled":
            raise node.error("is only for 'clusters: sampled'")
        given[key] = node.number(1e-4, most)
    return Options(**given)


def read_cuts(node: Node, scale: Scale) -> tuple[float, ...]:
    """Numbers, dates or times in ascending order."""
    found = tuple(scale.read(text) for text in node.texts())
    if not found or not all(map(math.isfinite, found)) or list(found) != sorted(set(found)):
        raise node.error(f"must be a list of values in ascending order, each {scale.noun}")
    return found


def check_columns(section: Section, file: TableFile) -> None:
    """Raises if the method would have to group by several columns, by categories or without cuts."""
    other = {a.name for a in file.attributes if a.taxonomy is not None or a.flat}
    nodes = section.required("requirement").items()
    for node, requirement in zip(nodes, file.requirements, strict=True):
        try:
            check_qid(requirement.qid)
        except UsageError as error:
            raise node.error(str(error)) from None
        name = requirement.qid[0]
        if name in other:
            raise node.error(
                f"'{name}' is not a column of numbers, dates or times, of which "
                "'method: quantiles' makes groups; take mondrian"
            )
        if file.options.clusters == GIVEN and name not in file.options.cuts:
            raise node.error(f"'{name}' has no 'cuts', which 'clusters: {GIVEN}' needs")
