"""What a job of the kind `integrate` tells others of a party's table, in plain words for its steward.

The sentences follow from the job alone. Each stands for openings that are declared where they
happen; docs/threat-model.md has all of them, with the exact wording.
"""

from __future__ import annotations

from collections.abc import Sequence

from coterie.base.text import quoted_list
from coterie.jobs.data.released.together import all_columns
from coterie.jobs.kinds.integrate.behaviour import RESISTS
from coterie.jobs.kinds.integrate.job import IntegrateJob


def told_of(job: IntegrateJob, party: str) -> Sequence[str]:
    if party == job.universe:
        return _told_of_population(job)
    own = job.of_party(party)
    shown = [a.name for a in own if a.in_qid]
    plain = [a.name for a in own if not a.in_qid]
    told = []
    if shown:
        told.append(
            f"every party and the coordinator, of each common person: the group of "
            f"{quoted_list(shown)} that the release shows, and nothing finer"
        )
    if shown and job.unique_together:
        told.append(
            "the coordinator, and whoever gets the release: rows that may be of one person alone. "
            f"Each of the {len(job.requirements)} entries of the requirement hides people from those "
            "who know its own columns, and none from those who know all of "
            f"{quoted_list(all_columns(job.requirements))}"
        )
    if shown and job.cuts_groups:
        told.append(
            "every party and whoever gets the result: along which columns and values each group was "
            "cut, and that a group which was not cut further could not be"
        )
    numbers = [a.name for a in own if a.in_qid and a.taxonomy is None and not a.flat]
    if job.tight and numbers:
        told.append(
            f"every party, and whoever gets the release: the exact lowest and highest value of "
            f"{quoted_list(numbers)} in each group, which belong to somebody ('boxes: tight')"
        )
    if job.class_name is not None:
        told.append(f"every party: the class '{job.class_name}' of each common person")
    if plain:
        told.append(
            f"the coordinator, and whoever gets the release: {quoted_list(plain)} of each common "
            "person exactly as your table has it, without the identifier. No group hides these "
            "values: whoever finds a person by the other columns reads them, and the coordinator "
            "together with another party can tell whose they are"
        )
    spans = [
        a.name for a in own if a.in_qid and a.taxonomy is None and a.limits is None and not a.flat
    ]
    if spans:
        told.append(f"every party: the lowest and the highest value of {quoted_list(spans)}")
    flat = [a.name for a in own if a.flat]
    if flat:
        told.append(
            f"every party: all values of {quoted_list(flat)} that occur in your table, also those "
            "of people who are not common"
        )
    if not job.hide_scores:
        told.append(
            "every party, in each round: how much your best column tells about the class, also "
            "where the release does not show it ('hide_scores: true' would hide it)"
        )
    if job.adversary == "malicious":
        told.append(
            f"every party: when you stop taking part, and what each party has contributed. {RESISTS}"
        )
    if job.shows_proposals:
        told.append(
            "the holders of sensitive columns: steps that you propose for your columns, also those "
            "that they then reject"
        )
    if job.slack and shown:
        told.append(
            "every party and whoever gets the result, of each entry of the requirement: the largest "
            "smaller k that would have permitted one step more, and its column. If the column is "
            "yours, that k is the number of people of a group that the release does not show"
        )
    if job.universe is not None:
        told.append(
            f"the coordinator: rows of the release that may be of one common person alone, as long "
            f"as {job.smallest_k_map} people of the population of {job.universe} or more have the "
            "same values. That hides your people from those who do not know who is in the table, "
            "and not from the other parties, who know it"
        )
        told.append(
            f"{job.universe}, which has no common people: in each round the column, the value and "
            "the place of the split that is proposed, also where it is then refused, and at the end "
            "which combinations of values the release has; no row"
        )
    if job.bounded:
        told.append(
            "every party: which common people stay in the release, because of the bounds "
            "('at_most') of the job"
        )
    return told


def _told_of_population(job: IntegrateJob) -> Sequence[str]:
    """What the answers of the party that holds the population tell."""
    names = quoted_list([attribute.name for attribute in job.in_population])
    numbers = [attribute.name for attribute in job.in_population if attribute.taxonomy is None]
    told = []
    if numbers:
        told.append(
            f"every party: which values of {quoted_list(numbers)} at least {job.smallest_k_map} "
            "people of your table have"
        )
    return [
        *told,
        f"every party, for each step that is proposed: whether each combination of {names} that "
        f"occurs in your table would have at least {job.smallest_k_map} people. They are told yes "
        "or no, and no number",
        "every party, at the end: how many groups of their table have nobody in yours, which ends "
        "the job unless there are none",
    ]
