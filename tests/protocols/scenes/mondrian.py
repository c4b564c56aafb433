"""Scenes of joint Mondrian: what of losing and refused cuts must not be told."""

from __future__ import annotations

import numpy as np

from coterie.anonymity.models.distinct_diversity import DistinctDiversity
from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import (
    CategoricalColumn,
    ContinuousColumn,
    IntervalTree,
    TaxonomyTree,
)
from coterie.anonymity.table.taxonomy import read_taxonomy
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.mondrian.cut_together import cut_further, cut_together
from coterie.protocols.integration.plan import Plan
from tests.protocols.scenes.form import THREE, TWO, scene

ROWS = 160


def column(name, values):
    distinct, codes = np.unique(np.asarray(values, float), return_inverse=True)
    return ContinuousColumn(name, codes.astype(np.uint8), distinct, (0.0, 1000.0))


def cutting(parties, holders, columns, k, sensitive="", ills=None, conditions="shares"):
    """Parties that cut by x, which matters most, and y."""
    model = DistinctDiversity(2) if sensitive else None
    plan = Plan(
        parties,
        {name: IntervalTree(0.0, 1000.0) for name in holders},
        holders,
        (Requirement(tuple(holders), k, "ill" if sensitive else None, model),),
        sensitive_holders={"ill": sensitive} if sensitive else {},
        rule="width",
        conditions=conditions,
        priority={"x": 100.0, "y": 1.0},
    )

    def party(channel, rng):
        own = {name: columns[name] for name in holders if holders[name] == channel.me}
        labels = {"ill": Labels(ills, ("a", "b"))} if channel.me == sensitive else {}
        outcome = cut_together(channel, plan, own, labels, ROWS, rng)
        return [len(outcome.tree), *(str(branch.region) for branch in outcome.tree)]

    return dict.fromkeys(parties, party)


@scene(
    "integration/mondrian/levels integration/mondrian/winner_exchange "
    "integration/mondrian/instructions_of_cuts integration/mondrian/winners",
    THREE,
    runs=4,
)
def cuts_that_lose_a_level(watched, world):
    """One party's cuts win all groups; what another one's would be, and their scores, is secret."""
    winner, loser = (name for name in THREE if name != watched)
    rows = np.arange(ROWS)
    uneven = np.where(rows % 10 < (5, 3)[world], 0, (1000, 600)[world])
    columns = {"x": column("x", rows // 10 * 66), "y": column("y", uneven)}
    return cutting(THREE, {"x": winner, "y": loser}, columns, 10)


@scene("integration/mondrian/judged_cuts integration/mondrian/winners", THREE, runs=4)
def cuts_that_a_model_refuses(watched, world):
    """A part would have one sensitive value alone in either world; the cut itself is secret."""
    proposer = next(name for name in THREE if name != watched)
    rows = np.arange(ROWS)
    ills = (rows >= ROWS // 2).astype(np.uint8)
    columns = {"x": column("x", np.where(rows < (ROWS // 2, ROWS // 4)[world], 0, 700))}
    return cutting(THREE, {"x": proposer}, columns, 10, watched, ills)


@scene("integration/mondrian/shown_cuts", THREE, runs=4)
def cuts_that_a_holder_refuses(watched, world):
    """One party's cut is refused by another, who sees it; for the third it is secret."""
    proposer, holder = (name for name in THREE if name != watched)
    rows = np.arange(ROWS)
    ills = (rows >= ROWS // 2).astype(np.uint8)
    columns = {"x": column("x", np.where(rows < (ROWS // 2, ROWS // 4)[world], 0, 700))}
    return cutting(THREE, {"x": proposer}, columns, 10, holder, ills, "holder")


@scene("integration/mondrian/judged_cuts integration/sensitive/joint_verdicts", TWO, runs=4)
def sensitive_values_behind_a_verdict(watched, world):
    """The cuts are permitted in both worlds; which records have which sensitive value is secret."""
    holder = next(name for name in TWO if name != watched)
    rows = np.arange(ROWS)
    columns = {"x": column("x", rows // 10 * 66)}
    ills = (rows % (2, 3)[world] == 0).astype(np.uint8)
    return cutting(TWO, {"x": watched}, columns, 10, holder, ills)


@scene("integration/mondrian/start", TWO, runs=4)
def values_below_a_start_value(watched, world):
    """Nothing can be cut below the start values; which value below it a record has is secret."""
    holder = next(name for name in TWO if name != watched)
    taxonomy = read_taxonomy(b"a;AB;ANY\nb;AB;ANY\nc;CD;ANY\nd;CD;ANY\n", "x.csv")
    cut = [taxonomy.labels.index("AB"), taxonomy.labels.index("CD")]
    rows = np.arange(ROWS)
    codes = 2 * (rows >= ROWS // 2) + (rows % (2, 3)[world] == 0)
    plan = Plan(
        TWO,
        {"x": TaxonomyTree(taxonomy)},
        {"x": holder},
        (Requirement(("x",), 54),),
        start_values={"x": cut},
        rule="width",
    )

    def party(channel, rng):
        mine = channel.me == holder
        own = {"x": CategoricalColumn("x", codes.astype(np.uint8), taxonomy)} if mine else {}
        outcome = cut_together(channel, plan, own, {}, ROWS, rng)
        return [len(outcome.tree), *outcome.generalized("x")[1]]

    return dict.fromkeys(TWO, party)


def refining(holders, columns, refine, watched):
    """Parties whose class is the same for all: a first phase has nothing to do, the second one has."""

    def party(channel, rng):
        own = {name: columns[name] for name in holders if holders[name] == channel.me}
        classes = Labels(np.zeros(ROWS, np.uint8), ("a",))
        labels = {"class": classes} if channel.me == watched else {}
        hidden = HiddenWinner(rng.fork("hidden"), len(holders))
        trees = {name: IntervalTree(0.0, 1000.0) for name in holders}
        needed = (Requirement(("x", "y"), 10),)
        plan = Plan(THREE, trees, holders, needed, (watched,), "class", refine=refine)
        outcome = integrate(channel, plan, own, labels, ROWS, rng, find_winner=hidden)
        if refine == "columns":
            return [repr(outcome.table.cut)]
        cuts = cut_further(
            channel, plan, outcome.table, own, {"class": classes}, rng.fork("groups")
        )
        return [len(cuts.tree), *(str(branch.region) for branch in cuts.tree)]

    return dict.fromkeys(THREE, party)


def beaten(watched, world):
    """Everybody's column, of which one wins all: another could be cut at the start, or never."""
    winner, loser = (name for name in THREE if name != watched)
    rows = np.arange(ROWS)
    columns = {
        "x": column("x", rows // 10 * 66),
        "y": column("y", np.where(rows % (10, 40)[world] < 1, 1000, 0)),
    }
    return {"x": winner, "y": loser}, columns


@scene("integration/integrate", THREE, runs=4)
def steps_of_a_second_phase_that_lose(watched, world):
    """What the loser would offer in a round, its score, and that it has nothing is secret."""
    return refining(*beaten(watched, world), "columns", watched)


@scene("integration/mondrian/cut_together", THREE, runs=4)
def cuts_of_a_second_phase_that_lose(watched, world):
    """The same of groups, after a first phase that could do nothing."""
    return refining(*beaten(watched, world), "groups", watched)
