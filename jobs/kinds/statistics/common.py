"""The common part of `count`, `tree` and `bayesnet` jobs: matched columns with domains.

    partition: vertical       each attribute at one party, records matched by `id` (the default)
    partition: horizontal     all attributes at every party, of different people; no `id`
    partition: mixed          all attributes at every party; a cell has its value at one of them
    servers: [lender, bank]   the two parties that compute on shares; the first two by default.
                              They must not collude: together they could see every count.

This module has the keys of such a job, what it asks of a party, and the party's own columns as codes.
`joining` matches the records of all parties, and counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.arrays import Codes
from coterie.base.errors import DataError
from coterie.base.text import quoted_list
from coterie.jobs.data.domains import CodedAttribute, read_attributes
from coterie.jobs.data.missing import Dropped, without_gaps
from coterie.jobs.data.own_columns import LONGEST_VALUE
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.kinds.kind import Kind
from coterie.jobs.kinds.needs import Answers, Columns, Groups, Needs, dropped_of, matched
from coterie.jobs.matching.identifiers import (
    Matching,
    PreparedIdentifiers,
    prepare_identifiers,
    read_matching,
)
from coterie.protocols.integration.class_labels import (
    MOST_CLASSES,
)
from coterie.protocols.statistics.shared_counts import RING_BITS

MAX_VALUES = 4096  # the most values of one attribute
UNCHECKED = "whether the records, which stay with the parties, give these numbers"


@dataclass(frozen=True)
class StatisticsJob(Job):
    """A job on columns with finite domains. `matching` is None with horizontal partition."""

    matching: Matching | None
    attributes: Mapping[str, CodedAttribute]
    class_name: str | None
    servers: tuple[str, str]
    mixed: bool  # whether each cell lies at one party, and is empty at the others

    @property
    def horizontal(self) -> bool:
        return self.matching is None

    @property
    def everywhere(self) -> bool:
        """Whether every party has all attributes, none of which has an owner."""
        return self.horizontal or self.mixed

    @property
    def declared_values(self) -> dict[str, tuple[str, ...] | None]:
        """The values that the job declares for each attribute; None if it leaves them open."""
        return {name: item.values for name, item in self.attributes.items()}

    def owner(self, name: str) -> str | None:
        """The only holder of an attribute; None for the class, or if the partition is not vertical."""
        return self.attributes[name].party if name in self.attributes else None


@dataclass(frozen=True)
class PreparedColumns:
    """A party's own columns as codes, before anything is exchanged."""

    records: int
    identifiers: PreparedIdentifiers | None
    codes: Mapping[str, Codes]
    domains: Mapping[str, tuple[str, ...]]
    labels: Labels | None
    id_columns: pa.Table | None = None
    dropped: Dropped = field(default_factory=Dropped)


def read_statistics(
    section: Section, common: Common, needs_class: bool, mixed: bool = False
) -> dict[str, Any]:
    """The common keys, as fields of `StatisticsJob`; `mixed`: whether the kind knows that partition."""
    partition = read_partition(section, mixed)
    horizontal = partition == "horizontal"
    class_node = section.required("class") if needs_class else section.optional("class")
    attributes = read_attributes(section, common, partition)
    if class_node and class_node.text() in attributes:
        raise class_node.error("the class is an attribute, too; it may be only one of them")
    if horizontal and (node := section.optional("id")):
        raise node.error("with 'partition: horizontal' records are not matched: leave it out")
    return {
        **vars(common),
        "matching": None if horizontal else read_matching(section),
        "attributes": attributes,
        "class_name": class_node.text() if class_node else None,
        "servers": read_servers(section, common),
        "mixed": partition == "mixed",
    }


def read_partition(section: Section, mixed: bool) -> str:
    """How the cells are divided among the parties."""
    choices = ("vertical", "horizontal", *(["mixed"] if mixed else []))
    return section.read("partition", lambda node: node.choice(*choices), "vertical")


def read_servers(section: Section, common: Common) -> tuple[str, str]:
    """The two parties that compute on shares; the first two unless the job names them."""
    servers = common.party_names[:2]
    if node := section.optional("servers"):
        servers = tuple(item.choice(*common.party_names) for item in node.items())
        if len(set(servers)) != 2 or len(servers) != 2:
            raise node.error("must be two different parties of the job")
    return servers[0], servers[1]


def read_precision(section: Section) -> bool:
    """Whether `precision` is high."""
    return section.read("precision", lambda n: n.choice("standard", "high"), "standard") == "high"


def own_columns(job: StatisticsJob, party: str) -> tuple[str, ...]:
    """A party's own attributes, which it must have."""
    return tuple(n for n, item in job.attributes.items() if job.everywhere or item.party == party)


def statistics_needs(
    job: StatisticsJob,
    party: str,
    smallest_group: int | None,
    zeros: bool = False,
    numbers: bool = True,
    keeps: str | None = None,
    predicted_for: tuple[str, ...] = (),
    thresholds: Mapping[str, str] | None = None,
) -> Needs:
    """The needs of a party: its own attributes and identifiers, and the class if it has it.

    Columns are released if all parties learn their values: attributes whose values the job does not
    declare, and the class. `numbers`: whether anything is told that follows from counts. `keeps`: the
    name under which the party keeps its part of the model. `predicted_for`: who learns a class of each
    common person.
    """
    own = own_columns(job, party)
    told = tuple(
        name
        for name, item in job.attributes.items()
        if not job.horizontal and item.party == party and item.values is None
    )
    counted = {name: item.classes for name, item in job.attributes.items()}
    if job.class_name:
        counted[job.class_name] = ""
    return Needs(
        columns=Columns(
            used=own,
            released=told,
            label=job.class_name,
            owes=job.horizontal,
            dropped=dropped_of(job.matching, job.attributes, own),
        ),
        matching=matched(job.matching),
        groups=Groups(smallest=smallest_group, zeros=zeros),
        answers=Answers(
            counted=counted if numbers else {},
            exact=numbers and not job.horizontal,
            servers=job.servers,
            predicted_for=predicted_for,
            keeps=keeps,
            thresholds=thresholds or {},
        ),
    )


def prepare_columns(
    job: StatisticsJob, party: str, table: pa.Table, source: str
) -> PreparedColumns:
    """Codes of the party's columns; an error names a value that cannot be used."""
    own = {
        name: job.attributes[name]
        for name in own_columns(job, party)
        # A column that identifies records may have the name of another party's attribute.
        if name in job.attributes and (job.everywhere or job.attributes[name].party == party)
    }
    dropping = {name: item.values or () for name, item in own.items() if item.missing == "drop"}
    table, dropped = without_gaps(table, dropping, source)
    with dropped.counted_as_read():
        return replace(coded_columns(job, own, table, source), dropped=dropped)


def coded_columns(
    job: StatisticsJob, own: Mapping[str, CodedAttribute], table: pa.Table, source: str
) -> PreparedColumns:
    """The codes of these columns, the class and the identifiers."""
    spelling = spelling_of(table)
    codes: dict[str, Codes] = {}
    domains: dict[str, tuple[str, ...]] = {}
    for name, item in own.items():
        codes[name], domains[name] = item.encode(table.column(name), source, spelling)
        check_domain(domains[name], name, source)
    labels = None
    if job.class_name and job.class_name in table.column_names:
        label = CodedAttribute(job.class_name, None, None, strict=True)
        label_codes, values = label.encode(table.column(job.class_name), source)
        check_domain(values, job.class_name, source)
        if len(values) > MOST_CLASSES:
            raise DataError(
                f"{source}: column '{job.class_name}' has {len(values)} values; "
                f"a class has at most {MOST_CLASSES}"
            )
        labels = Labels(label_codes, values)
    identifiers = None
    if job.matching:
        identifiers = prepare_identifiers(job.matching, table, source)
    elif table.num_rows >= 1 << RING_BITS:
        raise DataError(f"{source}: {table.num_rows} records are more than counts can hold")
    ids = table.select(list(job.matching.columns)) if job.matching else None
    return PreparedColumns(table.num_rows, identifiers, codes, domains, labels, ids)


S = TypeVar("S", bound=StatisticsJob)


class StatisticsKind(Kind[S, PreparedColumns], Generic[S]):
    """The base class of kinds on finite domains."""

    files = ("attributes.*.taxonomy",)
    data_type = PreparedColumns

    def prepare(self, job: S, party: str, table: pa.Table, source: str) -> PreparedColumns:
        return prepare_columns(job, party, table, source)


def told_of_columns(job: StatisticsJob, party: str) -> list[str]:
    """What every statistic tells others of a party's table, in plain words for its steward."""
    told = []
    if job.class_name is not None and not job.horizontal:
        told.append(f"every party: the class '{job.class_name}' of each common person")
    if job.class_name is not None and job.horizontal:
        told.append(
            f"every party: which values '{job.class_name}' has anywhere, not which of them are "
            "yours (with two parties the other one can tell)"
        )
    if job.horizontal:
        told.append("every party: how many rows all parties have together")
    if job.mixed:
        told.append(told_of_cells())
    undeclared = [
        name
        for name, item in job.attributes.items()
        if not job.horizontal and item.party == party and item.values is None
    ]
    if undeclared:
        told.append(
            f"every party: all values of {quoted_list(undeclared)} that occur in your table, also "
            "those of people who are not common"
        )
    return told


def told_of_cells() -> str:
    """What the check of a mixed partition tells, in plain words for a party's steward."""
    return (
        "every party: of each column whether every cell of a common person lies at exactly one party; "
        "not which cells are yours"
    )


def check_domain(values: tuple[str, ...], name: str, source: str) -> None:
    """Checks that a domain is small enough for tables, and its values short enough to send."""
    if len(values) > MAX_VALUES:
        raise DataError(
            f"{source}: column '{name}' has {len(values)} values, more than {MAX_VALUES}; "
            "group them by 'cuts' or choose another attribute"
        )
    for value in values:
        if len(value.encode()) > LONGEST_VALUE:
            start = f"{value[:40]}…"
            raise DataError(
                "{column}: the value {value} is too long", file=source, column=name, value=start
            )


def reported(released: Mapping[str, Path]) -> dict[str, Any]:
    """The result as the parties report it; the caller has checked that all are equal."""
    folder = next(iter(released.values()))
    result: dict[str, Any] = json.loads((folder / "summary.json").read_text())["result"]
    return result
