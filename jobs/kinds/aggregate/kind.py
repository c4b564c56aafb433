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
from collections.abc import Callable, Mapping, Sequence
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
from coterie.jobs.data.measured import MeasuredAttribute, sizes, steps
from coterie.jobs.data.missing import without_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.aggregate.job import PLACED, AggregateJob, Measure, read_aggregate
from coterie.jobs.kinds.aggregate.report import report_groups
from coterie.jobs.kinds.aggregate.tables import Numbers, histogram, sum_up
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
from coterie.protocols.aggregates.aggregates import Aggregates, Rank
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

FILE = "groups.csv"
MOST_BUCKETS, LEAST_BUCKETS = 1024, 16
WORK = 1 << 31  # records times groups times buckets up to which buckets are made finer


@dataclass(frozen=True)
class PreparedNumbers(PreparedColumns):
    """A party's own columns: codes of those in `by`, and the measured ones in units."""

    numbers: Mapping[str, Ints] = field(default_factory=dict)


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
        ids = job.matching.columns if job.matching else ()
        told = [name for name in grouped if job.attributes[name].values is None]
        told += [name for name in added if job.asks(name, *PLACED) and name not in told]
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
                _check_records(job, item, table.num_rows, source)
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
        for item in job.measured.values():
            _check_records(job, item, records, "all parties together")
        rows = slice(None) if joined.rows is None else joined.rows
        numbers = {name: units[rows] for name, units in prepared.numbers.items()}
        sums = sum_up(job, joined, numbers, channel, rng)
        group = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
        servers = Aggregates(group)
        tables = Histograms(job, joined, numbers, channel, rng, records * cells)
        if job.dominance:
            for name, item in job.measured.items():
                share, ends = tables.of(name, sizes)
                weights = [*(end - 1 for end in ends[1:]), item.ends[1]]
                servers.judge_dominance(job.dominance, share, sums.sums[name], weights, cells)
        shown = _shown(job, servers, components, records, sums, cells)
        found = _opened(job, servers, sums, shown, records)
        found |= _places(job, servers, tables, shown)
        return {
            "records": records,
            "groups": _groups(job, joined, shown, found),
            **({"buckets": tables.described} if tables.described else {}),
        }

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
        groups = verify_groups(job, result, records, folder / FILE)
        facts: dict[str, Json] = {"records": records, "minimum": job.minimum}
        hidden = sum(group.hidden for group in groups)
        holds = [f"{len(groups):,} groups of {records:,} records, {hidden:,} of them hidden"]
        unchecked = [UNCHECKED]
        if job.base is None:
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
        if records >= job.minimum and job.dominance:
            return servers.shown_whole()
        return np.arange(1 if records >= job.minimum else 0)
    return servers.shown(components, sums.records, cells, job.minimum)


class Histograms:
    """Shares of the buckets of columns, made when first asked for, and how wide the buckets are."""

    def __init__(
        self,
        job: AggregateJob,
        joined: Joined,
        numbers: Mapping[str, Ints],
        channel: Channel,
        rng: Random,
        work: int,
    ) -> None:
        self._job, self._joined, self._numbers = job, joined, numbers
        self._channel, self._rng = channel, rng
        self._most = min(MOST_BUCKETS, max(LEAST_BUCKETS, WORK // max(work, 1)))
        self._kept: dict[tuple[str, str], tuple[Array | None, list[int]]] = {}
        self.described: dict[str, list[int | float]] = {}

    def of(
        self, name: str, divide: Callable[[MeasuredAttribute, int, int | None], list[int]]
    ) -> tuple[Array | None, list[int]]:
        """Shares of the records of every group in every bucket, and the buckets' lower ends."""
        key = name, divide.__name__
        if key not in self._kept:
            ends = divide(self._job.measured[name], self._most, self._job.base)
            share = histogram(
                self._job, self._joined, self._numbers, name, ends, self._channel,
                self._rng.fork(f"buckets {' '.join(key)}"),
            )  # fmt: skip
            self._kept[key] = share, ends
        return self._kept[key]


def _check_records(job: AggregateJob, item: MeasuredAttribute, records: int, source: str) -> None:
    """Refuses more records than sums, and what is computed with sums, have room for."""
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


def _places(
    job: AggregateJob, servers: Aggregates, tables: Histograms, shown: Ints
) -> dict[tuple[str, str], Sequence[int | None]]:
    """The lower ends of the buckets of quantiles, in units, of the shown groups."""
    found: dict[tuple[str, str], Sequence[int | None]] = {}
    for measure in job.measures:
        if measure.what not in PLACED:
            continue
        item = job.measured[measure.column]
        share, ends = tables.of(item.name, steps)
        tables.described[item.name] = [item.number(end) for end in ends]
        if len(shown):
            rank = Rank(measure.share, measure.what == "largest")
            mine = None if share is None else share[shown]
            places = servers.places(mine, len(ends), rank, job.minimum, len(shown))
            found[measure.column, measure.title] = [None if p is None else ends[p] for p in places]
    return found


def _opened(
    job: AggregateJob, servers: Aggregates, sums: Numbers, shown: Ints, records: int
) -> dict[tuple[str, str], Sequence[int | None]]:
    """The numbers that the measures need, of the shown groups."""

    def taken(share: Array | None) -> Array | None:
        return None if share is None else share[shown]

    found: dict[tuple[str, str], Sequence[int | None]] = {}
    if not len(shown):
        return found
    count = len(shown)
    if job.base is not None:
        return _rounded(job, servers, sums, shown, records, job.base)
    with servers.channel.step("reveal"):
        if any(measure.what in ("count", "mean", "variance") for measure in job.measures):
            found["", "records"] = servers.records(taken(sums.records), count).tolist()
        for name, share in sums.sums.items():
            if not job.asks(name, "sum", "mean", "variance"):
                continue  # it was needed for dominance alone
            found[name, "sum"] = servers.sums(taken(share), count).tolist()
        for name, parts in sums.parts.items():
            wanted = {part: taken(share) for part, share in parts.items()}
            found[name, "square"] = servers.squares(wanted, job.measured[name].half, count)
    return found


def _rounded(
    job: AggregateJob, servers: Aggregates, sums: Numbers, shown: Ints, records: int, base: int
) -> dict[tuple[str, str], Sequence[int | None]]:
    """The numbers of the measures themselves, rounded before they are opened."""

    def taken(share: Array | None) -> Array | None:
        return None if share is None else share[shown]

    found: dict[tuple[str, str], Sequence[int | None]] = {}
    counts, number = taken(sums.records), len(shown)
    with servers.channel.step("reveal"):
        for measure in job.measures:
            key = measure.column, measure.title
            if measure.what == "count":
                found[key] = servers.rounded(counts, base, 0, number)
            elif measure.what in ("sum", "mean"):
                item = job.measured[measure.column]
                units, total = base * item.unit, taken(sums.sums[measure.column])
                if measure.what == "sum":
                    found[key] = servers.rounded(total, units, records * item.bound, number)
                else:
                    found[key] = servers.rounded_means(total, counts, units, item.bound, number)
    return found


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
            numbers = [_measured(job, measure, mine) for measure in job.measures]
        groups.append({"by": list(values), "measures": numbers})
    return groups


def _measured(
    job: AggregateJob, measure: Measure, found: Mapping[tuple[str, str], int | None]
) -> int | float | None:
    """One measure of one group; None where it is not defined (the mean of no records)."""
    key = measure.column, measure.title
    if key in found:  # a bucket, or a rounded number
        number = found[key]
        if number is None or not measure.column:
            return number
        return job.measured[measure.column].number(number)
    records = found.get(("", "records"))
    if measure.what == "count":
        return records
    item = job.measured[measure.column]
    total, square = found[measure.column, "sum"], found.get((measure.column, "square"))
    if total is None or measure.what == "sum":
        return None if total is None else item.number(total)
    if records is None:
        raise AssertionError("a mean has a number of records")
    if measure.what == "mean":
        return item.number(Fraction(total, records)) if records else None
    if records < 2 or square is None:
        return None
    distance = total - records * item.middle
    spread = Fraction(square * records - distance**2)
    return item.number(spread / (records * (records - 1)) / item.unit)


AGGREGATE = Aggregate()
