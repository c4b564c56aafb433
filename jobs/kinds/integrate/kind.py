"""`kind: integrate`: one table, anonymous when joined, from the columns of several parties.

The parties match their common records, share the class and specialize together. Each party releases
its own generalized columns to the coordinator, which joins and sorts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.risk.released import release_risk
from coterie.anonymity.utility.measures import utility_lines
from coterie.base.errors import VerificationError
from coterie.jobs.data.missing import without_gaps
from coterie.jobs.data.released.together import together_claimed
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.behaviour import (
    RESISTS,
    BehaviourOf,
    honest_behaviour,
)
from coterie.jobs.kinds.integrate.cuts.keys import MONDRIAN
from coterie.jobs.kinds.integrate.exhibit import alone_of, methods_of, utility_of
from coterie.jobs.kinds.integrate.job import IntegrateJob, parse_integrate
from coterie.jobs.kinds.integrate.pages.report import report_release
from coterie.jobs.kinds.integrate.party_side import run_party_side
from coterie.jobs.kinds.integrate.plain_words import told_of
from coterie.jobs.kinds.integrate.population.witness_side import (
    prepared_population,
    run_witness_side,
)
from coterie.jobs.kinds.integrate.prepared import (
    Coding,
    Population,
    Prepared,
    prepared_columns,
)
from coterie.jobs.kinds.integrate.received import check_expected
from coterie.jobs.kinds.integrate.release_table import (
    Coded,
    check_known,
    read_share,
    write_release,
)
from coterie.jobs.kinds.integrate.requirements import thresholds_by_column
from coterie.jobs.kinds.integrate.slack import slack_sentences
from coterie.jobs.kinds.integrate.usefulness import methods_lines, reached_by, usefulness_lines
from coterie.jobs.kinds.integrate.verify_release import RELEASE, verify_release
from coterie.jobs.kinds.kind import Json, Kind, Verdict
from coterie.jobs.kinds.needs import (
    ANY_CLASSES,
    Answers,
    Columns,
    Groups,
    Matched,
    Needs,
    matched,
    thresholds_of,
)
from coterie.jobs.pages.page import Part
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

PREVIEWED = 20  # values of a column that a steward is shown


class Integrate(Kind[IntegrateJob, Coding]):
    about = "One table of the parties' columns, anonymous when joined."
    leaves = (RELEASE,)
    delivers = (RELEASE,)
    opens = ("class", "participation")
    files = ("attributes.*.taxonomy", "requirement.*.costs")
    job_type = IntegrateJob
    data_type = Coding

    def __init__(self, behaviour: BehaviourOf = honest_behaviour) -> None:
        """`behaviour` says how each party of a job behaves."""
        self._behaviour = behaviour

    def parse(self, section: Section, common: Common) -> IntegrateJob:
        return parse_integrate(section, common)

    def reporters(self, job: IntegrateJob) -> Sequence[str]:
        return job.record_holders

    def needs(self, job: IntegrateJob, party: str) -> Needs:
        if party == job.universe:
            return _needs_of_witness(job)
        own = tuple(attribute.name for attribute in job.of_party(party))
        return Needs(
            columns=Columns(
                used=own,
                released=own,
                raw=tuple(a.name for a in job.of_party(party) if not a.in_qid),
                label=job.class_name,
                dropped=tuple(
                    a.name
                    for a in job.of_party(party)
                    if a.missing == "drop" or (a.in_qid and job.max_suppression)
                ),
            ),
            matching=matched(job.matching),
            groups=Groups(
                smallest=job.smallest_k,
                k_map=job.smallest_k_map,
                together=job.unique_together,
                slack=job.slack,
                scores=not job.hide_scores,
                proposals=job.shows_proposals,
                exact_ends=job.tight,
                records=True,
            ),
            answers=Answers(
                counted=dict.fromkeys(
                    [*(a.name for a in job.attributes), *filter(None, [job.class_name])],
                    ANY_CLASSES,
                ),
                exact=False,
                servers=tuple(job.bound_holders[:2]) if len(job.bound_holders) > 2 else (),
                recipients=job.recipients,
                contributes=True,
                thresholds=_thresholds(job),
            ),
        )

    def told_of(self, job: IntegrateJob, party: str) -> Sequence[str]:
        return told_of(job, party)

    def prepare(self, job: IntegrateJob, party: str, table: pa.Table, source: str) -> Coding:
        of_population = party == job.universe
        own = job.in_population if of_population else job.of_party(party)
        dropping = {a.name: a.declared for a in own if a.missing == "drop"}
        table, dropped = without_gaps(table, dropping, source)
        with dropped.counted_as_read():
            if of_population:
                return prepared_population(job, table, source, dropped)
            return prepared_columns(job, party, table, source, dropped)

    def run(
        self,
        job: IntegrateJob,
        prepared: Coding,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        if isinstance(prepared, Population):
            return run_witness_side(job, prepared, channel, workspace)
        assert isinstance(prepared, Prepared)  # noqa: S101
        return run_party_side(job, prepared, channel, rng, workspace, self._behaviour)

    def preview(self, job: IntegrateJob, party: str, released: Path) -> Mapping[str, Json]:
        """How many records have each value of each column, the most frequent values first."""
        columns: dict[str, Json] = {}
        share = {} if party == job.universe else read_share(released, party)
        for name, column in share.items():
            counts = np.bincount(column.codes, minlength=len(column.values))
            often = np.argsort(-counts, kind="stable")[:PREVIEWED]
            columns[name] = {
                "values": len(column.values),
                "most_frequent": [[column.values[at], int(counts[at])] for at in often.tolist()],
            }
        return {"columns": columns}

    def assemble(self, job: IntegrateJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        columns: dict[str, Coded] = {}
        holders: dict[str, str] = {}
        wanted = [attribute.name for attribute in job.attributes]
        if job.class_name is not None:
            wanted.append(job.class_name)
        released = {party: released[party] for party in job.record_holders}
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
        for party in job.record_holders:
            columns |= read_share(released[party], party)
        ordered = {a.name: columns[a.name].codes for a in job.attributes if a.in_qid}
        reached: list[Json] = [reached_by(columns, entry) for entry in job.requirements]
        risk = release_risk(ordered, [r.qid for r in job.requirements])
        return {"risk": risk} | ({"reached": reached} if any(reached) else {})

    def summary(self, job: IntegrateJob, result: Claim) -> Sequence[str]:
        lines = usefulness_lines(job, result)
        if job.cuts_groups:
            lines.append(
                f"{len(result.entry('tree').items())} cuts; values of a column may overlap"
            )
        if job.method != MONDRIAN and (winners := result.entry("winners").items()):
            lines.append(f"{len(winners)} specializations")
        if isinstance(result.value, dict) and isinstance(result.value.get("utility"), dict):
            lines += utility_lines(result.value["utility"])
        lines += methods_lines(result)
        lines += _not_promised(job, result)
        lines += slack_sentences(result)
        if job.bounded:
            lines.append(
                f"the bounds in at_most cost {result.entry('bounds_cost').integer()} records"
            )
        if job.adversary == "malicious":
            lines.append(RESISTS)
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
        alone = alone_of(exhibits)
        return {"utility": utility_of(job, exhibits), **({"alone": alone} if alone else {})}

    def compare(
        self, job: IntegrateJob, exhibits: Mapping[str, Mapping[str, object]]
    ) -> Mapping[str, Any]:
        """What each method would keep of the joined table."""
        return {"methods": [one.as_dict() for one in methods_of(job, exhibits)]}

    def verify(self, job: IntegrateJob, result: Claim, folder: Path) -> Verdict:
        return verify_release(job, result, folder)


def _not_promised(job: IntegrateJob, result: Claim) -> list[str]:
    """What all columns tell together, by the risk of a result; a recipient's has none."""
    if (risk := result.optional("risk")) is None:
        return []
    figures = {
        "prosecutor": risk.entry("prosecutor").number(),
        "uniques": risk.entry("uniques").integer(minimum=0),
    }
    records = result.entry("records").integer(minimum=0)
    found = together_claimed(job.requirements, records, figures)
    return [f"not promised: {found.sentence}"] if found and found.exposed else []


def _thresholds(job: IntegrateJob) -> dict[str, str]:
    by_column = thresholds_by_column(job.text, job.files, job.requirements)
    generous = str(job.epsilon) if job.adversary == "malicious" else ""
    return by_column | thresholds_of(job, "max_suppression") | {"integrate.epsilon": generous}


def _needs_of_witness(job: IntegrateJob) -> Needs:
    """What the job needs from the party that holds the population: answers, and no row."""
    used = tuple(attribute.name for attribute in job.in_population)
    return Needs(
        columns=Columns(used=used),
        matching=Matched(),
        groups=Groups(k_map=job.smallest_k_map),
        answers=Answers(
            counted=dict.fromkeys(used, ANY_CLASSES),
            exact=False,
            thresholds=_thresholds(job),
        ),
    )


INTEGRATE = Integrate()
