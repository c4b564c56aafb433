"""Attributes without a taxonomy, `flat: true`: the value or `*`.

All parties must know the values below `*`. The owner sends them the values of its whole table,
sorted: not who has them, nor which of them common records have.
`protocols.messaging.broadcast_check` detects an owner that sends the parties different values.

Messages, if the job has such attributes:
    domains    each owner to all: the values of its flat attributes
    compare    three or more parties, each to all: digests of what every owner has sent
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from coterie.anonymity.table.intervals import GAP
from coterie.anonymity.table.taxonomy import TOP, Taxonomy, flat_taxonomy
from coterie.jobs.data.own_columns import LONGEST_VALUE, MOST_VALUES
from coterie.jobs.kinds.integrate.job import IntegrateJob, ReleasedAttribute
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value

DOMAINS = declare(
    "integrate: flat domains",
    what="All values in its owner's whole table, common records or not, of each attribute of a QID with `flat: true`.",
    to="every party",
    why="All parties must know which values may stand in the place of `*`; the owner's policy must permit to release the column.",
)


def tell_domains(
    job: IntegrateJob, channel: Channel, own: Mapping[str, Taxonomy]
) -> dict[str, Taxonomy]:
    """The taxonomies of all flat attributes; `own` has this party's."""
    flat = [attribute for attribute in job.attributes if attribute.flat]
    if not flat:
        return {}
    found = dict(own)
    with channel.step("domains"):
        channel.open(DOMAINS, [attribute.name for attribute in flat])
        if own:
            told: list[Value] = [[*_told(own[a.name])] for a in flat if a.party == channel.me]
            channel.broadcast(told)
        for peer in channel.peers:
            theirs = [attribute for attribute in flat if attribute.party == peer]
            if not theirs:
                continue
            names = ", ".join(attribute.name for attribute in theirs)
            message = channel.recv_list(peer, len(theirs), f"values of {names}")
            for attribute, values in zip(theirs, message, strict=True):
                if not _sound(values):
                    raise channel.fault(peer, f"told no proper values of '{attribute.name}'")
                found[attribute.name] = flat_taxonomy([*values, GAP] if attribute.gap else values)
        with channel.step("compare"):
            compare_digests(
                channel, job.record_holders, _digests(job, flat, found), "the flat values"
            )
    return found


def _told(taxonomy: Taxonomy) -> list[str]:
    return [value for value in taxonomy.leaves if value not in (GAP, TOP)]


def _sound(values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) <= MOST_VALUES
        and all(isinstance(v, str) and 0 < len(v.encode()) <= LONGEST_VALUE for v in values)
        and values == sorted(set(values) - {GAP, TOP})
    )


def _digests(
    job: IntegrateJob, flat: Sequence[ReleasedAttribute], found: Mapping[str, Taxonomy]
) -> dict[str, bytes]:
    heard = {}
    for party in job.record_holders:
        total = hashlib.sha256()
        for attribute in flat:
            if attribute.party == party:
                for value in _told(found[attribute.name]):
                    data = value.encode()
                    total.update(len(data).to_bytes(8, "little") + data)
        heard[party] = total.digest()
    return heard
