"""What specialization and local cuts share in judging on shares.

The modules are `conditions` and `mondrian.judged_cuts`. The holders announce how many values their columns have; a proposer and a holder find shares of
whether each slot satisfies a model; and verdicts of several holders are multiplied. `conditions` has
how and why, who learns what, and the messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coterie.anonymity.models.privacy import Model
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array, Bits
from coterie.protocols.integration.sensitive.condition_forms import Form
from coterie.protocols.integration.sensitive.proposer_and_holder import Pair
from coterie.protocols.integration.sensitive.slots import Layout
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.primitives.randomness import Random

VALUES = declare(
    "integrate: sensitive values",
    what="With conditions that are decided on shares, how many different values each sensitive column has among the common records.",
    to="every party",
    why="It is the size of the circuits that decide; the release shows it, too.",
)

_MOST_VALUES = 1 << 24
Judged = tuple[Model, Labels, Array]  # a model of this party's column, the column, its counts


class JointVerdicts:
    """One party's sessions with the others, and what everybody knows of the sensitive columns."""

    def __init__(
        self,
        channel: Channel,
        names: Sequence[str],
        models: Mapping[int, Judged],
        records: int,
        rng: Random,
    ) -> None:
        self._channel, self._names, self._models = channel, tuple(names), models
        self._records, self._rng = records, rng
        self._pairs: dict[tuple[str, str], Pair] = {}
        self._gmw: Gmw | None = None
        self._values: dict[int, int] = {}

    def announce(self, holders: Mapping[int, str]) -> None:
        """Learns the number of values of each sensitive column, by entry; `holders` has who tells."""
        channel = self._channel
        heard: dict[str, bytes] = {}
        for holder in self._names:
            held = sorted(j for j, name in holders.items() if name == holder)
            if not held:
                continue
            if holder == channel.me:
                sizes = [len(self._models[j][1].values) for j in held]
                channel.broadcast(channel.open(VALUES, np.array(sizes, np.int64)))
            else:
                what = "numbers of sensitive values"
                received = channel.recv_array(holder, np.int64, (len(held),), what)
                if not ((received > 0) & (received < _MOST_VALUES)).all():
                    raise channel.fault(holder, f"sent no {what}")
                sizes = channel.open(VALUES, received).tolist()
            heard[holder] = digest_of(list(sizes))
            self._values |= dict(zip(held, sizes, strict=True))
        if heard:
            compare_digests(channel, self._names, heard, "its numbers of sensitive values")

    def pair(self, proposer: str, holder: str) -> Pair:
        """The session of a proposer and a holder."""
        if (proposer, holder) not in self._pairs:
            fork = self._rng.fork(f"{proposer} and {holder}")
            self._pairs[proposer, holder] = Pair(self._channel, proposer, holder, fork)
        return self._pairs[proposer, holder]

    def slots_hold(
        self,
        pair: Pair,
        entry: int,
        part: Model,
        form: Form,
        layout: Layout,
        slots: Array | None,
    ) -> Bits:
        """Shares of whether each slot satisfies a part of an entry's model; only the proposer has `slots`."""
        columns = form.columns(self._values[entry])
        bits = form.bits(layout.largest, self._records, columns)
        circuit = form.circuit(columns, bits, self._records)
        if slots is not None:
            shares = pair.choose(layout, slots, columns, bits)
            places = layout.first_slot[layout.group_of_record] + slots
            sizes = np.bincount(places, minlength=layout.slots)
            words = form.words(shares, sizes, self._records)
        else:
            _, labels, overall = self._models[entry]
            rows = form.rows(part.for_values(labels.values), overall)
            words = pair.offer(layout, rows[labels.codes[layout.records]], bits)
        return pair.run(circuit, words, bits)

    def conjunction(
        self, proposer: str, holders: Sequence[str], shares: Mapping[str, Bits], count: int
    ) -> Bits:
        """Whether all holders permit each of `count` proposals; each verdict is shared with the proposer."""
        if self._gmw is None:
            self._gmw = Gmw(self._channel, self._names, self._rng.fork("several holders"))
        gmw, nothing = self._gmw, np.zeros(count, np.uint8)
        with self._channel.step("several"):
            group: tuple[str, ...] = (proposer, holders[0])
            total = shares.get(holders[0], nothing)
            for holder in holders[1:]:
                product = Product(group, (proposer, holder))
                gmw.prepare([(product, count)])
                if self._channel.me in product.group:
                    total = gmw.multiply(product, total, shares.get(holder, nothing))
                group = product.group
            verdicts: Bits = gmw.reveal(total.astype(np.uint8), 1, group)
        return verdicts
