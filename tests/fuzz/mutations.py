"""Changes inputs as bad luck and bad will do: bits, lengths, pieces cut, doubled, moved and joined.

Random numbers are taken by `random()` alone: other methods of `random.Random` take several times as
long, and a fast decoder would wait for its inputs.
"""

import random
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Change: TypeAlias = Callable[[bytearray, Sequence[bytes], random.Random], None]
Mend: TypeAlias = Callable[[bytearray, random.Random], None]
LONGEST = 1 << 16  # bytes of an input
_TIMES = [1, 1, 1, 2, 3, 6]
_SIZES = [1, 2, 4, 8, 16, 64, 256]
_NUMBERS = [0, 1, 2, 3, 15, 16, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1]  # fmt: skip
_WORDS = [
    b"-1", b"1e999", b"1e999999999", b"nan", b"NaN", b".inf", b"null", b"~", b"true", b"[]", b"{}", b"*a", b"&a [*a]",
    b"!!python/object", b"<<: *a", b"%YAML 1.1\n---\n", b"\xff\xfe", b"\xe2\x80\xae", b"\x00", b"\xef\xbb\xbf",
    b"999999999999999999999", b"'", b'"', b"\n\n", b"\t", b";;", b": ", b"- ", b",", b"\\u0000", b"\\0", b"\\ud800",
    b'"\\UFFFFFFFF"', b"9" * 5000, b"[" * 3000, b'{"a":' * 1500,
]  # fmt: skip


def mutated(
    seed: bytes,
    others: Sequence[bytes],
    chance: random.Random,
    own: Sequence[Change] = (),
    mend: Mend | None = None,
) -> bytes:
    """The seed after one to six changes.

    If the decoder has changes of its `own`, three inputs in four have these alone, and are put in order
    by `mend`.
    """
    data = bytearray(seed)
    is_own = bool(own) and chance.random() < 0.75
    changes = own if is_own else _CHANGES
    for _ in range(one_of(_TIMES, chance)):
        one_of(changes, chance)(data, others, chance)
    if is_own and mend is not None:
        mend(data, chance)
    return bytes(data[:LONGEST])


def one_of(several: Sequence[T], chance: random.Random) -> T:
    return several[int(chance.random() * len(several))]


def _place(data: Sequence[object], chance: random.Random) -> int:
    return int(chance.random() * (len(data) + 1))


def _span(data: bytes | bytearray, chance: random.Random) -> slice:
    start = _place(data, chance)
    return slice(start, start + one_of(_SIZES, chance))


def _flip(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    if data:
        data[int(chance.random() * len(data))] ^= 1 << int(chance.random() * 8)


def _set(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    if data:
        data[int(chance.random() * len(data))] = int(chance.random() * 256)


def _number(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    size = one_of((1, 2, 4, 8), chance)
    value = one_of(_NUMBERS, chance) % (1 << 8 * size)
    start = _place(data, chance)
    data[start : start + size] = value.to_bytes(size, "little" if chance.random() < 0.5 else "big")


def _word(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    start = _place(data, chance)
    data[start : start + one_of((0, 0, 1, 4), chance)] = one_of(_WORDS, chance)


def _cut(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    del data[_span(data, chance)]


def _end(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    del data[_place(data, chance) :]


def _double(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    piece = data[_span(data, chance)]
    at = _place(data, chance)
    data[at:at] = piece * one_of((1, 2, 16), chance)


def _join(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    other = one_of(others, chance)
    del data[_place(data, chance) :]
    data += other[_place(other, chance) :]


def _splice(data: bytearray, others: Sequence[bytes], chance: random.Random) -> None:
    """Puts a piece of another input in the place of one of this."""
    other = one_of(others, chance)
    data[_span(data, chance)] = other[_span(other, chance)]


def line(data: bytearray, _: Sequence[bytes], chance: random.Random) -> None:
    """Moves, repeats or removes a line, for files of text."""
    lines = data.split(b"\n")
    moved = lines.pop(int(chance.random() * len(lines)))
    for _ in range(int(chance.random() * 3)):
        lines.insert(_place(lines, chance), moved)
    data[:] = b"\n".join(lines)


_CHANGES: list[Change] = [_flip, _set, _number, _word, _cut, _end, _double, _join, _splice, line]
