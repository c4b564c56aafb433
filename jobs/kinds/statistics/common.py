"""The common part of `count`, `tree` and `bayesnet` jobs: matched columns with domains.

    partition: vertical       each attribute at one party, records matched by `id` (the default)
    partition: horizontal     all attributes at every party, of different people; no `id`
    partition: mixed          all attributes at every party, each cell at one; empty: not this one
    servers: [lender, bank]   the two parties that compute on shares; the first two unless said.
                              They must not collude: together they could see every count.

`begin` matches the records, lets owners announce domains that the job leaves open, shares the
class, and returns all columns as codes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.arrays import Codes, Ints
from coterie.base.errors import DataError
from coterie.base.text import quoted_list
from coterie.jobs.data.domains import CodedAttribute, read_attributes
from coterie.jobs.data.missing import Dropped, without_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.kinds.kind import Kind, Needs
from coterie.jobs.kinds.statistics.mixed import check_held
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import (
    Matching,
    PreparedIdentifiers,
    prepare_identifiers,
    read_matching,
)
from coterie.protocols.aggregates.mixed_tables import mixed_counts
from coterie.protocols.integration.class_labels import (
    MOST_CLASSES,
    class_holders,
    digest_of_class,
    share_class,
)
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.multiparty.set_union import union
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.contingency import Axis, horizontal_shares, table_shares
from coterie.protocols.statistics.shared_counts import RING_BITS, Ring, Transfers

MAX_VALUES = 4096  # the most values of one attribute
UNCHECKED = "whether the records, which stay with the parties, give these numbers"
LONGEST_VALUE = 200  # bytes of a value that parties send each other

DOMAINS = declare(
    "statistics: domains",
    what="All values in its owner's table, those of other than common records too, of each attribute whose values the job does not declare.",
    to="every party",
    why="All parties number the values in the same way; the owner's policy must permit to release the column.",
)
CLASS_VALUES = declare(
    "statistics: values of the class",
    what="With horizontal partition, the union of the values that the class has at all parties, and how many values they have together; the first party also sees how many any two of them have in common; nobody who has which.",
    to="every party",
    why="All parties number the values of the class in the same way.",
)


@dataclass(frozen=True)
class StatisticsJob(Job):
    """A job on columns with finite domains. `matching` is None with horizontal partition."""

    matching: Matching | None
    attributes: Mapping[str, CodedAttribute]
    class_name: str | None
    servers: tuple[str, str]
    mixed: bool  # whether each cell lies at one party, and an empty one at another

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
        """The only holder of an attribute; None for the class and unless the partition is vertical."""
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


@dataclass(frozen=True)
class Joined:
    """The columns of one party in the joint order, and what all parties know about all columns.

    With horizontal partition `records` are this party's own. `rows` are the rows of this party's
    table that are common.
    """

    records: int
    codes: Mapping[str, Codes]
    axes: Mapping[str, Axis]
    domains: Mapping[str, tuple[str, ...]]
    labels: Labels | None
    rows: Ints | None = None


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
    """A party's own attributes and identifiers, which it must have."""
    own = [name for name, item in job.attributes.items() if job.everywhere or item.party == party]
    return (*(job.matching.columns if job.matching else ()), *own)


def statistics_needs(
    job: StatisticsJob,
    party: str,
    smallest_group: int | None,
    zeros: bool = False,
    numbers: bool = True,
    keeps: str | None = None,
    predicted_for: tuple[str, ...] = (),
) -> Needs:
    """The needs of a party: its own attributes and identifiers, and the class if it has it.

    Columns are released if all parties learn their values: attributes whose values the job does not
    declare, and the class. `numbers`: whether anything is told that follows from counts. `keeps`: the
    name under which the party keeps its part of the model. `predicted_for`: who learns a class of each
    common person.
    """
    own = own_columns(job, party)
    label = (job.class_name,) if job.class_name else ()
    told = tuple(
        name
        for name, item in job.attributes.items()
        if not job.horizontal and item.party == party and item.values is None
    )
    counted = {name: item.classes for name, item in job.attributes.items()}
    return Needs(
        used=(*own, *label) if job.horizontal else own,
        released=label if job.horizontal else told,
        optional=() if job.horizontal else label,
        raw=(),
        smallest_group=smallest_group,
        smallest_k_map=None,
        matching=job.matching.reveal if job.matching else None,
        pad_to=job.matching.pad_to if job.matching else None,
        servers=job.servers,
        recipients=(),
        zeros=zeros,
        slack=False,
        contributes=False,
        shows_proposals=False,
        noise=None,
        identified_by=job.matching.columns if job.matching else (),
        counted=counted | dict.fromkeys(label, "") if numbers else {},
        groups=False,
        keeps=keeps,
        model=None,
        predicted_for=predicted_for,
    )


def prepare_columns(
    job: StatisticsJob, party: str, table: pa.Table, source: str
) -> PreparedColumns:
    """Codes of the party's columns; every value that cannot be used is named."""
    own = {
        name: job.attributes[name]
        for name in own_columns(job, party)
        # An identifier here may be an attribute of another party there.
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
        told.append(
            "every party: of each column whether every cell of a common person lies at exactly one "
            "party; not which cells are yours"
        )
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


def begin(
    job: StatisticsJob,
    prepared: PreparedColumns,
    channel: Channel,
    rng: Random,
    workspace: Workspace,
) -> Joined:
    """Matches the records and agrees on domains and class."""
    prepared.dropped.write(workspace.kept)
    if job.horizontal:
        return _begin_horizontal(job, prepared, channel, rng)
    if prepared.identifiers is None or job.matching is None:
        raise AssertionError("a vertical job has identifiers")
    rows = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace)
    if not len(rows):
        raise DataError("the parties have no record in common")
    domains = _announce_domains(job, prepared, channel)
    labels = _share_labels(job, prepared, rows, channel, rng)
    axes = {name: Axis(name, job.owner(name), len(values)) for name, values in domains.items()}
    codes = {name: column[rows] for name, column in prepared.codes.items()}
    if job.mixed:
        held = {name: codes[name] >= 0 for name in job.attributes}
        check_held(job.party_names, job.servers, held, channel, rng.fork("cells"))
    return replace(_joined(job, len(rows), codes, axes, domains, labels), rows=rows)


def _joined(
    job: StatisticsJob,
    records: int,
    codes: dict[str, Codes],
    axes: dict[str, Axis],
    domains: dict[str, tuple[str, ...]],
    labels: Labels | None,
) -> Joined:
    """All columns, with the class as one more column, which all parties know."""
    if labels is not None and job.class_name:
        axes[job.class_name] = Axis(job.class_name, None, len(labels.values))
        domains[job.class_name] = labels.values
        codes[job.class_name] = labels.codes
    return Joined(records, codes, axes, domains, labels)


def _announce_domains(
    job: StatisticsJob, prepared: PreparedColumns, channel: Channel
) -> dict[str, tuple[str, ...]]:
    """Owners send all parties the values of attributes whose domain the job does not declare."""
    open_names = [name for name, item in job.attributes.items() if item.values is None]
    own = [name for name in open_names if job.attributes[name].party == channel.me]
    told: dict[str, tuple[str, ...]] = {}
    if open_names:
        with channel.step("domains"):
            channel.open(DOMAINS, open_names)
            mine: list[Value] = [list(prepared.domains[name]) for name in own]
            channel.broadcast(mine)
            heard = {channel.me: digest_of(mine)}
            for peer in channel.peers:
                theirs = [name for name in open_names if job.attributes[name].party == peer]
                due = f"domains for {', '.join(theirs) or 'nothing'}"
                message = channel.recv_list(peer, len(theirs), due)
                for name, values in zip(theirs, message, strict=True):
                    due = f"proper domain for '{name}'"
                    told[name] = channel.check_texts(peer, values, MAX_VALUES, LONGEST_VALUE, due)
                heard[peer] = digest_of(message)
            compare_digests(channel, job.party_names, heard, "its domains")
    return {
        name: item.values or prepared.domains.get(name) or told[name]
        for name, item in job.attributes.items()
    }


def _share_labels(
    job: StatisticsJob,
    prepared: PreparedColumns,
    rows: Ints,
    channel: Channel,
    rng: Random,
) -> Labels | None:
    """The class of every common record, at every party."""
    if not job.class_name:
        return None
    holds = prepared.labels is not None
    holders = class_holders(channel, job.party_names, job.class_name, holds)
    own = prepared.labels.take(rows) if prepared.labels else None
    labels = share_class(channel, holders, own, len(rows), rng.fork("class"))
    with channel.step("compare"):
        heard = {holders[0]: digest_of_class(labels)}
        compare_digests(channel, job.party_names, heard, "the class")
    return labels


def _begin_horizontal(
    job: StatisticsJob, prepared: PreparedColumns, channel: Channel, rng: Random
) -> Joined:
    """Agrees on the class's values: their union, without revealing who has which."""
    labels = prepared.labels
    if labels is not None:
        values = [value.encode() for value in labels.values]
        with channel.step("class"):
            joint = channel.once(
                "class values",
                lambda: list(
                    channel.open(
                        CLASS_VALUES,
                        union(
                            channel,
                            job.party_names,
                            values,
                            rng.fork("class"),
                            longest=LONGEST_VALUE,
                            pad_to=MOST_CLASSES,
                        ),
                    )
                ),
            )
        try:
            ordered = tuple(value.decode() for value in joint)
        except UnicodeDecodeError:
            raise DataError("some party's class has a value that is no text") from None
        place = np.array([ordered.index(value) for value in labels.values], np.int32)
        labels = Labels(place[labels.codes], ordered)
    domains = {name: item.values or () for name, item in job.attributes.items()}
    axes = {name: Axis(name, None, len(values)) for name, values in domains.items()}
    return _joined(job, prepared.records, dict(prepared.codes), axes, domains, labels)


def count_shares(
    job: StatisticsJob,
    joined: Joined,
    transfers: Transfers,
    axes: Sequence[Axis],
    rng: Random,
) -> Ring | None:
    """Shares of one table at the servers, however the records are divided among the parties."""
    if job.horizontal:
        return horizontal_shares(
            transfers.channel, job.party_names, job.servers, axes, joined.codes, joined.records, rng
        )
    if job.mixed:
        known = {job.class_name} if job.class_name else set()
        return mixed_counts(
            transfers, job.party_names, job.servers, axes, joined.codes, joined.records, rng, known
        )
    return table_shares(
        transfers, job.party_names, job.servers, axes, joined.codes, joined.records, rng
    )


def reported(released: Mapping[str, Path]) -> dict[str, Any]:
    """The result as the parties report it; the caller has checked that all are equal."""
    folder = next(iter(released.values()))
    result: dict[str, Any] = json.loads((folder / "summary.json").read_text())["result"]
    return result
