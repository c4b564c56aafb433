"""Joint diversity of sensitive columns that two parties hold, by the frequencies of single values.

Joint diversity (paper 5) depends on whole rows, which neither party has. A condition on single
columns suffices: if the l-1 most frequent values of all columns together are in fewer rows than the
group has, then no l-1 values delete all rows. The condition survives the merging of groups.
(`JointDiversity` with `by_frequency` is the same on one table.) The condition is strict: with few
values per column it may not even hold for the whole table, and the job is then refused.

In: at both holders the instruction, which they see under `conditions: holder`, and their own
columns. Out, at both: whether every group that the instruction makes satisfies the condition. The
most frequent l-1 values are i of one party and l-1-i of the other, for some i: so the condition
holds if for every i the sum of the first party's i largest counts is below the size of the group
less the sum of the second party's l-1-i largest counts. Each party puts in l numbers for each
group, and a garbled circuit compares them.

Adversary: semi-honest; see `garbling`. Both learn yes or no, and nothing else. Messages and cost:
those of two or three circuits (`garbling`) of l comparisons for each group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.models.joint_diversity import largest_together
from coterie.anonymity.models.privacy import JointDiversity
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Ints
from coterie.protocols.circuits.arithmetic import Builder, Circuit
from coterie.protocols.circuits.boolean import built_once
from coterie.protocols.integration.sensitive.proposer_and_holder import Pair
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random

FREQUENCIES = declare(
    "integrate: joint frequencies",
    what="With joint diversity of columns that two parties hold, whether the frequencies of their values suffice for it in every group of a proposal, or of the whole table.",
    to="the two holders of the sensitive columns",
    why="A proposal after which they do not suffice is rejected.",
)


class JointFrequencies:
    """One holder's part; both holders create it at the same point of the protocol."""

    def __init__(
        self,
        channel: Channel,
        holders: tuple[str, str],
        model: JointDiversity,
        columns: Sequence[tuple[Labels, int]],
        rng: Random,
    ) -> None:
        """`columns` are this party's, each with the number of its values that may be deleted."""
        self.channel, self.holders, self.model = channel, holders, model
        self.columns = list(columns)
        self._pair = Pair(channel, *holders, rng)

    def hold(self, cells: Ints, records: Ints, count: int) -> bool:
        """Whether the condition holds in all `count` groups; `cells` has the group of each record."""
        sizes = np.bincount(cells, minlength=count)
        counts = [
            np.bincount(
                cells * len(labels.values) + labels.codes[records],
                minlength=count * len(labels.values),
            ).reshape(count, -1)
            for labels, _ in self.columns
        ]
        least = self.model.l
        sums = np.zeros((count, least), np.int64)
        largest = largest_together(counts, [limit for _, limit in self.columns], least - 1)
        sums[:, 1:] = np.cumsum(largest, axis=1)
        if not self._pair.proposes:
            sums = np.maximum(sizes[:, None] - sums[:, ::-1], 0)
        filled = sums[sizes > 0].astype(np.uint64)
        bits = int(sizes.max(initial=0) * len(self.model.columns)).bit_length() + 1
        shares = self._pair.run(_below_circuit(least, bits), filled, bits)
        verdict = self._pair.all_hold(shares, "both")
        return bool(self.channel.open(FREQUENCIES, int(verdict[0]), to=self.holders))


@built_once(32)
def _below_circuit(numbers: int, bits: int) -> Circuit:
    builder = Builder()
    ours, theirs = (builder.input(name, numbers * bits) for name in ("proposer", "holder"))
    parts = [slice(at * bits, (at + 1) * bits) for at in range(numbers)]
    below = [builder.less(ours[part], theirs[part]) for part in parts]
    builder.output("holds", [builder.all(below)])
    return builder.build()
