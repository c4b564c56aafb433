"""`kind: aggregate`: numbers of records, sums, means and variances of columns, by groups.

A column lies at one party, the groups at any parties (`partition: vertical`), on the records that
all have in common; or every party has all columns of different people (`partition: horizontal`).
Without `by` there is one group: the sum over the intersection. `jobs.kinds.aggregate.job` has the
keys. Sums are exact; a mean is the nearest floating-point number to the exact quotient. Groups that
are not shown have null for every measure. With `noise` (`jobs.kinds.aggregate.noisy`) all numbers are
those of a differentially private mechanism.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.counts.hidden_cells import Component
from coterie.base.arrays import Ints, Mask
from coterie.base.errors import DataError
from coterie.base.text import numbered
from coterie.jobs.data.measured import MeasuredAttribute, sizes
from coterie.jobs.data.missing import ELSEWHERE, gaps_of, without_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.aggregate.job import PLACED, AggregateJob, read_aggregate
from coterie.jobs.kinds.aggregate.noisy import check_room, described, noisy_groups
from coterie.jobs.kinds.aggregate.noisy import measured as noisy_measured
from coterie.jobs.kinds.aggregate.numbers import Histograms, opened, places
from coterie.jobs.kinds.aggregate.numbers import measured as exact_measured
from coterie.jobs.kinds.aggregate.report import promise, report_groups
from coterie.jobs.kinds.aggregate.tables import Numbers, sum_up
from coterie.jobs.kinds.aggregate.verify_groups import (
    read_groups,
    verify_file,
    verify_groups,
    verify_promise,
)
from coterie.jobs.kinds.kind import Json, Verdict
from coterie.jobs.kinds.needs import (
    ANY_CLASSES,
    Answers,
    Columns,
    Groups,
    Needs,
    dropped_of,
    matched,
    thresholds_of,
)
from coterie.jobs.kinds.statistics.common import (
    UNCHECKED,
    PreparedColumns,
    StatisticsKind,
    coded_columns,
    reported,
)
from coterie.jobs.kinds.statistics.count import MAX_CELLS, plan_tables, total_records
from coterie.jobs.kinds.statistics.joining import Joined, begin
from coterie.jobs.kinds.statistics.mixed import check_held
from coterie.jobs.pages.page import Part
from coterie.protocols.aggregates.aggregates import Aggregates
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

FILE = "groups.csv"


@dataclass(frozen=True)
class PreparedNumbers(PreparedColumns):
    """A party's own columns: codes of those in `by`, and the measured ones in units."""

    numbers: Mapping[str, Ints] = field(default_factory=dict)
    # With mixed partition: which cells of each measured column the party has.
    held: Mapping[str, Mask] = field(default_factory=dict)


class Aggregate(StatisticsKind[AggregateJob]):
    about = "Numbers of records, sums, means and quantiles of a column, by groups of others."
    leaves = (FILE,)
    opens = ("statistics",)
    job_type = AggregateJob

    def parse(self, section: Section, common: Common) -> AggregateJob:
        return read_aggregate(section, common)

    def needs(self, job: AggregateJob, party: str) -> Needs:
        grouped = [n for n, item in job.attributes.items() if _holds(job, item.party, party)]
        added = [n for n, item in job.measured.items() if _holds(job, item.party, party)]
        told = [name for name in grouped if job.attributes[name].values is None]
        told += [name for name in added if job.asks(name, *PLACED) and name not in told]
        # Answers with noise are bounded by the budget: no difference of two of them is exact.
        counted = {} if job.noise else {n: item.classes for n, item in job.attributes.items()}
        if not job.noise:
            counted |= dict.fromkeys(job.measured, ANY_CLASSES)
            told += [name for name in added if name not in told]
        used = tuple(dict.fromkeys([*grouped, *added]))
        return Needs(
            columns=Columns(
                used=used,
                released=tuple(told),
                dropped=dropped_of(job.matching, {**job.attributes, **job.measured}, used),
            ),
            matching=matched(job.matching),
            groups=Groups(smallest=job.minimum),
            answers=Answers(
                counted=counted,
                exact=job.exact,
                noise=(job.noise.epsilon, job.noise.delta) if job.noise else None,
                servers=job.servers,
                thresholds=thresholds_of(job, "dominance", "base", minimum=job.minimum)
                | _placed(job),
            ),
        )

    def prepare(
        self, job: AggregateJob, party: str, table: pa.Table, source: str
    ) -> PreparedNumbers:
        coded = {n: i for n, i in job.attributes.items() if _holds(job, i.party, party)}
        measured = {n: i for n, i in job.measured.items() if _holds(job, i.party, party)}
        dropping: dict[str, Sequence[str]] = {}
        dropping |= {n: () for n, item in measured.items() if item.missing == "drop"}
        dropping |= {n: item.values or () for n, item in coded.items() if item.missing == "drop"}
        table, dropped = without_gaps(table, dropping, source)
        with dropped.counted_as_read():
            columns = coded_columns(job, coded, table, source)
            _check_records(job, measured.values(), table.num_rows, source)
            spelling = spelling_of(table)
            numbers = {
                name: item.encode(table.column(name), source, spelling)
                for name, item in measured.items()
            }
            held = {
                name: ~gaps_of(table.column(name))
                for name, item in measured.items()
                if item.missing == ELSEWHERE
            }
        fields = vars(columns) | {"dropped": dropped}
        return PreparedNumbers(**fields, numbers=numbers, held=held)

    def run(
        self,
        job: AggregateJob,
        prepared: PreparedColumns,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        if not isinstance(prepared, PreparedNumbers):
            raise TypeError("an aggregate job prepares numbers")
        joined = begin(job, prepared, channel, rng, workspace)
        cells = _check_groups(job, joined)
        planned = cells > 1 and job.noise is None
        components = plan_tables(job, joined, [job.by], job.minimum) if planned else []
        records = total_records(job, joined, channel, rng)
        _check_records(job, job.measured.values(), records, "all parties together")
        rows = slice(None) if joined.rows is None else joined.rows
        numbers = {name: units[rows] for name, units in prepared.numbers.items()}
        held = {name: cells[rows] for name, cells in prepared.held.items()}
        if held:
            check_held(job.party_names, job.servers, held, channel, rng.fork("measured cells"))
        sums = sum_up(job, joined, numbers, held, channel, rng)
        group = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
        if job.noise:
            shown, noisy = noisy_groups(job, group, sums, records, cells, rng)
            return {
                "records": records,
                "groups": _groups(job, joined, shown, noisy),
                "noise": described(job, records, cells),
            }
        servers = Aggregates(group)
        tables = Histograms(job, joined, numbers, channel, rng, records * cells)

        def answer() -> str:
            if job.dominance:
                for name, item in job.measured.items():
                    share, ends = tables.of(name, sizes)
                    weights = [*(end - 1 for end in ends[1:]), item.ends[1]]
                    servers.judge_dominance(job.dominance, share, sums.sums[name], weights, cells)
            shown = _shown(job, servers, components, records, sums, cells)
            found = opened(job, servers, sums, shown, records)
            found |= places(job, servers, tables, shown)
            buckets = {"buckets": tables.described} if tables.described else {}
            return json.dumps({"groups": _groups(job, joined, shown, found), **buckets})

        # Kept as the text that the result will have, so that nothing is opened a second time.
        return {"records": records, **json.loads(channel.once("groups", answer))}

    def assemble(self, job: AggregateJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes the groups as a CSV file, beside `result.json`."""
        with (out / FILE).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*job.by, *(measure.title for measure in job.measures)])
            for group in reported(released)["groups"]:
                writer.writerow([*group["by"], *group["measures"]])
        return [FILE]

    def summary(self, job: AggregateJob, result: Claim) -> Sequence[str]:
        groups = read_groups(result.entry("groups"), job)
        hidden = sum(group.hidden for group in groups)
        titles = ", ".join(measure.title for measure in job.measures)
        lines = [f"{titles}: {len(groups):,} groups, {hidden:,} of them hidden"]
        if job.noise is not None:
            lines.append(promise(job.noise))
        return lines + [group.line for group in groups[:20] if not group.hidden]

    def report(self, job: AggregateJob, result: Claim, folder: Path) -> Sequence[Part]:
        return [report_groups(job, read_groups(result.entry("groups"), job))]

    def check(self, job: AggregateJob, result: Claim) -> None:
        verify_groups(job, result, result.entry("records").integer(minimum=0))

    def verify(self, job: AggregateJob, result: Claim, folder: Path) -> Verdict:
        records = result.entry("records").integer(minimum=0)
        groups = verify_groups(job, result, records)
        verify_file(job, groups, folder / FILE)
        facts: dict[str, Json] = {"records": records, "minimum": job.minimum}
        hidden = sum(group.hidden for group in groups)
        holds = [
            f"{numbered(records, 'record')} in {numbered(len(groups), 'group')}, {hidden:,} of them hidden"
        ]
        unchecked = [UNCHECKED]
        if job.noise is not None:
            verify_promise(job.noise, result.entry("noise"))
            holds.append(
                f"no group is shown whose noisy number of records is below {job.minimum}; means lie "
                "within the range of their columns"
            )
            unchecked.append("that the servers drew the noise, and what the numbers are without it")
            facts |= {"epsilon": float(job.noise.epsilon), "delta": float(job.noise.delta)}
        elif job.base is None:
            holds += [
                f"no group of fewer than {job.minimum} records is shown, as far as numbers of "
                "records are",
                "sums lie within the range of their columns, and means and sums fit each other",
            ]
        else:
            holds.append(f"numbers are multiples of {job.base}")
            unchecked.append(f"that every shown group has {job.minimum} records, which are rounded")
        if job.dominance:
            unchecked.append("that no record dominates a shown group")
        return Verdict(holds, unchecked, facts)


def _holds(job: AggregateJob, owner: str | None, party: str) -> bool:
    return job.everywhere or owner == party


def _placed(job: AggregateJob) -> dict[str, str]:
    """Where numbers are looked for in the order of a column, and the range that is divided."""
    return {
        f"aggregate.places of {name}": str(
            (sorted({m.share for m in job.measures if m.column == name and m.share}), item)
        )
        for name, item in job.measured.items()
        if job.asks(name, *PLACED)
    }


def _check_groups(job: AggregateJob, joined: Joined) -> int:
    """The number of groups; refuses too many because of domains that the job left open."""
    cells = math.prod(joined.axes[name].size for name in job.by)
    if cells > MAX_CELLS:
        raise DataError(
            f"by {', '.join(job.by)} there are {cells} groups, more than {MAX_CELLS}; declare "
            "'cuts' or a coarser taxonomy, or leave an attribute out"
        )
    return cells


def _shown(
    job: AggregateJob,
    servers: Aggregates,
    components: Sequence[Component],
    records: int,
    sums: Numbers,
    cells: int,
) -> Ints:
    """The numbers of the groups that are shown. A single group has all records, whose number is
    known.
    """
    if cells == 1:
        if records >= job.minimum and job.dominance:
            return servers.shown_whole()
        return np.arange(1 if records >= job.minimum else 0)
    return servers.shown(components, sums.records, cells, job.minimum)


def _check_records(
    job: AggregateJob, items: Iterable[MeasuredAttribute], records: int, source: str
) -> None:
    """Refuses more records than sums, and what is computed with sums, have room for."""
    if job.noise:
        groups = math.prod(len(job.attributes[name].values or ()) for name in job.by)
        check_room(job, records, groups, source)
        return
    for item in items:
        _check_column(job, item, records, source)


def _check_column(job: AggregateJob, item: MeasuredAttribute, records: int, source: str) -> None:
    """As `_check_records`, for one column of a job without noise."""
    factor = 1
    if job.dominance:
        factor = job.dominance.share.denominator * job.dominance.largest
    if job.base is not None:
        factor = max(factor, 8)
        if records * job.base * item.unit >= 1 << 60:
            raise DataError(f"{source}: 'round' is too large for {records} records")
    item.check_records(records, job.asks(item.name, "variance"), source, factor)
    for measure in job.measures:
        share = measure.share if measure.column == item.name else None
        if share is not None and records * share.denominator >= 1 << 31:
            raise DataError(f"{source}: {measure.title} of {records} records has too many decimals")


def _groups(
    job: AggregateJob,
    joined: Joined,
    shown: Ints,
    found: Mapping[tuple[str, str], Sequence[int | None]],
) -> list[dict[str, Any]]:
    """All groups as `result.json` has them."""
    places = {int(cell): at for at, cell in enumerate(shown)}
    groups = []
    for cell, values in enumerate(product(*(joined.domains[name] for name in job.by))):
        numbers: list[int | float | None] = [None] * len(job.measures)
        if cell in places:
            mine = {key: column[places[cell]] for key, column in found.items()}
            numbers = [
                noisy_measured(job, measure, mine)
                if job.noise
                else exact_measured(job, measure, mine)
                for measure in job.measures
            ]
        groups.append({"by": list(values), "measures": numbers})
    return groups


AGGREGATE = Aggregate()
