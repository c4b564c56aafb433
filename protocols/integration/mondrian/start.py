"""The start of joint Mondrian under bounds on generalization: everybody learns the first groups."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.cuts.groups import Start
from coterie.anonymity.cuts.regions import Node
from coterie.anonymity.specialization.starting import start_codes
from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.base.arrays import Array
from coterie.protocols.integration.mondrian.joint_run import JointRun
from coterie.protocols.integration.mondrian.judged_cuts import Judgement
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes, unpack_codes
from coterie.protocols.messaging.opening import declare

START = "start of cuts"

STARTED = declare(
    "integrate: start values of cuts",
    what="With `method: mondrian` and bounds on generalization, the start value of each record that stays. With models and such bounds or `refine: groups`, of each condition whether the start groups satisfy the models on the party's columns.",
    to="every party",
    why="The groups begin there; the release shows no more general value.",
)


def start_values(
    channel: Channel, plan: Plan, columns: Mapping[str, Column], records: int, telling: Telling
) -> dict[str, Start]:
    """The start value of each record on every bounded attribute, as its holder tells it."""
    if not plan.start_values:
        return {}
    regions = {name: [Node(node) for node in cut] for name, cut in plan.start_values.items()}
    kept = channel.next_kept(START)
    if kept is not None:
        return {name: (regions[name], codes) for name, codes in zip(regions, kept, strict=True)}
    found: dict[str, Array] = {}
    with channel.step("start"):
        heard: dict[str, bytes] = {}
        for name, cut in plan.start_values.items():
            holder = plan.holders[name]
            if holder == channel.me:
                column = columns[name]
                assert isinstance(column, CategoricalColumn)  # noqa: S101
                codes = start_codes(column.taxonomy, cut, column.codes)
                packed = channel.open(STARTED, pack_codes(codes.astype(np.uint32), len(cut)))
                channel.broadcast(packed)
            else:
                packed = channel.recv_array(holder, np.uint8, (None,), "start values")
                try:
                    codes = unpack_codes(packed, records, len(cut)).astype(np.int64)
                except ValueError as error:
                    raise channel.fault(holder, f"sent start values that {error}") from None
            found[name] = codes.astype(np.int64)
            heard[holder] = digest_of(heard.get(holder, b""), packed)
        with channel.step("compare"):
            compare_digests(channel, plan.names, heard, "its start values")
    told = b"".join(telling.digest(name, codes=codes) for name, codes in found.items())
    channel.keep(START, [*found.values()], told)
    return {name: (regions[name], codes) for name, codes in found.items()}


def check_start(run: JointRun, judgement: Judgement, judged: bool) -> list[bool]:
    """Of each condition whether the groups that it starts with satisfy it, as all parties find.

    With models, everybody tells of each condition whether they hold on its own columns.
    """
    channel, partitions = run.channel, run.shared.partitions
    large = [bool((partition.open.sizes >= partition.k).all()) for partition in partitions]
    begun = run.plan.start_values or run.plan.refine is not None
    if not begun or not judged:
        return large
    with channel.step("start"):
        mine = np.array(judgement.check_start(), np.uint8)
        channel.broadcast(channel.open(STARTED, mine))
        told = {channel.me: mine}
        for peer in channel.peers:
            told[peer] = channel.recv_array(peer, np.uint8, mine.shape, "verdicts")
        heard = {name: digest_of(flags) for name, flags in told.items()}
        compare_digests(channel, run.plan.names, heard, "its verdicts on the start groups")
    good = np.all([*told.values()], axis=0)
    return [a and b for a, b in zip(large, good.tolist(), strict=True)]
