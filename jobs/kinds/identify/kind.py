"""`kind: identify`: which sets of columns across parties may single people out, without a column shown.

    attributes:
      Sex: {party: lender, values: [Female, Male]}
      Age: {party: bank}
    population: 300000    how many people the common records are a part of; the common records alone
                          if it is left out
    alpha: 0.2            sets that may single out this share of the population are named
    longest: 4            the most columns of a set
    pairs: 16384          optional: pairs of common records on which separation is estimated
    round: 0.001          optional: the estimate is given in steps of about this size
    uniques: [[Sex, Age]] optional: for these sets also the exact number of unique people, where there
                          are few combinations and each party's policy permits groups of one

First each party tells how many different values each of its columns has, unless the job declares
the values. A column whose values seldom repeat has more of them in the population than in the table:
its owner tells an estimate. The sets follow from these numbers by arithmetic (`anonymity.risk.quasi_identifiers`).
With `id` the parties then match their records and estimate for each of these sets which share of
pairs of people it tells apart (`protocols.patterns.separation`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.anonymity.risk.quasi_identifiers import Finding, possible, values_in_population
from coterie.base.arrays import Codes
from coterie.base.errors import DataError
from coterie.base.text import numbered
from coterie.jobs.data.domains import CodedAttribute, read_attributes
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.identify.verify_sets import (
    ClaimedSet,
    read_sets,
    read_uniques,
    verify_sets,
    verify_uniques,
)
from coterie.jobs.kinds.kind import Json, Kind, Verdict
from coterie.jobs.kinds.needs import (
    Answers,
    Columns,
    Groups,
    Needs,
    dropped_of,
    matched,
    thresholds_of,
)
from coterie.jobs.kinds.statistics.common import read_servers
from coterie.jobs.kinds.statistics.open_columns import OpenColumns, open_columns
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import Matching, read_matching
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import listed
from coterie.jobs.pages.page import Part, note
from coterie.jobs.pages.page import table as page_table
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.patterns.separation import LEAST_STEP, Separation, separation
from coterie.protocols.patterns.unique_cells import MOST_CELLS, unique_cells
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import Axis, JointTable, table_shares

MOST_SETS = 200_000  # sets of columns that are gone through
MOST_MEASURED = 500  # sets whose separation is estimated, those of fewest columns first
MOST_VALUES = 1 << 40
MOST_PEOPLE = 1 << 50
_FEWEST_PAIRS = 8 * LEAST_STEP  # below which an estimate in steps says nothing
_SHOWN = 200  # sets in a report
_DRAWN = 12  # of them as bars
_FEW = 8  # records with a value of their own
_SHARES = (1 / 32, 1 / 16, *(eighths / 8 for eighths in range(1, 9)))
MOST_EXACT = 8  # sets whose unique people are counted
_KEYS = ("pairs", "round", "servers", "uniques")  # keys that need matched records

DISTINCT = declare(
    "identify: distinct values",
    what="How many different values each column of the job has in its owner's whole table, common records or not, unless the job declares its values; no value. If values of the column occur once, an estimate for the population, from the number of values and the share of records with such a value, rounded up to eighths (a small one to 1/16 or 1/32, one below 1/64 to none); jobs with two populations tell these two.",
    to="every party",
    why="Which sets of columns may single people out follows from these numbers.",
)


@dataclass(frozen=True)
class IdentifyJob(Job):
    """`matching` is None where only numbers of values are asked for."""

    matching: Matching | None
    attributes: Mapping[str, CodedAttribute]
    servers: tuple[str, str]
    population: int | None
    alpha: float
    longest: int
    pairs: int
    resolution: float
    uniques: tuple[tuple[str, ...], ...]

    def own(self, party: str) -> dict[str, CodedAttribute]:
        return {name: item for name, item in self.attributes.items() if item.party == party}


class Identify(Kind[IdentifyJob, OpenColumns]):
    about = "Sets of columns across parties that may single people out, without a column shown."
    leaves = ()
    files = ("attributes.*.taxonomy",)
    opens = ("intersection",)
    job_type = IdentifyJob
    data_type = OpenColumns

    def parse(self, section: Section, common: Common) -> IdentifyJob:
        attributes = read_attributes(section, common)
        people = section.optional("population")
        matching = read_matching(section) if section.optional("id") else None
        if matching is None:
            if people is None:
                raise section.error(
                    "needs 'population', or 'id' to count the common records in its place"
                )
            for key in _KEYS:
                if node := section.optional(key):
                    raise node.error("has no meaning without 'id': no records are compared")
        longest = section.read("longest", lambda n: n.integer(1, 64), 4)
        count = len(attributes)
        sets = sum(math.comb(count, size) for size in range(1, min(longest, count) + 1))
        if sets > MOST_SETS:
            node = section.optional("longest") or section.required("attributes")
            raise node.error(
                f"{count} columns have {sets:,} sets of up to {longest}, more than {MOST_SETS:,}: "
                "lower 'longest' or list fewer columns"
            )
        alpha = section.read("alpha", lambda n: n.number(0.0, 1.0), 0.2)
        if not 0 < alpha < 1:
            raise section.required("alpha").error(f"must be above 0 and below 1, not {alpha:g}")
        return IdentifyJob(
            **vars(common),
            matching=matching,
            attributes=attributes,
            servers=read_servers(section, common),
            population=people.integer(1, MOST_PEOPLE) if people else None,
            alpha=alpha,
            longest=longest,
            pairs=section.read("pairs", lambda n: n.integer(1 << 10, 1 << 20), 1 << 14),
            resolution=section.read("round", lambda n: n.number(0.0, 0.5), 0.001),
            uniques=section.read("uniques", lambda n: _read_uniques(n, attributes), ()),
        )

    def needs(self, job: IdentifyJob, party: str) -> Needs:
        matching = job.matching
        own = job.own(party)
        return Needs(
            columns=Columns(used=tuple(own), dropped=dropped_of(matching, job.attributes, own)),
            matching=matched(matching),
            groups=Groups(smallest=1 if job.uniques else None),
            answers=Answers(
                counted={n: a.classes for n, a in job.attributes.items()} if matching else {},
                exact=matching is not None,
                servers=job.servers if matching else (),
                thresholds=thresholds_of(
                    job, "alpha", "longest", "pairs", "resolution", "population"
                ),
            ),
        )

    def prepare(self, job: IdentifyJob, party: str, table: pa.Table, source: str) -> OpenColumns:
        return open_columns(job.own(party), job.matching, table, source)

    def run(
        self,
        job: IdentifyJob,
        prepared: OpenColumns,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        prepared.dropped.write(workspace.kept)
        distinct = _distinct_values(job, prepared, channel)
        if job.matching is None or prepared.identifiers is None:
            found = possible(distinct, job.population or 1, job.alpha, job.longest).sets
            return _as_result(job, distinct, job.population or 1, found, None)
        _check_cells(job, distinct)  # before the records are matched, which takes longest
        rows = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace)
        people = job.population or len(rows)
        if people < len(rows):
            raise DataError(
                f"a population of {people:,} is smaller than the {len(rows):,} common records"
            )
        codes = {name: column.codes[rows] for name, column in prepared.columns.items()}
        transfers = Transfers(channel, rng.fork("transfers"))
        group = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
        found = possible(distinct, people, job.alpha, job.longest).sets
        measured = None
        if found and len(rows) * (len(rows) - 1) // 2 >= _FEWEST_PAIRS:
            measured = separation(
                transfers,
                group,
                [finding.columns for finding in found[:MOST_MEASURED]],
                {name: item.party or "" for name, item in job.attributes.items()},
                codes,
                len(rows),
                job.pairs,
                job.resolution,
                rng.fork("separation"),
            )
        exact = _uniques(job, distinct, codes, len(rows), transfers, group, rng.fork("uniques"))
        told = _as_result(job, distinct, people, found, measured)
        return {"records": len(rows), **told, **exact}

    def assemble(self, job: IdentifyJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes no files: the sets are in `result.json`."""
        return []

    def summary(self, job: IdentifyJob, result: Claim) -> Sequence[str]:
        sets = read_sets(result)
        people = result.entry("population").integer(minimum=1)
        if not sets:
            first = f"no set of up to {job.longest} columns may single out"
        else:
            first = f"{len(sets):,} sets of columns may single out"
        lines = [f"{first} {job.alpha * 100:g} % of {people:,} people"]
        for one in sets[:5]:
            told = "" if one.separation is None else f", tells {one.separation:.1%} of pairs apart"
            lines.append(f"  {', '.join(one.columns)}: at most {one.bound:.1%} unique{told}")
        if len(sets) > 5:
            lines.append(f"  and {len(sets) - 5:,} more")
        return lines + [
            f"{', '.join(one.columns)}: {one.uniques:,} people are unique"
            for one in read_uniques(result)
        ]

    def report(self, job: IdentifyJob, result: Claim, folder: Path) -> Sequence[Part]:
        sets = read_sets(result)
        people = result.entry("population").integer(minimum=1)
        distinct = result.entry("distinct").entries()
        content = [
            note(
                f"A set is listed if the numbers of values of its columns let {job.alpha * 100:g} % or more of "
                f"{people:,} people be unique, and if no smaller set of its columns does. A set that "
                "is not listed cannot, beyond chance; a listed one may, and the share of pairs of "
                "people that it tells apart says how near it comes."
            )
        ]
        if sets:
            named = [
                (", ".join(one.columns), one.bound, f"{one.bound:.1%}") for one in sets[:_DRAWN]
            ]
            content += [
                note("The people who are unique by a set of columns, at most:"),
                bars("The share of people who are unique by a set of columns, at most", named),
            ]
        rows = [
            [
                listed(one.columns),
                f"{one.cells:,}",
                f"{one.bound:.1%}",
                "not measured" if one.separation is None else f"{one.separation:.2%}",
            ]
            for one in sets[:_SHOWN]
        ]
        if rows:
            content.append(
                note(
                    "Combinations: how many the values of these columns have. Unique at most: the "
                    "share of people who can be alone with theirs. Distinguished pairs: the share of "
                    "pairs of people who differ in one of these columns."
                )
            )
        head = ["columns", "combinations", "unique at most", "distinguished pairs"]
        content.append(
            page_table(head, rows, (1, 2, 3), sentences=True) if rows else note("No set is listed.")
        )
        if len(sets) > _SHOWN:
            content.append(note(f"The other {len(sets) - _SHOWN:,} sets are in result.json."))
        if exact := read_uniques(result):
            rows = [[listed(one.columns), f"{one.cells:,}", f"{one.uniques:,}"] for one in exact]
            content.append(page_table(["columns", "combinations", "unique people"], rows, (1, 2)))
        columns = [
            [listed([name]), f"{d.integer(1):,}"]
            for name, d in distinct.items()
            if name in job.attributes
        ]
        holders = [
            [listed([name]), listed([attribute.party])]
            for name, attribute in job.attributes.items()
            if attribute.party is not None
        ]
        return [
            Part("Sets that may single people out", content, public=True),
            Part(
                "Columns",
                [
                    note("How many different values each column has."),
                    page_table(["column", "values"], columns, numbers=(1,)),
                ],
                public=True,
            ),
            Part("Who holds them", [page_table(["column", "held by"], holders)], public=False),
        ]

    def check(self, job: IdentifyJob, result: Claim) -> None:
        _verified(job, result)

    def verify(self, job: IdentifyJob, result: Claim, folder: Path) -> Verdict:
        people, sets = _verified(job, result)
        facts: dict[str, Json] = {"sets": len(sets), "population": people}
        holds = [
            f"{numbered(len(sets), 'set')}, exactly the smallest of up to {job.longest} columns that the "
            f"numbers of values let single out {job.alpha * 100:g} % of {people:,} people",
        ]
        if job.matching:
            holds.append("separation is told in whole steps, of no fewer than 8 pairs")
        unchecked = [
            "whether the columns, which stay with the parties, have so many values and tell so many "
            "pairs apart"
        ]
        return Verdict(holds, unchecked, facts)


def _verified(job: IdentifyJob, result: Claim) -> tuple[int, list[ClaimedSet]]:
    """The population and the sets of a result; raises if a number cannot be."""
    people = result.entry("population").integer(minimum=1)
    if job.population is not None and people != job.population:
        raise result.error(f"has a population of {people}, the job says {job.population}")
    declared = {n: len(a.values) if a.values else None for n, a in job.attributes.items()}
    sets = verify_sets(result, declared, people, job.alpha, job.longest, bool(job.matching))
    verify_uniques(result, job.uniques)
    return people, sets


def _read_uniques(
    node: Node, attributes: Mapping[str, CodedAttribute]
) -> tuple[tuple[str, ...], ...]:
    found = []
    for item in node.items(MOST_EXACT):
        names = tuple(one.choice(*attributes) for one in item.items())
        if not names or len(set(names)) != len(names):
            raise item.error("must be a list of different attributes")
        found.append(names)
    return tuple(found)


def _check_cells(job: IdentifyJob, distinct: Mapping[str, int]) -> None:
    """Refuses sets of too many combinations to count the unique people in."""
    for names in job.uniques:
        cells = math.prod(distinct[name] for name in names)
        if cells > MOST_CELLS:
            raise DataError(
                f"{', '.join(names)} have {cells:,} combinations, more than the {MOST_CELLS:,} "
                "in which unique people are counted: leave the set out of 'uniques'"
            )


def _uniques(
    job: IdentifyJob,
    distinct: Mapping[str, int],
    codes: Mapping[str, Codes],
    records: int,
    transfers: Transfers,
    group: HiddenCounts,
    rng: Random,
) -> dict[str, Any]:
    """The exact numbers of unique people, as the result has them."""
    counted = []
    for at, names in enumerate(job.uniques):
        axes = [Axis(name, job.attributes[name].party, distinct[name]) for name in names]
        table = JointTable(job.party_names, job.servers, axes, codes, records)
        with transfers.channel.step("uniques"):
            share = table_shares(transfers, table, rng.fork(f"{at}"))
            cells = math.prod(distinct[name] for name in names)
            number = unique_cells(group, share, cells)
        counted.append({"columns": list(names), "cells": cells, "uniques": number})
    return {"uniques": counted} if counted else {}


def _distinct_values(job: IdentifyJob, prepared: OpenColumns, channel: Channel) -> dict[str, int]:
    """How many values every column has: as declared, or as its owner tells."""
    distinct = {
        name: len(item.values) if item.values else 0 for name, item in job.attributes.items()
    }
    with channel.step("distinct"):
        own = [name for name, size in distinct.items() if not size and name in prepared.columns]
        mine = [_values_told(job, prepared, name) for name in own]
        if not all(distinct.values()):
            channel.open(DISTINCT, mine)
            channel.broadcast([*mine])
            for peer in channel.peers:
                theirs = [name for name, item in job.own(peer).items() if item.values is None]
                what = f"numbers of values of {', '.join(theirs) or 'no column'}"
                told = channel.recv_ints(peer, len(theirs), 0, MOST_VALUES, what)
                distinct |= dict(zip(theirs, told, strict=True))
        distinct |= dict(zip(own, mine, strict=True))
    empty = [name for name, size in distinct.items() if not size]
    if empty:
        raise DataError(f"the table of {job.attributes[empty[0]].party} has no row")
    return distinct


def _values_told(job: IdentifyJob, prepared: OpenColumns, name: str) -> int:
    """How many values a column may have in the population, from two facts about its owner's table.

    The estimate (`values_in_population`) follows from the number of values, taken for that of records,
    and the share of records whose value occurs once, so that no series of populations tells the number
    of records. The share is rounded up (`_share_told`), because exactly how many values occur once is
    how many people are unique by the column, which needs groups of one.
    """
    column = prepared.columns[name]
    people = max(job.population or 0, column.distinct)  # without one, that of the common records
    share = _share_told(column.once, prepared.records)
    told = values_in_population(column.distinct, share, column.distinct, people, job.alpha)
    return min(told, MOST_VALUES)


def _share_told(once: int, records: int) -> float:
    """The next of 1/32, 1/16 and the eighths above a share; of few records, or of less than 1/64, 0."""
    if once < max(_FEW, records / 64):
        return 0.0
    return next(share for share in _SHARES if once <= share * records)


def _as_result(
    job: IdentifyJob,
    distinct: Mapping[str, int],
    people: int,
    found: Sequence[Finding],
    measured: Separation | None,
) -> dict[str, Any]:
    ratios: list[float | None] = [] if measured is None else [*measured.ratios]
    ratios += [None] * (len(found) - len(ratios))
    return {
        "population": people,
        "alpha": job.alpha,
        "distinct": dict(distinct),
        "sets": [
            {
                "columns": list(one.columns),
                "cells": one.cells,
                # Nine digits, so that parties on different machines report the same number.
                "bound": float(f"{one.bound:.9g}"),
                "separation": None if ratio is None else round(ratio, 9),
            }
            for one, ratio in zip(found, ratios, strict=True)
        ],
        "pairs": 0 if measured is None else measured.pairs,
        "step": 0 if measured is None else measured.step,
    }


IDENTIFY = Identify()
