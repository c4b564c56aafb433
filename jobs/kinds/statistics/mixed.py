"""`partition: mixed`: every cell of a common record lies at exactly one party, which is checked first.

Every party's table has all attributes; an empty cell is another party's. `CodedAttribute.encode` gives
it the code -1. `protocols.statistics.shared_tables` counts with such codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coterie.base.arrays import Mask
from coterie.base.errors import DataError
from coterie.base.text import quoted_list
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.mixed_cells import held_once


def check_held(
    names: Sequence[str],
    servers: tuple[str, str],
    held: Mapping[str, Mask],
    channel: Channel,
    rng: Random,
) -> None:
    """Refuses columns with a cell that two parties hold, or none; `held` are this party's cells."""

    def find() -> list[Value]:
        group = HiddenCounts(channel, names, servers, rng.fork("decide"))
        return [*map(int, held_once(group, list(held.values()), rng))]

    sound = channel.once("cells at one party", find) if held else []
    wrong = [name for name, right in zip(held, sound, strict=True) if not right]
    if wrong:
        raise DataError(
            f"column {quoted_list(wrong)}: with 'partition: mixed' each cell lies at exactly one "
            "party, and some cell of a common record has a value at two parties or at none; compare "
            "between you who has which"
        )
