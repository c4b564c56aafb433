"""Opens the slack of every requirement entry at the end of a joint specialization (`slack: tell`).

Paper 1 §7 shows on Adult that a requirement a little smaller can release a whole column more. The
slack of an entry is the largest smaller k with which the run would have differed, after how many
steps, and the attribute of the step that it would have taken there
(`anonymity.specialization.slack`).

In, at each party: the steps of its own columns that an entry alone refused. Out, equal at all
parties, for each entry: k, the number of steps before, and the attribute; or that no k down to half of
the entry's permits anything. Adversary: semi-honest. The parties learn the answer and nothing of the
steps that come after the nearest: neither whose they are nor how far they miss. The answer cannot be
checked: a party may say any smaller k down to half, or none; but it is none that this party's own
excludes. The opened k is the number of records of a group that
the release does not show.

Messages, in order:
    maximum     `secure_maximum` of (k, steps before, fewer first) of each entry: it is opened
    first       `secure_maximum` of (score, attribute) among the parties that have this maximum: its
                owner is opened
    attribute   each owner to all: the attributes of its entries

Kept answers (`protocols.messaging.kept`): the whole answer, which the result shows.
Cost: that of two maxima for each entry, some 25 rounds of two parties.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.specialization.slack import Refused, least_told
from coterie.anonymity.specialization.specialize import Specializer
from coterie.base.arrays import Words
from coterie.protocols.integration.plan import Plan, Slack
from coterie.protocols.integration.scores import SCORE_BITS
from coterie.protocols.messaging.broadcast_check import digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.multiparty.secure_maximum import SecureMaximum
from coterie.protocols.primitives.randomness import Random

SLACK = declare(
    "integrate: slack",
    what="With `slack: tell`, for each entry of the requirement the largest smaller k, down to half of the entry's, at which a step would have been done that was refused, which is the size of a group that the release does not show; after how many steps; and the attribute of the step.",
    to="every party",
    why="The job asks what a little less privacy would show more of, and each party's policy permits it.",
)


def tell_slack(
    channel: Channel,
    plan: Plan,
    table: Specializer,
    own: Mapping[int, Refused],
    rng: Random,
) -> list[Slack | None]:
    """The slack of each entry; `own` has the nearest refused step of this party's columns by entry."""
    with channel.step("slack"):
        told = channel.once(
            "slack", lambda: _together(channel, plan, table, own, rng), told=digest_of
        )
    return [
        None if not permitted else Slack(permitted, after, table.names[attribute])
        for permitted, after, attribute in zip(*[iter(told)] * 3, strict=True)
    ]


def _together(
    channel: Channel, plan: Plan, table: Specializer, own: Mapping[int, Refused], rng: Random
) -> list[Value]:
    """Permitted, after and attribute of each entry, one after the other; zeros for no slack."""
    entries, steps = range(len(plan.requirements)), len(table.winners)
    step_bits = max(1, steps.bit_length())
    place_bits = max(1, (len(table.names) - 1).bit_length())
    k_bits = max(requirement.k for requirement in plan.requirements).bit_length()
    bits = max(k_bits + step_bits, SCORE_BITS + place_bits)
    session = SecureMaximum(channel, plan.names, rng.fork("slack"), bits, 2 * len(entries))
    mine = _words(
        [
            0 if (one := own.get(j)) is None else one.permitted << step_bits | (steps - one.after)
            for j in entries
        ]
    )
    with channel.step("maximum"):
        nearest = channel.open(SLACK, session.argmax(mine, reveal_maximum=True)).maxima
    assert nearest is not None  # noqa: S101
    last = len(table.names) - 1
    orders = _words(
        [
            (one.score + 1) << place_bits | (last - one.attribute)
            if mine[j] == nearest[j] and (one := own.get(j)) is not None
            else 0
            for j in entries
        ]
    )
    with channel.step("first"):
        owners = channel.open(SLACK, session.argmax(orders)).indices.tolist()
    told = [
        (int(word) >> step_bits, steps - (int(word) & (1 << step_bits) - 1)) for word in nearest
    ]
    if (nearest < mine).any():
        raise channel.fault(
            ", ".join(channel.peers),
            "one of them sent wrong shares: less than this party's own slack",
        )
    for (permitted, after), requirement in zip(told, plan.requirements, strict=True):
        least = least_told(requirement.k)
        if permitted and not (least <= permitted < requirement.k and after >= 0):
            raise channel.fault(
                ", ".join(channel.peers), "one of them sent wrong shares: no slack of an entry"
            )
    attributes = _attributes(channel, plan, table, [
        plan.names[owner] if permitted else None
        for owner, (permitted, _) in zip(owners, told, strict=True)
    ], own)  # fmt: skip
    return [
        number
        for (permitted, after), attribute in zip(told, attributes, strict=True)
        for number in ((permitted, after, attribute) if permitted else (0, 0, 0))
    ]


def _words(numbers: list[int]) -> Words:
    return np.array(numbers, np.uint64)


def _attributes(
    channel: Channel,
    plan: Plan,
    table: Specializer,
    owners: list[str | None],
    own: Mapping[int, Refused],
) -> list[int]:
    """The attribute of each entry, which its owner sends to all; 0 where the entry has no owner."""
    entries = {name: [j for j, owner in enumerate(owners) if owner == name] for name in plan.names}
    found = [0] * len(owners)
    with channel.step("attribute"):
        if any(j not in own for j in entries[channel.me]):
            raise channel.fault(
                ", ".join(channel.peers), "one of them sent wrong shares: a slack of nobody"
            )
        if told := [own[j].attribute for j in entries[channel.me]]:
            channel.broadcast(channel.open(SLACK, list[Value](told)))
        for j in entries[channel.me]:
            found[j] = own[j].attribute
        for peer in channel.peers:
            theirs = entries[peer]
            if not theirs:
                continue
            heard = channel.open(SLACK, channel.recv_ints(
                peer, len(theirs), 0, len(table.names) - 1, "attributes of its slack"
            ))  # fmt: skip
            for j, attribute in zip(theirs, heard, strict=True):
                name = table.names[attribute]
                if plan.holders[name] != peer or name not in plan.requirements[j].qid:
                    raise channel.fault(peer, f"tells a slack of '{name}', which it cannot have")
                found[j] = attribute
    return found
