"""The start of joint Mondrian under bounds on generalization: everybody learns the first groups."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.specialization.starting import start_codes
from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.protocols.integration.mondrian.judged_cuts import Judgement
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes, unpack_codes
from coterie.protocols.messaging.opening import declare

START = "start of cuts"

STARTED = declare(
    "integrate: start values of cuts",
    what="With `method: mondrian` and bounds on generalization, the start value of each record that stays; and, with models, whether the start groups satisfy them.",
    to="every party",
    why="The groups begin there; the release shows no more general value.",
)


def start_values(
    channel: Channel, plan: Plan, columns: Mapping[str, Column], records: int
) -> dict[str, Array]:
    """The start value of each record on every bounded attribute, as its holder tells it."""
    if not plan.start_values:
        return {}
    kept = channel.next_kept(START)
    if kept is not None:
        return dict(zip(plan.start_values, kept, strict=True))
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
    channel.keep(START, [*found.values()])
    return found


def check_start(channel: Channel, judgement: Judgement) -> None:
    """Everybody tells whether the start groups satisfy the models on its own columns."""
    with channel.step("start"):
        mine = int(all(judgement.check_start()))
        channel.broadcast(channel.open(STARTED, mine))
        verdicts = [mine, *(channel.recv_flag(peer, "verdict") for peer in channel.peers)]
    if not all(verdicts):
        raise DataError(
            "the bounds in at_most violate a condition on a sensitive column; permit more "
            "general values"
        )
