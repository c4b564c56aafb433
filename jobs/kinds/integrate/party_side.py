"""What each party does in an integrate job: match, specialize together, release its own columns.

The columns that a party releases go to the coordinator, which joins and sorts them; the others learn
no more of them than the rounds of the protocol show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.anonymity.cuts.joined import joined
from coterie.anonymity.specialization.generalized import check_sizes, models_of
from coterie.anonymity.specialization.scores import GROUPS, SCALE
from coterie.anonymity.specialization.shown_utility import detail_kept, shown_utility
from coterie.anonymity.specialization.specialize import (
    Labels,
    suppression_limit,
)
from coterie.anonymity.specialization.starting import start_codes
from coterie.anonymity.table.columns import CategoricalColumn, Column, TaxonomyTree
from coterie.anonymity.table.groups import group_numbers
from coterie.base.arrays import Mask, Rows
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.integrate.behaviour import BehaviourOf
from coterie.jobs.kinds.integrate.cuts.keys import MONDRIAN
from coterie.jobs.kinds.integrate.cuts.party_side import (
    CutTable,
    refine_cuts,
    result_of,
    run_cuts,
)
from coterie.jobs.kinds.integrate.exhibit import Shown, exhibit_of
from coterie.jobs.kinds.integrate.flat import tell_domains
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.pages.own_columns import write_own_columns
from coterie.jobs.kinds.integrate.prepared import Columns, Prepared
from coterie.jobs.kinds.integrate.received import keep_expected
from coterie.jobs.kinds.integrate.release_table import (
    Coded,
    digest,
    write_known,
    write_share,
)
from coterie.jobs.kinds.integrate.slack import slack_entries
from coterie.jobs.matching.common_records import line_up
from coterie.protocols.integration.bounds import Demand, records_within_bounds
from coterie.protocols.integration.class_labels import class_holders
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.plan import Outcome, Plan
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import COORDINATOR, declare
from coterie.protocols.messaging.release_gate import show_groups
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_tables import Axis

COLUMNS = declare(
    "integrate: released columns",
    what="The party's own columns of the release, in the joint order: those of a QID generalized, the others as they are, and the class from its first holder.",
    to="the coordinator",
    why="The coordinator joins them to the release and sorts it.",
)
DIGESTS = declare(
    "integrate: digests of the columns",
    what="A digest of every generalized column and of the class, as the party knows them.",
    to="the coordinator",
    why="A party that releases another column than it told the others is found out.",
)

RECEIVED = declare(
    "integrate: finished table",
    what="The release, its rows sorted by their values, as the coordinator has joined it.",
    to="the recipients of the job",
    why="The job gives the table to these parties, too, and each party's policy permits it.",
)
COMPARED = declare(
    "integrate: digest of the finished table",
    what="A digest of the release as each recipient was given it.",
    to="the recipients of the job",
    why="A coordinator that gives different tables to different recipients is found out.",
)


def run_party_side(
    job: IntegrateJob,
    prepared: Prepared,
    channel: Channel,
    rng: Random,
    workspace: Workspace,
    behaviour_of: BehaviourOf,
) -> dict[str, Any]:
    """The whole run of one party that has records; returns its part of the result."""
    names = job.record_holders
    with channel.among(names):
        prepared.dropped.write(workspace.kept)
        rows = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace, names)
        common = prepared.give(rows)
        # The protocol checks this, too; here it comes before values or bounds are told to anybody.
        check_sizes(job.requirements, len(rows))
        models_of(job.requirements, _labels(job, common))
        stays = np.arange(len(rows))
        if job.bounded:
            stays = np.flatnonzero(_within_bounds(job, channel, common.columns, rows, rng))
        cost = len(rows) - len(stays)
        own = common.take(stays) if cost else common
        behaviour = behaviour_of(job, channel.me, rng)
        plan = _plan(job, channel, own, behaviour.round_by_round)
        labels = _labels(job, own)
        table: Shown
        if job.method == MONDRIAN:
            cuts = run_cuts(
                job, plan, channel, own.columns, labels, rows[stays], rng, workspace, behaviour
            )
            table, classes = CutTable(cuts), cuts.classes
            result = result_of(job, table, cost)
        else:
            outcome = integrate(
                channel,
                plan,
                own.columns,
                labels,
                len(stays),
                rng,
                book=workspace.book,
                left_out=cost,
                rows=rows[stays],
                **behaviour.hooks,
            )
            behaviour.contributions = outcome.contributions
            table, classes = outcome.table, outcome.classes
            if job.refine == GROUPS:
                refined = refine_cuts(
                    job, plan, channel, outcome, own.columns, labels, rows[stays], rng, workspace
                )
                table = CutTable(refined, table)
            result = _result(job, outcome, table, cost)
        there = stays[table.kept]
        if workspace.exhibits is not None:
            workspace.exhibits["exhibit"] = exhibit_of(
                table, common.columns, common.classes, there, result["utility"]
            )
        with channel.step("release"):
            _show_groups(job, table, rows[stays], channel, workspace)
            write_own_columns(
                job, channel.me, common.columns, own.plain, table, there, len(rows), workspace
            )
            _release(job, plan, table, classes, own.plain, channel, workspace)
    return result


def _labels(job: IntegrateJob, own: Columns) -> dict[str, Labels]:
    """The party's sensitive columns, and the class if it has it."""
    labels = {name: own.plain[name] for name in job.sensitive_holders if name in own.plain}
    if own.classes is not None and job.class_name is not None:
        labels[job.class_name] = own.classes
    return labels


def _release(
    job: IntegrateJob,
    plan: Plan,
    table: Shown,
    classes: Labels | None,
    plain: Mapping[str, Labels],
    channel: Channel,
    workspace: Workspace,
) -> None:
    """Leaves this party's columns and the digests of all that it knows for the coordinator."""
    own = [attribute.name for attribute in job.of_party(channel.me)]
    recipient = channel.me in job.recipients
    known: dict[str, str] = {}
    held: dict[str, Coded] = {}  # a recipient compares the release with all of it
    for name in plan.trees:  # one after the other, since each has a code for every record
        column = Coded(*table.generalized(name))
        known[name] = digest(column)
        if name in own or recipient:
            held[name] = column
    kept = table.kept if table.suppressed else slice(None)
    held |= {name: coded(labels.take(kept)) for name, labels in plain.items()}
    share = {name: held[name] for name in own}
    if classes is not None and job.class_name is not None:
        column = coded(classes.take(kept))
        known[job.class_name] = digest(column)
        held[job.class_name] = column
        if channel.me == plan.class_holders[0]:
            share[job.class_name] = column
    if job.recipients:
        channel.open(RECEIVED, None, to=job.recipients)
    if len(job.recipients) > 1:
        channel.open(COMPARED, None, to=job.recipients)
    if recipient:
        order = [a.name for a in job.attributes] + [job.class_name or ""]
        keep_expected({n: held[n] for n in order if n in held}, workspace.kept)
    write_known(channel.open(DIGESTS, known, to=COORDINATOR), workspace.released)
    write_share(channel.open(COLUMNS, share, to=COORDINATOR), workspace.released)


def _show_groups(
    job: IntegrateJob, table: Shown, rows: Rows, channel: Channel, workspace: Workspace
) -> None:
    """Passes the groups of each QID to the gate, before this party's columns leave."""
    if workspace.gate is None:
        return
    groups = {
        ", ".join(qid): group_numbers([table.generalized(name)[0] for name in qid])
        for qid in dict.fromkeys(requirement.qid for requirement in job.requirements)
    }
    released = rows[table.kept] if table.suppressed else rows
    show_groups(workspace.gate, channel, released, groups)


def _plan(job: IntegrateJob, channel: Channel, own: Columns, round_by_round: bool) -> Plan:
    """The plan of the protocol, once all parties know the flat values and who holds the class."""
    domains = {
        name: column.taxonomy
        for name, column in own.columns.items()
        if isinstance(column, CategoricalColumn) and name in job.flat_names
    }
    flat = tell_domains(job, channel, domains)
    holders: tuple[str, ...] = ()
    if job.class_name is not None:
        has_class = own.classes is not None
        holders = class_holders(channel, job.record_holders, job.class_name, has_class)
    in_qid = [attribute for attribute in job.attributes if attribute.in_qid]
    return Plan(
        names=job.record_holders,
        trees={
            attribute.name: TaxonomyTree(flat[attribute.name])
            if attribute.flat
            else attribute.tree()
            for attribute in in_qid
        },
        scales={attribute.name: (attribute.scale, attribute.gap) for attribute in in_qid},
        holders={attribute.name: attribute.party for attribute in in_qid},
        requirements=job.requirements,
        class_holders=holders,
        class_name=job.class_name,
        sensitive_holders=job.sensitive_holders,
        rule=job.rule,
        max_suppression=job.max_suppression,
        turns=job.adversary == "semi-honest" and not job.hide_scores and not round_by_round,
        conditions=job.conditions,
        starts={attribute.name: attribute.start[0] for attribute in job.bounded},
        slack=job.slack,
        refine=job.refine,
        start_values={a.name: a.start[1] for a in job.bounded} if job.method == MONDRIAN else {},
        priority={attribute.name: attribute.priority for attribute in in_qid},
        tight=job.tight,
        witness=job.universe,
    )


def _within_bounds(
    job: IntegrateJob, channel: Channel, columns: Mapping[str, Column], rows: Rows, rng: Random
) -> Mask:
    """The common records that the bounds in `at_most` permit to stay."""
    records, telling = len(rows), Telling(rows)
    axes, codes = [], {}
    for attribute in job.bounded:
        _, cut = attribute.start
        axes.append(Axis(attribute.name, attribute.party, len(cut)))
        if attribute.party == channel.me and attribute.taxonomy is not None:
            own = columns[attribute.name].codes
            codes[attribute.name] = start_codes(attribute.taxonomy, cut, own)
    names = [axis.name for axis in axes]
    asked = [(requirement.qid, requirement.k) for requirement in job.requirements]
    if job.method == MONDRIAN:
        ordered = [attribute.name for attribute in job.attributes]
        asked = [(one.names, one.k) for one in joined(job.requirements, ordered)]
    demands = [
        Demand(tuple(names.index(name) for name in names if name in qid), k) for qid, k in asked
    ]
    most = suppression_limit(job.max_suppression, records)
    fork = rng.fork("bounds")
    return records_within_bounds(
        channel, job.record_holders, axes, codes, demands, records, most, fork,
        lambda stays: telling.digest(codes=stays),
    )  # fmt: skip


def coded(labels: Labels) -> Coded:
    """The column as it is released: without the values that only other records have."""
    labels = labels.compact()
    return Coded(labels.codes, labels.values)


def _result(job: IntegrateJob, outcome: Outcome, table: Shown, cost: int) -> dict[str, Any]:
    suppressed = outcome.table.suppressed
    result = {
        "records": outcome.table.records - suppressed,
        "winners": [
            {
                "attribute": winner.attribute,
                "value": winner.value,
                "children": list(winner.children),
                "score": winner.score / SCALE,
                "party": party,
                **({"phase": winner.phase} if job.refine else {}),
            }
            for winner, party in zip(outcome.table.winners, outcome.winners, strict=True)
        ],
        "cut": outcome.table.cut,
    }
    refined = outcome.refined
    if isinstance(table, CutTable):
        refined = table.outcome.contributions
        result |= result_of(job, table, suppressed + cost)
    else:
        result |= {
            "anonymity": outcome.table.anonymity,
            "utility": shown_utility(outcome.table, cost),
            "detail": detail_kept(outcome.table, cost),
        }
    result["contributions"] = {name: mu / SCALE for name, mu in outcome.contributions.items()}
    if refined is not None:
        result["refine_contributions"] = {name: mu / SCALE for name, mu in refined.items()}
    return {
        **result,
        **({"suppressed": suppressed + cost} if job.max_suppression else {}),
        **({"bounds_cost": cost} if job.bounded else {}),
        **({"slack": slack_entries(job.requirements, outcome.slack)} if job.slack else {}),
    }
