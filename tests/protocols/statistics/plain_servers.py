"""Both servers in one place: the circuits in plain, with what they open written down."""

import numpy as np

from coterie.protocols.circuits.boolean import evaluate, to_bits
from coterie.protocols.statistics.visibility_circuits import large_circuit


class PlainServers:
    """Stands for `HiddenCounts`. The second server's shares are zeros."""

    def __init__(self):
        self.opened = []

    def large(self, share, count, minimum, zeros):
        counts = np.asarray(share, np.uint32)
        rows = {"rest": to_bits(counts - np.uint32(minimum), 32)}
        if zeros:
            rows["count"] = to_bits(counts, 32)
        return self.shared(large_circuit(zeros), count, rows)["large"][:, 0]

    def public(self, bits):
        return bits

    def shared(self, circuit, count, inputs):
        assert all(len(bits) == count for bits in inputs.values())
        both = {f"{name}0": bits for name, bits in inputs.items()}
        both |= {f"{name}1": np.zeros_like(bits) for name, bits in inputs.items()}
        return evaluate(circuit, both)

    def revealed(self, circuit, count, inputs, output):
        bits = self.shared(circuit, count, inputs)[output]
        self.opened.append(bits)
        return bits
