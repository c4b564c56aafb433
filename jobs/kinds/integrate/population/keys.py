"""The key `universe`: the party that holds the population in which groups are counted (`k_map`)."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.anonymity.specialization.generalized import Requirement
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.file.document import Node, Section


def read_universe(
    section: Section,
    parties: Sequence[str],
    requirement_node: Node,
    requirements: Sequence[Requirement],
) -> str | None:
    """The party of the key, which must be there if and only if an entry has `k_map`."""
    node = section.optional("universe")
    for item, requirement in zip(requirement_node.items(), requirements, strict=True):
        if requirement.k_map is not None and node is None:
            raise item.error(
                "has 'k_map', but the job has no 'universe': it names the party that holds the "
                "population in which the people of a group are counted"
            )
    if node is None:
        return None
    universe = node.text()
    if universe not in parties:
        raise node.error(f"'{universe}' is not among the parties")
    if all(requirement.k_map is None for requirement in requirements):
        raise node.error("no entry of 'requirement' has 'k_map', which is counted there")
    if len(parties) < 3:
        raise node.error("the job needs two other parties, whose records are matched")
    for key, reason in (
        (
            "recipients",
            "cannot be used with 'universe': the parties know who is in the table, and groups that are "
            "counted in a population protect from those who do not know it; the coordinator alone "
            "may have the release",
        ),
        ("slack", "cannot be used with 'universe': it tells how small groups of records are"),
        (
            "max_suppression",
            "cannot be used with 'universe': leaving records out needs groups of records",
        ),
    ):
        other = section.optional(key)
        if other is not None:
            raise other.error(reason)
    return universe


def check_known_there(
    attributes_node: Node,
    requirement_node: Node,
    requirements: Sequence[Requirement],
    attributes: Sequence[Attribute],
    universe: str,
) -> None:
    """Checks that the holder of the population knows all values of its attributes by the job."""
    for _, entry in attributes_node.section().entries():
        bounds = entry.section().optional("at_most")
        if bounds is not None:
            raise bounds.error(
                "cannot be used with 'universe': its population may have too few people below the bounds"
            )
    found = {attribute.name: attribute for attribute in attributes}
    for item, requirement in zip(requirement_node.items(), requirements, strict=True):
        for name in requirement.qid if requirement.k_map is not None else ():
            if found[name].taxonomy is None and found[name].limits is None:
                raise item.error(
                    f"has 'k_map', so that '{name}' needs a taxonomy or a range, by which "
                    f"'{universe}' knows its values"
                )
