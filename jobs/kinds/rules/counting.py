"""The values of which a `rules` job makes sets, and shares of how many records have all values of a set.

With vertical partition each party counts its own values alone and tells which are frequent; sets of
values of several parties are counted by `joint_counts`. With horizontal partition the job declares the
values, and every party counts its own records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from coterie.base.arrays import Bits, Codes
from coterie.base.errors import DataError
from coterie.jobs.data.own_columns import LONGEST_VALUE
from coterie.jobs.kinds.rules.job import RulesJob
from coterie.jobs.kinds.statistics.open_columns import OpenColumns
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.patterns.frequent_sets import ItemSet
from coterie.protocols.patterns.joint_counts import conjunction_shares
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Ring, Transfers, share_out

MOST_ITEMS = 4096  # frequent values of all attributes
MOST_PRODUCTS = 1 << 33  # records times candidates of one level, across parties

ITEMS = declare(
    "rules: frequent values",
    what="With vertical partition, which values of each column at least the least number of common records have; not how many, and nothing of other values.",
    to="every party",
    why="Frequent sets are made of them.",
)


@dataclass(frozen=True)
class Items:
    """The values of which sets are made: attribute and value of each, in the job's order."""

    names: list[str]
    values: list[str]


def items_of(
    job: RulesJob, prepared: OpenColumns, codes: Mapping[str, Codes], least: int, channel: Channel
) -> tuple[Items, dict[str, dict[str, int]]]:
    """The items, and for this party's own columns the code of each value.

    With horizontal partition they are all declared values; otherwise those that an owner, who can
    count them alone, finds frequent.
    """
    own: dict[str, dict[str, int]] = {}
    for name, column in prepared.columns.items():
        if job.horizontal:
            own[name] = {str(value): at for at, value in enumerate(column.values.to_pylist())}
            continue
        counts = np.bincount(codes[name], minlength=column.distinct)
        often = np.flatnonzero(counts >= least)
        own[name] = {column.values[int(at)].as_py(): int(at) for at in often}
    values: dict[str, Sequence[str]] = {name: sorted(found) for name, found in own.items()}
    if job.horizontal:
        values = {name: item.values or () for name, item in job.attributes.items()}
    else:
        _check_values(values)
        values = _told_values(job, values, channel)
    names = [name for name in job.attributes for _ in values[name]]
    if len(names) > MOST_ITEMS:
        raise DataError(
            f"the attributes have {len(names):,} values to be counted, more than {MOST_ITEMS:,}: "
            "raise 'support' or leave a column out"
        )
    return Items(names, [value for name in job.attributes for value in values[name]]), own


def _check_values(values: Mapping[str, Sequence[str]]) -> None:
    """Refuses too many values, or one that is too long, before they are sent."""
    for name, found in values.items():
        if len(found) > MOST_ITEMS:
            raise DataError(
                f"column '{name}' has more than {MOST_ITEMS:,} frequent values: raise 'support'"
            )
        for value in found:
            if len(value.encode()) > LONGEST_VALUE:
                start = f"{value[:40]}…"
                raise DataError("{column}: the value {value} is too long", column=name, value=start)


def _told_values(
    job: RulesJob, own: Mapping[str, Sequence[str]], channel: Channel
) -> dict[str, Sequence[str]]:
    """The frequent values of all columns, as their owners tell them."""
    values = dict(own)
    with channel.step("values"):
        channel.open(ITEMS, dict(own))
        channel.broadcast([list(found) for found in own.values()])
        for peer in channel.peers:
            theirs = [name for name, item in job.attributes.items() if item.party == peer]
            message = channel.recv_list(peer, len(theirs), f"values of {', '.join(theirs)}")
            for name, found in zip(theirs, message, strict=True):
                due = f"proper values for '{name}'"
                known = job.attributes[name].values
                told = () if found == [] else channel.check_texts(
                    peer, found, MOST_ITEMS, LONGEST_VALUE, due
                )  # fmt: skip
                if known is not None and not set(told) <= set(known):
                    raise channel.fault(peer, f"sent no {due}")
                values[name] = told
    return values


class Counting:
    """Shares of how many records have all values of each candidate."""

    def __init__(
        self,
        job: RulesJob,
        items: Items,
        own: Mapping[str, Mapping[str, int]],
        codes: Mapping[str, Codes],
        records: int,
        channel: Channel,
        rng: Random,
    ) -> None:
        self._job, self._items, self._own = job, items, own
        self._codes, self._records, self._channel, self._rng = codes, records, channel, rng
        self._transfers = Transfers(channel, rng.fork("transfers"))

    def _column(self, item: int) -> Bits:
        """Which of this party's records have the value."""
        name, value = self._items.names[item], self._items.values[item]
        found: Bits = (self._codes[name] == self._own[name][value]).astype(np.uint8)
        return found

    def horizontal(self, candidates: Sequence[ItemSet]) -> Ring | None:
        """Every party counts its own records."""
        packed = lru_cache(MOST_ITEMS)(lambda item: np.packbits(self._column(item)))
        counts = np.zeros(len(candidates), np.uint32)
        for at, one in enumerate(candidates):
            bits = packed(one[0])
            for item in one[1:]:
                bits = bits & packed(item)
            counts[at] = np.bitwise_count(bits).sum()
            if at % 1000 == 0:
                self._channel.progress(at, len(candidates))
        rng = self._rng.fork(f"sets of {len(candidates[0])}")
        names = self._job.party_names
        return share_out(self._channel, self._job.servers, names, len(counts), counts, rng)

    def vertical(self, candidates: Sequence[ItemSet]) -> Ring | None:
        """By products of the parties' bits; a party's condition is its part of a candidate."""
        known: dict[str, dict[ItemSet, int]] = {name: {} for name in self._job.party_names}
        sets = []
        for one in candidates:
            parts: dict[str, list[int]] = {}
            for item in one:
                parts.setdefault(self._job.owner(self._items.names[item]) or "", []).append(item)
            sets.append(
                {
                    party: known[party].setdefault(tuple(part), len(known[party]))
                    for party, part in parts.items()
                }
            )
        products = self._records * sum(len(one) > 1 for one in sets)
        if products > MOST_PRODUCTS:
            raise DataError(
                f"{len(candidates):,} sets of {len(candidates[0])} values of {self._records:,} records "
                "are too many to be counted across parties: raise 'support' or lower 'longest'"
            )
        mine = list(known[self._channel.me])

        @lru_cache(64)
        def bits(key: int) -> Bits:
            found = self._column(mine[key][0])
            for item in mine[key][1:]:
                found &= self._column(item)
            return found

        rng = self._rng.fork(f"sets of {len(candidates[0])}")
        return conjunction_shares(
            self._transfers,
            self._job.party_names,
            self._job.servers,
            sets,
            self._records,
            bits,
            rng,
        )
