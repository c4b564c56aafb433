"""What an attempt tells about records, as digests that are equal in all attempts with equal data.

The joint order of the records is another one in each attempt that matches them anew, so that codes
are put in the order of the party's own rows. Which records take part is in every digest. The digests
stay with the party (`protocols.messaging.kept`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from coterie.anonymity.specialization.generalized import GeneralizedTable, Instruction
from coterie.base.arrays import Array
from coterie.protocols.messaging.broadcast_check import digest_of
from coterie.protocols.messaging.wire import Value


class Telling:
    """`rows` has the party's own row of each record, which is equal in all attempts."""

    def __init__(self, rows: Array) -> None:
        self._order = np.argsort(rows, kind="stable")
        self._whose = digest_of(rows[self._order])

    def digest(self, *values: Value, codes: Array | None = None) -> bytes:
        """Of these values, and of a code for each record."""
        own: Value = 0 if codes is None else codes[self._order]
        return digest_of(self._whose, [*values], own)

    def of_parts(self, head: Value, parts: Iterable[tuple[Array, Array]]) -> bytes:
        """Of codes about some of the records: pairs of records and their codes."""
        codes = np.zeros(len(self._order), np.uint32)
        for records, own in parts:
            codes[records] = own
            codes[records] += 1
        return self.digest(head, codes=codes)

    def of_instruction(self, table: GeneralizedTable, instruction: Instruction) -> bytes:
        """Of a specialization, before anybody follows it."""
        leaves = table.partitions.link(instruction.attribute, instruction.node)
        head = repr(
            (
                instruction.attribute,
                instruction.node,
                instruction.split,
                instruction.score,
                instruction.leaves_out,
            )
        )
        return self.of_parts(head, [(table.partitions.records_of(leaves), instruction.children)])
