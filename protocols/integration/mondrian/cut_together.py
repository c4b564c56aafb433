"""Joint Mondrian: one table is cut into groups by columns that different parties hold.

The rule is that of `anonymity.algorithms.width`: each group is cut on the attribute whose cut loses
most width for each pair of records that it tells apart (or tells most about the class). An attribute
has one cut of a group, which its owner finds alone from its column, the group and k. So only keys
and the chosen cuts are exchanged, for all groups of a level together, and the release equals the one
of the joined table bit for bit. The participation strategy is that of paper 1 (Mohammed, Fung,
Debbabi, "Anonymity meets game theory", section 6.3), with another contribution.

In, at each party, in the joint order of the common records: its own columns, and the class and
sensitive columns that it holds. Public: the job. Out, equal at every party: the tree of cuts, the
region of every record on every attribute, and each party's contribution in bits a record: the sum is
the entropy of the final groups.

Adversary: semi-honest; with `strategy` malicious but rational, as in `participation`. A party learns
the tree of cuts with the regions of all parts, which readers get in `result.json`, too; which group
each record is in; and with open keys score and attribute of every party's best cut of each group,
which tells sizes of divisions that are never made. With `hide_scores` it learns of losing cuts only
that they lose. Whether a model refuses a cut is opened as one bit a group (`judged_cuts`); it tells
that a party's cut of the group would violate a model. A receiver names the sender of: a region that
is no child, rest or part of the group's; a rest that has all or but one of the children; a part with
fewer than k records; a code out of range; a score that parts, regions and class do not give; another
party's attribute. Whether a cut is the most even one, and whether a group settled as far as it could,
only the owner knows.

Messages, in order, after the class (`class_labels`), in the step `cut`:
    announce   as in `integrate`: the spans of numeric attributes without range (if any)
    start      only with bounds on generalization: of each bounded attribute its holder to all: the
               start value of each record; with models each holder to all: whether they hold
    then in levels, until a level has neither a cut nor a strike:
    winner     each party to all: whether it takes part; of its taxonomies the settled nodes of every
               open group; unless hidden, score and attribute of its best cut of each group of 2k
               records or more. Hidden: the messages of `secure_maximum`, once for all groups
    propose    only in conditions with models: the messages of `judged_cuts`, or of `shown_cuts`
    instruct   each winner to all, for the groups that it has won: attribute, parts, and in the joint
               order of each group's records their parts
    ends       only with tight boxes, once: each party to all: the ends of its numbers by group
With `strategy`, digests of the messages of `winner` and `instruct` are compared besides.

Kept answers: the start, and each level as a whole, before the next one begins. A later attempt that
settles, wins or cuts otherwise is refused, before this party tells its cuts of the level (`telling`).

Cost: two messages in sequence a level (five with models), about log2(n/k) levels and a few more; the
winner of a group sends every other party ceil(log2 parts) bits for each of its records. Adult, eight
columns, two parties, k = 50: 17 levels, 34 messages in sequence, 15 bits a record. Hidden keys: that
of `secure_maximum` for each group of 2k records or more, about 1 kB a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coterie.anonymity.cuts.groups import Branch, Partition, start_of
from coterie.anonymity.cuts.joined import joined
from coterie.anonymity.cuts.regions import Region, Space, space_of
from coterie.anonymity.cuts.scoring import WIDTH
from coterie.anonymity.specialization.generalized import check_sizes, models_of
from coterie.anonymity.specialization.specialize import Labels, Specializer
from coterie.anonymity.table.columns import Column
from coterie.anonymity.table.groups import group_numbers
from coterie.base.arrays import Array
from coterie.protocols.integration.class_labels import share_class
from coterie.protocols.integration.contributions import RecordContribution, record_nothing
from coterie.protocols.integration.mondrian.level_messages import MOST_SCORE
from coterie.protocols.integration.mondrian.levels import Levels
from coterie.protocols.integration.mondrian.start import start_values
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.spans import announce_spans, digests_of_announced
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import bits_for
from coterie.protocols.primitives.randomness import Random


@dataclass(frozen=True)
class CutOutcome:
    """The finished tree, the shown columns, and each party's contribution (bits times 2^30)."""

    partitions: Sequence[Partition]
    spaces: Mapping[str, Space]
    tree: Sequence[Branch]
    parties: Sequence[str]  # of each cut
    contributions: Mapping[str, int]
    classes: Labels | None
    records: int
    levels: int
    widths: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The attributes in job order."""
        return list(self.spaces)

    def regions(self, name: str) -> tuple[Array, list[Region]]:
        """The final group of each record, and the region of each group."""
        for partition in self.partitions:
            if name in partition.names:
                return partition.shown(partition.names.index(name), self.records)
        raise KeyError(name)

    def generalized(self, name: str) -> tuple[Array, tuple[str, ...]]:
        """A released column: a code for each record, and the texts."""
        part, regions = self.regions(name)
        texts = [self.spaces[name].text(region) for region in regions]
        values = sorted(set(texts))
        number = {text: at for at, text in enumerate(values)}
        codes = np.array([number[text] for text in texts], np.uint32)
        return codes[part], tuple(values)


def cut_together(
    channel: Channel,
    plan: Plan,
    columns: Mapping[str, Column],
    labels: Mapping[str, Labels],
    records: int,
    rng: Random,
    *,
    hide_scores: bool = True,
    strategy: float | None = None,
    book: RecordContribution = record_nothing,
    rows: Array | None = None,
) -> CutOutcome:
    """This party's part of the joint run.

    `columns` are its own attributes of the QIDs; `labels` has the class, if the party holds it, and
    its sensitive columns, by name. `strategy` is the epsilon of the participation strategy. `rows`
    has the party's own row of each record, by which attempts are compared.
    """
    telling = Telling(np.arange(records) if rows is None else rows)
    check_sizes(plan.requirements, records)
    labels = _compact(plan, labels)
    models_of(plan.requirements, labels)
    if plan.class_name is not None:
        own = labels.get(plan.class_name) if channel.me in plan.class_holders else None
        labels[plan.class_name] = share_class(
            channel, plan.class_holders, own, records, rng, telling
        )
    classes = labels[plan.class_name] if plan.class_name is not None else None
    with channel.step("cut"):
        trees = announce_spans(channel, plan, columns)
        with channel.step("compare"):
            heard = digests_of_announced(plan, classes, trees)
            compare_digests(channel, plan.names, heard, "the class and the spans")
        spaces = {name: space_of(trees[name]) for name in plan.trees}
        conditions = joined(plan.requirements, list(spaces))
        starts = start_values(channel, plan, columns, records, telling)
        levels = Levels(
            channel, plan, columns, labels, records, rng, spaces, conditions, starts, strategy,
            telling,
        )  # fmt: skip
        return _outcome(levels, hide_scores, book)


def cut_further(
    channel: Channel,
    plan: Plan,
    table: Specializer,
    columns: Mapping[str, Column],
    labels: Mapping[str, Labels],
    rng: Random,
    *,
    hide_scores: bool = True,
    strategy: float | None = None,
    book: RecordContribution = record_nothing,
    rows: Array | None = None,
) -> CutOutcome:
    """The second phase of a specialization: its groups are the first ones here.

    `columns`, `labels` and `rows` are those of `integrate`, with the class as all parties know it.
    """
    every = np.arange(table.records) if rows is None else rows
    telling = Telling(every[table.kept] if table.suppressed else every)
    if table.suppressed:
        columns = {name: column.take(table.kept) for name, column in columns.items()}
        labels = {name: column.take(table.kept) for name, column in labels.items()}
    records = table.records - table.suppressed
    plan = replace(plan, rule=WIDTH, start_values={})
    with channel.step("cut"):
        spaces = {name: space_of(tree) for name, tree in zip(table.names, table.trees, strict=True)}
        conditions = joined(plan.requirements, table.names)
        starts = {name: start_of(table, name) for name in table.names}
        levels = Levels(
            channel, plan, columns, _compact(plan, labels), records, rng, spaces, conditions,
            starts, strategy, telling,
        )  # fmt: skip
        return _outcome(levels, hide_scores, book)


def _compact(plan: Plan, labels: Mapping[str, Labels]) -> dict[str, Labels]:
    """The labels, the sensitive ones without values that no record has."""
    return {
        name: column.compact() if name in (plan.sensitive_holders or {}) else column
        for name, column in labels.items()
    }


def _outcome(levels: Levels, hide_scores: bool, book: RecordContribution) -> CutOutcome:
    """Runs all levels."""
    levels.prepare(hide_scores, book)
    run = levels.run
    while levels.level():
        run.channel.progress(levels.number, 0)
    if run.plan.tight:
        levels.show_ends()
    return CutOutcome(
        run.shared.partitions, run.shared.spaces, levels.tree, levels.parties, run.contributions,
        run.classes, run.records, levels.number,
    )  # fmt: skip


def groups_of(outcome: CutOutcome, names: Sequence[str]) -> Array:
    """The number of each record's group by the shown values of some attributes."""
    return group_numbers([outcome.generalized(name)[0] for name in names])


def code_bits(outcome: CutOutcome) -> int:
    """The bits of all codes that the instructions had."""
    return sum(bits_for(len(b.cut.parts)) * sum(b.cut.sizes) for b in outcome.tree)


__all__ = ["MOST_SCORE", "CutOutcome", "code_bits", "cut_together", "groups_of"]
