"""`kind: count`: tables of counts over attributes of several parties.

    tables: [[Sex, Job], [Job, Class]]
    minimum: 5            a cell of 0 to 4 records is not shown, nor cells that would give it away
    zeros: hide           or show: empty cells are shown; then less is promised about small ones
    output: table         or shares: each server keeps its share of every cell, nothing is shown

A cell that is not shown is null in `result.json` and empty in `tables/*.csv`. The servers decide on
shares which cells are shown: all parties learn these cells and their counts.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.counts.compared_tables import joint_tables
from coterie.anonymity.counts.hidden_cells import Component, Holders, Table, plan
from coterie.base.errors import DataError
from coterie.base.text import numbered, quoted_list
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import Json, Verdict
from coterie.jobs.kinds.needs import Needs, thresholds_of
from coterie.jobs.kinds.statistics.common import (
    UNCHECKED,
    PreparedColumns,
    StatisticsJob,
    StatisticsKind,
    read_statistics,
    reported,
    statistics_needs,
    told_of_columns,
)
from coterie.jobs.kinds.statistics.joining import Joined, begin, count_shares
from coterie.jobs.kinds.statistics.report import report_tables
from coterie.jobs.kinds.statistics.verify_tables import (
    ClaimedTable,
    described,
    read_tables,
    verify_files,
    verify_tables,
)
from coterie.jobs.pages.markup import listed
from coterie.jobs.pages.page import Part, note
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring, Transfers, kept_share
from coterie.protocols.statistics.visible_cells import visible_cells

MAX_CELLS = 1 << 16  # the most cells of one table
MOST_RECORDS = 1 << 31

TOTAL = declare(
    "statistics: total number of records",
    what="With horizontal partition, how many records all parties have together.",
    to="every party",
    why="It is part of the result, and bounds the numbers that are computed with.",
)


@dataclass(frozen=True)
class CountJob(StatisticsJob):
    tables: tuple[tuple[str, ...], ...]
    minimum: int
    zeros: bool
    as_shares: bool


class Count(StatisticsKind[CountJob]):
    about = "Tables of counts over attributes of several parties, small counts hidden."
    leaves = ("tables",)
    opens = ("statistics",)
    job_type = CountJob

    def parse(self, section: Section, common: Common) -> CountJob:
        fields = read_statistics(section, common, needs_class=False, mixed=True)
        known = [*fields["attributes"], *filter(None, [fields["class_name"]])]
        node = section.required("tables")
        tables = tuple(_read_table(item, known, fields["attributes"]) for item in node.items())
        if (fields["class_name"],) in tables:
            raise node.error(
                "a table of the class alone cannot hide how rare a class is, since all its values "
                "are told; count it together with an attribute"
            )
        if not tables:
            raise node.error("there must be at least one table")
        return CountJob(
            **fields,
            tables=tables,
            minimum=read_minimum(section),
            zeros=read_zeros(section),
            as_shares=section.read("output", lambda n: n.choice("table", "shares"), "table")
            == "shares",
        )

    def needs(self, job: CountJob, party: str) -> Needs:
        shown = not job.as_shares
        return statistics_needs(
            job,
            party,
            job.minimum if shown else None,
            shown and job.zeros,
            numbers=shown,
            thresholds=thresholds_of(job, "zeros", minimum=job.minimum),
        )

    def told_of(self, job: CountJob, party: str) -> Sequence[str]:
        told = told_of_columns(job, party)
        tables = "; ".join(quoted_list(table) for table in job.tables)
        if job.as_shares:
            return [*told, f"nobody: how many people there are by {tables}; you keep a share of it"]
        also = ", and that a hidden count is not 0" if job.zeros else ""
        return [
            *told,
            f"every party and the coordinator: how many people there are by {tables}, where that "
            f"can be shown without anybody computing a count below {job.minimum}{also}",
        ]

    def run(
        self,
        job: CountJob,
        prepared: PreparedColumns,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        joined = begin(job, prepared, channel, rng, workspace)
        for names in job.tables:
            check_cells(names, joined)
        components = [] if job.as_shares else plan_tables(job, joined, job.tables, job.minimum)
        shares = count_tables(job, joined, [*job.tables, *judged_by(components)], channel, rng)
        records = total_records(job, joined, channel, rng)
        if job.as_shares:
            for at, share in enumerate(shares):
                if share is not None:
                    _write_shares(
                        workspace.kept / f"table-{at + 1}.csv", job.tables[at], joined, share
                    )
            return {"records": records, "tables": [{"attributes": list(t)} for t in job.tables]}
        counts = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
        visible = reveal_tables(components, records, shares, counts, job.minimum, job.zeros)
        return {"records": records, "tables": as_tables(job.tables, joined, visible)}

    def assemble(self, job: CountJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes one CSV file per table, beside `result.json`."""
        left = []
        for at, table in enumerate(reported(released)["tables"]):
            if "cells" in table:
                (out / "tables").mkdir(exist_ok=True)
                name = table_file(at, table["attributes"])
                with (out / name).open("w", newline="", encoding="utf-8") as file:
                    writer = csv.writer(file)
                    writer.writerow([*table["attributes"], "count"])
                    writer.writerows(table["cells"])
                left.append(name)
        return left

    def summary(self, job: CountJob, result: Claim) -> Sequence[str]:
        if job.as_shares:
            return [f"shares of the counts stay with {' and '.join(job.servers)}"]
        return described(read_tables(result.entry("tables"), job.tables, job.declared_values))

    def report(self, job: CountJob, result: Claim, folder: Path) -> Sequence[Part]:
        if job.as_shares:
            where = [note("The shares stay with ", listed(job.servers), ".")]
            return [
                Part("Counts", [note("No count is shown: each is kept in shares.")], public=True),
                Part("Where the shares are", where, public=False),
            ]
        tables = read_tables(result.entry("tables"), job.tables, job.declared_values)
        return [report_tables(tables, job.minimum)]

    def check(self, job: CountJob, result: Claim) -> None:
        if not job.as_shares:
            _verified(job, result)

    def verify(self, job: CountJob, result: Claim, folder: Path) -> Verdict:
        records = result.entry("records").integer(minimum=0)
        facts: dict[str, Json] = {"records": records, "minimum": job.minimum}
        claim = result.entry("tables")
        if job.as_shares:
            shown = [table.entries() for table in claim.items()]
            if [t["attributes"].value for t in shown] != [list(names) for names in job.tables]:
                raise claim.error("has other tables than the job asks for")
            if any("cells" in table for table in shown):
                raise claim.error("shows counts, which the job leaves as shares")
            return Verdict(
                [f"{numbered(len(shown), 'table')}, and no count is shown"],
                ["the counts, shares of which stay with the job's servers"],
                facts,
            )
        tables = _verified(job, result)
        verify_files(tables, folder, [table_file(at, names) for at, names in enumerate(job.tables)])
        holds = [
            f"{numbered(len(tables), 'table')} of {numbered(records, 'record')}, no small count below "
            f"{job.minimum}",
            "their sums agree with each other and the number of records",
            f"no hidden count follows from these sums ({sum(t.hidden for t in tables)} are hidden)",
        ]
        return Verdict(holds, [UNCHECKED], facts)


def _verified(job: CountJob, result: Claim) -> list[ClaimedTable]:
    """The tables of a result; raises if a number cannot be."""
    return verify_tables(
        result.entry("tables"),
        job.tables,
        job.declared_values,
        result.entry("records").integer(minimum=0),
        job.minimum,
        job.zeros or job.minimum == 1,
    )


def table_file(at: int, names: Sequence[str]) -> str:
    """The file of a table in the result folder."""
    return f"tables/{at + 1}-{'-'.join(names)}.csv"


def _read_table(node: Node, known: Sequence[str], attributes: Mapping[str, Any]) -> tuple[str, ...]:
    names = tuple(item.choice(*known) for item in node.items())
    if not names or len(set(names)) != len(names):
        raise node.error("a table is a list of different attributes")
    sizes = [len(attributes[n].values) for n in names if n in attributes and attributes[n].values]
    if math.prod(sizes) > MAX_CELLS:
        raise node.error(f"the table has {math.prod(sizes)} cells, more than {MAX_CELLS}")
    return names


def check_cells(names: Sequence[str], joined: Joined) -> None:
    """Refuses a table that is too large because of domains that the job left open."""
    cells = math.prod(joined.axes[name].size for name in names)
    if cells > MAX_CELLS:
        raise DataError(f"the table of {', '.join(names)} has {cells} cells, more than {MAX_CELLS}")


def count_tables(
    job: StatisticsJob,
    joined: Joined,
    tables: Sequence[Sequence[str]],
    channel: Channel,
    rng: Random,
) -> list[Ring | None]:
    """Shares of every table at the servers."""
    transfers = Transfers(channel, rng.fork("transfers"))
    shares: list[Ring | None] = []
    with channel.step("count"):
        for names in tables:
            axes = [joined.axes[name] for name in names]
            fork = rng.fork(f"table {len(shares)}")
            count = partial(count_shares, job, joined, transfers, axes, fork)
            shares.append(kept_share(channel, "table", count))
    return shares


def total_records(job: StatisticsJob, joined: Joined, channel: Channel, rng: Random) -> int:
    """The number of records of all parties: known, or a secure sum of the parts."""
    if not job.horizontal:
        return joined.records
    total: int = channel.once(
        "number of records",
        lambda: summed_records(job.party_names, joined.records, channel, rng),
    )
    return total


def summed_records(names: tuple[str, ...], mine: int, channel: Channel, rng: Random) -> int:
    """The number of records of all parties together, by a secure sum."""
    with channel.step("records"):
        own = np.array([mine], np.uint64)
        total = SecureSum(channel, names, rng.fork("records")).modular(own)
        return int(channel.open(TOTAL, total)[0])


def read_minimum(section: Section) -> int:
    return section.read("minimum", lambda n: n.integer(1, MOST_RECORDS), 5)


def read_zeros(section: Section) -> bool:
    """Whether empty cells are shown."""
    return section.read("zeros", lambda n: n.choice("hide", "show"), "hide") == "show"


def plan_tables(
    job: StatisticsJob, joined: Joined, tables: Sequence[Sequence[str]], minimum: int
) -> list[Component]:
    """The rules by which cells are shown or hidden. DataError if nothing could be hidden."""
    shapes = [
        Table(tuple(names), tuple(joined.axes[name].size for name in names)) for names in tables
    ]
    label = {job.class_name} if job.class_name else set()
    owners = {name: job.owner(name) for name in job.attributes}
    if job.mixed:  # a coalition may hold all cells of any attributes but one
        owners = {name: f"cells of {name}" for name in job.attributes}
    components = plan(shapes, Holders(owners, job.servers, frozenset(label)))
    if minimum == 1:  # no cell is small, and no joint table is counted
        return [replace(component, joints=()) for component in components]
    return components


def judged_by(components: Sequence[Component]) -> list[tuple[str, ...]]:
    """The joint tables that are counted after the tables, and never shown."""
    return [table.names for table in joint_tables(components)]


def reveal_tables(
    components: Sequence[Component],
    records: int,
    shares: Sequence[Ring | None],
    counts: HiddenCounts,
    minimum: int,
    zeros: bool,
) -> list[int | None]:
    """The visible counts, of all tables one after the other; None for hidden cells."""
    if records >= MOST_RECORDS:
        raise DataError(f"{records} records are more than small counts can be hidden among")
    flat = None if shares[0] is None else np.concatenate([s for s in shares if s is not None])
    cells = sum(len(component.cells) for component in components)

    def reveal() -> list[Value]:
        visible = visible_cells(counts, components, flat, cells, minimum, zeros)
        shown = np.flatnonzero(visible)
        return [shown, np.asarray(counts.open(None if flat is None else flat[shown], len(shown)))]

    with counts.channel.step("reveal"):
        shown, opened = counts.channel.once("visible counts", reveal)
    values: list[int | None] = [None] * cells
    for place, count in zip(shown, opened, strict=True):
        values[place] = int(count)
    return values


def as_tables(
    tables: Sequence[Sequence[str]], joined: Joined, counts: Sequence[int | None]
) -> list[dict[str, Any]]:
    """The tables as `result.json` has them, from the counts of all tables one after the other."""
    rest = iter(counts)
    result = []
    for names in tables:
        size = math.prod(joined.axes[name].size for name in names)
        cells = as_cells(names, joined, list(islice(rest, size)))
        result.append({"attributes": list(names), "cells": cells})
    return result


def as_cells(
    names: Sequence[str], joined: Joined, cells: Sequence[int | None]
) -> list[list[str | int | None]]:
    """Rows of values and a count."""
    values = product(*(joined.domains[name] for name in names))
    return [[*row, count] for row, count in zip(values, cells, strict=True)]


def _write_shares(path: Path, names: Sequence[str], joined: Joined, share: Ring) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "share modulo 2^32"])
        writer.writerows(as_cells(names, joined, share.tolist()))


COUNT = Count()
