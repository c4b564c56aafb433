"""Whether drawn numbers have all the bits that they should have: for keys, masks, salts and pads.

A view test compares two worlds, and a mask of 8 bits may look the same in both. These criteria look at
the drawn numbers themselves. They do not depend on the secrets, and a false alarm has a chance below
2^-40 under any seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coterie.protocols.primitives.randomness import Random

SPARE = 42  # numbers beyond their bits: of random ones every bit is then independent of the others
EQUAL = 12  # numbers of 32 bits, of at most 2000, that may come again by chance


def numbers(rows: object) -> list[int]:
    """Rows of bytes or words, or words, each as one number."""
    array = np.ascontiguousarray(rows)
    if array.dtype == object:
        return [int(one) for one in array.reshape(-1)]
    data = array.view(np.uint8).reshape(len(array), -1)
    return [int.from_bytes(row.tobytes(), "little") for row in data]


def rank(words: Sequence[int]) -> int:
    """How many of the words are independent, as vectors of bits."""
    pivots: dict[int, int] = {}
    for word in words:
        while word and (top := word.bit_length()) in pivots:
            word ^= pivots[top]
        if word:
            pivots[word.bit_length()] = word
    return len(pivots)


def assert_different(words: Sequence[int], bits: int = 64) -> None:
    """No two words are the same, as no two random ones of 64 bits and more are."""
    assert len(words) >= 64, "too few to meet a word of 8 bits again"
    again = len(words) - len(set(words))
    assert again <= (0 if bits >= 64 else EQUAL), f"{again} of {len(words)} words come again"


def assert_whole(words: Sequence[int], bits: int) -> None:
    """The words fill all their bits: none is constant, or follows from others, and none comes again."""
    assert len(words) > bits + SPARE, f"{bits} bits are judged by more than {bits + SPARE} words"
    assert max(words).bit_length() <= bits
    found = rank([word ^ words[0] for word in words[1:]])
    assert found == bits, f"{found} of {bits} bits are random"
    if bits >= 32:
        assert_different(words, bits)


class Given(Random):
    """A generator whose stream is given."""

    def __init__(self, stream: bytes) -> None:
        super().__init__(0)
        self.left = stream

    def bytes(self, count: int) -> bytes:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more is drawn than expected"
        return taken


def assert_all_drawn(draw: Callable[[Random], object], size: int) -> None:
    """What is drawn takes `size` bytes of the generator, and depends on each of them."""
    stream = Random("drawn").bytes(size)
    generator = Given(stream)
    found = {str(draw(generator))}
    assert not generator.left, f"only {size - len(generator.left)} of {size} bytes are drawn"
    for at in range(size):
        changed = stream[:at] + bytes([stream[at] ^ 0x10]) + stream[at + 1 :]
        found.add(str(draw(Given(changed))))
    assert len(found) == 1 + size, "bytes are drawn that nothing depends on"
