"""Which deviating partners a job resists, in words: a part of `coterie doctor` and `coterie party show`.

The modules of `protocols/` say it of each protocol, docs/threat-model.md has the whole.
"""

from __future__ import annotations

from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.matching.identifiers import Matching, matching_of

_HONEST = "only partners that keep to the protocol (semi-honest)"


def resisted(job: Job) -> list[str]:
    """A sentence for the intersection, if the job has one, and one for what follows it."""
    found = []
    matching = matching_of(job)
    if matching is not None:
        kind = KINDS[job.kind]
        names = [n for n in job.party_names if kind.needs(job, n).matching.reveal is not None]
        found.append(f"the intersection resists {_intersection(matching, len(names))}")
    if job.kind != "intersect":
        rest = "what follows it" if found else "the job"
        found.append(
            f"{rest} resists {_HONEST}; its oblivious transfers are checked against those that do not"
        )
    return found


def _intersection(matching: Matching, parties: int) -> str:
    if matching.protocol == "ring" and parties == 2:
        return f"{_HONEST}; another one can make records disappear or be taken for each other"
    if parties == 2:
        return (
            "a partner that deviates, too (malicious): it can only choose its identifiers, at most "
            "1.34 times as many as it announces and 103 more, or end the job"
        )
    if matching.reveal == "pairwise":
        return f"{_HONEST}"
    return (
        f"{_HONEST}; partners that conspire with the one that has the fewest records learn which of "
        "these all others have"
    )
