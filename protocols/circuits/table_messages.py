"""How garbled tables are spread over messages, and how far their sender may run ahead.

Small circuits go many instances to a message, a circuit with more AND gates than a message holds
goes in several, cut between gates. The receiver confirms every `WINDOW` messages, and the sender
waits when it is two windows ahead, so that neither memory nor a spool fills with tables that cannot
be used yet. Each party chooses how many messages it computes together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coterie.protocols.circuits.boolean import AND, Circuit
from coterie.protocols.circuits.half_gates import EVALUATE_LANES, Worker

CHUNK_ANDS = 1 << 15  # AND gates a message, which then has 1 MB
WINDOW = 32  # messages that the evaluator confirms at once


@dataclass(frozen=True)
class Part:
    """What one message of tables is about: some instances, or some gates of a single large one."""

    number: int
    instances: slice
    start: int
    stop: int

    def within(self, instances: slice) -> slice:
        """Its instances, counted from the first of a batch."""
        return slice(self.instances.start - instances.start, self.instances.stop - instances.start)

    def waits_for(self) -> int:
        """The number of windows that must be confirmed before this message is sent, or 0."""
        ready = self.number >= 2 * WINDOW and self.number % WINDOW == 0
        return self.number // WINDOW - 1 if ready else 0

    def completes(self, parts: list[Part]) -> int:
        """The number of windows to confirm once this message is done, or 0: somebody waits for it."""
        done = self.number + 1
        return done // WINDOW if done % WINDOW == 0 and done + WINDOW < len(parts) else 0


def parts_of(circuit: Circuit, count: int) -> list[Part]:
    """The messages for so many instances, in order; both parties must find the same."""
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
    """Messages that are computed together: as many as suit the worker; and their instances."""
    whole = all(part.stop - part.start == len(worker.circuit.kinds) for part in parts)
    size = min(worker.messages, WINDOW) if whole else 1
    for at in range(0, len(parts), size):
        batch = parts[at : at + size]
        yield batch, slice(batch[0].instances.start, batch[-1].instances.stop)
