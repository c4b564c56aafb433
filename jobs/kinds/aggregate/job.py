"""The keys of an `aggregate` job.

attributes:
  Job:    {party: bank, values: [Clerk, Nurse]}          by its groups: as in `count`
  Salary: {party: lender, range: [0, 200000], decimals: 2}   added up: `jobs.data.measured`
by: [Job]                      none: one group of all records
measures: [{count: true}, {sum: Salary}, {mean: Salary}, {variance: Salary}]
minimum: 5                     groups of fewer records are not shown, nor others that give them back
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coterie.anonymity.table.intervals import GAP
from coterie.jobs.data.domains import CodedAttribute, read_domain
from coterie.jobs.data.measured import MeasuredAttribute, read_measured
from coterie.jobs.data.missing import read_missing
from coterie.jobs.data.taxonomy_files import TaxonomyFiles
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.kinds.statistics.common import StatisticsJob, read_partition, read_servers
from coterie.jobs.kinds.statistics.count import MAX_CELLS, read_minimum
from coterie.jobs.matching.identifiers import read_matching

WHAT = ("count", "sum", "mean", "variance")
MOST_MEASURES = 64


@dataclass(frozen=True)
class Measure:
    """A number that is asked of every group: what, and of which column."""

    what: str
    column: str = ""

    @property
    def title(self) -> str:
        return f"{self.what} of {self.column}" if self.column else self.what


@dataclass(frozen=True)
class AggregateJob(StatisticsJob):
    """`attributes` has those of `by` alone, `measured` the columns that are added up."""

    by: tuple[str, ...]
    measures: tuple[Measure, ...]
    measured: Mapping[str, MeasuredAttribute]
    minimum: int

    def asks(self, column: str, *what: str) -> bool:
        """Whether one of these measures of the column is asked for."""
        return any(one.column == column and one.what in what for one in self.measures)


def read_aggregate(section: Section, common: Common) -> AggregateJob:
    horizontal = read_partition(section)
    if node := section.optional("class"):
        raise node.error("an aggregate job has no class: name the column in attributes and by")
    if node := section.optional("noise"):
        raise node.error(
            "noise is not offered yet: leave it out; small groups are hidden by 'minimum'"
        )
    given = section.required("attributes").section()
    known = given.keys()
    by = _read_by(section, known)
    measures = _read_measures(section.required("measures"), known)
    columns = {measure.column for measure in measures if measure.column}
    coded: dict[str, CodedAttribute] = {}
    measured: dict[str, MeasuredAttribute] = {}
    default = read_missing(section, None)
    taxonomies = TaxonomyFiles(common.files)
    for name, node in given.entries():
        both = _read_attribute(name, node, common, taxonomies, horizontal, default, name in columns)
        if name in by:
            coded[name] = both[0]
            if horizontal and both[0].values is None:
                raise node.error(
                    "with 'partition: horizontal' a domain must be declared: values, taxonomy or cuts"
                )
        if name in columns and both[1]:
            measured[name] = both[1]
    sizes = [len(values) for item in coded.values() if (values := item.values)]
    if math.prod(sizes) > MAX_CELLS:
        raise section.required("by").error(
            f"there are {math.prod(sizes)} groups, more than {MAX_CELLS}"
        )
    if horizontal and (node := section.optional("id")):
        raise node.error("with 'partition: horizontal' records are not matched: leave it out")
    return AggregateJob(
        **vars(common),
        matching=None if horizontal else read_matching(section),
        attributes={name: coded[name] for name in by},
        class_name=None,
        servers=read_servers(section, common),
        by=by,
        measures=measures,
        measured=measured,
        minimum=read_minimum(section),
    )


def _read_by(section: Section, known: list[str]) -> tuple[str, ...]:
    node = section.optional("by")
    if node is None:
        return ()
    by = tuple(item.choice(*known) for item in node.items())
    if len(set(by)) != len(by):
        raise node.error("an attribute stands here twice")
    return by


def _read_measures(node: Node, known: list[str]) -> tuple[Measure, ...]:
    measures = tuple(_read_measure(item, known) for item in node.items(MOST_MEASURES))
    if not measures:
        raise node.error("there must be at least one measure")
    return measures


def _read_measure(node: Node, known: list[str]) -> Measure:
    entries = node.section().entries()
    if len(entries) != 1 or entries[0][0] not in WHAT:
        raise node.error(f"must have one key, which is one of {', '.join(WHAT)}")
    [(what, value)] = entries
    if what == "count":
        if not value.boolean():
            raise value.error("must be true, or leave the measure out")
        return Measure(what)
    return Measure(what, value.choice(*known))


def _read_attribute(
    name: str,
    node: Node,
    common: Common,
    taxonomies: TaxonomyFiles,
    horizontal: bool,
    default: str | None,
    added: bool,
) -> tuple[CodedAttribute, MeasuredAttribute | None]:
    """An attribute as it is grouped by, and as it is added up."""
    entry = node.section()
    party = None
    if not horizontal:
        party = entry.required("party").choice(*common.party_names)
    missing = read_missing(entry, default) or "error"
    values, cuts, scale = read_domain(entry, taxonomies)
    numbers: Any = None
    if added:
        numbers = read_measured(name, node, entry, party, cuts, missing)
    else:
        for key in ("range", "decimals"):  # said of a column that is only grouped by
            entry.optional(key)
    entry.close()
    if values is not None and missing == "value" and GAP not in values:
        values = (*values, GAP)
    return CodedAttribute(name, party, values, cuts, scale, missing), numbers
