"""How every job on columns with finite domains begins: the columns of all parties, in one order.

`begin` matches the records, lets owners announce domains that the job leaves open, shares the class,
and returns this party's columns as codes. `count_shares` counts them, as shares at the servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coterie.anonymity.specialization.specialize import Labels
from coterie.base.arrays import Codes, Ints
from coterie.base.errors import DataError
from coterie.jobs.data.own_columns import LONGEST_VALUE
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.statistics.common import (
    MAX_VALUES,
    PreparedColumns,
    StatisticsJob,
)
from coterie.jobs.kinds.statistics.mixed import check_held
from coterie.jobs.matching.common_records import line_up
from coterie.protocols.integration.class_labels import (
    MOST_CLASSES,
    class_holders,
    digest_of_class,
    share_class,
)
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.multiparty.set_union import union
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Ring, Transfers
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    horizontal_shares,
    mixed_counts,
    table_shares,
)

DOMAINS = declare(
    "statistics: domains",
    what="All values in its owner's whole table, common records or not, of each attribute whose values the job does not declare.",
    to="every party",
    why="All parties number the values in the same way; the owner's policy must permit to release the column.",
)
CLASS_VALUES = declare(
    "statistics: values of the class",
    what="With horizontal partition, the union of the values that the class has at all parties, and how many values they have together; the first party also sees how many any two of them have in common; nobody sees who has which.",
    to="every party",
    why="All parties number the values of the class in the same way.",
)


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
    fork = rng.fork("class")
    labels = share_class(channel, holders, own, len(rows), fork, Telling(rows))
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
            raise DataError("some party's class has a value that is not text") from None
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
    table = JointTable(job.party_names, job.servers, axes, joined.codes, joined.records)
    if job.horizontal:
        return horizontal_shares(transfers.channel, table, rng)
    if job.mixed:
        known = {job.class_name} if job.class_name else set()
        return mixed_counts(transfers, table, rng, known)
    return table_shares(transfers, table, rng)
