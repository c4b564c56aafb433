"""The keys of `method: mondrian`: score, boxes, priorities, and what does not go with it."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.anonymity.cuts.joined import joined
from coterie.anonymity.cuts.scoring import SCORES, WIDTH
from coterie.anonymity.specialization.scores import COLUMNS, GROUPS
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.text import first_names
from coterie.jobs.file.document import Section

SPECIALIZE, MONDRIAN = "specialize", "mondrian"


def read_score_of_cuts(section: Section, class_name: str | None) -> str:
    node = section.optional("score")
    rule = node.choice(*SCORES) if node else WIDTH
    if rule != WIDTH and class_name is None:
        raise section.error(
            f"the key 'class' is missing; the score '{rule}' needs it, 'width' does not"
        )
    if (split := section.optional("split")) is not None:
        raise split.error("does not go with 'method: mondrian', whose cuts are all even")
    return rule


def read_boxes(section: Section, method: str) -> bool:
    """Whether the release shows the exact ends of a group's numbers."""
    node = section.optional("boxes")
    if node is None:
        return False
    if method != MONDRIAN:
        raise node.error("is only for 'method: mondrian'")
    return node.choice("regions", "tight") == "tight"


def read_refine(section: Section, method: str, requirements: Sequence[Requirement]) -> str | None:
    """What a second phase refines, if the job has one."""
    node = section.optional("refine")
    if node is None:
        return None
    if method == MONDRIAN:
        raise node.error("is only for 'method: specialize': mondrian refines groups all along")
    if any(requirement.k_map is not None for requirement in requirements):
        raise node.error("does not go with 'k_map'")
    if section.optional("slack") is not None:
        raise node.error("does not go with 'slack'")
    return node.choice(COLUMNS, GROUPS)


def check_mondrian(section: Section, requirements: Sequence[Requirement]) -> None:
    """Refuses what local cuts do not have."""
    for node, requirement in zip(
        section.required("requirement").items(), requirements, strict=True
    ):
        if requirement.k_map is not None:
            raise node.error("'k_map' does not go with 'method: mondrian'")
    if section.optional("slack") is not None:
        raise section.required("slack").error("does not go with 'method: mondrian'")


def refine_warnings(requirements: Sequence[Requirement]) -> list[str]:
    """Short entries that share attributes may leave groups that cannot be cut safely."""
    names = list(dict.fromkeys(name for r in requirements for name in r.qid))
    return [
        f"refine: groups cuts the groups of {first_names(one.names)} only if all of them together "
        f"have k = {one.k} records, since the entries share attributes"
        for one in joined(requirements, names)
        if len(one.names) > max(len(requirements[place].qid) for place in one.places)
    ]


def long_warnings(requirements: Sequence[Requirement]) -> list[str]:
    """Short entries that become one long condition, which costs detail."""
    names = list(dict.fromkeys(name for r in requirements for name in r.qid))
    return [
        f"method: mondrian keeps k = {one.k} over {first_names(one.names)} together, since the entries "
        "share attributes; 'method: specialize' keeps each by itself and may show more"
        for one in joined(requirements, names)
        if len(one.names) > max(len(requirements[place].qid) for place in one.places)
    ]
