"""Decides which records bounds on generalization leave out of a joint table, before any search.

Miller, Campan, Truta, "Constrained k-anonymity: privacy with generalization boundaries" (P3DM
2008), for columns at several parties. The start value of a record is where the bounds let its
specialization begin (`anonymity.specialization.starting`). Two records with different start values
can never be in one group. So the records in start groups of fewer than k must be left out, and all
others can stay; with several requirements the pass is repeated, since leaving out a record can make
another group too small.

In: at each party the start values of its own bounded attributes, in the joint order. Public: the
number of start values of each attribute, the requirement, the number of records that may be left
out. Out, at every party: whether the records to leave out are within that number, and nothing else
if not; if so, which start groups have enough records (the release shows these, and no others) and
which records stay. A party concludes that the others' start values of a record that is left out are
among those which, combined with its own, do not stay.

How. The parties count the start groups as additive shares at two of them, the servers
(`shared_tables`): with two holders of bounded attributes these two themselves, with more the first
two. A garbled circuit of the servers compares the groups with k, pass by pass, on shares; with
several requirements all learn after each pass whether it changed something. A last circuit says
whether the cost is within the limit, and gives the groups that stay only if it is. A record stays
if its start group does: the first holder looks its own part up in this table of bits, and every
further holder picks its own part by products with its one-hot bits (`gmw`); the last products are
the records' bits and are opened to all. If one party holds all bounded attributes, it decides alone
and sends the result to all, who compare digests of it (`broadcast_check`).

Adversary: semi-honest; of three and more holders the two servers must not collude: together they
could read the counts. A party that deviates can have records left out, or kept that should be left
out: then an instruction violates k, which all parties count, and the job ends.

Messages, in the step `bounds`: those of `shared_tables`; per pass one garbled circuit and, with
several requirements, a bit to all; a circuit, and its answer to all; the products; one bit for each
record to all. Cost, for n records, h holders with s_1 … s_h start values: n (s_2 + … + s_h) transfers
for the counts and as many for the records; a circuit of about 3 log2(n) gates for each start group
and requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Bits, Codes, Mask
from coterie.base.distinct import ranks
from coterie.base.errors import DataError
from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once, to_bits
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.gmw import Gmw, Product
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring, Transfers
from coterie.protocols.statistics.shared_tables import Axis, JointTable, joint_codes, table_shares

MOST_GROUPS = 4096  # start groups of all bounded attributes together
_BATCH = 1 << 20  # products that are prepared together
_STRING = 64  # bits of a product's string

CHANGED = declare(
    "integrate: a pass changed something",
    what="With bounds on generalization and several requirements, whether a pass over the groups left out records that the pass before had kept.",
    to="every party",
    why="The passes end when nothing changes any more.",
)
GROUPS = declare(
    "integrate: groups within the bounds",
    what="With bounds on generalization at two organisations or more, whether they cost no more records than may be left out; if so, which combinations of start values have enough records.",
    to="every party",
    why="The release shows the combinations that have; a job that would leave out too many ends.",
)
STAYING = declare(
    "integrate: records within the bounds",
    what="With bounds on generalization, which of the common records stay in the release; nothing else of those that do not.",
    to="every party",
    why="All parties leave out the same records before the first round.",
)


@dataclass(frozen=True)
class Demand:
    """At least `k` records share the start values of these attributes (places in the axes)."""

    axes: tuple[int, ...]
    k: int


def records_within_bounds(
    channel: Channel,
    names: Sequence[str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    demands: Sequence[Demand],
    records: int,
    most: int,
    rng: Random,
    told: Callable[[Mask], bytes] = lambda stays: b"",
) -> Mask:
    """Which records stay; `codes` has this party's start values, by attribute.

    `told` makes a digest of them, by which attempts are compared.

    Raises `DataError` at every party if more than `most` records would have to be left out.
    """
    owners = [name for name in names if any(axis.owner == name for axis in axes)]

    def decide() -> Mask:
        if len(owners) == 1:
            return _decided_alone(channel, names, owners[0], axes, codes, demands, records, most)
        good = _good_groups(channel, names, owners, axes, codes, demands, records, most, rng)
        _check_possible(
            channel, owners, axes, codes, demands, _may_stay(axes, codes, good, records), most
        )
        stays = _looked_up(channel, names, owners, axes, codes, good, records, rng)
        _check_possible(channel, owners, axes, codes, demands, stays, most)
        return stays

    with channel.step("bounds"):
        stays: Mask = channel.once("records within the bounds", decide, told)
    return stays


def _refused(most: int) -> DataError:
    allowed = f"{most} may be left out" if most else "none may be left out"
    return DataError(
        f"the bounds in at_most cost more records than max_suppression permits ({allowed}); raise "
        "max_suppression or permit more general values"
    )


def servers_of(owners: Sequence[str]) -> tuple[str, str]:
    """The holders of the shares of the counts: the two holders, or the first two of several."""
    return owners[0], owners[1]


# One party has all bounded attributes.


def _decided_alone(
    channel: Channel,
    names: Sequence[str],
    owner: str,
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    demands: Sequence[Demand],
    records: int,
    most: int,
) -> Mask:
    """The holder of all bounded attributes counts its own records and sends all which stay."""
    what = "answer which records stay"
    if owner == channel.me:
        stays = plainly_within(axes, codes, demands, np.ones(records, np.bool_))
        fits = records - int(stays.sum()) <= most
        told = np.packbits(stays) if fits else np.empty(0, np.uint8)
        channel.broadcast(told)
        compare_digests(channel, names, {owner: digest_of(told)}, what)
        if not fits:
            raise _refused(most)
        return channel.open(STAYING, stays)
    received = channel.recv_array(owner, np.uint8, (None,), what)
    compare_digests(channel, names, {owner: digest_of(received)}, what)
    if not len(received):
        raise _refused(most)
    channel.check_array(owner, received, np.uint8, ((records + 7) // 8,), what)
    stays = np.unpackbits(received, count=records).astype(np.bool_)
    if records - int(stays.sum()) > most:
        raise channel.fault(owner, "leaves out more records than may be")
    return channel.open(STAYING, stays)


def plainly_within(
    axes: Sequence[Axis], codes: Mapping[str, Codes], demands: Sequence[Demand], stays: Mask
) -> Mask:
    """Which of these records stay, counted by a party that has all attributes of the demands."""
    groups = [ranks(joint_codes([axes[a] for a in d.axes], codes, len(stays))) for d in demands]
    stays = stays.copy()
    before = -1
    while before != stays.sum():
        before = int(stays.sum())
        for demand, group in zip(demands, groups, strict=True):
            stays &= np.bincount(group, weights=stays)[group] >= demand.k
    return stays


# Two or more parties have bounded attributes.


def _may_stay(axes: Sequence[Axis], codes: Mapping[str, Codes], good: Bits, records: int) -> Mask:
    """Which records, as far as this party's own start values tell, may be in a group that stays."""
    others = tuple(at for at, axis in enumerate(axes) if axis.name not in codes)
    own = tuple(codes[axis.name] for axis in axes if axis.name in codes)
    possible = np.asarray(good.reshape([axis.size for axis in axes]).any(axis=others))
    return np.broadcast_to(possible[own], records)


def _check_possible(
    channel: Channel,
    owners: Sequence[str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    demands: Sequence[Demand],
    stays: Mask,
    most: int,
) -> None:
    """Ends the job if too few stay, of all or of those with one start value of this party's.

    Nobody can tell which server shared false counts, so that the error names each but this one.
    """
    own = [Demand(tuple(at for at in d.axes if axes[at].name in codes), d.k) for d in demands]
    if len(stays) - stays.sum() > most or (plainly_within(axes, codes, own, stays) != stays).any():
        suspects = [server for server in servers_of(owners) if server != channel.me]
        raise channel.fault(
            " or ".join(suspects),
            "shared false counts: more records would be left out than may be, or groups of fewer "
            "than k kept",
        )


def _good_groups(
    channel: Channel,
    names: Sequence[str],
    owners: Sequence[str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    demands: Sequence[Demand],
    records: int,
    most: int,
    rng: Random,
) -> Bits:
    """A bit for every combination of start values, in the order of the axes: whether it stays."""
    servers = servers_of(owners)
    transfers = Transfers(channel, rng.fork("counts"))
    table = JointTable(names, servers, axes, codes, records)
    share = table_shares(transfers, table, rng.fork("shares"))
    hidden = HiddenCounts(channel, names, servers, rng.fork("circuits"))
    sizes, wanted = tuple(axis.size for axis in axes), tuple(demands)
    width = records.bit_length()
    cells = int(np.prod(sizes))
    inputs: dict[str, Bits | None] = {"count": _count_bits(share, width)}
    stays: Bits | None = None
    if hidden.is_server:
        stays = np.full((1, cells), 1 if hidden.first else 0, np.uint8)
    circuit = pass_circuit(sizes, wanted, width)
    while True:
        if len(demands) == 1:  # one pass is enough, so that no bit about a pass is opened
            found = hidden.shared(circuit, 1, {**inputs, "stays": stays})
            stays = found["stays"]
            break
        changed, kept = hidden.decided(circuit, 1, {**inputs, "stays": stays}, "changed")
        stays = kept["stays"]
        if not channel.open(CHANGED, changed).any():
            break
    last = last_circuit(cells, width, records - most)
    told = channel.open(GROUPS, hidden.decided(last, 1, {**inputs, "stays": stays}, "told")[0])
    if not told[0, 0]:
        raise _refused(most)
    return told[0, 1:]


def _count_bits(share: Ring | None, width: int) -> Bits | None:
    """A server's shares of all counts as one row: a sum modulo 2^32 is one modulo 2^width."""
    return None if share is None else to_bits(share, width).reshape(1, -1)


def _counts(builder: Builder, cells: int, width: int) -> list[Word]:
    ours, theirs = builder.input("count0", cells * width), builder.input("count1", cells * width)
    return [
        builder.add(ours[at : at + width], theirs[at : at + width], width)
        for at in range(0, cells * width, width)
    ]


def _stays(builder: Builder, cells: int) -> Word:
    return builder.xor_words(builder.input("stays0", cells), builder.input("stays1", cells))


def _total(builder: Builder, counts: Sequence[Word], width: int) -> Word:
    total = builder.constant(0, width)
    for count in counts:
        total = builder.add(total, count, width)
    return total


@built_once(8)
def pass_circuit(sizes: tuple[int, ...], demands: tuple[Demand, ...], width: int) -> Circuit:
    """One pass: removes the cells of every group that is too small.

    The counts are below 2^width, so that sums of some of them do not overflow.
    """
    cells = int(np.prod(sizes))
    builder = Builder()
    counts, stays = _counts(builder, cells, width), _stays(builder, cells)
    before = list(stays)
    places = np.indices(sizes).reshape(len(sizes), -1)
    for demand in demands:
        group = np.zeros(cells, np.int64)
        for axis in demand.axes:
            group = group * sizes[axis] + places[axis]
        for number in range(int(group.max()) + 1):
            members = np.flatnonzero(group == number).tolist()
            shown = [builder.gate_word(stays[cell], counts[cell]) for cell in members]
            total = _total(builder, shown, width)
            few = builder.less(total, builder.constant(demand.k, max(width, demand.k.bit_length())))
            enough = builder.invert(few)
            for cell in members:
                stays[cell] = builder.conjoin(stays[cell], enough)
    changed = builder.any(builder.xor_words(before, stays))
    builder.output("stays", stays)
    builder.output("changed", [changed])
    return builder.build()


@built_once(8)
def last_circuit(cells: int, width: int, least: int) -> Circuit:
    """Whether `least` records or more stay, and, only if so, which cells do."""
    builder = Builder()
    counts, stays = _counts(builder, cells, width), _stays(builder, cells)
    kept = [builder.gate_word(stay, count) for stay, count in zip(stays, counts, strict=True)]
    few = builder.less(_total(builder, kept, width), builder.constant(least, width))
    fits = builder.invert(few)
    builder.output("told", [fits, *builder.gate_word(fits, stays)])
    return builder.build()


def _looked_up(
    channel: Channel,
    names: Sequence[str],
    owners: Sequence[str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    good: Bits,
    records: int,
    rng: Random,
) -> Mask:
    """Which records have a combination that stays, without revealing anybody's start values."""
    own_axes = {
        owner: [at for at, axis in enumerate(axes) if axis.owner == owner] for owner in owners
    }
    sizes = {o: int(np.prod([axes[at].size for at in own_axes[o]])) for o in owners}
    order = sorted(owners, key=lambda owner: -sizes[owner])  # the first one's part costs nothing
    layout = [at for owner in order for at in own_axes[owner]]
    table = (
        good.reshape([axis.size for axis in axes]).transpose(layout).reshape(sizes[order[0]], -1)
    )
    mine = None
    if channel.me in owners:
        mine = joint_codes([axes[at] for at in own_axes[channel.me]], codes, records)
    gmw = Gmw(channel, names, rng.fork("records"))
    stays = np.zeros(records, np.uint8)
    rows = max(1, _BATCH // max(sizes[owner] for owner in order[1:]))
    for start in range(0, records, rows):
        part = slice(start, min(start + rows, records))
        count = part.stop - part.start
        share = np.zeros((count, table.shape[1]), np.uint8)
        if channel.me == order[0] and mine is not None:
            share = table[mine[part]]
        for place, owner in enumerate(order[1:], 1):
            bits = np.zeros((count, sizes[owner]), np.uint8)
            if channel.me == owner and mine is not None:
                bits[np.arange(count), mine[part]] = 1
            share = _picked(gmw, tuple(order[:place]), owner, share, bits)
        stays[part] = gmw.reveal(share[:, 0], 1, order)
    return channel.open(STAYING, stays.astype(np.bool_))


def _picked(gmw: Gmw, holders: tuple[str, ...], picker: str, share: Bits, bits: Bits) -> Bits:
    """Shares of the string, of one for every value of the picker, that each record has."""
    count, values = bits.shape
    length = share.shape[1] // values
    strings = share.reshape(count, values, length)
    found = []
    for start in range(0, length, _STRING):
        part = strings[:, :, start : start + _STRING]
        width = part.shape[2]
        product = Product(holders, (picker,), width)
        weights = np.uint64(1) << np.arange(width, dtype=np.uint64)
        words = (part.astype(np.uint64) * weights).sum(axis=2, dtype=np.uint64)
        gmw.prepare([(product, count * values)])
        flat = words.astype(product.dtype).reshape(-1)
        if gmw.channel.me not in product.group:
            found.append(np.zeros((count, width), np.uint8))
            continue
        picked = gmw.multiply(product, flat, bits.reshape(-1)).reshape(count, values)
        word = np.bitwise_xor.reduce(picked, axis=1).astype(np.uint64)
        found.append(((word[:, None] >> np.arange(width, dtype=np.uint64)) & 1).astype(np.uint8))
    return np.concatenate(found, axis=1)
