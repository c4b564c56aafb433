"""What others learn of this party's table by a job, in plain words: a part of `party show`.

A steward decides by these sentences. They follow from what the job's kind declares: the part that
all kinds have in common from `Needs`, the rest from the kind's own `told_of`. Each names who learns
it first.
"""

from __future__ import annotations

from collections.abc import Sequence

from coterie.base.text import quoted_list
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.adversaries import resisted
from coterie.jobs.kinds.needs import Needs
from coterie.jobs.kinds.registry import KINDS
from coterie.protocols.messaging.opening import declared

_NOTHING = "nobody: the rows of people who are not common, or any column that is not used"


def plain_words(job: Job, party: str, needs: Needs, records: int) -> list[str]:
    """A sentence for each thing that somebody outside this organisation learns of its table."""
    told = [*_of_people(job, party, needs, records), *_of_the_kind(job, party)]
    if needs.answers.recipients:
        others = [name for name in needs.answers.recipients if name != party]
        if others:
            told.append(
                f"{', '.join(others)}: the finished table, too. Who knows other columns of a person "
                "exactly may find the person in it by them"
            )
    if needs.answers.servers:
        first, second = needs.answers.servers[:2]
        told.append(
            f"{first} and {second}, if they conspire, and only then: what is computed on shares "
            "between them, which neither can read alone"
        )
    told += [f"partners whose program deviates: {sentence}" for sentence in resisted(job)]
    told.append("the coordinator: that the job ran, how long each step took, how much was sent")
    told.append(_NOTHING if needs.matching.reveal is not None else "nobody: any single row")
    return told


def _of_the_kind(job: Job, party: str) -> Sequence[str]:
    """The kind's own sentences; where it has none, whatever it declares to open."""
    kind = KINDS[job.kind]
    parts = {job.kind, *kind.opens}
    return kind.told_of(job, party) or [
        f"{opening.to}, at most: {opening.what.rstrip('.')}"
        for opening in declared().values()
        if opening.part in parts
    ]


def _of_people(job: Job, party: str, needs: Needs, records: int) -> list[str]:
    """What matching tells, and the number of rows."""
    others = [
        name
        for name in job.party_names
        if name != party and KINDS[job.kind].needs(job, name).matching.reveal is not None
    ]
    rows = f"how many rows of your table take part ({records:,})"
    if needs.matching.reveal is None:
        return [f"the coordinator: {rows}"]
    if len(others) == 1:
        told = [f"{others[0]}: which of its own people are in your table, too"]
    elif needs.matching.reveal == "pairwise":
        told = [
            f"{', '.join(others)}: each of them which of its own people are in your table, and how "
            "many people any of the tables have in common"
        ]
    else:
        told = [
            f"{', '.join(others)}: each of them which of its own people are in the tables of all "
            "parties, yours included"
        ]
    alone = len(others) == 1 or needs.matching.reveal == "pairwise"
    told.append(
        f"{', '.join(others)}, by inventing identifiers: whether any person that it can name is in "
        f"{'your table' if alone else 'the tables of all parties'}; at most for as many people as it "
        "announces identifiers (policy.largest_peer_set)"
    )
    if needs.matching.digits:
        names = quoted_list(needs.matching.digits)
        told.append(
            f"every party: the same by guessing the digits of {names} alone, since the job compares "
            "nothing else of it; people with equal digits count as one person"
        )
    if needs.columns.dropped:
        told.append(
            f"{', '.join(others)}, by name: which of its own people the job leaves out because of "
            f"their {quoted_list(needs.columns.dropped)} (policy.columns.drop)"
        )
    told.append("the coordinator: how many people are in the tables of all parties")
    if needs.matching.pad_to is not None:
        told.append(
            f"every party and the coordinator: that you have at most {needs.matching.pad_to:,} rows"
        )
    else:
        told.append(f"every party and the coordinator: {rows}")
    return told
