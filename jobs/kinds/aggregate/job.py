"""The keys of an `aggregate` job.

    attributes:
      Job:    {party: bank, values: [Clerk, Nurse]}              to group by: as in `count`
      Salary: {party: lender, range: [0, 200000], decimals: 2}   added up: `jobs.data.measured`
    by: [Job]                      none: one group of all records
    measures: [{count: true}, {sum: Salary}, {mean: Salary}, {quantile: [Salary, 0.5]}]
    minimum: 5                     groups of fewer records are not shown, nor groups that give them away
    dominance: 0.5                 nor those of whose sum one record has more than this share
    round: 100                     numbers are rounded to multiples of this
    noise: {epsilon: 1}            numbers have noise for differential privacy (`noisy`)

An attribute that neither `by` nor `measures` names is not read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coterie.anonymity.table.intervals import GAP
from coterie.base.text import ordinal
from coterie.jobs.data.domains import CodedAttribute, read_domain, read_gaps
from coterie.jobs.data.measured import MeasuredAttribute, read_measured
from coterie.jobs.data.taxonomy_files import TaxonomyFiles
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.kinds.statistics.common import StatisticsJob, read_partition, read_servers
from coterie.jobs.kinds.statistics.count import MAX_CELLS, read_minimum
from coterie.jobs.matching.identifiers import read_matching
from coterie.protocols.aggregates.aggregates import MOST_DENOMINATOR, Dominance
from coterie.protocols.aggregates.noise import (
    LEAST_DELTA,
    LEAST_EPSILON,
    MOST_DELTA,
    MOST_EPSILON,
    Noise,
)

WHAT = ("count", "sum", "mean", "variance", "quantile", "smallest", "largest")
PLACED = ("quantile", "smallest", "largest")  # measures that show a bucket of the numbers
MOST_MEASURES = 64


@dataclass(frozen=True)
class Measure:
    """A number that is asked of every group: what, and of which column."""

    what: str
    column: str = ""
    share: Fraction | None = None
    rank: int = 1  # of `smallest` and `largest`: so many records are at or beyond it

    @property
    def title(self) -> str:
        if self.rank > 1:
            return f"{ordinal(self.rank)} {self.what} of {self.column}"
        if self.share is not None:
            return f"quantile {float(self.share):g} of {self.column}"
        return f"{self.what} of {self.column}" if self.column else self.what


@dataclass(frozen=True)
class AggregateJob(StatisticsJob):
    """`attributes` has those of `by` alone, `measured` the columns that are added up."""

    by: tuple[str, ...]
    measures: tuple[Measure, ...]
    measured: Mapping[str, MeasuredAttribute]
    minimum: int
    dominance: Dominance | None
    base: int | None  # to whose multiples numbers are rounded
    noise: Noise | None = None

    @property
    def exact(self) -> bool:
        """Whether anything is told without noise that depends on values.

        With noise that is whether each cell lies at one party, and how many rows have no gap.
        """
        gaps = [item.missing for item in self.attributes.values()]
        gaps += [item.missing for item in self.measured.values()]
        return self.noise is None or self.mixed or (self.horizontal and "drop" in gaps)

    def asks(self, column: str, *what: str) -> bool:
        """Whether one of these measures of the column is asked for."""
        return any(one.column == column and one.what in what for one in self.measures)


def read_aggregate(section: Section, common: Common) -> AggregateJob:
    partition = read_partition(section, mixed=True)
    horizontal = partition == "horizontal"
    if node := section.optional("class"):
        raise node.error("an aggregate job has no class: name the column in attributes and by")
    noise = section.read("noise", read_noise, None)
    given = section.required("attributes").section()
    known = given.keys()
    by = _read_by(section, known)
    measures = _read_measures(section.required("measures"), known)
    columns = {measure.column for measure in measures if measure.column}
    coded: dict[str, CodedAttribute] = {}
    measured: dict[str, MeasuredAttribute] = {}
    default = read_gaps(section, None, partition)
    taxonomies = TaxonomyFiles(common.files)
    for name, node in given.entries():
        both = _read_attribute(name, node, common, taxonomies, partition, default, name in columns)
        if name in by:
            coded[name] = both[0]
            if partition != "vertical" and both[0].values is None:
                raise node.error(
                    f"with 'partition: {partition}' a domain must be declared: values, taxonomy or cuts"
                )
        if name in columns and both[1]:
            measured[name] = both[1]
    dominance = section.read("dominance", _read_dominance, None)
    base = section.read("round", lambda n: n.integer(2, 10**9), None)
    _check_columns(section, measures, measured, dominance)
    if partition == "mixed":
        _check_mixed(section, measures, dominance)
    if noise is not None:
        _check_noise(section, measures, coded, measured)
        measured = {name: replace(item, clips=True) for name, item in measured.items()}
    sizes = [len(values) for item in coded.values() if (values := item.values)]
    if math.prod(sizes) > MAX_CELLS:
        raise section.required("by").error(
            f"there are {math.prod(sizes)} groups, more than {MAX_CELLS}"
        )
    if horizontal and (node := section.optional("id")):
        raise node.error("with 'partition: horizontal' records are not matched: leave it out")
    minimum = read_minimum(section)
    return AggregateJob(
        **vars(common),
        matching=None if horizontal else read_matching(section),
        attributes={name: coded[name] for name in by},
        class_name=None,
        servers=read_servers(section, common),
        mixed=partition == "mixed",
        by=by,
        measures=tuple(
            replace(one, rank=minimum) if one.what in ("smallest", "largest") else one
            for one in measures
        ),
        measured=measured,
        minimum=minimum,
        dominance=dominance,
        base=base,
        noise=noise,
    )


def read_noise(node: Node) -> Noise:
    """`epsilon` alone: Laplace noise; with `delta`: Gaussian noise."""
    entry = node.section()
    epsilon = _bounded(entry.required("epsilon"), LEAST_EPSILON, MOST_EPSILON)
    delta = Fraction(0)
    if (given := entry.optional("delta")) is not None:
        delta = _bounded(given, LEAST_DELTA, MOST_DELTA)
    entry.close()
    return Noise(epsilon, delta)


def _bounded(node: Node, least: Fraction, most: Fraction) -> Fraction:
    number = Fraction(str(node.number()))
    if not least <= number <= most:
        raise node.error(f"must be from {float(least):g} to {float(most):g}")
    return number


def _check_mixed(
    section: Section, measures: tuple[Measure, ...], dominance: Dominance | None
) -> None:
    """Refuses what needs a column's buckets, which one party alone would have to know."""
    for measure in measures:
        if measure.what in PLACED:
            raise section.required("measures").error(
                f"{measure.title}: not offered with 'partition: mixed'; group by the column with 'cuts' "
                "and count, which gives its distribution"
            )
    if dominance is not None:
        raise section.required("dominance").error("is not offered with 'partition: mixed'")


def _check_noise(
    section: Section,
    measures: tuple[Measure, ...],
    coded: Mapping[str, CodedAttribute],
    measured: Mapping[str, MeasuredAttribute],
) -> None:
    """Refuses whatever would show something without noise beside the noisy numbers."""
    node = section.required("noise")
    if section.optional("dominance"):
        raise section.required("dominance").error(
            "with 'noise' one record's share of a sum is hidden by the noise: leave it out"
        )
    if section.optional("round"):
        raise section.required("round").error(
            "with 'noise' exact numbers are not shown anyhow: leave it out"
        )
    for measure in measures:
        if measure.what in PLACED:
            raise section.required("measures").error(
                f"{measure.title}: a quantile has no noise that a range bounds; group by the column "
                "with 'cuts' and count, which gives its distribution"
            )
    for name, attribute in coded.items():
        if attribute.values is None:
            raise node.error(
                f"the values of '{name}' must be declared (values, taxonomy or cuts): its owner would "
                "tell exactly which occur"
            )
    for name, item in measured.items():
        if not item.declared:
            raise node.error(f"'{name}' must have a 'range', which bounds what one record changes")
        if item.ends[0] >= item.ends[1]:
            raise node.error(f"the 'range' of '{name}' holds one number at most")
    if not coded and not measured:
        raise node.error("the number of all records is told anyhow: leave it out, or name a column")


def _read_dominance(node: Node) -> Dominance:
    """A share, or how many records have which share at most."""
    if not node.is_mapping:
        return Dominance(1, _read_share(node))
    entry = node.section()
    largest = entry.required("largest").integer(1, 5)
    rule = Dominance(largest, _read_share(entry.required("share")))
    entry.close()
    return rule


def _read_share(node: Node) -> Fraction:
    share = Fraction(str(node.number()))
    if not 0 < share < 1 or share.denominator > MOST_DENOMINATOR:
        raise node.error("must be a share between 0 and 1, with at most three decimals")
    return share


def _check_columns(
    section: Section,
    measures: tuple[Measure, ...],
    measured: Mapping[str, MeasuredAttribute],
    dominance: Dominance | None,
) -> None:
    """Refuses measures and a rule of dominance that the ranges of the columns do not allow."""
    for measure in measures:
        if measure.what in PLACED and not measured[measure.column].declared:
            raise section.required("measures").error(
                f"{measure.title}: declare a 'range', which is divided into buckets"
            )
    if dominance is not None and not measured:
        raise section.required("dominance").error(
            "no measure has a column of which to have a share"
        )
    for item in measured.values():
        if dominance is not None and (not item.declared or item.low < 0):
            raise section.required("dominance").error(
                f"'{item.name}' must have a 'range' that begins at 0 or above: shares of a sum are "
                "those of contributions, which are not negative"
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
    if what == "quantile":
        items = value.items()
        if len(items) != 2:
            raise value.error("must be [column, share], such as [Salary, 0.5]")
        return Measure(what, items[0].choice(*known), _read_share(items[1]))
    return Measure(what, value.choice(*known))


def _read_attribute(
    name: str,
    node: Node,
    common: Common,
    taxonomies: TaxonomyFiles,
    partition: str,
    default: str | None,
    added: bool,
) -> tuple[CodedAttribute, MeasuredAttribute | None]:
    """An attribute as it is grouped by, and as it is added up."""
    entry = node.section()
    party = None
    if partition == "vertical":
        party = entry.required("party").choice(*common.party_names)
    missing = read_gaps(entry, default, partition) or "error"
    values, cuts, scale = read_domain(entry, taxonomies)
    numbers: Any = None
    if added:
        numbers = read_measured(name, node, entry, party, cuts, missing)
    else:
        for key in ("range", "decimals"):  # permitted, without effect, if records are only grouped
            entry.optional(key)
    entry.close()
    if values is not None and missing == "value" and GAP not in values:
        values = (*values, GAP)
    return CodedAttribute(name, party, values, cuts, scale, missing), numbers
