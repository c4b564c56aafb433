"""Splits garbled tables into messages, and limits how far their sender may run ahead.

A message has the tables of many instances of a small circuit; a circuit with more AND gates than a
message holds is cut between gates into several messages. The receiver confirms every `WINDOW`
messages, and the sender waits when it is two windows ahead, so that neither memory nor a spool
fills with tables that cannot be used yet. Each party chooses how many messages it computes
together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coterie.protocols.circuits.boolean import AND, Circuit
from coterie.protocols.circuits.half_gates import EVALUATE_LANES, Worker

CHUNK_ANDS = 1 << 15  # AND gates per message, which then has 1 MB
WINDOW = 32  # messages that the evaluator confirms at once


@dataclass(frozen=True)
class Part:
    """The content of one message of tables: some instances, or some gates of a single large one."""

    number: int
    instances: slice
    start: int
    stop: int

    def within(self, instances: slice) -> slice:
        """The instances of this message, counted from the first of a batch."""
        return slice(self.instances.start - instances.start, self.instances.stop - instances.start)

    def waits_for(self) -> int:
        """The number of windows that must be confirmed before this message is sent, or 0."""
        ready = self.number >= 2 * WINDOW and self.number % WINDOW == 0
        return self.number // WINDOW - 1 if ready else 0

    def completes(self, parts: list[Part]) -> int:
        """The number of windows to confirm after this message, or 0 if the sender does not wait."""
        done = self.number + 1
        return done // WINDOW if done % WINDOW == 0 and done + WINDOW < len(parts) else 0


def parts_of(circuit: Circuit, count: int) -> list[Part]:
    """The messages for `count` instances, in order; both parties must compute the same."""
    ands = np.flatnonzero(circuit.kinds == AND)
    gates = len(circuit.kinds)
    if len(ands) > CHUNK_ANDS:
        cuts = list(pairwise([0, *(ands[CHUNK_ANDS::CHUNK_ANDS]).tolist(), gates]))
        return [
            Part(instance * len(cuts) + at, slice(instance, instance + 1), start, stop)
            for instance in range(count)
            for at, (start, stop) in enumerate(cuts)
        ]
    many = CHUNK_ANDS // max(len(ands), 1)
    many = max(many - many % EVALUATE_LANES, 1)
    return [
        Part(number, slice(first, min(first + many, count)), 0, gates)
        for number, first in enumerate(range(0, count, many))
    ]


def batches(parts: list[Part], worker: Worker) -> Iterator[tuple[list[Part], slice]]:
    """The messages that the worker computes together, and their instances."""
    whole = all(part.stop - part.start == len(worker.circuit.kinds) for part in parts)
    size = min(worker.messages, WINDOW) if whole else 1
    for at in range(0, len(parts), size):
        batch = parts[at : at + size]
        yield batch, slice(batch[0].instances.start, batch[-1].instances.stop)
