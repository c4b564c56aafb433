"""Building circuits that compute with numbers: sums, comparisons, choices, positions, minima.

A `Builder` takes words (lists of wires, lowest bit first) and returns words. Numbers are unsigned
unless a method says otherwise. Widths may differ: a shorter word is extended with zeros.

Two styles. The default uses as few AND gates as is known (one a bit for a sum, a comparison and a
choice: Kolesnikov and Schneider, "Improved Garbled Circuit: Free XOR Gates and Applications", ICALP
2008, section 4; Kolesnikov, Sadeghi and Schneider, CANS 2009), which is what garbling pays for.
`Builder(shallow=True)` spends about twice as many, or a factor log(width) in sums, for AND depth
logarithmic in the width, which is what evaluation on shares pays for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import TypeVar

from coterie.protocols.circuits.boolean import (
    AND,
    NOT,
    ONE,
    XOR,
    ZERO,
    Circuit,
    Gates,
    Word,
    evaluate,
    from_bits,
    to_bits,
)

T = TypeVar("T")

__all__ = [
    "AND",
    "NOT",
    "ONE",
    "XOR",
    "ZERO",
    "Builder",
    "Circuit",
    "Word",
    "evaluate",
    "from_bits",
    "to_bits",
]


class Builder(Gates):
    """Gates, and arithmetic on words of them."""

    def __init__(self, shallow: bool = False) -> None:
        super().__init__()
        self.shallow = shallow

    # Words

    def constant(self, value: int, width: int) -> Word:
        """A number modulo 2^width, negative ones in two's complement."""
        return [ONE if value >> i & 1 else ZERO for i in range(width)]

    def extend(self, x: Sequence[int], width: int) -> Word:
        """The first `width` bits, with zeros after the last."""
        return [*x, *[ZERO] * (width - len(x))][:width]

    def extend_signed(self, x: Sequence[int], width: int) -> Word:
        """The first `width` bits, with the sign repeated."""
        return [*x, *[x[-1]] * (width - len(x))][:width]

    def xor_words(self, x: Sequence[int], y: Sequence[int]) -> Word:
        width = max(len(x), len(y))
        return [
            self.xor(a, b)
            for a, b in zip(self.extend(x, width), self.extend(y, width), strict=True)
        ]

    def invert_word(self, x: Sequence[int]) -> Word:
        return [self.invert(a) for a in x]

    def gate_word(self, condition: int, x: Sequence[int]) -> Word:
        """x where the condition holds, else 0."""
        return [self.conjoin(condition, a) for a in x]

    def choose(self, condition: int, x: Sequence[int], y: Sequence[int]) -> Word:
        """x where the condition holds, else y: one AND a bit."""
        width = max(len(x), len(y))
        x, y = self.extend(x, width), self.extend(y, width)
        return [
            self.xor(b, self.conjoin(condition, self.xor(a, b))) for a, b in zip(x, y, strict=True)
        ]

    # Sums

    def add(self, x: Sequence[int], y: Sequence[int], width: int, carry: int = ZERO) -> Word:
        """x + y + carry modulo 2^width."""
        return self._sum(self.extend(x, width), self.extend(y, width), carry)

    def subtract(self, x: Sequence[int], y: Sequence[int], width: int) -> Word:
        """x - y modulo 2^width."""
        return self._sum(self.extend(x, width), self.invert_word(self.extend(y, width)), ONE)

    def negate(self, x: Sequence[int], width: int) -> Word:
        """-x modulo 2^width."""
        return self.subtract([], x, width)

    def increment(self, x: Sequence[int], bit: int, width: int) -> Word:
        """x + bit modulo 2^width."""
        return self._sum(self.extend(x, width), [ZERO] * width, bit)

    def _sum(self, x: Word, y: Word, carry: int) -> Word:
        total = [self.xor(a, b) for a, b in zip(x, y, strict=True)]
        carries = self._carries(x, y, carry, len(x))
        return [self.xor(a, c) for a, c in zip(total, carries, strict=True)]

    def _carries(self, x: Word, y: Word, carry: int, count: int) -> Word:
        """The carries into positions 0 … count-1 of x + y + carry."""
        if not self.shallow:
            carries = [carry]
            for a, b in zip(x[: count - 1], y[: count - 1], strict=True):
                c = carries[-1]
                # The majority of a, b and c, by one AND.
                carries.append(self.xor(c, self.conjoin(self.xor(a, c), self.xor(b, c))))
            return carries[:count]
        pairs = [(carry, ZERO)] + [
            (self.conjoin(a, b), self.xor(a, b))
            for a, b in zip(x[: count - 1], y[: count - 1], strict=True)
        ]

        def follow(low: tuple[int, int], high: tuple[int, int]) -> tuple[int, int]:
            # A range carries if its upper part does, or passes on the carry of its lower part:
            # never both.
            return self.xor(high[0], self.conjoin(high[1], low[0])), self.conjoin(high[1], low[1])

        return [generate for generate, _ in self._prefixes(pairs, follow)][:count]

    @staticmethod
    def _prefixes(items: Sequence[T], join: Callable[[T, T], T]) -> list[T]:
        """items[0], items[0] with items[1], … in logarithmic depth (Sklansky)."""
        items = list(items)
        span = 1
        while span < len(items):
            for start in range(span, len(items), 2 * span):
                last = items[start - 1]
                for at in range(start, min(start + span, len(items))):
                    items[at] = join(last, items[at])
            span *= 2
        return items

    def add_modulo(self, x: Sequence[int], y: Sequence[int], modulus: int) -> Word:
        """x + y modulo any m, for x and y below m: how two additive shares become one number."""
        width = (modulus - 1).bit_length()
        if modulus == 1 << width:
            return self.add(x, y, width)
        total = self.add(self.extend(x, width), self.extend(y, width), width + 1)
        reduced = self.subtract(total, self.constant(modulus, width), width + 1)
        return self.choose(reduced[-1], total, reduced)[:width]

    def subtract_modulo(self, x: Sequence[int], y: Sequence[int], modulus: int) -> Word:
        """x - y modulo any m, for x and y below m: how a number becomes a share under a mask."""
        width = (modulus - 1).bit_length()
        if modulus == 1 << width:
            return self.subtract(x, y, width)
        difference = self.subtract(self.extend(x, width), self.extend(y, width), width + 1)
        repair = self.gate_word(difference[-1], self.constant(modulus, width))
        return self.add(difference, repair, width)

    def multiply(self, x: Sequence[int], y: Sequence[int], width: int) -> Word:
        """x * y modulo 2^width, by the school method."""
        result = [ZERO] * width
        for shift, bit in enumerate(y[:width]):
            row = self.gate_word(bit, self.extend(x, width - shift))
            result[shift:] = self.add(result[shift:], row, width - shift)
        return result

    # Comparisons

    def less(self, x: Sequence[int], y: Sequence[int]) -> int:
        """x < y."""
        width = max(len(x), len(y))
        x, y = self.extend(x, width), self.extend(y, width)
        if width == 0:
            return ZERO
        if not self.shallow:
            # x - y borrows: no carry out of x + not y + 1.
            return self.invert(self._carries(x, self.invert_word(y), ONE, width + 1)[-1])
        parts = [
            (self.conjoin(self.invert(a), b), self.invert(self.xor(a, b)))
            for a, b in zip(x, y, strict=True)
        ]
        while len(parts) > 1:
            joined = [
                (self.xor(high[0], self.conjoin(high[1], low[0])), self.conjoin(high[1], low[1]))
                for low, high in zip(parts[::2], parts[1::2], strict=False)
            ]
            parts = joined + parts[2 * len(joined) :]
        return parts[0][0]

    def any(self, x: Sequence[int]) -> int:
        """Whether some bit is set."""
        return self.invert(self.all(self.invert_word(x)))

    def all(self, x: Sequence[int]) -> int:
        """Whether every bit is set."""
        bits = list(x)
        while len(bits) > 1:
            pairs = [self.conjoin(a, b) for a, b in zip(bits[::2], bits[1::2], strict=False)]
            bits = pairs + bits[2 * len(pairs) :]
        return bits[0] if bits else ONE

    def equal(self, x: Sequence[int], y: Sequence[int]) -> int:
        return self.invert(self.any(self.xor_words(x, y)))

    # Positions

    def leading_one(self, x: Sequence[int]) -> Word:
        """One-hot: only the highest set bit of x; all zeros for 0. One AND a bit."""
        from_top = list(reversed(x))
        if self.shallow:
            seen = self._prefixes(from_top, self.either)
        else:
            seen = from_top[:1]
            for bit in from_top[1:]:
                seen.append(self.either(seen[-1], bit))
        return [*[self.xor(low, high) for high, low in pairwise(seen)][::-1], *seen[:1]]

    def encode(self, one_hot: Sequence[int]) -> Word:
        """The position of the set bit of a one-hot word, 0 when there is none. No AND gates."""
        return self.look_up(one_hot, range(len(one_hot)), (len(one_hot) - 1).bit_length())

    def look_up(self, one_hot: Sequence[int], table: Sequence[int], width: int) -> Word:
        """The table's entry at the set bit of a one-hot word, 0 when there is none. No AND gates."""
        return [
            reduce(
                self.xor,
                (bit for bit, entry in zip(one_hot, table, strict=True) if entry >> i & 1),
                ZERO,
            )
            for i in range(width)
        ]

    def shift_left(self, x: Sequence[int], amount: Sequence[int], width: int) -> Word:
        """x * 2^amount modulo 2^width."""
        result = self.extend(x, width)
        for position, bit in enumerate(amount):
            moved = [*[ZERO] * min(1 << position, width), *result][:width]
            result = self.choose(bit, moved, result)
        return result

    # Minima

    def minimum(self, words: Sequence[Sequence[int]]) -> tuple[Word, Word]:
        """The least number and its position; the first one where several are least."""
        return self._best(words, lambda earlier, later: self.less(later, earlier))

    def maximum(self, words: Sequence[Sequence[int]]) -> tuple[Word, Word]:
        """The greatest number and its position; the first one where several are greatest."""
        return self._best(words, self.less)

    def _best(
        self,
        words: Sequence[Sequence[int]],
        later_wins: Callable[[Sequence[int], Sequence[int]], int],
    ) -> tuple[Word, Word]:
        if not words:
            raise ValueError("of no numbers none is the least")
        width = (len(words) - 1).bit_length()
        field = [(list(word), self.constant(at, width)) for at, word in enumerate(words)]
        while len(field) > 1:
            winners = []
            for (x, i), (y, j) in zip(field[::2], field[1::2], strict=False):
                later = later_wins(x, y)
                winners.append((self.choose(later, y, x), self.choose(later, j, i)))
            field = winners + field[2 * len(winners) :]
        return field[0]
