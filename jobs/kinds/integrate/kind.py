"""`kind: integrate`: one table, anonymous when joined, from the columns of several parties.

The parties match their common records, share the class and specialize together. Each party releases
its own generalized columns to the coordinator, which joins and sorts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.models.closeness import unfit
from coterie.anonymity.risk.released import release_risk
from coterie.anonymity.specialization.generalized import check_sizes, models_of
from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.specialization.shown_utility import detail_kept, shown_utility
from coterie.anonymity.specialization.specialize import (
    Labels,
    suppression_limit,
    warm_up,
)
from coterie.anonymity.specialization.starting import start_codes
from coterie.anonymity.table.columns import CategoricalColumn, Column, TaxonomyTree, encode_text
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.anonymity.utility.measures import utility_lines
from coterie.base.arrays import Mask
from coterie.base.errors import DataError, VerificationError
from coterie.jobs.data.missing import Dropped, without_gaps
from coterie.jobs.data.own_columns import plain_column, qid_column
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.behaviour import BehaviourOf, honest_behaviour
from coterie.jobs.kinds.integrate.exhibit import exhibit_of, utility_of
from coterie.jobs.kinds.integrate.flat import tell_domains
from coterie.jobs.kinds.integrate.job import IntegrateJob, parse_integrate
from coterie.jobs.kinds.integrate.plain_words import told_of
from coterie.jobs.kinds.integrate.received import check_expected, keep_expected
from coterie.jobs.kinds.integrate.release_table import (
    Coded,
    check_known,
    digest,
    read_share,
    write_known,
    write_release,
    write_share,
)
from coterie.jobs.kinds.integrate.report import report_release
from coterie.jobs.kinds.integrate.usefulness import reached_by, usefulness_lines
from coterie.jobs.kinds.integrate.verify import verify_release
from coterie.jobs.kinds.kind import Json, Kind, Needs, Verdict
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import PreparedIdentifiers, prepare_identifiers
from coterie.jobs.pages.page import Part
from coterie.protocols.integration.bounds import Demand, records_within_bounds
from coterie.protocols.integration.class_labels import MOST_CLASSES, class_holders
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.plan import Outcome, Plan
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import COORDINATOR, declare
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.contingency import Axis

RELEASE = "release.csv"

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


@dataclass
class Prepared:
    """A party's columns as codes, in the order of its table."""

    identifiers: PreparedIdentifiers
    columns: dict[str, Column]  # in a QID
    plain: dict[str, Labels]  # in no QID: released unchanged
    classes: Labels | None
    dropped: Dropped


class Integrate(Kind[IntegrateJob, Prepared]):
    about = "One table of the parties' columns, anonymous when joined."
    leaves = (RELEASE,)
    delivers = (RELEASE,)
    opens = ("class", "participation")
    files = ("attributes.*.taxonomy",)
    job_type = IntegrateJob
    data_type = Prepared

    def __init__(self, behaviour: BehaviourOf = honest_behaviour) -> None:
        """`behaviour` says how each party of a job behaves."""
        self._behaviour = behaviour

    def parse(self, section: Section, common: Common) -> IntegrateJob:
        return parse_integrate(section, common)

    def needs(self, job: IntegrateJob, party: str) -> Needs:
        own = tuple(attribute.name for attribute in job.of_party(party))
        return Needs(
            used=(*job.matching.columns, *own),
            released=own,
            optional=() if job.class_name is None else (job.class_name,),
            raw=tuple(attribute.name for attribute in job.of_party(party) if not attribute.in_qid),
            smallest_group=job.smallest_k,
            matching=job.matching.reveal,
            pad_to=job.matching.pad_to,
            servers=tuple(job.bound_holders[:2]) if len(job.bound_holders) > 2 else (),
            recipients=job.recipients,
            zeros=False,
            contributes=True,
            shows_proposals=job.shows_proposals,
        )

    def told_of(self, job: IntegrateJob, party: str) -> Sequence[str]:
        return told_of(job, party)

    def prepare(self, job: IntegrateJob, party: str, table: pa.Table, source: str) -> Prepared:
        dropping = {a.name: a.declared for a in job.of_party(party) if a.missing == "drop"}
        table, dropped = without_gaps(table, dropping, source)
        with dropped.counted_as_read():
            return self._prepare(job, party, table, source, dropped)

    def _prepare(
        self, job: IntegrateJob, party: str, table: pa.Table, source: str, dropped: Dropped
    ) -> Prepared:
        columns: dict[str, Column] = {}
        plain: dict[str, Labels] = {}
        spelling = spelling_of(table)
        for attribute in job.of_party(party):
            text, name = table.column(attribute.name), attribute.name
            if attribute.in_qid:
                columns[name] = qid_column(attribute, text, source, spelling)
            else:
                sensitive = name in job.sensitive_holders
                plain[name] = plain_column(attribute, text, source, spelling, sensitive)
        classes = None
        if job.class_name is not None and job.class_name in table.column_names:
            codes, values = encode_text(job.class_name, table.column(job.class_name), source)
            if len(values) > MOST_CLASSES:
                raise DataError(
                    f"{source}: column '{job.class_name}' has {len(values)} different values; "
                    f"a class has at most {MOST_CLASSES}"
                )
            classes = Labels(codes, tuple(values))
        for requirement in job.requirements:
            if requirement.model is None or not isinstance(requirement.sensitive, str):
                continue
            name = requirement.sensitive
            own = classes if name == job.class_name else plain.get(name)
            if own is not None:
                try:
                    requirement.model.check(own.values)
                except ValueError as error:
                    raise unfit(error, file=source, column=name) from None
        largest = max(requirement.k for requirement in job.requirements)
        if table.num_rows < largest:
            raise DataError(
                f"{source}: has {table.num_rows} records, fewer than the k = {largest} required"
            )
        identifiers = prepare_identifiers(job.matching, table, source)
        warm_up()
        return Prepared(identifiers, columns, plain, classes, dropped)

    def run(
        self,
        job: IntegrateJob,
        prepared: Prepared,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        prepared.dropped.write(workspace.kept)
        rows = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace)
        columns = {name: column.take(rows) for name, column in prepared.columns.items()}
        plain = {name: labels.take(rows) for name, labels in prepared.plain.items()}
        classes = None if prepared.classes is None else prepared.classes.take(rows)
        prepared.columns, prepared.plain, prepared.classes = {}, {}, None

        labels = {name: plain[name] for name in job.sensitive_holders if name in plain}
        if classes is not None and job.class_name is not None:
            labels[job.class_name] = classes
        check_sizes(job.requirements, len(rows))
        models_of(job.requirements, labels)
        cost = 0
        stays = np.arange(len(rows))
        raw = dict(columns)
        all_classes = classes
        if job.bounded:
            stays = np.flatnonzero(_within_bounds(job, channel, columns, len(rows), rng))
            cost = len(rows) - len(stays)
            if cost:
                rows = rows[stays]
                columns = {name: column.take(stays) for name, column in columns.items()}
                plain = {name: column.take(stays) for name, column in plain.items()}
                labels = {name: column.take(stays) for name, column in labels.items()}
                classes = None if classes is None else classes.take(stays)
        behaviour = self._behaviour(job, channel.me, rng)
        domains = {
            own.name: own.taxonomy
            for own in columns.values()
            if isinstance(own, CategoricalColumn) and own.name in job.flat_names
        }
        flat = tell_domains(job, channel, domains)
        plan = _plan(job, channel, classes is not None, behaviour.round_by_round, flat)
        outcome = integrate(
            channel,
            plan,
            columns,
            labels,
            len(rows),
            rng,
            book=workspace.book,
            left_out=cost,
            **behaviour.hooks,
        )
        behaviour.contributions = outcome.contributions
        result = _result(job, outcome, cost)
        if workspace.exhibits is not None:
            there = stays[outcome.table.kept]
            exhibit = exhibit_of(outcome.table, raw, all_classes, there, result["utility"])
            workspace.exhibits["exhibit"] = exhibit

        with channel.step("release"):
            own = {attribute.name for attribute in job.of_party(channel.me)}
            share: dict[str, Coded] = {}
            known: dict[str, str] = {}
            whole: dict[str, Coded] = {}  # what a recipient compares the release with
            for name in plan.trees:  # one after the other, since each has a code for every record
                column = Coded(*outcome.table.generalized(name))
                known[name] = digest(column)
                if name in own:
                    share[name] = column
                if channel.me in job.recipients:
                    whole[name] = column
            kept = outcome.table.kept if outcome.table.suppressed else slice(None)
            share |= {name: coded(labels.take(kept)) for name, labels in plain.items()}
            share = {a.name: share[a.name] for a in job.of_party(channel.me)}
            whole |= share
            if outcome.classes is not None and job.class_name is not None:
                column = coded(outcome.classes.take(kept))
                known[job.class_name] = digest(column)
                whole[job.class_name] = column
                if channel.me == plan.class_holders[0]:
                    share[job.class_name] = column
            if job.recipients:
                channel.open(RECEIVED, None, to=job.recipients)
            if len(job.recipients) > 1:
                channel.open(COMPARED, None, to=job.recipients)
            if channel.me in job.recipients:
                order = [a.name for a in job.attributes] + [job.class_name or ""]
                keep_expected({n: whole[n] for n in order if n in whole}, workspace.kept)
            write_known(channel.open(DIGESTS, known, to=COORDINATOR), workspace.released)
            write_share(channel.open(COLUMNS, share, to=COORDINATOR), workspace.released)
        return result

    def assemble(self, job: IntegrateJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        columns: dict[str, Coded] = {}
        holders: dict[str, str] = {}
        wanted = [attribute.name for attribute in job.attributes]
        if job.class_name is not None:
            wanted.append(job.class_name)
        for party, folder in released.items():
            own = [attribute.name for attribute in job.of_party(party)]
            share = read_share(folder, party)
            extra = [name for name in share if name not in own]
            if [*own, *extra] != list(share) or extra not in ([], [job.class_name]):
                raise VerificationError(
                    f"{party}: released {', '.join(share)}, not its own columns"
                )
            repeated = [name for name in share if name in columns]
            if repeated:
                raise VerificationError(f"{party}: released '{repeated[0]}', as another party did")
            columns |= share
            holders |= dict.fromkeys(share, party)
        if sorted(columns) != sorted(wanted):
            missing = sorted(set(wanted) - set(columns))
            raise VerificationError(f"nobody released the column '{missing[0]}'")
        if len({len(column.codes) for column in columns.values()}) > 1:
            raise VerificationError("the parties released different numbers of records")
        shared = {a.name for a in job.attributes if a.in_qid} | {job.class_name}
        known = {name: column for name, column in columns.items() if name in shared}
        for party, folder in released.items():
            check_known(known, holders, folder, party)
        write_release({name: columns[name] for name in wanted}, out / RELEASE)
        return [RELEASE]

    def appraise(self, job: IntegrateJob, released: Mapping[str, Path]) -> Mapping[str, Json]:
        """The risk to be found by the generalized columns, and what each model has reached."""
        columns: dict[str, Coded] = {}
        for party, folder in released.items():
            columns |= read_share(folder, party)
        ordered = {a.name: columns[a.name].codes for a in job.attributes if a.in_qid}
        reached: list[Json] = [reached_by(columns, entry) for entry in job.requirements]
        risk = release_risk(ordered, [r.qid for r in job.requirements])
        return {"risk": risk} | ({"reached": reached} if any(reached) else {})

    def summary(self, job: IntegrateJob, result: Claim) -> Sequence[str]:
        lines = usefulness_lines(job, result)
        if winners := result.entry("winners").items():
            lines.append(f"{len(winners)} specializations")
        if isinstance(result.value, dict) and isinstance(result.value.get("utility"), dict):
            lines += utility_lines(result.value["utility"])
        if job.bounded:
            lines.append(
                f"the bounds in at_most cost {result.entry('bounds_cost').integer()} records"
            )
        return lines

    def check_received(
        self, job: IntegrateJob, party: str, kept: Path, folder: Path
    ) -> Sequence[str]:
        return check_expected(job, kept, folder)

    def report(self, job: IntegrateJob, result: Claim, folder: Path) -> Sequence[Part]:
        return report_release(job, result, folder)

    def measure(
        self, job: IntegrateJob, exhibits: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Any]:
        """The measures of utility that need the raw columns of all parties beside each other."""
        return {"utility": utility_of(job, exhibits)}

    def verify(self, job: IntegrateJob, result: Claim, folder: Path) -> Verdict:
        return verify_release(job, result, folder)


def _plan(
    job: IntegrateJob,
    channel: Channel,
    has_class: bool,
    round_by_round: bool,
    flat: Mapping[str, Taxonomy],
) -> Plan:
    """The plan of the protocol, once all parties know who holds the class."""
    holders: tuple[str, ...] = ()
    if job.class_name is not None:
        holders = class_holders(channel, job.party_names, job.class_name, has_class)
    in_qid = [attribute for attribute in job.attributes if attribute.in_qid]
    return Plan(
        names=job.party_names,
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
    )


def _within_bounds(
    job: IntegrateJob, channel: Channel, columns: Mapping[str, Column], records: int, rng: Random
) -> Mask:
    """The common records that the bounds in `at_most` permit to stay."""
    axes, codes = [], {}
    for attribute in job.bounded:
        _, cut = attribute.start
        axes.append(Axis(attribute.name, attribute.party, len(cut)))
        if attribute.party == channel.me and attribute.taxonomy is not None:
            own = columns[attribute.name].codes
            codes[attribute.name] = start_codes(attribute.taxonomy, cut, own)
    names = [axis.name for axis in axes]
    demands = [
        Demand(tuple(names.index(name) for name in names if name in requirement.qid), requirement.k)
        for requirement in job.requirements
    ]
    most = suppression_limit(job.max_suppression, records)
    fork = rng.fork("bounds")
    return records_within_bounds(
        channel, job.party_names, axes, codes, demands, records, most, fork
    )


def coded(labels: Labels) -> Coded:
    """The column as it is released: without the values that only other records have."""
    labels = labels.compact()
    return Coded(labels.codes, labels.values)


def _result(job: IntegrateJob, outcome: Outcome, cost: int) -> dict[str, Any]:
    suppressed = outcome.table.suppressed
    return {
        "records": outcome.table.records - suppressed,
        "winners": [
            {
                "attribute": winner.attribute,
                "value": winner.value,
                "children": list(winner.children),
                "score": winner.score / SCALE,
                "party": party,
            }
            for winner, party in zip(outcome.table.winners, outcome.winners, strict=True)
        ],
        "cut": outcome.table.cut,
        "contributions": {name: mu / SCALE for name, mu in outcome.contributions.items()},
        "anonymity": outcome.table.anonymity,
        "utility": shown_utility(outcome.table, cost),
        "detail": detail_kept(outcome.table, cost),
        **({"suppressed": suppressed + cost} if job.max_suppression else {}),
        **({"bounds_cost": cost} if job.bounded else {}),
    }


INTEGRATE = Integrate()
