"""The section of a report that says what a release costs: common measures, each with a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import Content, Element, foreign
from coterie.jobs.pages.page import Part, note, table

_MEANINGS = {
    "discernibility": "For every record the size of its group, summed; a record that was left out counts as much as a group of the whole table. Smaller is better.",
    "normalised_width": "The mean share of a column's values that a released value stands for. 0 is exact, 1 tells nothing.",
    "precision": "How high the released values stand in their taxonomies: 1 is exact, 0 tells nothing.",
    "entropy_loss": "The share of information lost, where rare values count more. 0 is exact, 1 tells nothing.",
    "query_error mean": "How far counts of random queries, estimated from the release, are from the true ones, as a share of them.",
    "query_error median": "Half of the random queries are off by at most this share.",
    "class_error release": "The share of wrong predictions of a decision tree learned from the release.",
    "class_error raw": "The same share for a tree learned from the table as it was.",
    "class_error none": "The same share for somebody who always says the most frequent class.",
}
_BY_THE_RELEASE = ("discernibility", "normalised_width", "precision")  # whoever has it finds these
_COSTS = "Common measures of how much of the table is lost; records left out are charged."


def measures_part(utility: Claim, alone: Mapping[str, Claim] | None = None) -> Part:
    """What `utility` of a result says. The public variant has what the release itself gives.

    `alone` has for each party the class error of its own columns, as a simulation measures it.
    """
    measured = dict(utility.entries())
    for outer in ("query_error", "class_error"):
        if outer in measured:
            measured |= {f"{outer} {key}": v for key, v in measured[outer].entries().items()}
    known = {
        name: claim
        for name, claim in measured.items()
        if name in _MEANINGS and isinstance(claim.value, int | float) and math.isfinite(claim.value)
    }
    rows = [_row(name, claim) for name, claim in known.items()]
    for party, claim in (alone or {}).items():
        meaning: list[Content] = ["The same share for a tree learned from the columns of ", foreign(party), " alone, as they were."]  # fmt: skip
        rows.append([["class error ", foreign(party)], f"{claim.number():,.4g}", meaning])
    given = [_row(name, known[name]) for name in _BY_THE_RELEASE if name in known]
    return Part(
        "What the release costs",
        [note(_COSTS), _table(rows)],
        public=bool(given),
        instead=[note(_COSTS), _table(given)],
    )


def _row(name: str, claim: Claim) -> list[Content]:
    whole = isinstance(claim.value, int)
    shown = f"{claim.integer():,}" if whole else f"{claim.number():,.4g}"
    return [name.replace("_", " "), shown, _MEANINGS[name]]


def _table(rows: Sequence[Sequence[Content]]) -> Element:
    return table(["measure", "value", "meaning"], rows, (1,), sentences=True)
