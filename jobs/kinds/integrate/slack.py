"""`slack: tell` of an integrate job: what a slightly smaller k would have shown in addition.

This module reads the key and refuses what it does not go with; writes the entries of `result.json`
(`slack`), one for each entry of the requirement, and the sentences about them; and checks what
`coterie verify` can check of them. Only the parties' tables determine whether the k is the right one:
the release says no more than which steps were open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.anonymity.specialization.scores import BY_QUANTILE
from coterie.anonymity.specialization.slack import least_told
from coterie.anonymity.specialization.specialize import Requirement
from coterie.base.errors import VerificationError
from coterie.jobs.file.document import Section
from coterie.jobs.file.result_file import RESULT, Claim
from coterie.jobs.kinds.kind import Json
from coterie.protocols.integration.plan import Slack

UNCHECKED = "the slack, which only the parties' own tables determine"


def read_slack(
    section: Section, requirements: Sequence[Requirement], rule: str, max_suppression: float
) -> bool:
    """Whether the job says `slack: tell`, which is only for requirements on k alone."""
    node = section.optional("slack")
    if node is None:
        return False
    node.choice("tell")
    if any(requirement.model for requirement in requirements):
        raise node.error(
            "is only for requirements on k alone: whether a condition on a sensitive column would permit what a "
            "smaller k permits, nobody may know"
        )
    if max_suppression:
        raise node.error(
            "cannot be used with 'max_suppression', which makes another table of another k"
        )
    if rule == BY_QUANTILE:
        raise node.error("cannot be used with 'split: quantile', whose cuts depend on k")
    return True


def slack_entries(
    requirements: Sequence[Requirement], slack: Sequence[Slack | None]
) -> list[dict[str, Any]]:
    """The entries of `result.json`."""
    return [
        {
            "qid": list(requirement.qid),
            "k": requirement.k,
            "permitted": None if found is None else found.permitted,
            **({} if found is None else {"attribute": found.attribute, "after": found.after}),
        }
        for requirement, found in zip(requirements, slack, strict=True)
    ]


def slack_sentences(result: Claim) -> list[str]:
    """A sentence for each entry of the requirement; none if the job did not ask."""
    told = result.optional("slack")
    if told is None:
        return []
    sentences = []
    for entry in told.items():
        k, names = entry.entry("k").integer(), ", ".join(entry.entry("qid").texts())
        if entry.entry("permitted").value is None:
            sentences.append(
                f"no k from {least_told(k)} up to {k} on {names} alone would permit anything more"
            )
            continue
        permitted = entry.entry("permitted").integer()
        attribute, after = entry.entry("attribute").text(), entry.entry("after").integer()
        steps = "1 step" if after == 1 else f"{after} steps"
        sentences.append(
            f"k = {permitted} instead of {k} on {names} would permit {attribute}, after {steps}; "
            f"every k above {permitted} gives this release"
        )
    return sentences


def check_slack(
    requirements: Sequence[Requirement],
    told: bool,
    result: Mapping[str, Any],
    open_attributes: Sequence[str],
) -> None:
    """Raises unless the entries are of the job, of smaller k, and of attributes with steps left.

    A step that was refused once stays refused, so its value is in the final cut and could be
    specialized.
    """
    if not told:
        if "slack" in result:
            raise VerificationError(f"{RESULT}: tells a slack that the job does not ask for")
        return
    entries: list[Mapping[str, Json]] = result["slack"]
    if len(entries) != len(requirements):
        raise VerificationError(f"{RESULT}: the slack has {len(entries)} entries")
    for number, (entry, requirement) in enumerate(zip(entries, requirements, strict=True), 1):
        where = f"{RESULT}: slack {number}"
        if entry["qid"] != list(requirement.qid) or entry["k"] != requirement.k:
            raise VerificationError(f"{where} is of another entry than the job's")
        permitted = entry["permitted"]
        if permitted is None:
            continue
        if not isinstance(permitted, int) or permitted >= requirement.k:
            raise VerificationError(
                f"{where} permits k = {permitted}, which is not below the job's"
            )
        if permitted < least_told(requirement.k):
            raise VerificationError(f"{where} permits k = {permitted}, below half of the job's")
        after, attribute = entry["after"], entry["attribute"]
        if not isinstance(after, int) or not 0 <= after <= len(result["winners"]):
            raise VerificationError(f"{where} is after {after} steps, which there are not")
        if attribute not in requirement.qid or attribute not in open_attributes:
            raise VerificationError(
                f"{where} is of '{attribute}', of which its entry has nothing left to specialize"
            )
