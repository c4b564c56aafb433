"""What each party does with the finished groups of `method: mondrian`: result, measures, own columns.

`CutTable` shows the groups as the other parts of the kind see a finished table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.anonymity.cuts.groups import listed
from coterie.anonymity.cuts.regions import Missing, Node, Region, Rest, Space, TaxonomySpace
from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.specialization.specialize import Specializer
from coterie.anonymity.table.columns import Column
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.hierarchy import height_shares
from coterie.anonymity.table.table import Generalized
from coterie.anonymity.table.taxonomy import TOP
from coterie.base.arrays import Array, Rows
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.integrate.behaviour import Behaviour
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.protocols.integration.mondrian.cut_together import (
    CutOutcome,
    cut_further,
    cut_together,
)
from coterie.protocols.integration.plan import Outcome, Plan
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random


class CutTable:
    """The finished groups; of the records within the bounds, only a specialization leaves some out."""

    def __init__(self, outcome: CutOutcome, before: Specializer | None = None) -> None:
        self.outcome = outcome
        self.records = outcome.records
        self.suppressed = 0 if before is None else before.suppressed
        self.kept: Array = np.arange(outcome.records) if before is None else before.kept
        self._shown = {name: outcome.generalized(name) for name in outcome.names}

    def generalized(self, name: str) -> tuple[Array, tuple[str, ...]]:
        return self._shown[name]

    def shown_column(self, column: Column) -> tuple[Column, Generalized]:
        """A raw column, and what the release shows of it."""
        name = column.name
        space = self.outcome.spaces[name]
        _, regions = self.outcome.regions(name)
        codes, texts = self._shown[name]
        spans = {space.text(region): space.codes(column, region) for region in set(regions)}
        first, last = (np.array([spans[text][side] for text in texts], np.int64) for side in (0, 1))
        return column, Generalized(codes, texts, first, last)

    def anonymity(self, job: IntegrateJob) -> list[dict[str, Any]]:
        found = []
        for requirement in job.requirements:
            groups = group_numbers([self._shown[name][0] for name in requirement.qid])
            smallest = int(np.bincount(groups).min())
            found.append({"qid": list(requirement.qid), "k": requirement.k, "smallest": smallest})
        return found

    def utility(self, gone: int) -> tuple[dict[str, Any], dict[str, float]]:
        """The measures that all parties know, and the share of detail kept, as of specialization."""
        total = self.records + gone
        names = self.outcome.names
        sizes = np.bincount(group_numbers([self._shown[name][0] for name in names]))
        widths = heights = 0.0
        detail = {}
        for name in names:
            part, regions = self.outcome.regions(name)
            counts = np.bincount(part, minlength=len(regions))
            shares = [width_and_height(self.outcome.spaces[name], region) for region in regions]
            wide = float(sum(n * w for n, (w, _) in zip(counts.tolist(), shares, strict=True)))
            widths += wide
            heights += sum(n * h for n, (_, h) in zip(counts.tolist(), shares, strict=True))
            detail[name] = round((self.records - wide) / total, 6)
        cells = len(names) * total
        return {
            "discernibility": int((sizes.astype(np.int64) ** 2).sum()) + gone * total,
            "normalised_width": (widths + gone * len(names)) / cells,
            "precision": 1.0 - (heights + gone * len(names)) / cells,
        }, detail


def width_and_height(space: Space, region: Region) -> tuple[float, float]:
    """How much of the leaves, and of the height of the tree, a region covers."""
    if isinstance(space, TaxonomySpace) and isinstance(region, Node | Rest):
        taxonomy = space.taxonomy
        if taxonomy.labels[0] == TOP and taxonomy.depth == 1:  # flat: the value or nothing
            return float(region.node == 0), float(region.node == 0)
        return taxonomy.width(region.node), height_shares(taxonomy)[region.node]
    if isinstance(region, Missing):
        return 0.0, 0.0
    low, high = region.low, region.high  # type: ignore[union-attr]
    span = space.top.high - space.top.low  # type: ignore[union-attr]
    width = (high - low) / span if span else 0.0
    return width, width


def run_cuts(
    job: IntegrateJob,
    plan: Plan,
    channel: Channel,
    columns: Mapping[str, Column],
    labels: Mapping[str, Any],
    rows: Rows,
    rng: Random,
    workspace: Workspace,
    behaviour: Behaviour,
) -> CutOutcome:
    outcome = cut_together(
        channel, plan, columns, labels, len(rows), rng,
        hide_scores=job.hide_scores,
        strategy=job.epsilon if job.adversary == "malicious" else None,
        book=workspace.book,
        rows=rows,
    )  # fmt: skip
    behaviour.contributions = dict(outcome.contributions)
    return outcome


def refine_cuts(
    job: IntegrateJob,
    plan: Plan,
    channel: Channel,
    outcome: Outcome,
    columns: Mapping[str, Column],
    labels: Mapping[str, Any],
    rows: Rows,
    rng: Random,
    workspace: Workspace,
) -> CutOutcome:
    """The second phase of `refine: groups`."""
    if plan.class_name is not None:
        labels = {**labels, plan.class_name: outcome.classes}
    return cut_further(
        channel, plan, outcome.table, columns, labels, rng.fork("second phase"),
        hide_scores=job.hide_scores,
        strategy=job.epsilon if job.adversary == "malicious" else None,
        book=workspace.book,
        rows=rows,
    )  # fmt: skip


def result_of(job: IntegrateJob, table: CutTable, cost: int) -> dict[str, Any]:
    outcome = table.outcome
    names = [partition.names for partition in outcome.partitions]
    tree = [
        {**listed(branch, names[branch.condition], outcome.spaces), "party": party}
        for branch, party in zip(outcome.tree, outcome.parties, strict=True)
    ]
    utility, detail = table.utility(cost)
    return {
        "records": table.records,
        "tree": tree,
        "contributions": {name: mu / SCALE for name, mu in outcome.contributions.items()},
        "anonymity": table.anonymity(job),
        "utility": utility,
        "detail": detail,
        **({"suppressed": cost} if job.max_suppression else {}),
        **({"bounds_cost": cost} if job.bounded else {}),
    }
