"""The keys of a table file with `method: condense`.

data: people.csv
method: condense
k: 20                            # in place of a requirement: people behind every record
class: Class                     # each class is condensed for itself
attributes:
  Age:    {range: [17, 90]}      # synthetic ages are clipped to the range
  Income: {}
"""

from __future__ import annotations

from collections.abc import Sequence

from coterie.anonymity.specialization.specialize import Requirement
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.file.document import Node, Section
from coterie.jobs.kinds.integrate.requirements import read_requirements


def read_k(section: Section, attributes: Node, class_name: str | None) -> tuple[Requirement, ...]:
    """The one requirement of condensation: groups of at least k over all attributes."""
    names = attributes.section().keys()
    if not names:
        raise attributes.error("names no attribute to condense")
    node, other = section.optional("k"), section.optional("requirement")
    if node is not None and other is not None:
        raise node.error("cannot be used with 'requirement', which would set k a second time")
    if other is None:
        return (Requirement(tuple(names), section.required("k").integer(2)),)
    found = read_requirements(other, names, class_name)
    if len(found) != 1 or found[0].model is not None or set(found[0].qid) != set(names):
        raise other.error(
            "condensation keeps one k over all attributes and no other condition: say 'k: 20'"
        )
    if found[0].k < 2:
        raise other.error("k must be at least 2: a group of one is a record")
    return found


def check_attributes(section: Section, attributes: Sequence[Attribute]) -> None:
    """Refuses attributes that have no mean."""
    nodes = dict(section.entries())
    for attribute in attributes:
        if attribute.taxonomy is not None or attribute.flat:
            raise nodes[attribute.name].error(
                "is one of categories; condensation is for numbers, dates and times"
            )
        if attribute.missing == "value":
            raise nodes[attribute.name].error(
                "a gap has no place between numbers: say 'missing: error' or 'missing: drop'"
            )
