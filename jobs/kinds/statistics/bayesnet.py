"""`kind: bayesnet`: the structure of a Bayes net over attributes of several parties.

    order: [Sex, Job, Class]    a parent stands before its child
    max_parents: 2
    precision: standard         or high: scores to six digits, by Paillier, more slowly
    structure: search           or naive: the class is the only parent of every attribute
    keep: risk                  each party keeps its part of the net, for `kind: predict`
    parameters: false           true: also the counts of every family, small ones hidden
    minimum: 5                  for these counts, as in `kind: count`
    zeros: hide                 likewise

All parties learn the edges; those of a naive net are known before. A class without parents has no
table: all parties know which classes there are, so that a rare class could not be hidden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import DataError
from coterie.base.text import numbered
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node as YamlNode
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kept_models import read_keep
from coterie.jobs.kinds.kind import Json, Verdict
from coterie.jobs.kinds.needs import Needs, thresholds_of
from coterie.jobs.kinds.statistics.common import (
    UNCHECKED,
    PreparedColumns,
    StatisticsJob,
    StatisticsKind,
    read_precision,
    read_statistics,
    reported,
    statistics_needs,
    told_of_columns,
)
from coterie.jobs.kinds.statistics.count import (
    as_tables,
    check_cells,
    count_tables,
    judged_by,
    plan_tables,
    read_minimum,
    read_zeros,
    reveal_tables,
    total_records,
)
from coterie.jobs.kinds.statistics.drawing import draw_net
from coterie.jobs.kinds.statistics.joining import Joined, begin, count_shares
from coterie.jobs.kinds.statistics.keeping import (
    check_classes,
    check_kept_cells,
    keep_families,
    keep_naive_net,
    kept_words,
    partition_of,
)
from coterie.jobs.kinds.statistics.report import (
    DRAWN_NODES,
    report_arrows,
    report_drawing,
    report_tables,
)
from coterie.jobs.kinds.statistics.verify_models import verify_net, verify_precision
from coterie.jobs.kinds.statistics.verify_tables import (
    ClaimedTable,
    read_tables,
    verify_tables,
)
from coterie.jobs.pages.page import Part
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.bayesnet import search
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.hidden_scores import HiddenScores
from coterie.protocols.statistics.shared_counts import Ring, Transfers
from coterie.protocols.statistics.shared_tables import Axis


@dataclass(frozen=True)
class BayesnetJob(StatisticsJob):
    order: tuple[str, ...]
    max_parents: int
    parameters: bool
    minimum: int
    zeros: bool
    precise: bool
    naive: bool
    keep: str | None

    @property
    def keeps_shares(self) -> bool:
        """Whether the net is kept and may have tables that no party knows."""
        return self.keep is not None and (self.mixed or not self.naive)


class Bayesnet(StatisticsKind[BayesnetJob]):
    about = "The structure of a Bayes net over attributes of several parties."
    leaves = ("net.svg",)
    opens = ("statistics", "count", "logarithm")
    job_type = BayesnetJob

    def parse(self, section: Section, common: Common) -> BayesnetJob:
        fields = read_statistics(section, common, needs_class=False, mixed=True)
        if section.read("structure", lambda n: n.choice("search", "naive"), "search") == "naive":
            return _naive_job(section, fields)
        known = [*fields["attributes"], *filter(None, [fields["class_name"]])]
        order = tuple(known)
        if node := section.optional("order"):
            order = tuple(item.choice(*known) for item in node.items())
            if len(order) < 2 or len(set(order)) != len(order):
                raise node.error("must list at least two different attributes")
        max_parents = section.read("max_parents", lambda n: n.integer(0, 16), 2)
        return BayesnetJob(
            **fields,
            order=order,
            max_parents=max_parents,
            parameters=section.read("parameters", YamlNode.boolean, False),
            precise=read_precision(section),
            minimum=read_minimum(section),
            zeros=read_zeros(section),
            naive=False,
            keep=_read_keep(section, fields, order, max_parents),
        )

    def needs(self, job: BayesnetJob, party: str) -> Needs:
        shown = job.parameters
        return statistics_needs(
            job,
            party,
            job.minimum if shown else None,
            shown and job.zeros,
            numbers=shown or not job.naive,
            keeps=job.keep,
            thresholds=thresholds_of(job, "max_parents", "zeros", minimum=job.minimum),
        )

    def told_of(self, job: BayesnetJob, party: str) -> Sequence[str]:
        told = told_of_columns(job, party)
        if not job.naive:
            told.append(
                "every party and the coordinator: the net: which attributes depend on which, and in "
                "which order that was found"
            )
        if job.keep is not None:
            words = "how often your values occur by class among the common people"
            told.append(
                kept_words(
                    job.keep,
                    "" if job.mixed else words,
                    job.servers if job.keeps_shares else (),
                )
            )
        if job.parameters:
            also = ", and that a hidden count is not 0" if job.zeros else ""
            told.append(
                "every party and the coordinator: how many people there are by each attribute and its "
                "parents, where that can be shown without anybody computing a count below "
                f"{job.minimum}{also}"
            )
        return told

    def run(
        self,
        job: BayesnetJob,
        prepared: PreparedColumns,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        joined = begin(job, prepared, channel, rng, workspace)
        if job.naive or job.keep is not None:
            labels = check_classes(job, joined)
            if job.keeps_shares:
                sizes = [joined.axes[name].size for name in job.order if name != job.class_name]
                check_kept_cells(sizes, len(labels.values), job.max_parents)
        check_cells(
            sorted(job.order, key=lambda n: -joined.axes[n].size)[: job.max_parents + 1], joined
        )
        if job.parameters:
            # A single attribute whose cells cannot be hidden is refused before anything is revealed.
            for name in job.order:
                if name != job.class_name:
                    plan_tables(job, joined, [(name,)], job.minimum)
        records = total_records(job, joined, channel, rng)
        if job.naive:
            return _run_naive(job, joined, records, channel, rng, workspace)
        scores = _scores(job, joined, records, channel, rng)
        transfers = Transfers(channel, rng.fork("transfers"))
        turns = iter(range(1 << 30))

        def count(axes: Sequence[Axis]) -> Ring | None:
            fork = rng.fork(f"family {next(turns)}")
            return count_shares(job, joined, transfers, axes, fork)

        axes = [joined.axes[name] for name in job.order]
        edges = search(channel, axes, job.max_parents, count, scores)
        result: dict[str, Any] = {
            "records": records,
            "nodes": list(job.order),
            "edges": [list(edge) for edge in edges],
            "precision": {
                "bits": scores.settings.bits,
                "terms": scores.settings.terms,
                "logarithm_error": scores.error,
            },
        }
        if job.parameters:
            result["tables"] = _tables(job, joined, edges, records, scores, rng)
        if job.keep is not None:
            keep_families(
                job,
                job.keep,
                job.order,
                edges,
                joined,
                records,
                scores,
                rng.fork("keep"),
                workspace,
            )
        return result

    def assemble(self, job: BayesnetJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        result = reported(released)
        owners = {name: party for name in job.order if (party := job.owner(name))}
        drawing = draw_net(job.order, result["edges"], owners, job.party_names)
        (out / "net.svg").write_text(f"{drawing}\n", encoding="utf-8")
        return ["net.svg"]

    def summary(self, job: BayesnetJob, result: Claim) -> Sequence[str]:
        parents = verify_net(result, job.order, job.max_parents)
        families = [
            f"{child} after {', '.join(found)}" for child, found in parents.items() if found
        ]
        return [f"{sum(map(len, parents.values()))} edges: {'; '.join(families) or 'none'}"]

    def report(self, job: BayesnetJob, result: Claim, folder: Path) -> Sequence[Part]:
        parents = verify_net(result, job.order, job.max_parents)
        owners = {name: party for name in job.order if (party := job.owner(name))}
        edges = [(parent, child) for child, found in parents.items() for parent in found]
        sentence = (
            f"{numbered(len(edges), 'arrow')}: knowing the attribute at its tail helps to predict the one at its "
            "head. An arrow says nothing about causes."
        )
        colours = " A box has the colour of its party; a dark one belongs to several." * bool(
            owners
        )
        sections = [
            report_drawing(
                "The net",
                own=(sentence + colours, draw_net(job.order, edges, owners, job.party_names)),
                public=(sentence, draw_net(job.order, edges, {}, ())),
            )
            if len(job.order) <= DRAWN_NODES
            else report_arrows("The net", sentence, edges)
        ]
        if job.parameters:
            families = families_told(job, [(*found, name) for name, found in parents.items()])
            tables = read_tables(result.entry("tables"), families, job.declared_values)
            sections.append(report_tables(tables, job.minimum))
        return sections

    def check(self, job: BayesnetJob, result: Claim) -> None:
        parents = verify_net(result, job.order, job.max_parents)
        if job.parameters:
            _verified(job, result, parents)

    def verify(self, job: BayesnetJob, result: Claim, folder: Path) -> Verdict:
        records = result.entry("records").integer(minimum=0)
        parents = verify_net(result, job.order, job.max_parents)
        edges = sum(map(len, parents.values()))
        if job.naive:
            alone = [name for name in job.attributes if parents[name] != [job.class_name]]
            if alone:
                raise result.entry("edges").error(f"'{alone[0]}' has not the class as only parent")
            holds = [f"the class is the only parent of each of {edges} attributes"]
        else:
            verify_precision(result)
            holds = [
                f"{numbered(edges, 'arrow')} among {len(parents)} attributes, each from an earlier to a later "
                f"one, at most {job.max_parents} to a child"
            ]
        facts: dict[str, Json] = {"records": records, "edges": edges}
        tables = result.optional("tables")
        if job.parameters:
            found = _verified(job, result, parents)
            hidden = sum(table.hidden for table in found)
            holds.append(
                f"counts of {len(found)} sets of an attribute and its parents, no small one below "
                f"{job.minimum}, whose sums agree "
                f"and give no hidden one back ({hidden} are hidden)"
            )
        elif tables is not None:
            raise tables.error("the job asks for no parameters")
        unchecked = [] if job.naive else ["whether the records would give this net"]
        if job.keep is not None:
            unchecked.append("the parts that the parties keep")
        return Verdict(holds, unchecked or [UNCHECKED], facts)


def _verified(
    job: BayesnetJob, result: Claim, parents: Mapping[str, Sequence[str]]
) -> list[ClaimedTable]:
    """The tables of a result; raises if a number cannot be."""
    return verify_tables(
        result.entry("tables"),
        families_told(job, [(*found, name) for name, found in parents.items()]),
        job.declared_values,
        result.entry("records").integer(minimum=0),
        job.minimum,
        job.zeros or job.minimum == 1,
    )


def _read_keep(
    section: Section, fields: Mapping[str, Any], order: Sequence[str], max_parents: int
) -> str | None:
    """The key `keep` of a net that is searched for, which must have the class among its nodes."""
    keep = read_keep(section, partition_of(fields))
    if keep is None:
        return None
    node = section.required("keep")
    if fields["class_name"] not in order:
        raise node.error(
            "a net classifies by its 'class', which the job must name and 'order' list"
        )
    sizes = [
        len(fields["attributes"][n].values or ()) or 1 for n in order if n in fields["attributes"]
    ]
    try:
        check_kept_cells(sizes, 2, max_parents)  # a class has two values at least
    except DataError as error:
        raise node.error(str(error)) from None
    return keep


def _naive_job(section: Section, fields: Mapping[str, Any]) -> BayesnetJob:
    """A job whose net is known: the class is the only parent of every attribute."""
    node = section.required("structure")
    for key in ("order", "max_parents", "precision"):
        if stray := section.optional(key):
            raise stray.error("has no meaning with 'structure: naive', which searches for nothing")
    if fields["class_name"] is None:
        raise node.error("a naive net needs a 'class', the only parent of every attribute")
    job = BayesnetJob(
        **fields,
        order=(fields["class_name"], *fields["attributes"]),
        max_parents=1,
        parameters=section.read("parameters", YamlNode.boolean, False),
        precise=False,
        minimum=read_minimum(section),
        zeros=read_zeros(section),
        naive=True,
        keep=read_keep(section, partition_of(fields)),
    )
    if not job.parameters and job.keep is None:
        raise node.error("the net is known before: say 'parameters: true', or 'keep' it")
    return job


def _run_naive(
    job: BayesnetJob,
    joined: Joined,
    records: int,
    channel: Channel,
    rng: Random,
    workspace: Workspace,
) -> dict[str, Any]:
    """The counts of a naive net, and the parties' parts of it."""
    edges = [(job.order[0], name) for name in job.attributes]
    result: dict[str, Any] = {
        "records": records,
        "nodes": list(job.order),
        "edges": [list(edge) for edge in edges],
    }
    if job.parameters:
        counts = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
        result["tables"] = _tables(job, joined, edges, records, counts, rng)
    if job.keep is not None and job.keeps_shares:
        scores = _scores(job, joined, records, channel, rng)
        keep_families(
            job, job.keep, job.order, edges, joined, records, scores, rng.fork("keep"), workspace
        )
    elif job.keep is not None:
        keep_naive_net(job, job.keep, joined, channel, workspace)
    return result


def _scores(
    job: BayesnetJob, joined: Joined, records: int, channel: Channel, rng: Random
) -> HiddenScores:
    """The servers' logarithms of counts, to each of which the values of an attribute may be added."""
    largest = records + max(joined.axes[name].size for name in job.order)
    return HiddenScores(
        channel, job.party_names, job.servers, largest, rng.fork("scores"), precise=job.precise
    )


def _tables(
    job: BayesnetJob,
    joined: Joined,
    edges: Sequence[tuple[str, str]],
    records: int,
    counts: HiddenCounts,
    rng: Random,
) -> list[dict[str, Any]]:
    """The counts of every family that can be shown."""
    families = [(*(parent for parent, child in edges if child == name), name) for name in job.order]
    families = families_told(job, families)
    components = plan_tables(job, joined, families, job.minimum)
    counted = [*families, *judged_by(components)]
    shares = count_tables(job, joined, counted, counts.channel, rng.fork("parameters"))
    visible = reveal_tables(components, records, shares, counts, job.minimum, job.zeros)
    return as_tables(families, joined, visible)


def families_told(job: BayesnetJob, families: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The families that have a table: all but a class without parents."""
    return [names for names in families if names != (job.class_name,)]


BAYESNET = Bayesnet()
