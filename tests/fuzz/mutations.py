"""Changes inputs as bad luck and bad will do: bits, lengths, pieces cut, doubled, moved and joined."""

import random

_NUMBERS = [0, 1, 2, 3, 15, 16, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**53, 2**63 - 1, 2**64 - 1]  # fmt: skip
_WORDS = [
    b"-1", b"1e999", b"nan", b".inf", b"null", b"~", b"[]", b"{}", b"*a", b"&a [*a]", b"!!python/object", b"<<: *a",
    b"\xff\xfe", b"\xe2\x80\xae", b"\x00", b"\xef\xbb\xbf", b"999999999999999999999", b"'", b'"', b"\n\n", b"\t", b";;", b"\\u0000",
]  # fmt: skip


def mutated(seed: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """The seed after one to six changes; never longer than 64 KiB."""
    data = bytearray(seed)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        _CHANGES[chance.randrange(len(_CHANGES))](data, others, chance)
    return bytes(data[: 1 << 16])


def _place(data: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _span(data: bytearray, chance: random.Random) -> slice:
    start = _place(data, chance)
    return slice(start, start + chance.choice([1, 2, 4, 8, 16, 64, 256]))


def _flip(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _set(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.randrange(256)


def _number(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    size = chance.choice([1, 2, 4, 8])
    value = chance.choice(_NUMBERS) % (1 << 8 * size)
    start = _place(data, chance)
    data[start : start + size] = value.to_bytes(size, chance.choice(["little", "big"]))


def _word(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    start = _place(data, chance)
    data[start : start + chance.choice([0, 0, 1, 4])] = chance.choice(_WORDS)


def _cut(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    del data[_span(data, chance)]


def _end(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    del data[_place(data, chance) :]


def _double(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    piece = data[_span(data, chance)]
    at = _place(data, chance)
    data[at:at] = piece * chance.choice([1, 2, 16])


def _join(data: bytearray, others: list[bytes], chance: random.Random) -> None:
    other = chance.choice(others)
    del data[_place(data, chance) :]
    data += other[chance.randrange(len(other) + 1) :]


def _line(data: bytearray, _: list[bytes], chance: random.Random) -> None:
    """Moves, repeats or removes a line, for files of text."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    line = lines.pop(at)
    for _ in range(chance.choice([0, 1, 2])):
        lines.insert(chance.randrange(len(lines) + 1), line)
    data[:] = b"\n".join(lines)


_CHANGES = [_flip, _set, _number, _word, _cut, _end, _double, _join, _line]
