"""Sums of all parties' real numbers, exact to 2^-96 whatever their size.

A sum is the secure sum of `protocols.multiparty.secure_sum`, in a ring wide enough that no model needs
a scale: a number is rounded to a multiple of 2^-96 and may be as large as 2^140. The sum of the
rounded numbers is exact. So it does not depend on the order of the parties, and on who holds which
record only through the rounding of each party's own arithmetic.

In: at every party a vector of the same length. Out: the sum, at every party. Adversary, messages
and cost: those of `SecureSum.big`, 32 bytes for each entry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Floats
from coterie.base.errors import DataError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.primitives.randomness import Random

FRACTION = 96
LARGEST = 2.0**140  # of one party's entry; 2^18 parties still fit into the ring
MODULUS = 1 << 256


class ExactSums:
    """A session of sums between the same parties."""

    def __init__(self, channel: Channel, names: Sequence[str], rng: Random) -> None:
        self.channel = channel
        self._sums = SecureSum(channel, names, rng)

    def totals(self, values: Floats) -> list[float]:
        """The sums at every party. The caller knows what they mean, and opens them."""
        if not (np.abs(values) <= LARGEST).all():  # which is false for what is no number, too
            raise DataError(
                f"{self.channel.me}: a sum over this party's records is larger than {LARGEST:.0e}"
            )
        whole = [int(math.ldexp(value, FRACTION)) % MODULUS for value in values.tolist()]
        found = self._sums.big(whole, MODULUS)
        signed = (total - MODULUS if total >= MODULUS // 2 else total for total in found)
        return [total / (1 << FRACTION) for total in signed]
