"""Conditions on sensitive columns, decided on shares: the proposal stays with its proposer.

Paper 1, §8, lets the holder of a sensitive column see an instruction before anybody follows it, and
reject it. A rejected instruction is more specific than the release, so a holder that rejects
everything reads the top of every column. Here nobody but the proposer sees a proposal before it is
accepted, and the only result is yes or no.

In: at the proposer, the child of every record that its candidate concerns; at each holder, the
sensitive codes. Public: the groups so far and their sizes, the requirement, the taxonomies; and if
the proposer's score was announced, the attribute of its candidate. Out, at every party: whether all
models of all holders would still hold. The verdict equals that of `GeneralizedTable.permits`
(`condition_forms`).

How it works. A group can be split into as many parts as the value has children, but into no more
than its size divided by k, since smaller parts are not proposed. So each group has a number of
slots that all parties know, and the proposer assigns the parts to the slots; a group that the
candidate does not concern has all its records in the first slot. So the form of the messages
depends on public facts alone, not on the value that is to be specialized. For each slot but the
first of each group, the sums of `condition_forms` over the records of the slot are computed as
additive shares: by one oblivious transfer for each record the proposer chooses whether it gets a
pad, or the sum of a pad and the holder's numbers (Gilboa, CRYPTO 1999, section 4.1). The first slot
is the rest of the group, and the holder knows the sums of the whole group. A garbled circuit
decides each slot, and another one combines all slots.

Adversary: semi-honest. A holder that deviates can reject any proposal, but learns nothing else
about it: the holder is the sender of the transfers and the evaluator. A proposer that deviates gets
the answer to another yes/no question about the sensitive column than the one that it should ask; it
cannot ask more often than it has values to specialize (the honest parties count), and the holder
checks the instruction that follows a yes like every instruction. Assumptions: those of
`oblivious_transfer` and `garbling`.

Messages, in the step `propose`:
    holder -> all            once, before the first round: how many values its columns have
    for each holder, proposer and holder:
    proposer -> holder       columns of the transfers
    holder -> proposer       corrections, in chunks
    proposer <-> holder      the circuits (`garbling`)
    then with one holder     proposer -> all others: yes or no
    with several             products of the shared verdicts, and their shares to all (`gmw`)
Cost, for V values, n records in groups that can be divided, and c children: n (c - 1) transfers
with corrections of V words of 8 to 64 bits; a circuit of about V (bits of the largest group) AND
gates for each of at most n / k slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from coterie.anonymity.models.privacy import Model
from coterie.anonymity.specialization.generalized import Instruction, Requirement
from coterie.anonymity.specialization.specialize import Specializer
from coterie.anonymity.table.columns import IntervalTree
from coterie.base.arrays import Array, Bits, Ints, Words
from coterie.protocols.circuits.arithmetic import Builder, Circuit
from coterie.protocols.circuits.boolean import to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler, Reveal
from coterie.protocols.integration.condition_forms import Form, forms_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

VALUES = declare(
    "integrate: sensitive values",
    what="With conditions that are decided on shares, how many different values each sensitive column has among the common records.",
    to="every party",
    why="It is the size of the circuits that decide; the release shows it, too.",
)
DECIDED = declare(
    "integrate: decided",
    what="With conditions that are decided on shares, whether a proposal is accepted, and nothing else of a rejected one.",
    to="every party",
    why="A rejected candidate is dropped, and the next round begins.",
)

_CHUNK = 1 << 21  # numbers of a correction that are sent together
_WIDTH = 64  # verdicts that one circuit combines
_MOST_VALUES = 1 << 24


@dataclass(frozen=True)
class Layout:
    """The groups of one QID that a proposal may divide, and their slots; known to all parties."""

    records: Ints  # of all groups, one group after the other
    sizes: Ints  # of each group
    widths: Ints  # the number of slots of each group

    @property
    def slots(self) -> int:
        return int(self.widths.sum())

    @property
    def first_slot(self) -> Ints:
        """The number of each group's first slot."""
        return np.cumsum(self.widths) - self.widths

    @property
    def group_of_record(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def largest(self) -> int:
        return int(self.sizes.max(initial=0))

    def chunks(self, numbers: int) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of a place in `records` and a slot that is not its group's first.

        The pairs are ordered by slot, so that the pairs of one slot stand together.
        """
        groups = np.repeat(np.arange(len(self.sizes)), self.widths - 1)
        slots = np.delete(np.arange(self.slots), self.first_slot)
        start = (np.cumsum(self.sizes) - self.sizes)[groups]
        ends = np.cumsum(self.sizes[groups])
        begin = ends - self.sizes[groups]
        step = max(1, _CHUNK // max(numbers, 1))
        for first in range(0, int(ends[-1]) if len(ends) else 0, step):
            items = np.arange(first, min(first + step, int(ends[-1])))
            block = np.searchsorted(ends, items, "right")
            yield items - begin[block] + start[block], slots[block]


def layout_of(table: Specializer, requirement: int, attributes: Sequence[int]) -> Layout:
    """The slots that suffice for a candidate of any of these attributes."""
    partitions, groups = table.partitions, table.partitions.groups[requirement]
    leaves = np.arange(partitions.used)
    width: Ints = np.zeros(groups.used, np.int64)
    for attribute in attributes:
        if attribute in groups.attributes:
            nodes = partitions.node[attribute, leaves]
            found, inverse = np.unique(nodes, return_inverse=True)
            children = np.array([children_of(table, attribute, int(node)) for node in found])
            np.maximum.at(width, groups.of_leaf[leaves], children[inverse])
    sizes = groups.size[: groups.used]
    width = np.minimum(width, sizes // table.requirements[requirement].k)
    chosen = np.flatnonzero(width >= 2)
    wanted = leaves[np.isin(groups.of_leaf[leaves], chosen)]
    wanted = wanted[np.argsort(groups.of_leaf[wanted], kind="stable")]
    return Layout(
        partitions.records_of(wanted).astype(np.int64), sizes[chosen].copy(), width[chosen]
    )


def children_of(table: Specializer, attribute: int, node: int) -> int:
    """The number of values that a node can be specialized into, as far as all parties know."""
    tree = table.trees[attribute]
    if node < 0:
        return 0
    if isinstance(tree, IntervalTree):
        return 2 if tree.low[node] < tree.high[node] else 0
    return len(tree.children(node))


def assigned_slots(
    table: Specializer, requirement: int, layout: Layout, instruction: Instruction
) -> Ints:
    """The slot of each record of the layout, counted from its group's first: the proposer's secret."""
    if instruction.attribute not in table.partitions.groups[requirement].attributes:
        return np.zeros(len(layout.records), np.int64)
    child = np.zeros(table.records, np.int64)
    leaves = table.partitions.link(instruction.attribute, instruction.node)
    child[table.partitions.records_of(leaves)] = instruction.children
    width = int(child.max(initial=0)) + 1
    cells = layout.group_of_record * width + child[layout.records]
    has = np.bincount(cells, minlength=len(layout.sizes) * width) > 0
    slots: Ints = (np.cumsum(has.reshape(-1, width), axis=1) - 1).reshape(-1)[cells]
    if (slots >= layout.widths[layout.group_of_record]).any():
        raise ValueError("a candidate divides a group into more parts than it can have")
    return slots


@dataclass(frozen=True)
class Condition:
    """One model of one requirement, and who holds the sensitive column."""

    requirement: int
    part: Model
    form: Form
    holder: str


def conditions_of(
    requirements: Sequence[Requirement], sensitive: Mapping[str, str], holders: Mapping[str, str]
) -> list[Condition] | None:
    """What a proposer and a holder must decide together; None if a model has no form.

    `sensitive` has the holders of the sensitive columns without the class, and `holders` the
    holders of the attributes of the QIDs.
    """
    found: list[Condition] = []
    for j, requirement in enumerate(requirements):
        columns = [name for name in requirement.sensitive_columns if name in sensitive]
        if requirement.model is None or not concerns_others(requirement, sensitive, holders):
            continue
        forms = forms_of(requirement.model)
        if forms is None:
            return None
        found += [Condition(j, part, form, sensitive[columns[0]]) for part, form in forms]
    return found


def concerns_others(
    requirement: Requirement, sensitive: Mapping[str, str], holders: Mapping[str, str]
) -> bool:
    """Whether a party may propose something that another party's sensitive column must permit."""
    owners = {sensitive[name] for name in requirement.sensitive_columns if name in sensitive}
    return any(holders[name] != owner for name in requirement.qid for owner in owners)


class SharedConditions:
    """One party's part in deciding proposals; made by all parties before the first round."""

    def __init__(
        self,
        channel: Channel,
        names: Sequence[str],
        conditions: Sequence[Condition],
        table: Specializer,
        rng: Random,
    ) -> None:
        self.channel, self.names, self.table = channel, tuple(names), table
        self.conditions = list(conditions)
        self._rng = rng
        self._pairs: dict[tuple[str, str], Pair] = {}
        self._gmw: Gmw | None = None
        self._values = self._announce()

    def _announce(self) -> dict[int, int]:
        """The number of values of each sensitive column, by requirement."""
        channel = self.channel
        found: dict[int, int] = {}
        for holder in self.names:
            held = sorted({c.requirement for c in self.conditions if c.holder == holder})
            if not held:
                continue
            if holder == channel.me:
                sizes = [len(self.table.model_of(j)[1].values) for j in held]
                channel.broadcast(channel.open(VALUES, np.array(sizes, np.int64)))
            else:
                what = "numbers of sensitive values"
                received = channel.recv_array(holder, np.int64, (len(held),), what)
                if not ((received > 0) & (received < _MOST_VALUES)).all():
                    raise channel.fault(holder, f"sent no {what}")
                sizes = channel.open(VALUES, received).tolist()
            found |= dict(zip(held, sizes, strict=True))
        return found

    def decide(
        self, proposer: str, attributes: Sequence[int], instruction: Instruction | None
    ) -> bool:
        """Whether a candidate of one of the attributes is accepted; only the proposer knows which."""
        channel = self.channel
        concerned = [
            condition
            for condition in self.conditions
            if condition.holder != proposer
            and any(condition.requirement in self.table.concerning[a] for a in attributes)
        ]
        holders = [name for name in self.names if any(c.holder == name for c in concerned)]
        if not holders:
            return True
        alone = len(holders) == 1
        share: Bits | None = None
        shares: dict[str, Bits] = {}
        for holder in holders:
            if channel.me in (proposer, holder):
                due = [c for c in concerned if c.holder == holder]
                share = self._between(
                    proposer, holder, due, attributes, instruction, "both" if alone else "shares"
                )
                shares[holder] = share
        if alone:
            return self._told(proposer, holders[0], share)
        return self._conjunction(proposer, holders, shares)

    def _between(
        self,
        proposer: str,
        holder: str,
        conditions: Sequence[Condition],
        attributes: Sequence[int],
        instruction: Instruction | None,
        reveal: Reveal,
    ) -> Bits:
        """The verdict of one holder: the bit, or this party's share of it."""
        if (proposer, holder) not in self._pairs:
            fork = self._rng.fork(f"{proposer} and {holder}")
            self._pairs[proposer, holder] = Pair(self.channel, proposer, holder, fork)
        pair = self._pairs[proposer, holder]
        verdicts: list[Bits] = []
        layouts: dict[int, Layout] = {}
        for condition in conditions:
            j = condition.requirement
            if j not in layouts:
                layouts[j] = layout_of(self.table, j, attributes)
            if layouts[j].slots:
                verdicts.append(self._slots_hold(pair, condition, layouts[j], instruction))
        if not verdicts:  # no group is large enough to be divided, which all parties know
            return np.array([1 if reveal == "both" or pair.proposes else 0], np.uint8)
        return pair.all_hold(np.concatenate(verdicts), reveal)

    def _slots_hold(
        self, pair: Pair, condition: Condition, layout: Layout, instruction: Instruction | None
    ) -> Bits:
        """Shares of whether each slot satisfies the model."""
        form, records = condition.form, self.table.records
        columns = form.columns(self._values[condition.requirement])
        bits = form.bits(layout.largest, records, columns)
        circuit = form.circuit(columns, bits, records)
        if pair.proposes:
            assert instruction is not None  # noqa: S101
            slots = assigned_slots(self.table, condition.requirement, layout, instruction)
            shares = pair.choose(layout, slots, columns, bits)
            places = layout.first_slot[layout.group_of_record] + slots
            sizes = np.bincount(places, minlength=layout.slots)
            words = form.words(shares, sizes, records)
        else:
            _, labels, overall = self.table.model_of(condition.requirement)
            rows = form.rows(condition.part.for_values(labels.values), overall)
            words = pair.offer(layout, rows[labels.codes[layout.records]], bits)
        return pair.run(circuit, words, bits)

    def _told(self, proposer: str, holder: str, share: Bits | None) -> bool:
        """The verdict at every party: the proposer sends it to all but the holder."""
        channel = self.channel
        with channel.step("tell"):
            if share is not None:
                verdict = channel.open(DECIDED, int(share[0]))
                if channel.me == proposer:
                    for peer in channel.peers:
                        if peer != holder:
                            channel.send(peer, verdict)
                return bool(verdict)
            told = channel.recv_flag(proposer)
        return channel.open(DECIDED, told)

    def _conjunction(
        self, proposer: str, holders: Sequence[str], shares: Mapping[str, Bits]
    ) -> bool:
        """Whether all holders' verdicts, each shared with the proposer, are yes."""
        if self._gmw is None:
            self._gmw = Gmw(self.channel, self.names, self._rng.fork("several holders"))
        gmw, nothing = self._gmw, np.zeros(1, np.uint8)
        with self.channel.step("several"):
            group: tuple[str, ...] = (proposer, holders[0])
            total = shares.get(holders[0], nothing)
            for holder in holders[1:]:
                product = Product(group, (proposer, holder))
                gmw.prepare([(product, 1)])
                if self.channel.me in product.group:
                    total = gmw.multiply(product, total, shares.get(holder, nothing))
                group = product.group
            verdict = gmw.reveal(total.astype(np.uint8), 1, group)
        return bool(self.channel.open(DECIDED, int(verdict[0])))


class Pair:
    """The sessions between a proposer and a holder, at one of the two."""

    def __init__(self, channel: Channel, proposer: str, holder: str, rng: Random) -> None:
        self.channel = channel
        self.proposes = channel.me == proposer
        self.peer = holder if self.proposes else proposer
        self._garbling: Garbler | Evaluator
        if self.proposes:
            self._garbling = Garbler(channel, holder, rng)
            self._receiver = Receiver(channel, holder, rng)
        else:
            self._garbling = Evaluator(channel, proposer, rng)
            self._sender = Sender(channel, proposer, rng)

    def choose(self, layout: Layout, slots: Ints, columns: int, bits: int) -> Words:
        """The proposer's shares of the sums, by slot."""
        dtype = _number(bits)
        total = np.zeros((layout.slots, columns), dtype)
        own = layout.first_slot[layout.group_of_record] + slots
        with self.channel.step("sums"):
            for places, targets in layout.chunks(columns):
                choices = (own[places] == targets).astype(np.uint8)
                pads = self._receiver.random(choices, _words_for(columns, dtype))
                correction = self.channel.recv_array(
                    self.peer, dtype, (len(places), columns), "corrections of the due shape"
                )
                mine = _elements(pads, columns, dtype) + correction * choices[:, None].astype(dtype)
                _add_up(total, targets, mine)
        first = layout.first_slot
        total[first] = -np.add.reduceat(total, first, axis=0, dtype=dtype)
        return total.astype(np.uint64)

    def offer(self, layout: Layout, rows: Ints, bits: int) -> Words:
        """The holder's shares of the sums of these rows, one for each record of the layout."""
        dtype = _number(bits)
        columns = rows.shape[1]
        numbers = rows.astype(dtype)
        total = np.zeros((layout.slots, columns), dtype)
        with self.channel.step("sums"):
            for places, targets in layout.chunks(columns):
                words = _words_for(columns, dtype)
                zero, one = self._sender.random(len(places), words)
                pads = _elements(zero, columns, dtype)
                correction = pads - _elements(one, columns, dtype) + numbers[places]
                self.channel.send(self.peer, correction)
                _add_up(total, targets, -pads)
        starts = np.cumsum(layout.sizes) - layout.sizes
        whole = np.add.reduceat(numbers, starts, axis=0, dtype=dtype)
        first = layout.first_slot
        total[first] = whole - np.add.reduceat(total, first, axis=0, dtype=dtype)
        return total.astype(np.uint64)

    def run(self, circuit: Circuit, words: Words, bits: int) -> Bits:
        """Shares of the circuit's one output for every row of words."""
        count = len(words)
        mine = to_bits(words.reshape(-1), 64)[:, :bits].reshape(count, -1)
        return self._garbled(circuit, mine, "shares")

    def all_hold(self, shares: Bits, reveal: Reveal) -> Bits:
        """The conjunction of shared bits, `_WIDTH` at a time."""
        circuit = _all_circuit()
        while True:
            rows = -(-len(shares) // _WIDTH)
            padded = np.full(rows * _WIDTH, int(self.proposes), np.uint8)
            padded[: len(shares)] = shares
            last = rows == 1
            shares = self._garbled(
                circuit, padded.reshape(rows, _WIDTH), reveal if last else "shares"
            )
            if last:
                return shares

    def _garbled(self, circuit: Circuit, mine: Bits, reveal: Reveal) -> Bits:
        name = "proposer" if self.proposes else "holder"
        with self.channel.step("decide"):
            found = self._garbling.run(circuit, {name: mine}, reveal, len(mine))
        [output] = found.values()
        assert output is not None  # noqa: S101
        return output[:, 0]


@lru_cache(maxsize=1)
def _all_circuit() -> Circuit:
    builder = Builder()
    ours, theirs = builder.input("proposer", _WIDTH), builder.input("holder", _WIDTH)
    builder.output("holds", [builder.all(builder.xor_words(ours, theirs))])
    return builder.build()


def _number(bits: int) -> Any:
    """The smallest unsigned integer type with at least `bits` bits."""
    return next(t for t in (np.uint8, np.uint16, np.uint32, np.uint64) if 8 * t().itemsize >= bits)


def _words_for(columns: int, dtype: Any) -> int:
    return -(-columns * int(np.dtype(dtype).itemsize) // 8)


def _elements(words: Array, columns: int, dtype: Any) -> Array:
    """The first numbers of each row of 64-bit words."""
    elements: Array = np.ascontiguousarray(words).view(dtype)[:, :columns]
    return elements


def _add_up(total: Array, targets: Ints, rows: Array) -> None:
    """Adds each row to its slot; the rows of a slot stand together."""
    starts = np.flatnonzero(np.diff(targets, prepend=-1))
    total[targets[starts]] += np.add.reduceat(rows, starts, axis=0, dtype=total.dtype)
