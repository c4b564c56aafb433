"""`kind: aggregate`: numbers of records, sums, means and variances of columns, by groups.

A column lies at one party, the groups at any parties (`partition: vertical`), on the records that
all have in common; or every party has all columns of different people (`partition: horizontal`).
Without `by` there is one group: the sum over the intersection. `jobs.kinds.aggregate.job` has the
keys. Sums are exact; a mean is the nearest floating-point number to the exact quotient. Groups that
are not shown have null for every measure.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.counts.hidden_cells import Component
from coterie.base.arrays import Array, Ints
from coterie.base.errors import DataError
from coterie.jobs.data.missing import without_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.aggregate.job import AggregateJob, Measure, read_aggregate
from coterie.jobs.kinds.aggregate.report import report_groups
from coterie.jobs.kinds.aggregate.tables import Numbers, sum_up
from coterie.jobs.kinds.aggregate.verify import read_groups, verify_groups
from coterie.jobs.kinds.kind import Json, Needs, Verdict
from coterie.jobs.kinds.statistics.common import (
    UNCHECKED,
    Joined,
    PreparedColumns,
    StatisticsKind,
    begin,
    coded_columns,
    reported,
)
from coterie.jobs.kinds.statistics.count import MAX_CELLS, plan_tables, total_records
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


class Aggregate(StatisticsKind[AggregateJob]):
    about = "Numbers of records, sums, means and variances of a column, by groups of others."
    leaves = (FILE,)
    opens = ("statistics",)
    job_type = AggregateJob

    def parse(self, section: Section, common: Common) -> AggregateJob:
        return read_aggregate(section, common)

    def needs(self, job: AggregateJob, party: str) -> Needs:
        grouped = [n for n, item in job.attributes.items() if _holds(job, item.party, party)]
        added = [n for n, item in job.measured.items() if _holds(job, item.party, party)]
        ids = job.matching.columns if job.matching else ()
        told = [name for name in grouped if job.attributes[name].values is None]
        return Needs(
            used=tuple(dict.fromkeys([*ids, *grouped, *added])),
            released=tuple(told),
            optional=(),
            raw=(),
            smallest_group=job.minimum,
            matching=job.matching.reveal if job.matching else None,
            pad_to=job.matching.pad_to if job.matching else None,
            servers=job.servers,
            recipients=(),
            zeros=False,
            contributes=False,
            shows_proposals=False,
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
            numbers = {}
            for name, item in measured.items():
                item.check_records(table.num_rows, job.asks(name, "variance"), source)
                numbers[name] = item.encode(table.column(name), source, spelling_of(table))
        fields = vars(columns) | {"dropped": dropped}
        return PreparedNumbers(**fields, numbers=numbers)

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
        components = plan_tables(job, joined, [job.by]) if cells > 1 else []
        records = total_records(job, joined, channel, rng)
        for name, item in job.measured.items():
            item.check_records(records, job.asks(name, "variance"), "all parties together")
        rows = slice(None) if joined.rows is None else joined.rows
        numbers = {name: units[rows] for name, units in prepared.numbers.items()}
        sums = sum_up(job, joined, numbers, channel, rng)
        group = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
        servers = Aggregates(group)
        shown = _shown(job, servers, components, records, sums, cells)
        found = _opened(job, servers, sums, shown)
        return {"records": records, "groups": _groups(job, joined, shown, found)}

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
        return lines + [group.line for group in groups[:20] if not group.hidden]

    def report(self, job: AggregateJob, result: Claim, folder: Path) -> Sequence[Part]:
        return [report_groups(job, read_groups(result.entry("groups"), job))]

    def verify(self, job: AggregateJob, result: Claim, folder: Path) -> Verdict:
        records = result.entry("records").integer(minimum=0)
        groups = verify_groups(job, result.entry("groups"), records, folder / FILE)
        facts: dict[str, Json] = {"records": records, "minimum": job.minimum}
        hidden = sum(group.hidden for group in groups)
        holds = [
            f"{len(groups):,} groups of {records:,} records, {hidden:,} of them hidden",
            f"no group of fewer than {job.minimum} records is shown, as far as numbers of records are",
            "sums lie within the range of their columns, and means and sums fit each other",
        ]
        return Verdict(holds, [UNCHECKED], facts)


def _holds(job: AggregateJob, owner: str | None, party: str) -> bool:
    return job.horizontal or owner == party


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
        return np.arange(1 if records >= job.minimum else 0)
    return servers.shown(components, sums.records, cells, job.minimum)


def _opened(
    job: AggregateJob, servers: Aggregates, sums: Numbers, shown: Ints
) -> dict[tuple[str, str], Sequence[int]]:
    """The numbers that the measures need, of the shown groups."""

    def taken(share: Array | None) -> Array | None:
        return None if share is None else share[shown]

    found: dict[tuple[str, str], Sequence[int]] = {}
    if not len(shown):
        return found
    count = len(shown)
    with servers.channel.step("reveal"):
        if any(measure.what in ("count", "mean", "variance") for measure in job.measures):
            found["", "records"] = servers.records(taken(sums.records), count).tolist()
        for name, share in sums.sums.items():
            found[name, "sum"] = servers.sums(taken(share), count).tolist()
        for name, parts in sums.parts.items():
            wanted = {part: taken(share) for part, share in parts.items()}
            found[name, "square"] = servers.squares(wanted, job.measured[name].half, count)
    return found


def _groups(
    job: AggregateJob,
    joined: Joined,
    shown: Ints,
    found: Mapping[tuple[str, str], Sequence[int]],
) -> list[dict[str, Any]]:
    """All groups as `result.json` has them."""
    places = {int(cell): at for at, cell in enumerate(shown)}
    groups = []
    for cell, values in enumerate(product(*(joined.domains[name] for name in job.by))):
        numbers: list[int | float | None] = [None] * len(job.measures)
        if cell in places:
            mine = {key: column[places[cell]] for key, column in found.items()}
            numbers = [_measured(job, measure, mine) for measure in job.measures]
        groups.append({"by": list(values), "measures": numbers})
    return groups


def _measured(
    job: AggregateJob, measure: Measure, found: Mapping[tuple[str, str], int]
) -> int | float | None:
    """One measure of one group; None where it is not defined (the mean of no records)."""
    if measure.what == "count":
        return found["", "records"]
    item = job.measured[measure.column]
    total = found[measure.column, "sum"]
    if measure.what == "sum":
        return item.number(total)
    records = found["", "records"]
    if measure.what == "mean":
        return item.number(Fraction(total, records)) if records else None
    if records < 2:
        return None
    distance = total - records * item.middle
    spread = Fraction(found[measure.column, "square"] * records - distance**2)
    return item.number(spread / (records * (records - 1)) / item.unit)


AGGREGATE = Aggregate()
